// Curves with uPlot, in the page's own colours.
import { html, useEffect, useRef } from "./lib.js";
import uPlot from "../vendor/uplot.js";
import { dark } from "./appearance.js";
import { linesSvg } from "./export.js";

const LIGHT = ["#0a6b6f", "#c2571a", "#5b4b9a", "#66707c", "#a82a72", "#3f7d20"];
const DARK = ["#63cac2", "#ffa367", "#b3a4f2", "#a0abb9", "#f08fc4", "#a3d977"];

const digits = (value) => (value === null || value === undefined ? "–" : String(Number(value.toPrecision(5))));

const short = (value) => {
  if (value === null) return "";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return value.toExponential(0).replace("e-", "e−");
  return String(Number(value.toPrecision(4))).replace("-", "−");
};

const known = (values) => values.filter((value) => value !== null && value !== undefined);

// Each value as the mean of those around it, so that a noisy curve can be read.
export function smoothed(values, reach) {
  return values.map((value, k) => {
    if (value === null) return null;
    const around = known(values.slice(Math.max(0, k - reach), k + reach + 1));
    return around.reduce((sum, one) => sum + one, 0) / around.length;
  });
}

const colourOf = (one, k, colours) => colours[(one.colour ?? k) % colours.length];

// How a series is drawn: `colour` counts through the colours, `faint` steps behind another.
function strokeOf(one, k, colours) {
  const stroke = colourOf(one, k, colours);
  return {
    label: one.label, stroke, alpha: one.faint ? 0.3 : 1,
    width: one.faint ? 1 : 2.2, spanGaps: true, dash: one.dash ? [6, 4] : undefined,
    points: { show: known(one.values).length < 40, size: 6, fill: stroke },
    value: (_, value) => (value === null ? "" : digits(value)),
  };
}

// `series` are {label, values, dash?, faint?, colour?}; `x` has one place for each value.
// `xNames` stand for the whole numbers from 1 where they have names.
export function Curves({ label, x, series, xTitle, xNames, height = 240, logarithmic = false }) {
  const place = useRef(null);
  const isDark = dark.value;
  useEffect(() => {
    const colours = isDark ? DARK : LIGHT;
    const style = getComputedStyle(document.documentElement);
    const [muted, line] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim());
    const axis = { stroke: muted, grid: { stroke: line, width: 1 }, ticks: { stroke: line }, font: "12px system-ui, sans-serif" };
    const plot = new uPlot({
      width: place.current.clientWidth,
      height,
      scales: { x: { time: false }, y: { distr: logarithmic ? 3 : 1 } },
      axes: [
        { ...axis, label: xTitle, labelSize: 22, labelFont: "12px system-ui, sans-serif", size: 34,
          values: (_, ticks) => ticks.map((tick) => (xNames ? xNames[tick - 1] ?? "" : short(tick))) },
        { ...axis, size: 62, values: (_, ticks) => ticks.map(short) }],
      legend: { markers: { width: 0, fill: (_, k) => `${colourOf(series[k - 1], k - 1, colours)}${series[k - 1].faint ? "66" : ""}` } },
      series: [
        { label: xTitle, value: (_, value) => (value === null ? "" : digits(value)) },
        ...series.map((one, k) => strokeOf(one, k, colours)),
      ],
    }, [x, ...series.map((one) => one.values)], place.current);
    const observer = new ResizeObserver(([entry]) => plot.setSize({ width: entry.contentRect.width, height }));
    observer.observe(place.current);
    return () => { observer.disconnect(); plot.destroy(); };
  }, [x, series, isDark, height]);
  const last = series.map((one) => `${one.label} ends at ${digits(one.values.at(-1))}`).join(", ");
  return html`<div class="curves" role="img" aria-label=${`${label}: ${last}`} ref=${place}></div>`;
}

export function curveExports({ x, series, xTitle, yTitle = "" }) {
  return {
    table: () => ({
      columns: [xTitle, ...series.map((one) => one.label)],
      rows: x.map((at, k) => [at, ...series.map((one) => one.values[k])]),
    }),
    svg: () => linesSvg({ x, series, xTitle, yTitle }),
  };
}
