// Compare: two models on one sentence, and on the validation text.
import { clamp, fixed, html, useMemo, useRef } from "../lib.js";
import { useAnswer } from "../api.js";
import { textSvg } from "../export.js";
import { Figure } from "../figure.js";
import { JobControl, useJob } from "../jobs.js";
import { Matrix, isWide, matrixExports, useWidth } from "../matrix.js";
import { python, pythonOfModel, quote } from "../python.js";
import { get, model, models, set } from "../state.js";
import { Answer, Empty } from "../states.js";

function other() {
  const others = models.value.filter((one) => one.name !== model.value.name);
  return others.find((one) => one.name === get("other"))
    ?? others.find((one) => one.folder !== model.value.folder) ?? others[0];
}

export function Compare({ data }) {
  const against = other();
  if (!against) {
    return html`<${Empty}>There is one model here. Name two to compare them: <code>dragoman studio MODEL OTHER</code>.<//>`;
  }
  return html`
    <div class="controls">
      <label>against <select value=${against.name} onChange=${(event) => set({ other: event.target.value })}>
        ${models.value.filter((one) => one.name !== model.value.name).map((one) => html`<option>${one.name}</option>`)}</select></label>
    </div>
    <div class="panels">
      <${Sentence} data=${data} against=${against} />
      <${Scores} key=${`${model.value.name} ${against.name}`} against=${against} />
    </div>`;
}

function Sentence({ data, against }) {
  const answer = useAnswer("/api/compare", { model: model.value.name, source: data.question.source, other: against.name });
  return html`<${Answer} of=${answer}>${(found) => html`
    <${Figure} wide id="difference" title="Word by word"
      table=${() => ({ columns: [model.value.name, against.name], rows: found.difference.map((part) => [part.fate === "added" ? "" : part.text, part.fate === "removed" ? "" : part.text]) })}
      svg=${() => textSvg(found.runs.map((one, k) => `${[model.value, against][k].name}: ${one.translation}`))}
      python=${() => [model.value, against].map((of) => python({ source: data.question.source }, "print(inspection.target_text, inspection.log_probability)", { of, changed: false })).join("\n")}
      caption="Words that only one of the two has are marked.">
      <div class="difference">
        ${["first", "second"].map((side, k) => html`
          <h3>${[model.value, against][k].name} <em>log P ${fixed(found.runs[k].log_probability)}</em></h3>
          <p id=${`translation-${side}`}>${found.difference.filter((part) => part.fate !== (k ? "removed" : "added")).map((part) => (part.fate === "same" ? `${part.text} ` : html`<mark>${part.text}</mark>${" "}`))}</p>`)}
      </div>
    <//>
    ${found.runs.map((one, k) => one.alignment && html`<${Alignment} key=${k} run=${one} of=${[model.value, against][k]} number=${k + 1} source=${data.question.source} />`)}`}<//>`;
}

function Alignment({ run, of, number, source }) {
  const { name } = of;
  const shown = useMemo(() => ({
    data: Float32Array.from(run.alignment.flat()),
    rows: run.target.words.map((word) => word.text), columns: run.source.words.map((word) => word.text),
    rowTitle: "predicted", columnTitle: "source",
  }), [run]);
  return html`
    <${Figure} wide=${isWide(shown.columns)} id=${`alignment-${number}`} title=${`Attention of ${name}`} ...${matrixExports(shown)}
      python=${() => python({ source }, "print(inspection.attention(\"cross\")[-1].mean(dim=0))", { of, changed: false })}
      caption="Cross-attention of the last layer, mean of its heads, by words.">
      <${Matrix} label=${`Attention of ${name}`} ...${shown} />
    <//>`;
}

function Scores({ against }) {
  const job = useJob("/api/compare_scores", { model: model.value.name, other: against.name });
  const found = job.job?.state === "done" ? job.job.result : null;
  const names = [model.value.name, against.name];
  const rows = () => found.models.flatMap((buckets, k) => buckets.map((one) => [names[k], one.words, one.count, one.bleu, one.low, one.high]));
  return html`
    <${Figure} wide id="by-length" title="BLEU by source length"
      table=${() => ({ columns: ["model", "words", "sentences", "bleu", "low", "high"], rows: found ? rows() : [] })}
      python=${() => pythonOfModel([
        "from dragoman.studio.comparison import bleu_by_length",
        "from dragoman.studio.validation_text import first_pairs",
        "from pathlib import Path", "",
        `sources, references = zip(*first_pairs(Path(${quote(model.value.folder)}), 200))`,
        "print(bleu_by_length(sources, translator.translate(sources), references))"].join("\n"))}
      caption="On the validation text, with 95 % bootstrap intervals: where they overlap widely, trust no difference.">
      <${JobControl} of=${job} name="Score both" />
      ${found && html`<${Intervals} found=${found} names=${names} />`}
    <//>`;
}

function Intervals({ found, names }) {
  const frame = useRef(null);
  const room = clamp(useWidth(frame), 300, 832);
  const buckets = found.models[0].map((one) => one.words.replace("-", "–"));
  const most = Math.max(...found.models.flat().map((one) => one.high), 1);
  const [row, left, width] = [52, 112, room - 170];
  const x = (value) => left + (width * value) / most;
  const bottom = buckets.length * row + 4;
  const apart = most > 40 ? 20 : most > 15 ? 10 : 5;
  const marks = Array.from({ length: Math.floor(most / apart) + 1 }, (_, k) => k * apart);
  return html`
    <div class="scrolling" tabindex="0" role="region" aria-label="BLEU by length, with intervals" ref=${frame}><svg class="drawing intervals" viewBox=${`0 0 ${room} ${bottom + 24}`} style=${{ width: `${room}px`, height: `${bottom + 24}px` }} role="img"
      aria-label=${found.models.map((one, k) => `${names[k]}: ${one.map((b) => `${b.words} words ${fixed(b.bleu, 1)}`).join(", ")}`).join("; ")}>
      ${marks.map((value) => html`
        <line class=${value ? "scale" : "scale zero"} x1=${x(value)} x2=${x(value)} y1="4" y2=${bottom} />
        <text class="faint" x=${x(value)} y=${bottom + 16} text-anchor="middle">${value}</text>`)}
      <text class="faint" x=${room} y=${bottom + 16} text-anchor="end">BLEU</text>
      ${buckets.map((words, b) => html`
        <text x="8" y=${b * row + 28}>${words} words</text><text class="faint" x="8" y=${b * row + 43}>${found.models[0][b].count} sentences</text>
        ${found.models.map((one, k) => html`
          <line class=${`interval m${k}`} x1=${x(one[b].low)} x2=${x(one[b].high)} y1=${b * row + 20 + 16 * k} y2=${b * row + 20 + 16 * k} />
          <circle class=${`interval m${k}`} cx=${x(one[b].bleu)} cy=${b * row + 20 + 16 * k} r="5" />
          <text class="faint" x=${x(one[b].high) + 8} y=${b * row + 24 + 16 * k}>${fixed(one[b].bleu, 1)}</text>`)}`)}
    </svg></div>
    <p class="legend"><span><i class="best"></i>${names[0]}</span><span><i class="second"></i>${names[1]}</span><em>${found.sentences} sentences</em></p>`;
}
