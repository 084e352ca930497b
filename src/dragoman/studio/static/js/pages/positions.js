// Positions: the sinusoids, or the turns made of them, their geometry, and sentences whose words change places.
import { clamp, fixed, html, useMemo } from "../lib.js";
import { useAnswer, useTensor } from "../api.js";
import { Curves, curveExports } from "../curves.js";
import { textSvg } from "../export.js";
import { Figure } from "../figure.js";
import { Matrix, matrixExports } from "../matrix.js";
import { python, pythonOfModel } from "../python.js";
import { model, number, set } from "../state.js";
import { run } from "../run.js";
import { Answer, Empty } from "../states.js";

const chosen = (width) => 1 + 2 * Math.round(width * 3 / 32); // a wave slow enough to be seen as one

// One table, spoken of in two ways: it is added to embeddings, or it turns queries and keys.
const ADDED = {
  title: "What is added at each position",
  about: () => "",
  columns: "dimension",
  one: "dimension",
  named: (at) => `dimension ${at + 1}`,
  three: "The chosen dimension, its partner, and a slower one.",
};
const TURNED = {
  title: "By what each position turns queries and keys",
  about: (width) => `Rotary positions add nothing to a word: each pair of dimensions of its queries and keys, i and i + ${width / 2}, is turned by an angle, whose sine and cosine are two neighbours here. `,
  columns: "sine and cosine of each pair's angle",
  one: "sine or cosine",
  named: (at) => `${at % 2 ? "cosine" : "sine"} of angle ${Math.floor(at / 2) + 1}`,
  three: "The chosen sine or cosine, its neighbour, and a slower one.",
};

const code = (then) => () => pythonOfModel(
  `from dragoman.inspection.order import position_table, rotation, similarity_by_distance\n\ntable = position_table(translator, 64)\n${then}`);

export function Positions() {
  const offset = clamp(number("offset", 5), 1, 63);
  const name = model.value.name;
  const wording = model.value.positions === "rotary" ? TURNED : ADDED;
  const facts = useAnswer("/api/positions", { model: name, offset });
  const rows = useTensor("/api/position_rows", { model: name });
  return html`
    <div class="panels">
      <${Answer} of=${rows}>${(table) => html`<${Heatmap} table=${table} wording=${wording} />`}<//>
      <${Answer} of=${rows}>${(table) => html`<${Dimensions} table=${table} wording=${wording} />`}<//>
      <${Answer} of=${facts}>${(found) => html`<${Similarity} found=${found} />`}<//>
      <${Answer} of=${facts}>${(found) => html`<${Turn} found=${found} offset=${offset} />`}<//>
      <${Swap} />
    </div>`;
}

function Heatmap({ table, wording }) {
  const [length, width] = table.shape;
  const dimension = clamp(number("dimension", chosen(width)), 1, width) - 1;
  const shown = useMemo(() => ({
    data: table.data,
    rows: Array.from({ length }, (_, k) => String(k)),
    columns: Array.from({ length: width }, (_, k) => String(k + 1)),
    low: -1, high: 1, colours: "diverging", rowTitle: "position", columnTitle: wording.columns,
  }), [table, wording]);
  return html`
    <${Figure} wide id="encoding" title=${wording.title} ...${matrixExports(shown)} python=${code("print(table)")}
      caption=${`${wording.about(width)}Each row is a position, each pair of columns one wave; to the right the waves grow longer.`}>
      <${Matrix} label="Positional encoding" ...${shown} numbers=${false} smallest=${3} largest=${14} height=${400} selected=${{ row: null, column: dimension }}
        onSelect=${(_, column) => set({ dimension: column + 1 })} />
    <//>`;
}

function Dimensions({ table, wording }) {
  const [length, width] = table.shape;
  const dimension = clamp(number("dimension", chosen(width)), 1, width) - 1;
  const curve = (at) => Array.from({ length }, (_, p) => table.data[p * width + at]);
  const shown = useMemo(() => ({
    x: Array.from({ length }, (_, p) => p),
    series: [dimension, Math.min(dimension + 1, width - 1), Math.min(dimension + Math.ceil(width / 8), width - 1)]
      .filter((at, k, all) => all.indexOf(at) === k)
      .map((at) => ({ label: wording.named(at), values: curve(at) })),
    xTitle: "position",
  }), [table, dimension, wording]);
  return html`
    <${Figure} id="waves" title="Waves" ...${curveExports(shown)} python=${code(`print(table[:, ${dimension}])`)}
      caption=${wording.three}>
      <div class="controls"><label for="dimension">${wording.one}</label>
        <input id="dimension" type="range" min="1" max=${width} value=${dimension + 1}
          onInput=${(event) => set({ dimension: event.target.value })} /><output>${dimension + 1}</output></div>
      <${Curves} label="Waves" ...${shown} />
    <//>`;
}

function Similarity({ found }) {
  const shown = useMemo(() => ({
    x: found.similarity.map((_, k) => k),
    series: [{ label: "mean cosine", values: found.similarity }],
    xTitle: "positions apart",
  }), [found]);
  return html`
    <${Figure} id="similarity" title="Similarity falls with distance" ...${curveExports(shown)} python=${code("print(similarity_by_distance(table))")}
      caption="How alike two positions are, by how far apart they stand.">
      <${Curves} label="Similarity by distance" ...${shown} height=${282} />
    <//>`;
}

function Turn({ found, offset }) {
  if (!found.rotation) {
    return html`
      <section class="figure wide"><h2>No rotation</h2><p class="caption">The positions of this model are ${found.kind}: only sinusoids and rotary positions turn by the same angle everywhere.</p></section>`;
  }
  const shown = {
    x: found.rotation.errors.map((_, p) => p),
    series: [{ label: "largest |R·PE(p) − PE(p + k)|", values: found.rotation.errors }],
    xTitle: "position p",
  };
  return html`
    <${Figure} wide id="rotation" title=${found.kind === "rotary" ? "One rotation leads from place p to p + k" : "One rotation carries PE(p) to PE(p + k)"} ...${curveExports(shown)}
      python=${code(`turn = rotation(table, ${offset})\nprint(turn.angles, turn.largest_error)`)}
      caption=${found.kind === "rotary"
        ? "Whatever the position, the same turn leads k places on: so what a query and a key have in common depends on how far apart they are, and not on where they stand."
        : "Whatever the position, the same turn of each pair of dimensions leads k places on: so a head can learn to look “k words back”."}>
      <div class="controls"><label for="offset">k</label>
        <input id="offset" type="range" min="1" max="40" value=${offset} onInput=${(event) => set({ offset: event.target.value })} />
        <output>${offset}</output>
        <span>first angles <output>${found.rotation.angles.slice(0, 4).map((value) => fixed(value, 3)).join(", ")}, …</output> rad</span>
        <span>largest error <output id="rotation-error">${found.rotation.largest_error.toExponential(2)}</output></span></div>
      <${Curves} label="Error of the rotation" ...${shown} height=${180} />
    <//>`;
}

function Swap() {
  const { data } = run.value;
  const words = data?.source.words.slice(0, -1) ?? [];
  const first = clamp(number("first", 1), 0, Math.max(0, words.length - 1));
  const second = clamp(number("second", 4), 0, Math.max(0, words.length - 1));
  const ready = words.length > 1 && first !== second;
  const answer = useAnswer("/api/swap", ready ? { ...data.question, changes: [], first, second } : null);
  const choose = (name, value, label) => html`
    <label>${label} <select value=${value} onChange=${(event) => set({ [name]: event.target.value })}>
      ${words.map((word, k) => html`<option value=${k}>${k + 1} ${word.text}</option>`)}</select></label>`;
  const rows = (found) => [
    ["as it is", "with", found.original], ["swapped", "with", found.swapped],
    ["as it is", "without", found.original_without], ["swapped", "without", found.swapped_without],
  ];
  const table = () => ({
    columns: ["order", "positions", "source", "translation", "log P"],
    rows: rows(answer.data).map(([order, with_, one]) => [order, with_, one.source_text, one.translation, one.log_probability]),
  });
  if (!data) return html`<section class="figure wide"><h2>Swap two words</h2><${Empty}>Type a sentence above to swap its words.<//></section>`;
  return html`
    <${Figure} wide id="swap" title="Swap two words" table=${table}
      svg=${() => textSvg(rows(answer.data).map(([order, with_, one]) => `${order}, ${with_} positions: ${one.source_text} → ${one.translation}`))}
      caption="With positions, order matters. Without them, attention reads a bag of words: each word's encoding stays the same wherever it stands."
      python=${() => python(data.question, `from dragoman.inspection.order import swap_words\n\nprint(swap_words(inspection, ${first}, ${second}))`, { changed: false })}>
      <div class="controls">${choose("first", first, "swap")} ${choose("second", second, "and")}</div>
      <${Answer} of=${answer} empty="Choose two different words.">${(found) => html`
        <div class="scrolling" tabindex="0" role="region" aria-label="With and without positions"><table class="data texts">
          <thead><tr><th scope="col">order</th><th scope="col">positions</th><th scope="col">source</th><th scope="col">translation</th><th scope="col" class="number">log P</th></tr></thead>
          <tbody>${rows(found).map(([order, with_, one]) => html`
            <tr><td>${order}</td><td>${with_}</td><td>${one.source_text}</td><td>${one.translation}</td><td class="number">${fixed(one.log_probability)}</td></tr>`)}</tbody>
        </table></div>
        <p class="footer-note">largest change of a word's encoding: with positions <output>${fixed(found.memory_change)}</output>,
          without <output id="memory-change-without">${found.memory_change_without.toExponential(1)}</output></p>`}<//>
    <//>`;
}
