// Align: which source words each predicted word rests on, by four measures.
import { fixed, html, percent, useMemo } from "../lib.js";
import { useAnswer, useTensor } from "../api.js";
import { Figure } from "../figure.js";
import { Matrix, isWide, matrixExports } from "../matrix.js";
import { python } from "../python.js";
import { Ribbons } from "../ribbons.js";
import { useTensorOf } from "../run.js";
import { aligning, fromUnit, head, labels, layer, sourcePlace, targetPlace, toUnit } from "../selection.js";
import { get, model, set, unit } from "../state.js";
import { Answer } from "../states.js";

const MEASURES = [
  { id: "attention", name: "attention", says: "the weight that the head gives" },
  { id: "value", name: "value-weighted", says: "how much of each word's value arrives: weight × length of value through W_O" },
  { id: "gradient", name: "gradient × input", says: "how steeply the prediction depends on the word's embedding" },
  { id: "erasure", name: "erase and remeasure", says: "how far the log-probability falls when nobody may look at the word" },
];
const WARNED = 3; // warnings at once; the rest unfold
const FIELDS = ["attention", "value_weighted", "gradient", "erasure"];

export function Align({ data }) {
  const measure = Math.max(0, MEASURES.findIndex((one) => one.id === get("measure")));
  const place = { layer: layer.value, head: head.value, unit: unit.value };
  const asked = { ...data.question, ...place };
  const weights = useTensorOf(data, "/api/attention", { ...place, kind: "cross" });
  const others = useTensor("/api/attributions", measure > 0 ? asked : null);
  const answer = measure > 0 ? others : weights;
  return html`
    <${Warnings} concerns=${data.concerns} />
    <div class="controls">
      <span class="switch" role="group" aria-label="Measure">${MEASURES.map((one, k) => html`
        <button aria-pressed=${k === measure} onClick=${() => set({ measure: k ? one.id : "" })}>${one.name}</button>`)}</span>
      <${Which} />
    </div>
    <${Answer} of=${answer}>${(found) => html`<${Views} data=${data} found=${found} measure=${measure} />`}<//>
    <${Agreement} data=${data} asked=${asked} />
    <p class="caption rule">${unit.value === "word" ? data.merge_rule : "Pieces as the model reads them; · marks a piece inside a word."}</p>`;
}

function Warnings({ concerns }) {
  if (!concerns.length) return null;
  const line = (one) => html`<p class="warning">${one.message}</p>`;
  return html`
    <div class="warnings">
      ${concerns.slice(0, WARNED).map(line)}
      ${concerns.length > WARNED && html`
        <details class="warnings"><summary>${concerns.length - WARNED} more warnings</summary>${concerns.slice(WARNED).map(line)}</details>`}
    </div>`;
}

function Which() {
  const best = aligning.value[model.value.name];
  const shown = head.value === null ? `the mean of layer ${layer.value + 1}` : `layer ${layer.value + 1}, head ${head.value + 1}`;
  const isBest = best && best.layer === layer.value && best.head === head.value;
  return html`<span class="which">${shown}${isBest && html`<em> – aligns best on ${best.pairs} validation sentences: ${percent(best.score)}</em>`}</span>
    ${best && !isBest && html`<button class="quiet" onClick=${() => set({ kind: "", layer: "", head: "" })}>to the head that aligns best</button>`}`;
}

function Views({ data, found, measure }) {
  const [rows, columns] = [labels(data.target), labels(data.source)];
  const shape = found.shape.slice(-2);
  const shown = useMemo(() => {
    const size = shape[0] * shape[1];
    const start = found.shape.length === 3 ? measure * size : 0;
    const part = found.data.subarray(start, start + size);
    // Attention sums to 1; the other measures have no natural end of their scale.
    const high = measure === 0 ? 1 : part.reduce((most, value) => Math.max(most, value), 1e-9);
    return { data: part, rows, columns, high, rowTitle: "predicted", columnTitle: "source" };
  }, [found, measure, unit.value]);
  if (shape[0] !== rows.length || shape[1] !== columns.length || (found.shape.length === 3) !== (measure > 0)) return null;
  const selected = { row: toUnit(data.target, targetPlace.value), column: toUnit(data.source, sourcePlace.value) };
  const choose = (row, column) => set({ j: fromUnit(data.target, row), i: fromUnit(data.source, column) });
  const chosen = head.value === null ? `[${layer.value}].mean(dim=0)` : `[${layer.value}, ${head.value}]`;
  const code = () => python(data.question, measure === 0
    ? `print(inspection.${unit.value === "word" ? "word_attention" : "attention"}("cross")${chosen})`
    : `found = inspection.attributions(layer=${layer.value}, head=${head.value === null ? "None" : head.value})\nprint(found.${FIELDS[measure]}, found.agreement)`);
  const caption = `Rows are predicted words, columns source words: ${MEASURES[measure].says}.`;
  return html`
    <div class="panels">
      <${Figure} wide=${isWide(columns)} id="alignment" title="Alignment" caption=${caption} ...${matrixExports(shown)} python=${code}>
        <${Matrix} label="Alignment" ...${shown} selected=${selected} onSelect=${choose} />
      <//>
      <${Figure} wide=${isWide(columns)} id="ribbons" title="Ribbons" caption="The same as ribbons, as wide as the share of each row." table=${matrixExports(shown).table} python=${code}>
        <${Ribbons} ...${shown} selected=${selected} onSelect=${choose} />
      <//>
    </div>`;
}

function Agreement({ data, asked }) {
  const wanted = get("agreement") === "1" || get("measure") !== "";
  const answer = useAnswer("/api/agreement", wanted ? { ...asked, unit: "piece" } : null);
  if (!wanted) {
    return html`<p class="controls spaced"><button onClick=${() => set({ agreement: "1" })}>Do the four measures agree?</button></p>`;
  }
  return html`<${Answer} of=${answer}>${(found) => {
    const shown = {
      data: Float32Array.from(found.agreement.flat()), rows: found.methods, columns: found.methods,
      low: 0, high: 1, rowTitle: "measure", columnTitle: "measure",
    };
    return html`
      <div class="panels spaced"><${Figure} id="agreement" title="Do they agree?" wide ...${matrixExports(shown)}
        caption="Rank correlation of each two measures, averaged over the predicted words: 1 is the same order, 0 none. Believe an alignment more when they agree."
        python=${() => python(data.question, `print(inspection.attributions(layer=${layer.value}, head=${head.value === null ? "None" : head.value}).agreement)`)}>
        <div class="scrolling" tabindex="0" role="region" aria-label="Agreement of the measures"><table class="data"><thead><tr><th scope="col"><span class="unseen">measure</span></th>${found.methods.map((name) => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
          <tbody>${found.methods.map((name, j) => html`<tr><th scope="row">${name}</th>${found.agreement[j].map((value) => html`<td class="number">${fixed(value, 2)}</td>`)}</tr>`)}</tbody></table></div>
      <//></div>`;
  }}<//>`;
}
