// Masks: who may look at whom, and the test that nobody sees the future.
import { clamp, html, readable, useMemo } from "../lib.js";
import { useAnswer } from "../api.js";
import { toggle } from "../changes.js";
import { barsSvg } from "../export.js";
import { Figure } from "../figure.js";
import { Matrix, isWide, matrixExports } from "../matrix.js";
import { python } from "../python.js";
import { targetPlace } from "../selection.js";
import { changes, number, set } from "../state.js";
import { Answer } from "../states.js";

export function Masks({ data }) {
  const answer = useAnswer("/api/masks", { ...data.question, changes: [] });
  return html`
    <div class="panels">
      <${Answer} of=${answer}>${(found) => html`<${Batch} found=${found} question=${data.question} />`}<//>
      <${Leak} data=${data} />
    </div>`;
}

const LOOKS = { high: 1.5, numbers: false, names: [[1, "may look"], [0, "may not"]] };
const flat = (rows) => Float32Array.from(rows.flat());

function Batch({ found, question }) {
  const row = clamp(number("row", 0), 0, found.sources.length - 1);
  const padding = useMemo(() => ({
    data: flat(found.padding), rows: found.sources.map((_, k) => `sentence ${k + 1}`),
    columns: found.sources[0].map((_, k) => String(k + 1)), rowTitle: "sentence of the batch", columnTitle: "source place", ...LOOKS,
  }), [found]);
  const causal = useMemo(() => ({
    data: flat(found.causal), rows: found.targets[row].map(readable), columns: found.targets[row].map(readable),
    rowTitle: "reads", columnTitle: "may look at", ...LOOKS,
  }), [found, row]);
  const combined = useMemo(() => ({ ...causal, data: flat(found.combined[row]) }), [found, row]);
  const code = (then) => () => python(question, `from dragoman.inspection.leaks import batch_masks\n\n${then}`);
  return html`
    <${Figure} wide id="padding" title="Padding" ...${matrixExports(padding)} python=${code("print(batch_masks([inspection]).padding)")}
      caption="A batch is as wide as its longest sentence; ∅ fills the rest, and nobody may look there.">
      <div class="batch">${found.sources.map((pieces, k) => html`
        <button class="quiet" aria-pressed=${k === row} onClick=${() => set({ row: k })}>${k + 1}</button>
        <p>${pieces.map((piece, i) => html`<span class=${found.padding[k][i] ? "piece" : "piece pad"}>${readable(piece)}</span>`)}</p>`)}</div>
      <${Matrix} label="Padding mask" ...${padding} digits=${0} largest=${26} />
    <//>
    <${Figure} wide=${isWide(causal.columns)} id="causal" title="Causal" ...${matrixExports(causal)} python=${code("print(batch_masks([inspection]).causal)")}
      caption="Each place of the decoder may look at itself and at what came before.">
      <${Matrix} label="Causal mask" ...${causal} digits=${0} largest=${24} />
    <//>
    <${Figure} wide=${isWide(causal.columns)} id="combined" title=${`Both, for sentence ${row + 1}`} ...${matrixExports(combined)} python=${code("print(batch_masks([inspection]).combined)")}
      caption="What is left for real words. Padding stands at the end, where no word looks anyway; rows of padding are not counted in the loss.">
      <${Matrix} label="Combined mask" ...${combined} digits=${0} largest=${24} />
    <//>`;
}

function Leak({ data }) {
  const length = data.target_in.pieces.length;
  const place = clamp(targetPlace.value ?? Math.ceil(length / 2), 1, length - 1);
  const answer = useAnswer("/api/leak", length > 1 ? { ...data.question, place } : null);
  const unmasked = changes.value.includes("without:mask");
  const labels = data.target_in.pieces.map((piece, k) => `${readable(piece)} → ${readable(data.target.pieces[k])}`);
  return html`
    <${Figure} wide id="leak" title="Leak test" 
      table=${() => ({ columns: ["place", "largest change of a logit"], rows: labels.map((label, k) => [label, answer.data.differences[k]]) })}
      svg=${() => barsSvg({ labels, values: answer.data.differences, texts: answer.data.differences.map((value) => (value === 0 ? "0" : value.toPrecision(4))) })}
      python=${() => python(data.question, `from dragoman.inspection.leaks import leak_test\n\nprint(leak_test(inspection, ${place}).differences)`)}
      caption="One token that the decoder reads is exchanged. Logits of earlier places must differ by exactly 0; without masks they do not.">
      <div class="controls">
        <label>exchange <select value=${place} onChange=${(event) => set({ j: event.target.value })}>
          ${data.target_in.pieces.map((piece, k) => k > 0 && html`<option value=${k}>${k + 1} ${readable(piece)}</option>`)}</select></label>
        <label><input type="checkbox" checked=${unmasked} onChange=${() => toggle("without:mask")} /> without masks</label>
      </div>
      <${Answer} of=${answer} empty="One token alone has no future to leak.">${(found) => html`
        <p class=${found.leak === 0 ? "verdict good" : "verdict bad"} role="status">${found.leak === 0
          ? html`No leak: before place ${found.place + 1} the largest difference is <output id="leak-value">0</output>, exactly.`
          : html`It leaks: an earlier logit moved by <output id="leak-value">${found.leak.toPrecision(4)}</output>.`}</p>
        <table class="data"><thead><tr><th scope="col">reads → predicts</th><th scope="col" class="number">largest |Δ logit|</th><th scope="col"><span class="unseen">bar</span></th></tr></thead>
          <tbody>${labels.map((label, k) => html`<tr class=${k === found.place ? "chosen" : ""}>
            <td>${label}${k === found.place ? html` <em>(${readable(found.before)} → ${found.after})</em>` : ""}</td>
            <td class="number">${found.differences[k] === 0 ? "0" : found.differences[k].toPrecision(4)}</td>
            <td><span class="bar-cell" style=${{ width: `calc(${found.differences[k] / Math.max(...found.differences, 1e-9)} * min(10rem, 18vw))` }}></span></td></tr>`)}</tbody></table>`}<//>
    <//>`;
}
