// Examples: the validation text as a table; a row opens any page.
import { fixed, html } from "../lib.js";
import { barsSvg } from "../export.js";
import { Figure } from "../figure.js";
import { JobControl, useJob } from "../jobs.js";
import { PAGES } from "../pages.js";
import { pythonOfModel, quote } from "../python.js";
import { get, go, model, set } from "../state.js";
import { Empty } from "../states.js";

const COLUMNS = [
  { id: "number", name: "№", number: true },
  { id: "source", name: "source" },
  { id: "translation", name: "translation" },
  { id: "reference", name: "reference" },
  { id: "bleu", name: "BLEU", number: true, show: (value) => fixed(value, 1) },
  { id: "confidence", name: "confidence", number: true, show: (value) => fixed(value, 2) },
  { id: "warnings", name: "warnings", number: true, show: (value) => (value.length ? String(value.length) : "") },
];

const key = (row, id) => (id === "warnings" ? row.warnings.length : row[id]);

export function Examples() {
  const job = useJob("/api/examples", { model: model.value.name });
  const rows = job.job?.result ?? [];
  const by = COLUMNS.some((one) => one.id === get("sort")) ? get("sort") : "number";
  const down = get("down") === "1";
  const sorted = [...rows].sort((a, b) => {
    const [x, y] = [key(a, by), key(b, by)];
    const order = typeof x === "string" ? x.localeCompare(y) : x - y;
    return down ? -order : order;
  });
  const table = () => ({ columns: COLUMNS.map((one) => one.name), rows: sorted.map((row) => COLUMNS.map((one) => (one.id === "warnings" ? row.warnings.join("; ") : row[one.id]))) });
  return html`
    <div class="panels"><${Figure} wide id="examples" title="Validation sentences" table=${table}
      svg=${() => barsSvg({ labels: sorted.map((row) => String(row.number)), values: sorted.map((row) => row.bleu), texts: sorted.map((row) => fixed(row.bleu, 1)) })}
      caption="Confidence is the mean log-probability of a token. Sort by any column; a row opens on the page that you choose."
      python=${() => pythonOfModel([
        "from pathlib import Path",
        "from dragoman.inspection.inspect import inspect",
        "from dragoman.studio.validation_text import first_pairs", "",
        `for source, reference in first_pairs(Path(${quote(model.value.folder)}), 100):`,
        "    found = inspect(translator, source)",
        "    print(found.target_text, found.log_probability / len(found.target_out))"].join("\n"))}>
      <${JobControl} of=${job} name="Translate the validation text" />
      ${rows.length === 0 ? html`<${Empty}>Nothing translated yet.<//>` : html`
        <div class="scrolling" tabindex="0" role="region" aria-label="Examples"><table class="data texts examples-table">
          <thead><tr>${COLUMNS.map((one) => html`
            <th scope="col" class=${one.number ? "number" : ""} aria-sort=${by === one.id ? (down ? "descending" : "ascending") : undefined}>
              <button onClick=${() => set({ sort: one.id, down: by === one.id && !down ? "1" : "" })}>${one.name}${by === one.id ? (down ? " ↓" : " ↑") : ""}</button></th>`)}
            <th scope="col"><span class="unseen">open</span></th></tr></thead>
          <tbody>${sorted.map((row) => html`<tr key=${row.number}>
            ${COLUMNS.map((one) => html`<td class=${one.number ? "number" : ""} title=${one.id === "warnings" ? row.warnings.join("; ") : undefined}>${one.show ? one.show(row[one.id]) : row[one.id]}</td>`)}
            <td><select value="" aria-label=${`Open sentence ${row.number} on a page`}
              onChange=${(event) => go(event.target.value, { s: row.source, t: "", i: "", j: "", changes: "" })}>
              <option value="" disabled>open in …</option>
              ${PAGES.filter((page) => page.needsSentence).map((page) => html`<option value=${page.id}>${page.name}</option>`)}</select></td>
          </tr>`)}</tbody>
        </table></div>`}
    <//></div>`;
}
