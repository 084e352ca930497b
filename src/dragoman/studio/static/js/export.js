// A figure on disk: as SVG, PNG, CSV, a page of its own, or the Python that makes it.
const escape = (text) => String(text)
  .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  .replaceAll('"', "&quot;");

export function save(name, content, type) {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export function csv({ columns, rows }) {
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    // A spreadsheet must read a token as text, never as a formula.
    const safe = typeof value === "string" && /^[=+\-@\t]/.test(text) ? `'${text}` : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `${[columns, ...rows].map((row) => row.map(cell).join(",")).join("\r\n")}\r\n`;
}

const INLINED = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray",
  "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline", "opacity",
];

// In the dark, light ink needs the dark behind it in the file too.
function background(colour) {
  const sheet = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width: "100%", height: "100%", fill: colour })) sheet.setAttribute(name, value);
  return sheet;
}

// The SVG on the page with its styles written into it, so that it stands alone.
export function serialise(svg) {
  const copy = svg.cloneNode(true);
  const originals = [svg, ...svg.querySelectorAll("*")];
  const copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, k) => {
    const style = getComputedStyle(original);
    for (const name of INLINED) {
      const value = style.getPropertyValue(name);
      if (value) copies[k].setAttribute(name, value);
    }
    copies[k].removeAttribute("class");
    copies[k].removeAttribute("tabindex");
  });
  const { width, height } = svg.getBoundingClientRect();
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", String(Math.round(width)));
  copy.setAttribute("height", String(Math.round(height)));
  copy.prepend(background(getComputedStyle(document.documentElement).getPropertyValue("--panel").trim()));
  return new XMLSerializer().serializeToString(copy);
}

const APART = 15; // pixels between two names

// `label(j, i)` is what stands in a cell, in `ink(j, i)`, where cells have room for it.
export function matrixSvg({ rows, columns, value, colour, label, ink, rowTitle, columnTitle }) {
  const cell = rows.length > 60 || columns.length > 60 ? 8 : 26;
  const every = Math.ceil(APART / cell);
  const left = 20 + 7.5 * Math.max(4, ...rows.map((text) => text.length));
  const top = 20 + 5.5 * Math.max(4, ...columns.map((text) => text.length));
  const says = `columns: ${columnTitle}; rows: ${rowTitle}`;
  const width = left + Math.max(cell * columns.length + top, 7 * says.length);
  const height = top + cell * rows.length + 40;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
  ];
  columns.forEach((text, k) => {
    if (k % every) return;
    const x = left + cell * (k + 0.5);
    parts.push(`<text transform="translate(${x},${top - 6}) rotate(-45)" fill="#1b2230">${escape(text)}</text>`);
  });
  rows.forEach((text, j) => {
    const y = top + cell * (j + 0.5);
    if (j % every === 0) parts.push(`<text x="${left - 8}" y="${y}" text-anchor="end" dominant-baseline="middle" fill="#1b2230">${escape(text)}</text>`);
    columns.forEach((_, i) => {
      const x = left + cell * i;
      parts.push(`<rect x="${x}" y="${top + cell * j}" width="${cell}" height="${cell}" fill="${colour(j, i)}"><title>${escape(text)} × ${escape(columns[i])}: ${value(j, i)}</title></rect>`);
      if (cell > 20) parts.push(`<text x="${x + cell / 2}" y="${y + 0.5}" text-anchor="middle" dominant-baseline="middle" font-size="10" fill="${ink(j, i)}">${label(j, i)}</text>`);
    });
  });
  parts.push(`<text x="${left}" y="${height - 14}" fill="#5b6472">${escape(says)}</text></svg>`);
  return parts.join("\n");
}

const SERIES = ["#0a6b6f", "#c2571a", "#5b4b9a", "#8a8f98", "#b0307a", "#3f7d20"];

const DOTTED = 40; // values: as few as this are points on their line

// A few round numbers from one to another.
function ticks(low, high) {
  if (!(high > low)) return [Number(low.toPrecision(3))];
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * power >= rough) * power;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(6)));
}

export function linesSvg({ x, series, xTitle, yTitle }) {
  const [width, height, left, top, bottom] = [760, 380, 70, 20, 60];
  const ys = series.flatMap((one) => one.values.filter((v) => v !== null && Number.isFinite(v)));
  const [xs, yTicks] = [ticks(Math.min(...x), Math.max(...x)), ticks(Math.min(...ys), Math.max(...ys))];
  const [x0, x1] = [Math.min(...x), Math.max(...x)];
  const [y0, y1] = [Math.min(yTicks[0], ...ys), Math.max(yTicks.at(-1), ...ys)];
  const sx = (v) => left + ((v - x0) / (x1 - x0 || 1)) * (width - left - 20);
  const sy = (v) => height - bottom - ((v - y0) / (y1 - y0 || 1)) * (height - top - bottom);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<path d="M${left} ${top}V${height - bottom}H${width - 20}" fill="none" stroke="#5b6472"/>`,
  ];
  for (const value of xs) {
    parts.push(`<path d="M${sx(value)} ${top}V${height - bottom}" stroke="#e3e5e8"/>`);
    parts.push(`<text x="${sx(value)}" y="${height - bottom + 18}" text-anchor="middle" fill="#5b6472">${value}</text>`);
  }
  for (const value of yTicks) {
    parts.push(`<path d="M${left} ${sy(value)}H${width - 20}" stroke="#e3e5e8"/>`);
    parts.push(`<text x="${left - 8}" y="${sy(value) + 4}" text-anchor="end" fill="#5b6472">${value}</text>`);
  }
  let legend = left;
  series.forEach((one, k) => {
    const points = one.values.map((v, n) => [x[n], v]).filter(([, v]) => v !== null && Number.isFinite(v));
    const path = points.map(([at, v], n) => `${n ? "L" : "M"}${sx(at).toFixed(1)} ${sy(v).toFixed(1)}`).join("");
    const colour = SERIES[(one.colour ?? k) % SERIES.length];
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="${one.faint ? 0.8 : 1.8}" stroke-opacity="${one.faint ? 0.35 : 1}"${one.dash ? ' stroke-dasharray="6 4"' : ""}/>`);
    if (points.length < DOTTED) parts.push(...points.map(([at, v]) => `<circle cx="${sx(at).toFixed(1)}" cy="${sy(v).toFixed(1)}" r="3" fill="${colour}"/>`));
    parts.push(`<text x="${legend}" y="${height - 12}" fill="${colour}" fill-opacity="${one.faint ? 0.75 : 1}">${escape(one.label)}</text>`);
    legend += 24 + 6.8 * one.label.length;
  });
  parts.push(`<text x="${width - 20}" y="${height - bottom + 34}" text-anchor="end" fill="#1b2230">${escape(xTitle)}</text>`);
  parts.push(`<text x="${left + 8}" y="${top + 4}" fill="#1b2230">${escape(yTitle)}</text></svg>`);
  return parts.join("\n");
}

// Horizontal bars, for figures that are tables of one number each.
export function barsSvg({ labels, values, texts }) {
  const row = 22;
  const left = 24 + 7.5 * Math.max(4, ...labels.map((text) => text.length));
  const [width, height] = [left + 420, 20 + row * labels.length];
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
  ];
  labels.forEach((label, k) => {
    const y = 10 + row * k;
    const length = (300 * Math.abs(values[k])) / most;
    parts.push(`<text x="${left - 8}" y="${y + 14}" text-anchor="end" fill="#1b2230">${escape(label)}</text>`);
    parts.push(`<rect x="${left}" y="${y + 3}" width="${length}" height="${row - 7}" fill="${values[k] < 0 ? "#c2571a" : "#0a6b6f"}"/>`);
    parts.push(`<text x="${left + length + 6}" y="${y + 14}" fill="#5b6472">${escape(texts[k])}</text>`);
  });
  return `${parts.join("\n")}</svg>`;
}

// Lines of text, for figures that are sentences.
export function textSvg(lines) {
  const [width, height] = [40 + 7.6 * Math.max(...lines.map((line) => line.length)), 24 + 26 * lines.length];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="14"><rect width="${width}" height="${height}" fill="#ffffff"/>${lines.map((line, k) => `<text x="16" y="${30 + 26 * k}" fill="#1b2230">${escape(line)}</text>`).join("")}</svg>`;
}

export async function png(svgText) {
  const image = new Image();
  const url = URL.createObjectURL(new Blob([svgText], { type: "image/svg+xml" }));
  try {
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    const context = canvas.getContext("2d");
    context.fillStyle = "#ffffff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export function standalone({ title, caption, svg, table, python }) {
  const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}>${escape(cell)}</${tag}>`).join("")}</tr>`;
  const shown = table.rows.slice(0, 2000);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;color:#1b2230;max-width:70rem;margin:2rem auto;padding:0 1rem}
svg{max-width:100%;height:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
td,th{border-bottom:1px solid #e3e5e8;padding:.2rem .6rem;text-align:left}
pre{background:#f4f5f6;padding:1rem;overflow:auto}</style></head>
<body><h1>${escape(title)}</h1><p>${escape(caption)}</p>
${svg}
<details><summary>The numbers</summary><table>${row(table.columns, "th")}${shown.map((cells) => row(cells, "td")).join("")}</table></details>
<details><summary>The Python that makes them</summary><pre>${escape(python)}</pre></details>
</body></html>
`;
}
