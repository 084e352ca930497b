// All that a view depends on lives in the address, so that a link reproduces it.
import { batch, computed, effect, setPieces, signal, untracked } from "./lib.js";

export const DEFAULTS = {
  model: "", s: "", t: "", kind: "cross", layer: "", head: "", i: "", j: "",
  unit: "word", scale: "ink",
};

function read() {
  return {
    page: location.pathname.slice(1) || "translate",
    params: Object.fromEntries(new URLSearchParams(location.search)),
  };
}

const address = signal(read());
addEventListener("popstate", () => { address.value = read(); });

export const page = computed(() => address.value.page);
export const params = computed(() => address.value.params);
export const get = (name) => params.value[name] ?? DEFAULTS[name] ?? "";

export function link(toPage, changes = {}) {
  const merged = { ...params.value, ...changes };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(merged)) {
    const text = value === null || value === undefined ? "" : String(value);
    if (text !== "" && text !== DEFAULTS[name]) query.set(name, text);
  }
  const tail = query.toString();
  return `/${toPage}${tail ? `?${tail}` : ""}`;
}

// A step that a person would want to go back from is pushed; a selection is replaced.
export function go(toPage, changes = {}, { replace = false } = {}) {
  const url = link(toPage, changes);
  if (url === location.pathname + location.search) return;
  history[replace ? "replaceState" : "pushState"](null, "", url);
  address.value = read();
}

export const set = (changes, options = { replace: true }) =>
  untracked(() => batch(() => go(page.value, changes, options)));

// What the shelf holds, once it has been read.
export const models = signal([]);
export const model = computed(
  () => models.value.find((one) => one.name === get("model")) ?? models.value[0],
);

effect(() => setPieces(model.value?.pieces));

export const unit = computed(() => (get("unit") === "piece" ? "piece" : "word"));
export const changes = computed(() => get("changes").split(" ").filter(Boolean));

// The question that every page asks: which model, which sentence, changed how.
export const question = computed(() => ({
  model: model.value?.name ?? "",
  source: get("s"),
  target: get("t") || null,
}));

export const number = (name, fallback = 0) => {
  const value = Number.parseInt(get(name), 10);
  return Number.isNaN(value) ? fallback : value;
};
