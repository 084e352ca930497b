// Translate: the output, the ten best at each step, and the search that found it.
import { fixed, html, percent, readable, useState } from "../lib.js";
import { useAnswer } from "../api.js";
import { BeamTree } from "../beam_tree.js";
import { replaceChange } from "../changes.js";
import { barsSvg } from "../export.js";
import { Figure } from "../figure.js";
import { python, quote } from "../python.js";
import { targetPlace } from "../selection.js";
import { get, number, set } from "../state.js";
import { Answer } from "../states.js";

// Go on from another token: the translation has to begin as it does up to here.
function force(data, place, token) {
  replaceChange("force:", `force:${[...data.target.ids.slice(0, place), token].join(".")}`);
}

function Step({ prediction, place, data }) {
  const chosen = targetPlace.value === place;
  return html`
    <li class=${`step${chosen ? " chosen" : ""}`}>
      <p class="reads">reads <b>${readable(prediction.reads)}</b></p>
      <p class="reads">→ predicts</p>
      <button class="predicted" aria-pressed=${chosen} onClick=${() => set({ j: chosen ? "" : place })}>${readable(prediction.predicts)}</button>
      <div class="probability"><span style=${{ width: `${100 * prediction.probability}%` }}></span></div>
      <p class="says"><output>${percent(prediction.probability)}</output>${prediction.rank > 1 && html` <em>rank ${prediction.rank}</em>`}</p>
      <ol class="alternatives">
        ${prediction.alternatives.map((one) => html`
          <li class=${one.token === prediction.token ? "taken" : ""}>
            <button onClick=${() => force(data, place, one.token)} disabled=${one.token === prediction.token || one.token < 3}
              title="go on from here" aria-label=${`Step ${prediction.step}: go on with ${readable(one.piece)}`}>${readable(one.piece)}</button>
            <output>${fixed(100 * one.probability, 1)}</output></li>`)}
      </ol>
    </li>`;
}

export function Translate({ data }) {
  const answer = useAnswer("/api/translate", data.question);
  return html`<${Answer} of=${answer}>${(found) => html`
    <div class="panels">
      <${Steps} predictions=${found.predictions} data=${data} />
      <${Tree} tree=${found.tree} question=${data.question} />
      <${Reference} data=${data} />
    </div>`}<//>`;
}

function Steps({ predictions, data }) {
  const { question } = data;
  const table = () => ({
    columns: ["step", "reads", "predicts", "probability", "log-probability", "rank", "alternatives"],
    rows: predictions.map((one) => [one.step, one.reads, one.predicts, one.probability, one.log_probability, one.rank,
      one.alternatives.map((other) => `${other.piece} ${other.probability}`).join(" | ")]),
  });
  const svg = () => barsSvg({
    labels: predictions.map((one) => readable(one.predicts)),
    values: predictions.map((one) => one.probability),
    texts: predictions.map((one) => percent(one.probability)),
  });
  return html`
    <${Figure} wide id="steps" title="Token by token" table=${table} svg=${svg}
      caption="Each step reads the token before and predicts the next: its probability, and the ten likeliest tokens in per cent. Choose another token to go on from there."
      python=${() => python(question, "for prediction in inspection.predictions(10):\n    print(prediction.predicts, prediction.probability, prediction.alternatives)")}>
      <ol class="steps" tabindex="0" aria-label="Predictions, step by step">
        ${predictions.map((one, place) => html`<${Step} key=${place} prediction=${one} place=${place} data=${data} />`)}
      </ol>
    <//>`;
}

function Tree({ tree, question }) {
  const table = () => ({
    columns: ["number", "parent", "step", "piece", "token_log_probability", "log_probability", "score", "rank", "fate"],
    rows: tree.nodes.map((one) => [one.number, one.parent, one.step, one.piece, one.token_log_probability, one.log_probability, one.score, one.rank, one.fate]),
  });
  return html`
    <${Figure} wide id="search" title="The search" table=${table}
      caption=${`A beam of ${tree.beam_size}: every continuation that was weighed, best first in each column, with its score after the length penalty. Choose one to see why it was kept or given up.`}
      python=${() => python(question, "for node in inspection.beam.nodes:\n    print(node.step, node.rank, node.piece, node.score, node.fate)")}>
      <${BeamTree} tree=${tree} step=${get("step") === "" ? null : number("step")} onStep=${(step) => set({ step })}
        chosen=${get("node") === "" ? null : number("node")} onChoose=${(node) => set({ node })} />
    <//>`;
}

const VERDICTS = {
  found: "This is what the search found.",
  "search error": "A search error: the model likes this translation better than the one it gave, but the beam lost it.",
  "model error": "A model error: the model itself likes this translation less than the one it gave.",
};

function Reference({ data }) {
  const [text, setText] = useState(get("reference"));
  const asked = get("reference").trim();
  const answer = useAnswer("/api/reference", asked ? { ...data.question, reference: asked } : null);
  const submit = (event) => { event.preventDefault(); set({ reference: text.trim() }); };
  const table = () => ({
    columns: ["text", "blame", "step", "piece", "rank", "fate", "log_probability", "score", "best_score"],
    rows: answer.data ? [["text", "blame", "step", "piece", "rank", "fate", "log_probability", "score", "best_score"].map((name) => answer.data[name])] : [],
  });
  const svg = () => barsSvg({
    labels: ["reference", "translation"], values: answer.data ? [answer.data.score, answer.data.best_score] : [0, 0],
    texts: answer.data ? [fixed(answer.data.score), fixed(answer.data.best_score)] : ["", ""],
  });
  return html`
    <${Figure} wide id="reference" title="A translation you would have liked" table=${table} svg=${svg}
      caption="Type a reference: where it fell off the beam, and whether search or model is to blame."
      python=${() => python(data.question, `print(inspection.reference(${quote(asked)}))`)}>
      <form class="controls grow" onSubmit=${submit}>
        <label class="unseen" for="liked">Reference</label>
        <input id="liked" value=${text} maxlength="5000" placeholder="a reference translation" spellcheck="false" onInput=${(event) => setText(event.target.value)} />
        <button>Follow it</button>
      </form>
      <${Answer} of=${answer} empty="No reference yet.">${(found) => html`
        <p class=${found.blame === "found" ? "verdict good" : "verdict bad"} id="blame">${VERDICTS[found.blame]}</p>
        <dl class="facts">
          ${found.step !== null && html`<dt>fell off</dt><dd>at step ${found.step}, with <b>${readable(found.piece)}</b>${found.rank ? `, rank ${found.rank}` : ""}</dd>`}
          <dt>why</dt><dd>${found.fate}</dd>
          <dt>its score</dt><dd><output id="reference-score">${fixed(found.score, 4)}</output> (log P <output>${fixed(found.log_probability)}</output>)</dd>
          <dt>the winner's</dt><dd><output>${fixed(found.best_score, 4)}</output> (log P <output>${fixed(found.best_log_probability)}</output>)</dd>
        </dl>`}<//>
    <//>`;
}
