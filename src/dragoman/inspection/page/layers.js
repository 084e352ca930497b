// The logit lens, and how long the vectors of the residual stream are.
function drawLens() {
  byId("lens").hidden = !data.lens.length;
  const scale = colours();
  const head = make("tr", {}, make("th", {}, "predicts"), ...data.target_out.pieces.map((piece) => make("th", { scope: "col" }, shown(piece))));
  const rows = data.lens.map((row) => make("tr", {}, make("th", { scope: "row" }, `${row.layer + 1} ${row.name}`), ...row.guesses.map(([piece, probability, rank]) => {
    const cell = make("td", { className: rank === 1 ? "came" : "", title: `${percent(probability)}; the token that came is number ${rank}` }, shown(piece));
    cell.style.background = scale.css(0.9 * probability);
    cell.style.color = scale.ink(0.9 * probability);
    return cell;
  })));
  byId("lens-table").replaceChildren(make("thead", {}, head), make("tbody", {}, ...rows));
}

function curve(stack, sublayers) {
  const [width, height, left, bottom] = [520, 250, 74, 86];
  const most = Math.max(...sublayers.map((sublayer) => sublayer.most)) * 1.08;
  const x = (i) => left + (i + 0.5) * (width - left) / sublayers.length;
  const y = (value) => (height - bottom) * (1 - value / most) + 6;
  const svg = makeSvg("svg", { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${stack}: mean length of the stream after each sublayer: ${sublayers.map((s) => `${s.name} ${s.mean.toFixed(1)}`).join(", ")}` });
  for (const tick of [0, most / 2.16, most / 1.08]) {
    svg.append(makeSvg("line", { class: "axis", x1: left, x2: width, y1: y(tick), y2: y(tick) }));
    svg.append(makeSvg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, tick.toFixed(tick < 10 ? 1 : 0)));
  }
  const points = (key) => sublayers.map((sublayer, i) => `${x(i)},${y(sublayer[key])}`);
  svg.append(makeSvg("polygon", { class: "band", points: [...points("most"), ...points("least").reverse()].join(" ") }));
  svg.append(makeSvg("polyline", { class: "line", points: points("mean").join(" ") }));
  sublayers.forEach((sublayer, i) => svg.append(makeSvg("text", { transform: `translate(${x(i) + 3} ${height - bottom + 18}) rotate(-40)`, "text-anchor": "end" }, sublayer.name)));
  return make("div", {}, make("h3", {}, stack), svg);
}

byId("stream").hidden = !data.stream.length;
byId("streams").append(...data.stream.map(({ stack, sublayers }) => curve(stack, sublayers)));

function setTheme(dark) {
  document.documentElement.classList.toggle("dark", dark);
  byId("theme").setAttribute("aria-pressed", dark);
  byId("theme").textContent = dark ? "Light" : "Dark";
  drawLens();
  choose({});
}
byId("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark")));
setTheme(matchMedia("(prefers-color-scheme: dark)").matches);
