// One head's attention, small.
import { html, useEffect, useMemo, useRef } from "./lib.js";
import { dark } from "./appearance.js";
import { scale } from "./colour.js";
import { get } from "./state.js";

const LARGEST = 44; // cells, one pixel each at the least; beyond this, each shows the largest of a few

function pooled({ data, rows, columns }) {
  const by = Math.ceil(Math.max(rows, columns) / LARGEST);
  if (by === 1) return { data, rows, columns };
  const small = { rows: Math.ceil(rows / by), columns: Math.ceil(columns / by) };
  const most = new Float32Array(small.rows * small.columns);
  for (let k = 0; k < rows * columns; k += 1) {
    const at = Math.floor(Math.floor(k / columns) / by) * small.columns + Math.floor((k % columns) / by);
    most[at] = Math.max(most[at], data[k]);
  }
  return { ...small, data: most };
}

export function Thumbnail(whole) {
  const { data, rows, columns } = useMemo(() => pooled(whole), [whole.data]);
  const canvas = useRef(null);
  const rgb = scale(get("scale"), dark.value);
  useEffect(() => {
    const node = canvas.current;
    node.width = columns;
    node.height = rows;
    const image = new ImageData(columns, rows);
    for (let k = 0; k < rows * columns; k += 1) {
      const at = 3 * Math.round(255 * Math.min(1, Math.max(0, data[k])));
      image.data[4 * k] = rgb[at];
      image.data[4 * k + 1] = rgb[at + 1];
      image.data[4 * k + 2] = rgb[at + 2];
      image.data[4 * k + 3] = 255;
    }
    node.getContext("2d").putImageData(image, 0, 0);
  }, [data, rgb]);
  return html`<canvas ref=${canvas} aria-hidden="true"></canvas>`;
}
