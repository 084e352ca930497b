// Stream: what each sublayer adds, what the norms do, and what would be said so far.
import { clamp, fixed, html, percent, readable, useMemo } from "../lib.js";
import { useAnswer } from "../api.js";
import { Curves, curveExports } from "../curves.js";
import { css, over, scale } from "../colour.js";
import { dark } from "../appearance.js";
import { Figure } from "../figure.js";
import { Legend, Matrix, isWide, matrixExports } from "../matrix.js";
import { python } from "../python.js";
import { sourcePlace, targetPlace } from "../selection.js";
import { get, number, set } from "../state.js";
import { Answer } from "../states.js";

const SHORT = { "self-attention": "self", recurrence: "rnn", "cross-attention": "cross", "feed-forward": "ffn" };
const named = (one) => `${one.layer + 1} ${SHORT[one.name]}`;

export function Stream({ data }) {
  const answer = useAnswer("/api/stream", data.question);
  return html`<${Answer} of=${answer}>${(found) => html`<${Views} found=${found} data=${data} />`}<//>`;
}

function Views({ found, data }) {
  const stack = get("stack") === "encoder" ? "encoder" : "decoder";
  const tokens = stack === "encoder" ? data.source : data.target_in;
  const sublayers = found[stack];
  if (sublayers[0].lengths.length !== tokens.pieces.length) return null;
  const wanted = stack === "encoder" ? sourcePlace.value : targetPlace.value;
  const place = clamp(wanted ?? 0, 0, tokens.pieces.length - 1);
  const choose = (at) => set({ [stack === "encoder" ? "i" : "j"]: at });
  return html`
    <div class="controls">
      <span class="switch" role="group" aria-label="Stack">
        ${["decoder", "encoder"].map((name) => html`<button aria-pressed=${stack === name} onClick=${() => set({ stack: name })}>${name}</button>`)}</span>
      <label>place <select value=${place} onChange=${(event) => choose(event.target.value)}>
        ${tokens.pieces.map((piece, k) => html`<option value=${k}>${k + 1} ${readable(piece)}</option>`)}</select></label>
    </div>
    <div class="panels">
      ${stack === "decoder" && html`<${Lens} rows=${found.lens} data=${data} place=${place} choose=${choose} />`}
      <${Lengths} sublayers=${sublayers} tokens=${tokens} stack=${stack} place=${place} choose=${choose} question=${data.question} />
      <${Written} sublayers=${sublayers} place=${place} stack=${stack} question=${data.question} />
      <${Norms} sublayers=${sublayers} place=${place} stack=${stack} question=${data.question} />
    </div>`;
}

function Lens({ rows, data, place, choose }) {
  const rgb = scale(get("scale"), dark.value);
  const exported = {
    data: Float32Array.from(rows.flatMap((row) => row.guesses.map((one) => one.final_probability))),
    rows: rows.map(named), columns: data.target.pieces.map(readable),
    rowTitle: "after sublayer", columnTitle: "final token",
  };
  const table = () => ({
    columns: ["sublayer", ...data.target.pieces],
    rows: rows.map((row) => [named(row), ...row.guesses.map((one) => `${one.piece} ${one.probability}`)]),
  });
  return html`
    <${Figure} wide id="lens" title="Logit lens" table=${table} svg=${matrixExports(exported).svg}
      caption="What the decoder would say if it ended after each sublayer; the colour is the probability of the token that finally came."
      python=${() => python(data.question, "from dragoman.inspection.logit_lens import logit_lens\n\nfor row in logit_lens(inspection):\n    print(row.layer, row.name, [guess.piece for guess in row.guesses])")}>
      <div class="scrolling" tabindex="0" role="region" aria-label="Logit lens"><table class="lens">
        <thead><tr><th scope="col">after</th>${data.target.pieces.map((piece, k) => html`
          <th scope="col" class=${k === place ? "chosen" : ""}>${readable(piece)}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<tr><th scope="row">${named(row)}</th>
          ${row.guesses.map((one, k) => html`
            <td style=${{ background: css(rgb, one.final_probability), color: over(rgb, one.final_probability) }}
              title=${`${readable(one.piece)} ${percent(one.probability)}; final token ${percent(one.final_probability)}, rank ${one.final_rank}`}
              onClick=${() => choose(k)}>${readable(one.piece)}</td>`)}</tr>`)}</tbody>
      </table></div>
      <p class="readout"><span>probability of the final token</span><${Legend} rgb=${rgb} low=${0} high=${1} /></p>
    <//>`;
}

function Lengths({ sublayers, tokens, stack, place, choose, question }) {
  const shown = useMemo(() => {
    const values = sublayers.flatMap((one) => one.lengths);
    return {
      data: Float32Array.from(values), rows: sublayers.map(named), columns: tokens.pieces.map(readable),
      low: 0, high: Math.max(...values), rowTitle: "after sublayer", columnTitle: stack === "encoder" ? "source" : "reads",
    };
  }, [sublayers]);
  return html`
    <${Figure} wide=${isWide(tokens.pieces)} id="lengths" title="Length of the stream" ...${matrixExports(shown)}
      caption="How long each token's vector is after each sublayer."
      python=${() => python(question, `for sublayer in inspection.sublayers("${stack}"):\n    print(sublayer.layer, sublayer.name, sublayer.lengths)`)}>
      <${Matrix} label="Length of the stream" ...${shown} digits=${2} selected=${{ row: null, column: place }} onSelect=${(_, column) => choose(column)} />
    <//>`;
}

function Written({ sublayers, place, stack, question }) {
  const shown = useMemo(() => ({
    x: sublayers.map((_, k) => k + 1),
    series: [
      { label: "stream", values: sublayers.map((one) => one.lengths[place]) },
      { label: "written", values: sublayers.map((one) => one.written_lengths[place]) },
    ],
    xTitle: "sublayer", xNames: sublayers.map(named),
  }), [sublayers, place]);
  return html`
    <${Figure} wide=${isWide(sublayers[0].lengths)} id="written" title="What each sublayer writes" ...${curveExports(shown)}
      caption="The length of the stream at the chosen place, and of what each sublayer wrote into it."
      python=${() => python(question, `for sublayer in inspection.sublayers("${stack}"):\n    print(sublayer.written_lengths[${place}], sublayer.lengths[${place}])`)}>
      <${Curves} label="Stream and written" ...${shown} />
    <//>`;
}

const span = (values) => `${fixed(Math.min(...values), 2)} … ${fixed(Math.max(...values), 2)}`;

function Norms({ sublayers, place, stack, question }) {
  const columns = ["sublayer", "mean before", "variance before", "mean after", "variance after", "γ", "β"];
  const row = (one) => [named(one), one.norm.mean[place], one.norm.variance[place], one.norm.output_mean[place], one.norm.output_variance[place]];
  const table = () => ({ columns, rows: sublayers.map((one) => [...row(one), span(one.norm.gamma), span(one.norm.beta)]) });
  const exported = {
    data: Float32Array.from(sublayers.flatMap((one) => row(one).slice(1))), rows: sublayers.map(named), columns: columns.slice(1, 5),
    low: 0, high: 2, rowTitle: "sublayer", columnTitle: "layer norm",
  };
  return html`
    <${Figure} wide id="norms" title="Layer norms" table=${table} svg=${matrixExports(exported).svg}
      caption="Mean and variance of the chosen place's vector before and after each norm, and the range of the learned γ and β."
      python=${() => python(question, `for sublayer in inspection.sublayers("${stack}"):\n    print(sublayer.norm.mean[${place}], sublayer.norm.variance[${place}], sublayer.norm.gamma, sublayer.norm.beta)`)}>
      <div class="scrolling" tabindex="0" role="region" aria-label="Numbers of each norm"><table class="data">
        <thead><tr>${columns.map((text, k) => html`<th scope="col" class=${k ? "number" : ""}>${text}</th>`)}</tr></thead>
        <tbody>${sublayers.map((one) => html`<tr>${row(one).map((value, k) => html`
          <td class=${k ? "number" : ""}>${k ? fixed(value, 4) : value}</td>`)}
          <td class="number">${span(one.norm.gamma)}</td><td class="number">${span(one.norm.beta)}</td></tr>`)}</tbody>
      </table></div>
    <//>`;
}
