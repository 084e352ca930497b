// A figure with its title, and what can be done with it.
import { html, useRef, useState } from "./lib.js";
import * as files from "./export.js";
import { dialog } from "./dialog.js";

const FORMATS = ["SVG", "PNG", "CSV", "HTML", "Python"];

// `table` holds the figure's numbers, `svg` draws it anew or finds it in `element`,
// and `python` is the code that gives the same numbers.
export function Figure({ id, title, caption, table, svg, python, children, wide }) {
  const element = useRef(null);
  const [error, setError] = useState("");
  const draw = () => (svg ? svg() : files.serialise(element.current.querySelector("svg.drawing")));

  async function give(format) {
    setError("");
    try {
      if (format === "CSV") files.save(`${id}.csv`, files.csv(table()), "text/csv");
      else if (format === "Python") dialog.value = { title: `${title}, in Python`, code: python() };
      else if (format === "SVG") files.save(`${id}.svg`, draw(), "image/svg+xml");
      else if (format === "PNG") files.save(`${id}.png`, await files.png(draw()), "image/png");
      else {
        const text = files.standalone({
          title, caption: caption ?? "", svg: draw(), table: table(), python: python(),
        });
        files.save(`${id}.html`, text, "text/html");
      }
    } catch (problem) {
      setError(`This figure could not be saved: ${problem.message}`);
    }
  }

  return html`
    <section class=${wide ? "figure wide" : "figure"} id=${id} ref=${element} aria-labelledby=${`${id}-title`}>
      <header>
        <h2 id=${`${id}-title`}>${title}</h2>
        <div class="formats" role="group" aria-label=${`Save: ${title}`}>
          ${FORMATS.map((format) => html`
            <button class="quiet" onClick=${() => give(format)} aria-label=${`${title} as ${format}`}>${format}</button>`)}
        </div>
      </header>
      ${caption && html`<p class="caption">${caption}</p>`}
      ${error && html`<p class="problem" role="alert">${error}</p>`}
      ${children}
    </section>`;
}
