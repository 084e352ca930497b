// The search as a tree: columns are steps, and a node says what became of it.
const SHOWN_LOST = 3; // continuations that were given up, shown at each step
const [STEP_WIDTH, NODE_WIDTH, NODE_HEIGHT, GAP] = [156, 128, 26, 8];

function layOut() {
  const { nodes, best } = data.beam;
  const onBest = new Set();
  for (let at = best; at !== null; at = nodes[at].parent) onBest.add(at);
  const columns = [];
  nodes.forEach((node, number) => {
    const lost = node.fate !== "kept" && node.fate !== "finished";
    const column = (columns[node.step] ??= []);
    if (lost && column.filter((other) => other.lost).length >= SHOWN_LOST && !onBest.has(number)) return;
    column.push({ ...node, number, lost, best: onBest.has(number) });
  });
  const places = new Map();
  columns.forEach((column, step) => column.forEach((node, i) => places.set(node.number, { node, x: 16 + step * STEP_WIDTH, y: 34 + i * (NODE_HEIGHT + GAP) })));
  const height = 50 + Math.max(...columns.map((column) => column.length)) * (NODE_HEIGHT + GAP);
  return { places, width: 32 + columns.length * STEP_WIDTH, height, steps: columns.length - 1 };
}

function describeNode(node) {
  const rank = node.step ? `rank ${node.rank} at step ${node.step}` : "the beginning";
  return `${shown(node.piece)}: ${rank}, log-probability ${node.log_probability.toFixed(3)}, normalised score ${node.score.toFixed(3)}, ${node.fate}`;
}

function drawTree() {
  const { places, width, height, steps } = layOut();
  const svg = makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group" });
  for (let step = 0; step <= steps; step++) svg.append(makeSvg("text", { class: "head", x: 16 + step * STEP_WIDTH, y: 20, "data-step": step }, step ? `step ${step}` : "begin"));
  for (const { node, x, y } of places.values()) {
    const from = places.get(node.parent);
    if (!from) continue;
    const [x1, y1, x2, y2] = [from.x + NODE_WIDTH, from.y + NODE_HEIGHT / 2, x, y + NODE_HEIGHT / 2];
    const middle = (x1 + x2) / 2;
    svg.append(makeSvg("path", { class: `edge${node.best ? " best" : ""}${node.lost ? " lost" : ""}`, d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, "data-step": node.step }));
  }
  for (const { node, x, y } of places.values()) {
    const group = makeSvg("g", { class: `node ${node.fate === "finished" ? "finished" : node.lost ? "lost" : "kept"}${node.best ? " best" : ""}`, transform: `translate(${x} ${y})`, "data-step": node.step });
    group.append(makeSvg("title", {}, describeNode(node)));
    group.append(makeSvg("rect", { class: "box", width: NODE_WIDTH, height: NODE_HEIGHT, rx: 6 }));
    const piece = shown(node.piece);
    group.append(makeSvg("text", { x: 8, y: 17 }, piece.length > 9 ? `${piece.slice(0, 8)}…` : piece));
    if (node.step) group.append(makeSvg("text", { class: "head", x: NODE_WIDTH - 7, y: 17, "text-anchor": "end" }, node.score.toFixed(2)));
    group.addEventListener("click", () => {
      byId("beam-node").textContent = describeNode(node);
      svg.querySelectorAll(".on").forEach((other) => other.classList.remove("on"));
      group.classList.add("on");
      if (node.best && node.step) choose({ target: Math.min(node.step - 1, data.predictions.length - 1) });
    });
    svg.append(group);
  }
  byId("beam-tree").replaceChildren(svg);
  const slider = byId("beam-step");
  slider.max = steps;
  slider.value = steps;
  const replay = () => {
    const at = Number(slider.value);
    byId("beam-at").textContent = `${at} of ${steps}`;
    svg.querySelectorAll("[data-step]").forEach((part) => part.classList.toggle("later", Number(part.dataset.step) > at));
  };
  slider.addEventListener("input", replay);
  replay();
}

function drawFinished() {
  const rows = data.beam.finished.map((found) => make("tr", { className: found.best ? "best" : "" },
    make("td", { className: "number" }, found.score.toFixed(3)), make("td", { className: "number" }, found.log_probability.toFixed(3)),
    make("td", { className: "number" }, String(found.step)), make("td", {}, found.text)));
  if (!rows.length) return byId("finished").replaceChildren(make("caption", {}, "None ended: the translation was cut at the maximum length."));
  const titles = [["score", "number"], ["log-probability", "number"], ["tokens", "number"], ["translation", ""]];
  byId("finished").replaceChildren(make("thead", {}, make("tr", {}, ...titles.map(([text, name]) => make("th", { className: name, scope: "col" }, text)))), make("tbody", {}, ...rows));
}

byId("beam").hidden = !data.beam;
if (data.beam) {
  byId("beam-hint").textContent = `${data.beam.size} hypotheses side by side, length penalty α = ${data.beam.alpha}. A node shows its token and its score; a thick line is the translation, dashed ones were given up: hover or choose a node to see why.`;
  drawTree();
  drawFinished();
}
