// Ribbons between the words of two sides, as wide as their attention.
import { clamp, fixed, html, useRef } from "./lib.js";
import { longest, useWidth } from "./matrix.js";

const ROW = 30;
const CLOSE = 20; // for long sentences
const MANY = 24; // words
const WIDEST = 620;
const FAINTEST = 0.04;

export function Ribbons({ data, rows, columns, selected, onSelect }) {
  const frame = useRef(null);
  const width = Math.min(WIDEST, useWidth(frame) || WIDEST);
  const side = (texts) => clamp(14 + 8.2 * longest(texts), 40, width / 3);
  const count = Math.max(rows.length, columns.length);
  const apart = count > MANY ? CLOSE : ROW;
  const height = count * apart + 14;
  // Both sides are spread over the whole height, so that ribbons run as level as they can.
  const spread = (texts) => (k) => 22 + (texts.length > 1 ? (k * (count - 1) * apart) / (texts.length - 1) : 0);
  const [left, right] = [spread(columns), spread(rows)];
  const strong = (j, i) => (selected.row === null && selected.column === null)
    || selected.row === j || selected.column === i;
  const bands = [];
  for (let j = 0; j < rows.length; j += 1) {
    // What pulls a prediction down has no width.
    const row = data.subarray(j * columns.length, (j + 1) * columns.length).map((value) => Math.max(0, value));
    const sum = row.reduce((total, value) => total + value, 0) || 1;
    for (let i = 0; i < columns.length; i += 1) {
      const weight = row[i] / sum;
      if (weight >= FAINTEST) bands.push({ i, j, weight });
    }
  }
  bands.sort((a, b) => strong(a.j, a.i) - strong(b.j, b.i));
  const [x0, x1] = [side(columns), width - side(rows)];
  return html`
    <div class="scrolling tall" tabindex="0" role="region" aria-label="Ribbons between source and translation" ref=${frame}>
      <svg class="drawing ribbons" viewBox=${`0 0 ${width} ${height}`} style=${{ width: `${width}px`, height: `${height}px` }} role="img"
        aria-label=${`Ribbons between ${columns.length} source and ${rows.length} target words, as wide as the attention`}>
        ${bands.map(({ i, j, weight }) => html`
          <path class=${strong(j, i) ? "band" : "band weak"} fill="none" stroke-linecap="round"
            stroke-width=${(0.8 + 11 * weight).toFixed(2)} opacity=${(0.18 + 0.6 * weight).toFixed(2)}
            d=${`M${x0 + 8} ${left(i) - 4}C${(x0 + x1) / 2} ${left(i) - 4} ${(x0 + x1) / 2} ${right(j) - 4} ${x1 - 8} ${right(j) - 4}`}>
            <title>${`${rows[j]} ← ${columns[i]}: ${fixed(weight, 3)}`}</title></path>`)}
        ${columns.map((text, i) => html`
          <text x=${x0} y=${left(i)} text-anchor="end" class=${selected.column === i ? "chosen" : ""}
            onClick=${() => onSelect(selected.row, i)}>${text}</text>`)}
        ${rows.map((text, j) => html`
          <text x=${x1} y=${right(j)} class=${selected.row === j ? "chosen" : ""}
            onClick=${() => onSelect(j, selected.column)}>${text}</text>`)}
      </svg>
    </div>`;
}
