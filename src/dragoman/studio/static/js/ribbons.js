// Ribbons between the words of two sides, as wide as their attention.
import { fixed, html } from "./lib.js";

const ROW = 30;
const WIDTH = 520;
const SIDE = 170;
const FAINTEST = 0.04;

export function Ribbons({ data, rows, columns, selected, onSelect }) {
  const count = Math.max(rows.length, columns.length);
  const height = count * ROW + 14;
  const left = (i) => 22 + i * ROW + ((count - columns.length) * ROW) / 2;
  const right = (j) => 22 + j * ROW + ((count - rows.length) * ROW) / 2;
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
  const [x0, x1] = [SIDE, WIDTH - SIDE];
  return html`
    <div class="scrolling tall" tabindex="0" role="region" aria-label="Ribbons between source and translation">
      <svg class="drawing ribbons" viewBox=${`0 0 ${WIDTH} ${height}`} role="img"
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
