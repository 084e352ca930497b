// A row of words or pieces, to look at and to choose from.
import { clamp, html, useRef } from "./lib.js";
import { fromUnit, labels, toUnit } from "./selection.js";

export function Words({ name, tokens, place, onChoose, shade, title }) {
  const row = useRef(null);
  const texts = labels(tokens);
  const chosen = toUnit(tokens, place);
  const choose = (index) => {
    onChoose(index === chosen ? "" : fromUnit(tokens, index));
    row.current.children[index]?.focus();
  };
  const onKeyDown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const here = [...row.current.children].indexOf(document.activeElement);
    const next = clamp(here + step, 0, texts.length - 1);
    onChoose(fromUnit(tokens, next));
    row.current.children[next]?.focus();
  };
  return html`
    <div class="words" role="group" aria-label=${name} ref=${row} onKeyDown=${onKeyDown}>
      ${texts.map((text, index) => html`
        <button class="word" key=${index} aria-pressed=${index === chosen}
          tabindex=${index === (chosen ?? 0) ? 0 : -1}
          title=${title ? title(index) : undefined}
          style=${shade ? { "--share": String(shade(index)) } : undefined}
          onClick=${() => choose(index)}>${text}</button>`)}
    </div>`;
}
