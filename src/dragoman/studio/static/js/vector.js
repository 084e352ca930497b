// A vector as a strip of coloured cells around zero.
import { fixed, html, useEffect, useRef } from "./lib.js";
import { dark } from "./appearance.js";
import { scale } from "./colour.js";

export function Vector({ label, values, size = 16 }) {
  const canvas = useRef(null);
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const isDark = dark.value;
  useEffect(() => {
    const rgb = scale("diverging", isDark);
    const node = canvas.current;
    node.width = values.length;
    node.height = 1;
    const image = new ImageData(values.length, 1);
    values.forEach((value, k) => {
      const at = 3 * Math.round(127.5 * (1 + value / most));
      image.data.set([rgb[at], rgb[at + 1], rgb[at + 2], 255], 4 * k);
    });
    node.getContext("2d").putImageData(image, 0, 0);
  }, [values, isDark]);
  const start = values.slice(0, 4).map((value) => fixed(value, 3)).join(", ");
  return html`
    <div class="vector">
      <span class="vector-name">${label}</span>
      <canvas ref=${canvas} role="img" style=${{ height: `${size}px` }}
        aria-label=${`${label}: ${values.length} numbers, ${start} …`}></canvas>
      <output>${start}${values.length > 4 ? ", …" : ""}</output>
    </div>`;
}
