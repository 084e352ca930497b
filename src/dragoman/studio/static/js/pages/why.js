// Why attention: three claims of the paper, tried out on this machine.
import { fixed, html, useMemo } from "../lib.js";
import { Curves, curveExports } from "../curves.js";
import { barsSvg } from "../export.js";
import { Figure } from "../figure.js";
import { JobControl, useJob } from "../jobs.js";
import { pythonOfModel, quote } from "../python.js";
import { model } from "../state.js";

export function Why() {
  return html`
    <div class="panels">
      <${Order} /><${Scaling} /><${Length} />
    </div>`;
}

const useExperiment = (experiment) => {
  const job = useJob("/api/why", { model: model.value.name, experiment });
  return { job, found: job.job?.state === "done" ? job.job.result : null };
};

function Order() {
  const { job, found } = useExperiment("order");
  const rows = found ? [["with positions", found.changed, found.memory_change], ["without", found.changed_without, found.memory_change_without]] : [];
  return html`
    <${Figure} wide id="order" title="Without positions, attention reads a bag of words"
      caption="The first and the last word of validation sentences change places. With positions the translation follows; without them, each word's encoding stays the same wherever it stands (§3.5). The command dragoman lab order asks untrained models, for every kind of positions."
      table=${() => ({ columns: ["", "translations changed", "largest change of an encoding (mean)"], rows })}
      svg=${() => barsSvg({ labels: rows.map(([name]) => name), values: rows.map((row) => row[2]), texts: rows.map((row) => `${row[1]} translations changed`) })}
      python=${() => pythonOfModel([
        "from pathlib import Path",
        "from dragoman.inspection.why_attention import order",
        "from dragoman.studio.validation_text import first_pairs", "",
        `print(order(translator, [source for source, _ in first_pairs(Path(${quote(model.value.folder)}), 20)]))`].join("\n"))}>
      <${JobControl} of=${job} name="Swap words" />
      ${found && html`<div class="scrolling" tabindex="0" role="region" aria-label="Readings"><table class="data narrow"><thead><tr><th scope="col">reading</th><th scope="col" class="number">translations that changed</th><th scope="col" class="number">largest change of a word's encoding, mean</th></tr></thead>
        <tbody>${rows.map(([name, changed, memory]) => html`<tr><td>${name}</td><td class="number">${changed} of ${found.sentences}</td><td class="number">${memory < 1e-3 ? memory.toExponential(1) : fixed(memory)}</td></tr>`)}</tbody></table></div>`}
    <//>`;
}

function Scaling() {
  const { job, found } = useExperiment("scaling");
  const shown = useMemo(() => found && ({
    x: found.map((row) => Math.log2(row.d_k)),
    series: [
      { label: "with ÷ √dₖ", values: found.map((row) => row.entropy) },
      { label: "without", values: found.map((row) => row.entropy_unscaled) },
    ],
    xTitle: "log₂ dₖ",
  }), [found]);
  return html`
    <${Figure} id="scaling" title="Without √dₖ, softmax hardens"
      caption="Entropy of attention over 32 random keys as they grow wider. The variance of q·k grows with dₖ; unscaled, one key takes everything and the gradient dies (§3.2.1). The command dragoman lab scaling draws from several seeds."
      ...${shown ? curveExports(shown) : { table: () => ({ columns: [], rows: [] }), svg: () => barsSvg({ labels: [""], values: [0], texts: [""] }) }}
      python=${() => "from dragoman.inspection.why_attention import saturation\n\nfor row in saturation():\n    print(row)\n"}>
      <${JobControl} of=${job} name="Let dₖ grow" />
      ${found && html`<${Curves} label="Entropy by key width" ...${shown} />
        <div class="scrolling" tabindex="0" role="region" aria-label="Numbers by key width"><table class="data"><thead><tr><th scope="col" class="number">dₖ</th><th scope="col" class="number">spread of q·k</th><th scope="col" class="number">gradient</th><th scope="col" class="number">unscaled</th></tr></thead>
          <tbody>${found.map((row) => html`<tr><td class="number">${row.d_k}</td><td class="number">${fixed(row.spread, 2)}</td><td class="number">${fixed(row.gradient, 4)}</td><td class="number">${fixed(row.gradient_unscaled, 4)}</td></tr>`)}</tbody></table></div>`}
    <//>`;
}

function Length() {
  const { job, found } = useExperiment("length");
  const shown = useMemo(() => found && ({
    x: found.map((row) => row.length),
    series: [
      { label: "attention, ms", values: found.map((row) => row.attention) },
      { label: "LSTM, ms", values: found.map((row) => row.recurrent) },
    ],
    xTitle: "words",
  }), [found]);
  return html`
    <${Figure} id="length" title="What a longer sentence costs"
      caption="One encoder layer of this model against an LSTM layer of the same width, timed here. Attention reads all words at once, any two one step apart; the LSTM goes word after word (Table 1). The commands dragoman lab speed and lab complexity time and count whole networks."
      ...${shown ? curveExports(shown) : { table: () => ({ columns: [], rows: [] }), svg: () => barsSvg({ labels: [""], values: [0], texts: [""] }) }}
      python=${() => pythonOfModel("from dragoman.inspection.why_attention import length_costs\n\nfor row in length_costs(translator):\n    print(row)")}>
      <${JobControl} of=${job} name="Time both" />
      ${found && html`<${Curves} label="Time by length" ...${shown} />
        <div class="scrolling" tabindex="0" role="region" aria-label="Numbers by length"><table class="data"><thead><tr><th scope="col" class="number">words</th><th scope="col" class="number">attention, ms</th><th scope="col" class="number">LSTM, ms</th><th scope="col" class="number">path</th><th scope="col" class="number">LSTM's path</th></tr></thead>
          <tbody>${found.map((row) => html`<tr><td class="number">${row.length}</td><td class="number">${fixed(row.attention, 2)}</td><td class="number">${fixed(row.recurrent, 2)}</td><td class="number">${row.attention_path}</td><td class="number">${row.recurrent_path}</td></tr>`)}</tbody></table></div>`}
    <//>`;
}
