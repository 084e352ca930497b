// One matrix large, every head small, and the same numbers as a table.
function segment(group, options, isOn, act) {
  const buttons = options.map(([value, text]) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", () => act(value));
    return button;
  });
  byId(group).append(...buttons);
  views.push(() => buttons.forEach((button, i) => button.setAttribute("aria-pressed", isOn(options[i][0]))));
}

function chooseKind(kind) {
  const { layers, heads } = data.attention[kind];
  choose({
    kind,
    layer: kind === data.start.kind ? data.start.layer : Math.min(chosen.layer, layers - 1),
    head: kind === data.start.kind ? data.start.head : chosen.head === null ? null : Math.min(chosen.head, heads - 1),
    row: 0, column: 0,
  });
}

function chooseUnits(words) {
  choose({ words, row: 0, column: 0 });
}

function headName(layer, head) {
  return `layer ${layer + 1}, ${head === null ? "mean of all heads" : `head ${head + 1}`}`;
}

function currentRow() {
  const [side] = sides[chosen.kind];
  return side !== "source" ? rowOf(chosen.target, side) : Math.min(chosen.row ?? 0, spans(side).length - 1);
}

function chooseCell(row, column) {
  const [side, other] = sides[chosen.kind];
  const [rows, columns] = [spans(side), spans(other)];
  row = Math.max(0, Math.min(rows.length - 1, row));
  column = Math.max(0, Math.min(columns.length - 1, column));
  choose(side !== "source" ? { target: rows[row][0], column } : { row, column });
}

function drawLarge() {
  const { kind, layer, head } = chosen;
  const weights = matrix(kind, layer, head);
  const [rows, columns] = sides[kind].map(names);
  const most = Math.max(1e-9, ...weights.map((row) => Math.max(...row)));
  byId("attention").classList.toggle("long", columns.length > 24);
  const left = 18 + 7.2 * longest(rows);
  const room = byId("matrix").parentElement.clientWidth - left - 3.9 * longest(columns) - 8;
  const least = columns.length > 60 ? 7 : 15;
  const size = Math.max(least, Math.min(40, Math.floor(room / columns.length), Math.floor(760 / rows.length)));
  const steep = size < 22; // narrow columns have their names stand up, to keep them apart
  const top = 26 + (steep ? 6.8 : 5.6) * longest(columns);
  const scale = colours();
  const canvas = make("canvas", { tabIndex: 0, role: "img" });
  const sharp = window.devicePixelRatio || 1;
  canvas.width = size * columns.length * sharp;
  canvas.height = size * rows.length * sharp;
  canvas.style.width = `${size * columns.length}px`;
  canvas.style.height = `${size * rows.length}px`;
  canvas.setAttribute("aria-label", `${kindNames[kind]}, ${headName(layer, head)}: ${rows.length} rows, ${columns.length} columns; the table below has the numbers`);
  const pen = canvas.getContext("2d");
  pen.scale(sharp, sharp);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.font = `${Math.min(12, size * 0.36)}px system-ui, "DejaVu Sans", sans-serif`;
  weights.forEach((row, r) => row.forEach((weight, c) => {
    pen.fillStyle = scale.css(weight / most);
    pen.fillRect(c * size, r * size, size, size);
    if (size >= 24 && weight >= 0.095) {
      pen.fillStyle = scale.ink(weight / most);
      pen.fillText(weight >= 0.995 ? "1" : weight.toFixed(2).slice(1), (c + 0.5) * size, (r + 0.5) * size);
    }
  }));
  const [row, column] = [currentRow(), Math.min(chosen.column, columns.length - 1)];
  pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--warm");
  pen.lineWidth = 2;
  pen.strokeRect(column * size + 1, row * size + 1, size - 2, size - 2);
  const labelled = size >= 11;
  const labels = [];
  if (labelled || rows.length < 60) {
    rows.forEach((name, r) => labels.push(place(make("span", { className: `name row${r === row ? " on" : ""}`, ariaHidden: "true" }, short(name)), { left: 0, top: top + r * size + size / 2 - 6.5, width: left - 9 })));
    columns.forEach((name, c) => labels.push(place(make("span", { className: `name column${steep ? " steep" : ""}${c === column ? " on" : ""}`, ariaHidden: "true" }, short(name)), { left: left + (c + 0.5) * size + 5, top: top - 17 })));
  }
  wire(canvas, size, weights, rows, columns);
  const focused = byId("matrix").contains(document.activeElement);
  byId("matrix").style.padding = `${top}px ${Math.round(3.9 * longest(columns))}px 0 ${left}px`;
  byId("matrix").replaceChildren(...labels, canvas);
  if (focused) canvas.focus({ preventScroll: true });
  byId("matrix-caption").textContent = caption(weights, rows, columns, row, column);
  drawScale(scale, most);
  byId("where").textContent = `${kindNames[kind]} · ${headName(layer, head)}`;
  drawTable(weights, rows, columns);
}

function drawScale(scale, most) {
  const bar = make("i");
  bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(scale.css)})`;
  byId("matrix-scale").replaceChildren("0", bar, most.toFixed(2));
}

const short = (name) => name.length > 18 ? `${name.slice(0, 17)}…` : name;
const longest = (texts) => Math.max(3, ...texts.map((text) => short(text).length));

function place(node, position) {
  for (const [name, value] of Object.entries(position)) node.style[name] = `${value}px`;
  return node;
}

function caption(weights, rows, columns, row, column) {
  const reads = sides[chosen.kind][0] !== "source" ? data.predictions[chosen.target] : null;
  const does = reads ? `reads ${shown(reads.reads)} → predicts ${shown(reads.predicts)}; ` : "";
  return `${does}${rows[row]} gives ${columns[column]} ${percent(weights[row][column])} of its attention`;
}

function wire(canvas, size, weights, rows, columns) {
  const cell = (event) => [Math.floor(event.offsetY / size), Math.floor(event.offsetX / size)];
  canvas.addEventListener("mousemove", (event) => {
    const [r, c] = cell(event);
    if (weights[r]?.[c] === undefined) return hideTip();
    showTip(event, `${rows[r]} → ${columns[c]}   ${weights[r][c].toFixed(4)}`);
  });
  canvas.addEventListener("mouseleave", hideTip);
  canvas.addEventListener("click", (event) => chooseCell(...cell(event)));
  canvas.addEventListener("keydown", (event) => {
    const move = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!move) return;
    event.preventDefault();
    chooseCell(currentRow() + move[0], chosen.column + move[1]);
  });
}

function drawTable(weights, rows, columns) {
  if (!byId("matrix-table").closest("details").open) return;
  const head = make("thead", {}, make("tr", {}, make("th"), ...columns.map((name) => make("th", { className: "number", scope: "col" }, name))));
  const body = make("tbody", {}, ...weights.map((row, r) => make("tr", {}, make("th", { scope: "row" }, rows[r]), ...row.map((weight) => make("td", { className: "number" }, weight.toFixed(3))))));
  byId("matrix-table").replaceChildren(make("table", {}, head, body));
}

// Small multiples are painted once per kind and unit; choosing a head only moves a frame.
let painted = "";
function drawHeads() {
  const { kind } = chosen;
  const { layers, heads } = data.attention[kind];
  const look = `${kind} ${chosen.words} ${document.documentElement.className}`;
  const grid = byId("heads");
  if (look !== painted) {
    painted = look;
    grid.style.gridTemplateColumns = `repeat(${heads}, minmax(0, 1fr))`;
    const buttons = [];
    for (let layer = 0; layer < layers; layer++) for (let head = 0; head < heads; head++) {
      const score = kind === "cross" && data.alignment ? ` · ${Math.round(100 * data.alignment[layer][head])} %` : "";
      const name = `${layer + 1}.${head + 1}${score}`;
      const button = make("button", { type: "button", ariaLabel: `${name}: ${headName(layer, head)}` }, thumbnail(matrix(kind, layer, head)), make("span", { className: "name" }, name));
      button.addEventListener("click", () => choose({ layer, head: chosen.layer === layer && chosen.head === head ? null : head }));
      buttons.push(button);
    }
    grid.replaceChildren(...buttons);
    byId("heads-hint").textContent = `layer.head${kind === "cross" && data.alignment ? " · how many words it aligns as a statistical alignment does" : ""}. Choose one to see it large; again for its layer's mean.`;
  }
  [...grid.children].forEach((button, i) => {
    const [layer, head] = [Math.floor(i / heads), i % heads];
    button.setAttribute("aria-pressed", layer === chosen.layer && (chosen.head === null || head === chosen.head));
  });
}

function thumbnail(weights) {
  const canvas = make("canvas", { ariaHidden: "true" });
  canvas.width = weights[0].length;
  canvas.height = weights.length;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(canvas.width, canvas.height);
  const scale = colours();
  weights.flat().forEach((weight, i) => image.data.set([...scale.mixed(weight), 255], 4 * i));
  pen.putImageData(image, 0, 0);
  return canvas;
}

if (kinds.length) {
  segment("kinds", kinds.map((kind) => [kind, kindNames[kind]]), (kind) => kind === chosen.kind, chooseKind);
  segment("units", [[true, "words"], [false, "pieces"]], (words) => words === chosen.words, chooseUnits);
  views.push(drawHeads, drawLarge);
  addEventListener("resize", drawLarge);
  byId("matrix-table").closest("details").addEventListener("toggle", drawLarge);
} else {
  byId("attention").hidden = true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !kinds.length) return;
  const { layers, heads } = data.attention[chosen.kind];
  const turn = (value, step, count) => (value + step + count) % count;
  switch (event.key) {
    case "[": return choose({ layer: turn(chosen.layer, -1, layers) });
    case "]": return choose({ layer: turn(chosen.layer, 1, layers) });
    case ",": return choose({ head: turn(chosen.head ?? 0, -1, heads) });
    case ".": return choose({ head: chosen.head === null ? 0 : turn(chosen.head, 1, heads) });
    case "m": return choose({ head: null });
  }
});
