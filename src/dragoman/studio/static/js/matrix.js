// A matrix on canvas, with words as real text around it and a table for screen readers.
import { clamp, fixed, html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "./lib.js";
import { dark } from "./appearance.js";
import { css, over, scale as scaleTable } from "./colour.js";
import { matrixSvg } from "./export.js";
import { get } from "./state.js";

const NUMBERED = 24; // pixels: in smaller cells a number would not fit
const STEEP = 22; // pixels: in narrower columns names stand steeper, to have room
const HIGHEST = 720; // pixels: what is longer has smaller cells
const LARGEST_TABLE = 1600; // cells; beyond this the table names the largest of each row
const SHOWN = 3;

export const share = (value, low, high) => (value - low) / (high - low || 1);

function paint(canvas, { data, rows, columns, low, high, rgb, cell, cellHeight, digits, selected }) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [columns * cell, rows * cellHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const small = new OffscreenCanvas(columns, rows);
  const image = new ImageData(columns, rows);
  for (let k = 0; k < rows * columns; k += 1) {
    const value = data[k];
    const at = Number.isFinite(value) ? 3 * Math.round(255 * clamp(share(value, low, high), 0, 1)) : -1;
    image.data[4 * k] = at < 0 ? 128 : rgb[at];
    image.data[4 * k + 1] = at < 0 ? 128 : rgb[at + 1];
    image.data[4 * k + 2] = at < 0 ? 128 : rgb[at + 2];
    image.data[4 * k + 3] = at < 0 ? 60 : 255;
  }
  small.getContext("2d").putImageData(image, 0, 0);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, width, height);
  if (digits && cell >= NUMBERED) number(context, { data, rows, columns, low, high, rgb, cell });
  if (selected) outline(context, { ...selected, rows, columns, cell, cellHeight });
}

// A value in a cell: two digits, and nothing where there is almost nothing.
function brief(value) {
  if (!Number.isFinite(value) || Math.abs(value) < 0.045) return "";
  if (Math.abs(value - 1) < 0.005) return "1";
  return value.toFixed(Math.abs(value) >= 10 ? 0 : 2).replace(/^(-?)0\./, "$1.").replace("-", "−");
}

function number(context, { data, rows, columns, low, high, rgb, cell }) {
  context.font = `${Math.min(11, 0.4 * cell)}px ui-monospace, monospace`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let j = 0; j < rows; j += 1) {
    for (let i = 0; i < columns; i += 1) {
      const value = data[j * columns + i];
      const at = share(value, low, high);
      const text = brief(value);
      if (!text) continue;
      context.fillStyle = over(rgb, at);
      context.fillText(text, (i + 0.5) * cell, (j + 0.5) * cell + 0.5);
    }
  }
}

function outline(context, { row, column, rows, columns, cell, cellHeight }) {
  const colour = getComputedStyle(document.documentElement).getPropertyValue("--select").trim();
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.globalAlpha = 0.55;
  if (row !== null) context.strokeRect(0.5, row * cellHeight + 0.5, columns * cell - 1, cellHeight - 1);
  if (column !== null) context.strokeRect(column * cell + 0.5, 0.5, cell - 1, rows * cellHeight - 1);
  context.globalAlpha = 1;
  context.lineWidth = 2.5;
  if (row !== null && column !== null) {
    context.strokeRect(column * cell + 1, row * cellHeight + 1, cell - 2, cellHeight - 2);
  }
}

function HiddenTable({ data, rows, columns, label, digits }) {
  if (rows.length * columns.length <= LARGEST_TABLE) {
    return html`
      <div class="unseen"><table><caption>${label}</caption>
        <thead><tr><th scope="col">row</th>${columns.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
        <tbody>${rows.map((text, j) => html`<tr><th scope="row">${text}</th>
          ${columns.map((_, i) => html`<td>${fixed(data[j * columns.length + i], digits)}</td>`)}</tr>`)}</tbody>
      </table></div>`;
  }
  const largest = (j) => columns
    .map((text, i) => [data[j * columns.length + i], text])
    .sort((a, b) => b[0] - a[0]).slice(0, SHOWN)
    .map(([value, text]) => `${text} ${fixed(value, digits)}`).join(", ");
  return html`
    <div class="unseen"><table><caption>${label}: the ${SHOWN} largest of each row</caption>
      <tbody>${rows.map((text, j) => html`<tr><th scope="row">${text}</th><td>${largest(j)}</td></tr>`)}</tbody>
    </table></div>`;
}

export function useWidth(element) {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry.contentRect.width));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

export const longest = (texts) => texts.reduce((most, text) => Math.max(most, [...text].length), 1);

const short = (value) => String(Number(value.toPrecision(2))).replace("-", "−");

// What the colours mean: from the lowest to the highest, or by the `names` of a few values.
export function Legend({ rgb, low, high, names }) {
  if (names) {
    return html`<span class="legend">${names.map(([value, name]) => html`
      <span><i style=${{ background: css(rgb, share(value, low, high)) }}></i>${name}</span>`)}</span>`;
  }
  const stops = Array.from({ length: 9 }, (_, k) => css(rgb, k / 8)).join(", ");
  return html`<span class="colour-bar">${short(low)}<i style=${{ background: `linear-gradient(to right, ${stops})` }}></i>${short(high)}</span>`;
}

const roundly = (count) => [1, 2, 5, 10, 20, 50, 100].find((step) => step >= count) ?? count;

// How the columns' names stand: numbers level, words slanting, steeply where columns are
// narrow; and how large a cell is beside them.
function layOut({ width, rows, columns, smallest, largest }) {
  const length = Math.min(16, longest(columns));
  const most = Math.min(largest, Math.max(16, Math.floor(HIGHEST / rows.length)));
  const least = smallest ?? (columns.length > 60 ? 7 : 13);
  const cellOf = (beside) => (width > 0 ? clamp(Math.floor((width - beside) / columns.length), least, most) : 0);
  if (columns.every((text) => /^\d+$/.test(text))) {
    return { slant: "level", top: 26, beside: 12, apart: 8 * length + 10, cell: cellOf(12) };
  }
  const top = clamp(16 + 5.6 * length, 34, 110);
  const cell = cellOf(0.7 * top);
  if (cell >= STEEP) return { slant: "", top, beside: 0.7 * top, apart: STEEP, cell };
  const beside = 8 + 2.8 * length;
  return { slant: "steep", top: clamp(14 + 6.6 * length, 34, 118), beside, apart: 13, cell: cellOf(beside) };
}

// A sentence as long as this wants the whole width of the page.
export const isWide = (columns) => columns.length > 22;

// `selected` is {row, column}; `onSelect(row, column)` moves it; `data` is row by row;
// all rows together are at least `height` high.
export function Matrix({
  label, data, rows, columns, low = 0, high = 1, digits = 3, colours, selected, onSelect,
  rowTitle = "row", columnTitle = "column", smallest, largest = 40, numbers = true, names, height = 0,
}) {
  const frame = useRef(null);
  const canvas = useRef(null);
  const width = useWidth(frame);
  const [hovered, setHovered] = useState(null);
  const rgb = scaleTable(colours ?? get("scale"), dark.value);
  const left = clamp(18 + 8.6 * Math.min(16, longest(rows)), 42, 152);
  const { slant, top, beside, apart, cell } = layOut({ width: width - left, rows, columns, smallest, largest });
  const cellHeight = Math.max(cell, Math.floor(height / rows.length));

  useLayoutEffect(() => {
    if (!cell || !data) return;
    paint(canvas.current, {
      data, rows: rows.length, columns: columns.length, low, high, rgb, cell, cellHeight,
      digits: numbers, selected,
    });
  });

  const place = (event) => {
    const box = canvas.current.getBoundingClientRect();
    return [
      clamp(Math.floor((event.clientY - box.top) / cellHeight), 0, rows.length - 1),
      clamp(Math.floor((event.clientX - box.left) / cell), 0, columns.length - 1),
    ];
  };
  const onKeyDown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !onSelect) return;
    event.preventDefault();
    onSelect(
      clamp((selected?.row ?? 0) + step[0], 0, rows.length - 1),
      clamp((selected?.column ?? 0) + step[1], 0, columns.length - 1),
    );
  };
  const at = hovered ?? (selected && selected.row !== null && selected.column !== null
    ? [selected.row, selected.column] : null);
  const says = at && data ? `${rows[at[0]]} × ${columns[at[1]]}: ${fixed(data[at[0] * columns.length + at[1]], digits)}` : "";
  // Where names stand too close, only some are shown, and none over the chosen one.
  const shownLabel = (k, chosen, needed, size) => {
    const every = roundly(Math.ceil(needed / (size || needed)));
    return k === chosen || (k % every === 0 && (chosen === null || chosen === undefined || Math.abs(k - chosen) >= every));
  };
  const table = useMemo(() => html`
    <${HiddenTable} data=${data} rows=${rows} columns=${columns} label=${label} digits=${digits} />`, [data]);

  return html`
    <div class="matrix" ref=${frame}>
      <div class="scroller" tabindex="0" role="application" aria-roledescription="matrix"
           aria-label=${`${label}. Arrow keys move.`} onKeyDown=${onKeyDown}>
        <div class="sheet" style=${{ width: `${left + cell * columns.length + beside}px`, height: `${top + cellHeight * rows.length + 2}px` }}>
          ${columns.map((text, i) => shownLabel(i, selected?.column, apart, cell) && html`
            <span class=${`column ${slant}${selected?.column === i ? " chosen" : ""}`} aria-hidden="true"
              style=${{ left: `${left + cell * (i + 0.5)}px`, top: `${top - 4}px` }}>${text}</span>`)}
          <div class="rows" style=${{ width: `${left}px`, "--top": `${top}px` }}>${rows.map((text, j) => shownLabel(j, selected?.row, 13, cellHeight) && html`
            <span class=${`row${cellHeight < 16 ? " close" : ""}${selected?.row === j ? " chosen" : ""}`} aria-hidden="true"
              style=${{ top: `${top + cellHeight * (j + 0.5) - 9}px`, width: `${left - 8}px` }}>${text}</span>`)}</div>
          <canvas ref=${canvas} aria-hidden="true" style=${{ left: `${left}px`, top: `${top}px` }}
            onPointerMove=${(event) => setHovered(place(event))}
            onPointerLeave=${() => setHovered(null)}
            onClick=${(event) => onSelect && onSelect(...place(event))}></canvas>
        </div>
      </div>
      <p class="readout" aria-live="polite">
        <span class="axes">rows: ${rowTitle} · columns: ${columnTitle}</span>
        <${Legend} rgb=${rgb} low=${low} high=${high} names=${names} />
        <output>${says}</output>
      </p>
      ${data && table}
    </div>`;
}

export function matrixExports({ data, rows, columns, low = 0, high = 1, colours, rowTitle, columnTitle, numbers = true }) {
  const rgb = scaleTable(colours ?? get("scale"), false);
  const value = (j, i) => data[j * columns.length + i];
  return {
    table: () => ({
      columns: ["", ...columns],
      rows: rows.map((text, j) => [text, ...columns.map((_, i) => value(j, i))]),
    }),
    svg: () => matrixSvg({
      rows, columns, rowTitle, columnTitle,
      value: (j, i) => fixed(value(j, i), 4),
      label: (j, i) => (numbers ? brief(value(j, i)) : ""),
      ink: (j, i) => over(rgb, share(value(j, i), low, high)),
      colour: (j, i) => (Number.isFinite(value(j, i)) ? css(rgb, share(value(j, i), low, high)) : "#e3e5e8"),
    }),
  };
}
