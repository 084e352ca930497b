// One linked selection; whatever changes it, every view follows.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);
const views = [];
const chosen = { target: 0, column: 0, words: true, ...data.start };

function choose(changes) {
  Object.assign(chosen, changes);
  for (const view of views) view();
}

// Text is only ever set as text: nothing a person typed can become markup.
function make(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

function makeSvg(tag, attributes = {}, text = "") {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.textContent = text;
  return node;
}

const percent = (share) => share >= 0.0995 ? `${Math.round(100 * share)} %` : `${(100 * share).toFixed(share < 0.001 ? 2 : 1)} %`;
const shown = (piece) => piece.replaceAll("\u2581", "\u00b7").replace(/^##/, "\u2026");

// Weights come as float16; one look-up table turns them into numbers.
function halves(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const raw = new Uint16Array(bytes.buffer);
  const values = new Float32Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    const exponent = (raw[i] >> 10) & 31, fraction = raw[i] & 1023;
    values[i] = exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : fraction * 2 ** -24;
  }
  return values;
}

// What names the rows and columns of each kind; rows of all but the source are predictions.
const { sides, kind_names: kindNames } = data;
const kinds = Object.keys(kindNames).filter((kind) => data.attention[kind]);
for (const kind of kinds) data.attention[kind].values = halves(data.attention[kind].data);

function names(side) {
  const tokens = data[side];
  return chosen.words ? tokens.words.map(([text]) => text) : tokens.pieces.map(shown);
}

// Pieces that each name stands for, as [start, end).
function spans(side) {
  const tokens = data[side];
  return chosen.words ? tokens.words.map(([, start, end]) => [start, end]) : tokens.pieces.map((_, i) => [i, i + 1]);
}

// The matrix of one head, or of the mean of a layer's heads (head null), by the merge rule.
function matrix(kind, layer, head) {
  const { heads, rows, columns, values } = data.attention[kind];
  const taken = head === null ? [...Array(heads).keys()] : [head];
  const [from, to] = sides[kind].map(spans);
  return from.map(([top, bottom]) => to.map(([left, right]) => {
    let sum = 0;
    for (const h of taken) for (let r = top; r < bottom; r++) for (let c = left; c < right; c++) {
      sum += values[((layer * heads + h) * rows + r) * columns + c];
    }
    return sum / taken.length / (bottom - top);
  }));
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).split(",").map(Number);
  const stops = [read("--scale-low"), read("--scale-mid"), read("--scale-high")];
  const mixed = (share) => {
    const at = share < 0.5 ? 0 : 1;
    const part = 2 * share - at;
    return stops[at].map((from, i) => Math.round(from + (stops[at + 1][i] - from) * part));
  };
  // Whichever of dark and white stands out more from the colour behind it.
  const ink = (share) => luminance(mixed(share)) > 0.179 ? "#000000" : "#ffffff";
  return { mixed, ink, css: (share) => `rgb(${mixed(share)})` };
}

function luminance(colour) {
  const [red, green, blue] = colour.map((part) => part / 255 <= 0.04045 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const tip = byId("tip");
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)}px`;
}
function hideTip() { tip.hidden = true; }
