// One head, step by step, with the real numbers and switches that change them.
import { fixed, html, useEffect, useState } from "../lib.js";
import { useAnswer } from "../api.js";
import { replaceChange, toggle } from "../changes.js";
import { barsSvg } from "../export.js";
import { Figure } from "../figure.js";
import { python } from "../python.js";
import { headName, kind, layer, oneHead, sourcePlace, targetPlace } from "../selection.js";
import { changes, get, model, set } from "../state.js";
import { readable } from "../lib.js";
import { Answer } from "../states.js";
import { Vector } from "../vector.js";

const clampPlace = (place, tokens) => Math.min(place ?? 0, tokens.pieces.length - 1);

// Which words ask and which answer, and where the selection stands among them.
function sides(data) {
  const of = kind.value;
  const queries = of === "encoder" ? data.source : data.target;
  const keys = of === "decoder" ? data.target_in : data.source;
  const query = clampPlace(of === "encoder" ? sourcePlace.value : targetPlace.value, queries);
  const named = get("key");
  const key = clampPlace(named !== "" ? Number(named) : of === "cross" ? sourcePlace.value : 0, keys);
  return { queries, keys, query, key };
}

export function Head({ data }) {
  const at = sides(data);
  const asked = {
    ...data.question, kind: kind.value, layer: layer.value, head: oneHead.value, query: at.query, key: at.key,
  };
  const answer = useAnswer("/api/head", asked);
  return html`
    <${Formula} />
    <${Switches} data=${data} at=${at} found=${answer.data} />
    <${Answer} of=${answer}>${(found) => found.weights.length === at.keys.pieces.length && html`
      <div class="panels"><${Walk} found=${found} at=${at} question=${data.question} /></div>`}<//>`;
}

function Formula() {
  return html`
    <math class="formula" display="block" aria-label="Attention of Q, K and V is softmax of Q K transposed over the root of d k, times V">
      <mi>Attention</mi><mrow><mo>(</mo><mi>Q</mi><mo>,</mo><mi>K</mi><mo>,</mo><mi>V</mi><mo>)</mo></mrow><mo>=</mo><mi>softmax</mi>
      <mrow><mo>(</mo><mfrac><mrow><mi>Q</mi><msup><mi>K</mi><mi>T</mi></msup></mrow><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac><mo>)</mo></mrow><mi>V</mi>
    </math>`;
}

function Switches({ data, at, found }) {
  const where = `${kind.value}.${layer.value}.${oneHead.value}`;
  const temperature = changes.value.find((one) => one.startsWith(`temperature:${where}`))?.split(":")[2] ?? "1";
  const editing = `edit:${where}.${at.query}.${at.key}`;
  const shown = found && found.scaled[at.key] !== undefined ? found.scaled[at.key].toFixed(3) : "";
  const [score, setScore] = useState(shown);
  useEffect(() => { setScore(shown); }, [shown]);
  const has = (part) => changes.value.includes(`without:${part}`);
  return html`
    <div class="controls switches" role="group" aria-label="Change this head">
      <label>query
        <select value=${at.query} onChange=${(event) => set({ [kind.value === "encoder" ? "i" : "j"]: event.target.value })}>
          ${at.queries.pieces.map((piece, k) => html`<option value=${k}>${k + 1} ${readable(piece)}</option>`)}</select></label>
      <label>key
        <select value=${at.key} onChange=${(event) => set({ key: event.target.value })}>
          ${at.keys.pieces.map((piece, k) => html`<option value=${k}>${k + 1} ${readable(piece)}</option>`)}</select></label>
      <label><input type="checkbox" checked=${has("scaling")} onChange=${() => toggle("without:scaling")} /> without √dₖ</label>
      <label><input type="checkbox" checked=${has("mask")} onChange=${() => toggle("without:mask")} /> without masks</label>
      <label><input type="checkbox" checked=${changes.value.includes(`ablate:${where}`)} onChange=${() => toggle(`ablate:${where}`)} /> head off</label>
      <span class="field"><label for="temperature">temperature</label>
      <input id="temperature" type="range" min="-2" max="2" step="0.25" value=${Math.log2(Number(temperature))}
        onChange=${(event) => {
          const value = 2 ** Number(event.target.value);
          replaceChange(`temperature:${where}:`, value === 1 ? "" : `temperature:${where}:${value.toFixed(3)}`);
        }} /><output>${Number(temperature).toFixed(2)}</output></span>
      <form class="edit" onSubmit=${(event) => { event.preventDefault(); if (score !== "") replaceChange(`${editing}:`, `${editing}:${Number(score)}`); }}>
        <label>score <input type="number" step="any" min="-10000" max="10000" value=${score} aria-label="score after scaling"
          onInput=${(event) => setScore(event.target.value)} /></label>
        <button>Set</button>
      </form>
    </div>`;
}

function Walk({ found, at, question }) {
  const name = headName(kind.value, layer.value, oneHead.value);
  const dk = model.value.d_head;
  const turns = model.value.positions === "rotary" && kind.value !== "cross" && !changes.value.includes("without:positions");
  const turned = turns ? ", turned by its place" : "";
  const [query, key] = [readable(at.queries.pieces[at.query]), readable(at.keys.pieces[at.key])];
  const code = () => python(question, [
    "from dragoman.inspection.walk_through import walk_through", "",
    `walk = walk_through(inspection, "${kind.value}", ${layer.value}, ${oneHead.value}, query=${at.query}, key=${at.key})`,
    "print(walk.scores, walk.scaled, walk.weights, walk.largest_error)"].join("\n"));
  const columns = ["key", "q·k", "scaled", "may attend", "exp", "weight"];
  const rows = at.keys.pieces.map((piece, k) => [
    piece, found.scores[k], found.scaled[k], found.allowed[k], found.exponentials[k], found.weights[k]]);
  return html`
    <${Figure} wide id="products" title=${`1 · q·k: one product per dimension (${name})`} python=${code}
      caption=${`The query ${query} meets the key ${key}: W_Q and W_K turn their rows into ${dk} numbers each; the score is the sum of ${dk} products.`}
      table=${() => ({ columns: ["dimension", "query", "key", "product"], rows: found.products.map((value, k) => [k + 1, found.query[k], found.key[k], value]) })}
      svg=${() => barsSvg({ labels: found.products.map((_, k) => String(k + 1)), values: found.products, texts: found.products.map((value) => fixed(value)) })}>
      <div class="vectors">
        <${Vector} label="x (query)" values=${found.query_input} />
        <${Vector} label="x (key)" values=${found.key_input} />
        <${Vector} label=${`q = x W_Q${turned}`} values=${found.query} />
        <${Vector} label=${`k = x W_K${turned}`} values=${found.key} />
        <${Vector} label="v = x W_V" values=${found.value} />
      </div>
      <${Products} values=${found.products} score=${found.scores[at.key]} />
    <//>
    <${Figure} id="softmax" title="2 · scale, mask, softmax" python=${code}
      table=${() => ({ columns, rows })}
      svg=${() => barsSvg({ labels: at.keys.pieces.map(readable), values: found.weights, texts: found.weights.map((value) => fixed(value)) })}
      caption=${`Every key: its score, divided by √${dk} = ${fixed(Math.sqrt(dk))}, masked, exponentiated, and divided by the sum.`}>
      <${Softmax} found=${found} at=${at} columns=${columns} />
    <//>
    <${Figure} id="output" title="3 · values, W_O, residual" python=${code}
      caption="The values are mixed by their weights; all heads are joined and mixed by W_O; the result is added to the stream."
      table=${() => ({ columns: ["head", "length of its write"], rows: found.head_lengths.map((value, k) => [k + 1, value]) })}
      svg=${() => barsSvg({ labels: found.head_lengths.map((_, k) => `head ${k + 1}`), values: found.head_lengths, texts: found.head_lengths.map((value) => fixed(value)) })}>
      <div class="vectors">
        <${Vector} label="Σ weight · v" values=${found.output} />
        <${Vector} label="· W_O (head)" values=${found.write} />
        <${Vector} label="all heads" values=${found.written} />
        <${Vector} label="x before" values=${found.before} />
        <${Vector} label="x after" values=${found.after} />
      </div>
      <h3>How much each head writes here</h3>
      <table class="data"><tbody>${found.head_lengths.map((value, k) => html`
        <tr class=${k === oneHead.value ? "chosen" : ""}><td>head ${k + 1}</td>
          <td class="number">${fixed(value)}</td>
          <td><span class="bar-cell" style=${{ width: `${(8 * value) / Math.max(...found.head_lengths, 1e-9)}rem` }}></span></td></tr>`)}</tbody></table>
      <p class="footer-note">max |shown − model| = <output id="largest-error">${found.largest_error.toExponential(2)}</output></p>
    <//>`;
}

function Products({ values, score }) {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  return html`
    <div class="products" role="img" aria-label=${`${values.length} products that sum to ${fixed(score)}`}>
      ${values.map((value, k) => html`
        <span key=${k} class=${value < 0 ? "product negative" : "product"} title=${`dimension ${k + 1}: ${fixed(value, 4)}`}
          style=${{ "--part": String(Math.abs(value) / most) }}></span>`)}
      <strong>Σ = <output id="score">${fixed(score, 4)}</output></strong>
    </div>`;
}

function Softmax({ found, at, columns }) {
  return html`
    <div class="scrolling tall" tabindex="0" role="region" aria-label="Softmax over the keys">
      <table class="data">
        <thead><tr>${columns.map((text, k) => html`<th scope="col" class=${k ? "number" : ""}>${text}</th>`)}<th scope="col"><span class="unseen">bar</span></th></tr></thead>
        <tbody>${at.keys.pieces.map((piece, k) => html`
          <tr class=${k === at.key ? "chosen" : ""}>
            <td><button class="quiet" onClick=${() => set({ key: k })}>${readable(piece)}</button></td>
            <td class="number">${fixed(found.scores[k])}</td>
            <td class="number">${fixed(found.scaled[k])}</td>
            <td class="number">${found.allowed[k] ? "yes" : "−∞"}</td>
            <td class="number">${fixed(found.exponentials[k])}</td>
            <td class="number"><b>${fixed(found.weights[k], 4)}</b></td>
            <td><span class="bar-cell" style=${{ width: `${4 * found.weights[k]}rem` }}></span></td>
          </tr>`)}</tbody>
        <tfoot><tr><td>sum</td><td></td><td></td><td></td><td class="number">${fixed(found.total)}</td><td class="number">1</td><td></td></tr></tfoot>
      </table>
    </div>`;
}
