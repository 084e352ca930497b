// Heads: all of them at a glance; switch one off and see what is lost.
import { fixed, html, readable, signed, useMemo } from "../lib.js";
import { useAnswer } from "../api.js";
import { toggle } from "../changes.js";
import { barsSvg } from "../export.js";
import { Figure } from "../figure.js";
import { JobControl, useJob } from "../jobs.js";
import { pythonOfModel, python, quote } from "../python.js";
import { useTensorOf } from "../run.js";
import { KINDS, ablation, headName, kind, layer, oneHead } from "../selection.js";
import { changes, get, model, set } from "../state.js";
import { Answer } from "../states.js";
import { Thumbnail } from "../thumbnail.js";

const MEASURES = [
  { id: "entropy", name: "entropy", says: "how widely it looks around, in nats: 0 is one word alone" },
  { id: "offset", name: "offset", says: "how many places before (−) or after (+) it looks, on average" },
  { id: "sink", name: "sink", says: "how much it leaves to the end of the sentence (in the decoder, to its beginning)" },
  { id: "alignment", name: "alignment", says: "how often its strongest source word is the one that a statistical alignment names" },
  { id: "cost", name: "ablation cost", says: "how many nats more a target token costs without it" },
];

export function Heads({ data }) {
  const measure = MEASURES.find((one) => one.id === get("by")) ?? MEASURES[0];
  const whole = get("over") === "validation";
  const sentence = useAnswer("/api/heads", whole ? null : { ...data.question, changes: [], ablation: measure.id === "cost" ? "with" : "without" });
  const job = useJob("/api/profile", { model: model.value.name });
  const found = whole ? (job.job?.state === "done" ? job.job.result : null) : sentence.data;
  return html`
    <div class="controls">
      <span class="switch" role="group" aria-label="Measure">${MEASURES.map((one) => html`
        <button aria-pressed=${one === measure} onClick=${() => set({ by: one.id === "entropy" ? "" : one.id })}>${one.name}</button>`)}</span>
      <span class="switch" role="group" aria-label="Over">
        <button aria-pressed=${!whole} onClick=${() => set({ over: "" })}>this sentence</button>
        <button aria-pressed=${whole} onClick=${() => set({ over: "validation" })}>validation text</button></span>
      <label><input type="checkbox" checked=${get("sorted") === "1"} onChange=${(event) => set({ sorted: event.target.checked ? "1" : "" })} /> sorted</label>
      <span class="which">${measure.name}: ${measure.says}</span>
    </div>
    ${whole && html`<${JobControl} of=${job} name="Measure every head on the validation text" />`}
    ${sentence.status === "error" && html`<p class="problem" role="alert">${sentence.error}</p>`}
    <div class="panels heads-panels">
      <div class="kinds" style=${{ "--heads": String(model.value.heads) }}>${Object.keys(KINDS).map((of) => html`
        <${Grid} key=${of} of=${of} data=${data} found=${found} measure=${measure} />`)}</div>
      <${Chosen} data=${data} />
    </div>`;
}

function Grid({ of, data, found, measure }) {
  const tensor = useTensorOf(data, "/api/thumbnails", { kind: of });
  const values = found?.[measure.id]?.[of] ?? null;
  return html`
    <${Figure} id=${`heads-${of}`} title=${KINDS[of]} ...${exports_(of, values, measure)}
      caption=${measure.id === "alignment" && of !== "cross" ? "Only cross-attention aligns." : ""}
      python=${() => code(data, measure)}>
      <${Answer} of=${tensor}>${(shown) => html`<${Cells} of=${of} shown=${shown} values=${values} />`}<//>
    <//>`;
}

function code(data, measure) {
  if (get("over") !== "validation") {
    return python(data.question, `profile = inspection.head_profile([(inspection.source_text, inspection.target_text)], ablation=${measure.id === "cost" ? "True" : "False"})\nprint(profile)`, { changed: false });
  }
  return pythonOfModel([
    "from pathlib import Path",
    "from dragoman.inspection.head_profile import head_profile",
    "from dragoman.studio.validation_text import first_pairs", "",
    `profile = head_profile(translator, first_pairs(Path(${quote(model.value.folder)}), 100))`,
    "print(profile)"].join("\n"));
}

function exports_(of, values, measure) {
  const rows = values ?? [];
  return {
    table: () => ({
      columns: ["layer", "head", measure.name],
      rows: rows.flatMap((heads, at) => heads.map((value, k) => [at + 1, k + 1, value])),
    }),
    svg: () => barsSvg({
      labels: rows.flatMap((heads, at) => heads.map((_, k) => headName(of, at, k))),
      values: rows.flat(), texts: rows.flat().map((value) => fixed(value)),
    }),
  };
}

function Cells({ of, shown, values }) {
  const [layers, heads, rows, columns] = shown.shape;
  const cells = useMemo(() => {
    const size = rows * columns;
    return Array.from({ length: layers * heads }, (_, k) => ({
      layer: Math.floor(k / heads), head: k % heads, data: shown.data.subarray(k * size, (k + 1) * size),
    }));
  }, [shown]);
  const value = (cell) => (values ? values[cell.layer][cell.head] : null);
  const most = values ? Math.max(...values.flat().map(Math.abs), 1e-9) : 1;
  const ordered = get("sorted") === "1" && values ? [...cells].sort((a, b) => value(b) - value(a)) : cells;
  return html`
    <div class="heads">${ordered.map((cell) => {
      const chosen = kind.value === of && layer.value === cell.layer && oneHead.value === cell.head;
      const off = changes.value.includes(ablation(of, cell.layer, cell.head));
      const says = value(cell);
      return html`
        <button key=${`${cell.layer}.${cell.head}`} class=${`head${off ? " off" : ""}`} aria-pressed=${chosen}
          aria-label=${`${cell.layer + 1}.${cell.head + 1}${says === null ? "" : ` ${fixed(says, 2)}`}, ${KINDS[of]}${off ? ", switched off" : ""}`}
          onClick=${() => set({ kind: of === "cross" ? "" : of, layer: cell.layer + 1, head: cell.head + 1 })}>
          <${Thumbnail} data=${cell.data} rows=${rows} columns=${columns} />
          <span class="head-name">${cell.layer + 1}.${cell.head + 1}</span>${" "}
          ${says !== null && html`<span class="head-value">${fixed(says, 2)}</span>
            <span class=${`meter${says < 0 ? " loss" : ""}`} style=${{ "--part": String(Math.abs(says) / most) }}></span>`}
        </button>`;
    })}</div>`;
}

function Chosen({ data }) {
  const name = headName(kind.value, layer.value, oneHead.value);
  const change = ablation(kind.value, layer.value, oneHead.value);
  const off = changes.value.includes(change);
  const { effect } = data;
  const table = () => ({
    columns: ["token", "Δ log P"],
    rows: (effect?.delta ?? []).map((value, k) => [data.target.pieces[k], value]),
  });
  return html`
    <${Figure} id="ablation" title=${`Without ${name}?`} table=${table}
      svg=${() => barsSvg({ labels: (effect?.delta ?? []).map((_, k) => readable(data.target.pieces[k])), values: effect?.delta ?? [], texts: (effect?.delta ?? []).map((value) => signed(value)) })}
      python=${() => python({ ...data.question }, `print(inspection.ablate(${quote(kind.value)}, ${layer.value}, ${oneHead.value}))`, { changed: false })}
      caption="Switch the chosen head off: everything after it runs again. Several can be off at once.">
      <p class="controls"><button class="main" aria-pressed=${off} onClick=${() => toggle(change)}>${off ? `Switch ${name} on` : `Switch ${name} off`}</button>
        <a href=${`/head${location.search}`}>step by step</a></p>
      ${effect ? html`
        <p class="diff" lang=${model.value.languages[1]}>${effect.diff.map((part) => html`<span class=${part.fate}>${part.text}</span>${" "}`)}</p>
        <p class="caption">Δ log-probability of the first translation, token by token; in all <output id="ablation-total">${signed(effect.total)}</output></p>
        <table class="data deltas"><tbody>${effect.delta.map((value, k) => html`<tr><td>${readable(data.target.pieces[k])}</td>
          <td class="number">${signed(value)}</td>
          <td><span class=${`bar-cell${value < 0 ? " loss" : ""}`} style=${{ width: `${(6 * Math.abs(value)) / Math.max(...effect.delta.map(Math.abs), 1e-9)}rem` }}></span></td></tr>`)}</tbody></table>`
      : html`<p class="state">All heads are on.</p>`}
    <//>`;
}
