// Training: the curves of the run, live, and how attention came about.
import { clamp, fixed, html, percent, useEffect, useMemo, useState } from "../lib.js";
import { askNow, useAnswer, useTensor } from "../api.js";
import { Curves, curveExports, smoothed } from "../curves.js";
import { Figure } from "../figure.js";
import { Matrix, matrixExports } from "../matrix.js";
import { run } from "../run.js";
import { head, labels, layer, sourcePlace, targetPlace, toUnit } from "../selection.js";
import { python } from "../python.js";
import { model, models, number, set, unit } from "../state.js";
import { Answer, Empty } from "../states.js";

const EVERY = 2000;
const REACH = 12; // values on either side in a running mean

// What was measured, faintly, and its running mean.
function noisy(label, values) {
  if (values.length < 4 * REACH) return [{ label, values, colour: 0 }];
  return [
    { label: "as measured", values, faint: true, colour: 0 },
    { label: `${label}, smoothed`, values: smoothed(values, REACH), colour: 0 },
  ];
}

// The diary, read again while the run goes on.
function useDiary(name) {
  const [state, setState] = useState({ status: "loading", data: null });
  useEffect(() => {
    let timer = null;
    let current = true;
    const read = () => askNow("/api/training", { model: name }).then((data) => {
      if (!current) return;
      setState({ status: "ready", data });
      if (data.finished === false) timer = setTimeout(read, EVERY);
    }, (error) => current && setState({ status: "error", data: null, error: error.message }));
    read();
    return () => { current = false; clearTimeout(timer); };
  }, [name]);
  return state;
}

export function Training() {
  const diary = useDiary(model.value.name);
  return html`<${Answer} of=${diary}>${(found) => html`<${Views} found=${found} />`}<//>`;
}

const code = (then) => () => `import json
from pathlib import Path

lines = Path(${JSON.stringify(model.value.folder)}, "metrics.jsonl").read_text("utf-8").splitlines()
diary = [json.loads(line) for line in lines]
${then}
`;

function Panel({ id, title, caption, x, series, python }) {
  const shown = useMemo(() => ({ x, series, xTitle: "update" }), [x, series]);
  return html`
    <${Figure} id=${id} title=${title} caption=${caption} ...${curveExports(shown)} python=${code(python)}>
      <${Curves} label=${title} ...${shown} />
    <//>`;
}

function Views({ found }) {
  const { train, valid } = found;
  const x = train.step ?? [];
  const series = useMemo(() => {
    const at = (steps, values) => {
      const known = new Map(steps.map((step, k) => [step, values[k]]));
      return known;
    };
    const validAt = (name) => {
      const known = at(valid.step ?? [], valid[name] ?? []);
      // Thinned curves may lack the very update of a validation: take the nearest after it.
      const steps = [...known.keys()].sort((a, b) => a - b);
      let next = 0;
      return x.map((step) => {
        if (next < steps.length && steps[next] <= step) {
          const value = known.get(steps[next]);
          next += 1;
          return value;
        }
        return null;
      });
    };
    return {
      loss: [...noisy("training", train.plain_loss ?? []), { label: "validation", values: validAt("loss"), colour: 1 }],
      accuracy: [...noisy("training", train.accuracy ?? []), { label: "validation", values: validAt("accuracy"), colour: 1 }],
      rate: [{ label: "this run", values: train.rate ?? [] }, { label: "the paper's formula", values: found.paper_rate, dash: true }],
      norm: noisy("gradient norm", train.gradient_norm ?? []),
      speed: [{ label: "target tokens per second", values: train.tokens_per_second ?? [] }],
      bleu: [{ label: "validation BLEU (greedy)", values: valid.bleu ?? [] }],
    };
  }, [found]);
  if (!x.length) return html`<${Empty}>The diary of this run has no update yet.<//>`;
  const last = (name) => (train[name] ?? []).at(-1);
  return html`
    <dl class="tiles">
      <div><dt>updates</dt><dd id="updates">${found.entries}</dd></div>
      <div><dt>loss</dt><dd>${fixed(last("plain_loss"))}</dd></div>
      <div><dt>accuracy</dt><dd>${percent(last("accuracy") ?? 0)}</dd></div>
      <div><dt>BLEU</dt><dd>${valid.bleu?.length ? fixed(valid.bleu.at(-1), 1) : "–"}</dd></div>
      <div><dt>padding</dt><dd>${found.padding_share === null ? "–" : percent(found.padding_share)}</dd></div>
      <div><dt>state</dt><dd>${found.finished === null ? "–" : found.finished ? "finished" : "live"}</dd></div>
    </dl>
    <div class="panels">
      <${Panel} id="loss" title="Loss" x=${x} series=${series.loss} python='print([(e["step"], e["plain_loss"]) for e in diary if e["kind"] == "train"])' caption="Per target token, without label smoothing." />
      <${Panel} id="accuracy" title="Accuracy" x=${x} series=${series.accuracy} python='print([(e["step"], e["accuracy"]) for e in diary])' caption="Share of tokens predicted right, the ones before them given." />
      <${Panel} id="rate" title="Learning rate" x=${x} series=${series.rate} python='print([(e["step"], e["rate"]) for e in diary if e["kind"] == "train"])' caption=${`Schedule: ${found.schedule}. Dashed: d_model⁻⁰·⁵ · min(step⁻⁰·⁵, step · warmup⁻¹·⁵) with a warm-up of ${found.warmup}.`} />
      <${Panel} id="gradient" title="Gradient norm" x=${x} series=${series.norm} python='print([(e["step"], e["gradient_norm"]) for e in diary if e["kind"] == "train"])' caption="Before clipping." />
      <${Panel} id="speed" title="Speed" x=${x} series=${series.speed} python='print([(e["step"], e["tokens_per_second"]) for e in diary if e["kind"] == "train"])' caption=${`Target tokens per second${found.padding_share === null ? "" : `; ${percent(found.padding_share)} of a batch is padding`}.`} />
      ${valid.bleu?.length ? html`<${Panel} id="bleu" title="Validation BLEU" x=${valid.step} series=${series.bleu} python='print([(e["step"], e["bleu"]) for e in diary if e["kind"] == "valid"])' caption="Greedy, on the first validation sentences." />` : null}
      <${TimeLapse} checkpoints=${found.checkpoints} />
    </div>`;
}

function TimeLapse({ checkpoints }) {
  const { data } = run.value;
  const at = clamp(number("checkpoint", checkpoints.length), 1, checkpoints.length) - 1;
  const about = data && checkpoints.length
    ? { model: checkpoints[at], source: data.question.source, target: data.translation, changes: [] } : null;
  const reading = useAnswer("/api/inspect", about);
  const answer = useTensor("/api/attention", about && { ...about, kind: "cross", layer: layer.value, head: head.value, unit: unit.value });
  if (!checkpoints.length) {
    return html`<section class="figure wide"><h2>How attention came about</h2><${Empty}>This folder keeps no checkpoints.<//></section>`;
  }
  if (!data) {
    return html`<section class="figure wide"><h2>How attention came about</h2><${Empty}>Type a sentence above to see its attention at each checkpoint.<//></section>`;
  }
  const read = reading.data ?? data;
  const [rows, columns] = [labels(read.target), labels(read.source)];
  const shown = answer.data && { data: answer.data.data, rows, columns, rowTitle: "predicted", columnTitle: "source" };
  const fits = answer.data && answer.data.shape[0] === rows.length && answer.data.shape[1] === columns.length;
  return html`
    <${Figure} wide id="time-lapse" title="How attention came about" table=${() => matrixExports(shown).table()} svg=${() => matrixExports(shown).svg()}
      caption="The same translation, read by the model as it was at each checkpoint that is left."
      python=${() => python({ source: data.question.source, target: data.translation }, "print(inspection.attention(\"cross\"))",
        { of: models.value.find((one) => one.name === checkpoints[at]), changed: false })}>
      <div class="controls"><label for="checkpoint">checkpoint</label>
        <input id="checkpoint" type="range" min="1" max=${checkpoints.length} value=${at + 1} onInput=${(event) => set({ checkpoint: event.target.value })} />
        <output>${checkpoints[at]}</output></div>
      <${Answer} of=${answer}>${() => fits && html`
        <${Matrix} label="Attention at the checkpoint" ...${shown} selected=${{ row: toUnit(read.target, targetPlace.value), column: toUnit(read.source, sourcePlace.value) }} />`}<//>
    <//>`;
}
