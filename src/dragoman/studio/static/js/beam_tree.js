// The search as a tree: columns are steps, rows are ranks.
import { clamp, fixed, html, readable } from "./lib.js";

const COLUMN = 142;
const ROW = 25;
const BOX = 120;
const TOP = 30;

const x = (node) => 8 + node.step * COLUMN;
const y = (node) => TOP + (node.step === 0 ? 0 : node.rank - 1) * ROW;

function Edge({ node, parent, chosen }) {
  const [x0, y0, x1, y1] = [x(parent) + BOX, y(parent) + 10, x(node), y(node) + 10];
  const bend = (x1 - x0) / 2;
  return html`<path class=${chosen} fill="none" d=${`M${x0} ${y0}C${x0 + bend} ${y0} ${x1 - bend} ${y1} ${x1} ${y1}`} />`;
}

function look(node, best) {
  if (best.has(node.number)) return "best";
  return node.fate === "kept" || node.fate === "finished" ? "kept" : "gone";
}

export function BeamTree({ tree, step, onStep, chosen, onChoose }) {
  const steps = Math.max(...tree.nodes.map((node) => node.step));
  const shownStep = clamp(step ?? steps, 1, steps);
  const best = new Set([0, ...tree.best_path]);
  const nodes = tree.nodes.filter((node) => node.step <= shownStep);
  const ranks = Math.max(...tree.nodes.map((node) => node.rank));
  const [width, height] = [(steps + 1) * COLUMN + 10, TOP + ranks * ROW + 8];
  const node = tree.nodes[chosen] ?? tree.nodes[tree.best];
  // One stop for the Tab key; from there, arrows go along the tree.
  const reachable = node.step <= shownStep ? node : tree.nodes[0];
  const onKeyDown = (event) => {
    const next = neighbour(tree, reachable, event.key, shownStep);
    if (next === null) return;
    event.preventDefault();
    onChoose(next.number);
    requestAnimationFrame(() => document.getElementById(`node-${next.number}`)?.focus());
  };
  return html`
    <div class="controls">
      <label for="beam-step">Replay</label>
      <input id="beam-step" type="range" min="1" max=${steps} value=${shownStep}
        onInput=${(event) => onStep(Number(event.target.value))} />
      <output>step ${shownStep} of ${steps}</output>
      <span class="legend"><span><i class="best"></i>the translation</span><span><i class="kept"></i>kept or finished</span><span><i class="gone"></i>given up</span></span>
    </div>
    <div class="scrolling" tabindex="0" role="region" aria-label="The search tree">
      <svg class="drawing tree" width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`}
        style=${{ width: `${width}px`, height: `${height}px` }} role="group" aria-label="Beam search: arrow keys move" onKeyDown=${onKeyDown}>
        ${Array.from({ length: steps + 1 }, (_, k) => html`
          <text class="faint" x=${8 + k * COLUMN} y="16">${k ? `step ${k}` : "start"}</text>`)}
        ${nodes.slice(1).map((one) => html`<${Edge} node=${one} parent=${tree.nodes[one.parent]} chosen=${look(one, best)} />`)}
        ${nodes.map((one) => html`
          <g class=${`node ${look(one, best)}${one.number === node.number ? " chosen" : ""}`} role="button" id=${`node-${one.number}`} tabindex=${one === reachable ? 0 : -1}
            aria-label=${`${shorten(readable(one.piece))} ${one.step ? fixed(one.score, 2) : ""}; ${readable(one.piece)}, step ${one.step}, rank ${one.rank}, ${one.fate}`}
            onClick=${() => onChoose(one.number)}>
            <rect x=${x(one)} y=${y(one)} width=${BOX} height="20" rx="5" />
            <text x=${x(one) + 7} y=${y(one) + 14}>${shorten(readable(one.piece))}</text>
            <text class="faint" x=${x(one) + BOX - 6} y=${y(one) + 14} text-anchor="end">${one.step ? fixed(one.score, 2) : ""}</text>
          </g>`)}
      </svg>
    </div>
    <${NodeFacts} node=${node} tree=${tree} />`;
}

// Up and down go along a step, left to what a hypothesis continues, right to what follows.
function neighbour(tree, node, key, shownStep) {
  const beside = (by) => {
    const other = tree.nodes[node.number + by];
    return other && other.step === node.step ? other : null;
  };
  if (key === "ArrowUp") return beside(-1);
  if (key === "ArrowDown") return beside(1);
  if (key === "ArrowLeft") return node.parent === null ? null : tree.nodes[node.parent];
  if (key !== "ArrowRight" || node.step >= shownStep) return null;
  return tree.nodes.find((one) => one.parent === node.number) ?? null;
}

const shorten = (text) => ([...text].length > 8 ? `${[...text].slice(0, 7).join("")}…` : text);

function prefix(tree, node) {
  const path = [];
  for (let one = node; one.parent !== null; one = tree.nodes[one.parent]) path.unshift(readable(one.piece));
  return path.join(" ");
}

function NodeFacts({ node, tree }) {
  return html`
    <dl class="facts node-facts" aria-live="polite">
      <dt>hypothesis</dt><dd>${prefix(tree, node) || "(start)"}</dd>
      <dt>its fate</dt><dd id="fate">${node.fate}</dd>
      <dt>rank</dt><dd>${node.rank} at step ${node.step}</dd>
      <dt>log-probability</dt><dd><output id="node-log-probability">${fixed(node.log_probability, 4)}</output>
        ${" "}(this token <output>${fixed(node.token_log_probability, 4)}</output>)</dd>
      <dt>normalised score</dt><dd><output id="node-score">${fixed(node.score, 4)}</output> with α = ${tree.alpha}</dd>
    </dl>`;
}
