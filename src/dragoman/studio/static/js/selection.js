// The one selection that all pages share: two words, an attention, a layer, a head.
import { clamp, computed, effect, readable, signal, untracked } from "./lib.js";
import { ask } from "./api.js";
import { run } from "./run.js";
import { get, model, number, set, unit } from "./state.js";

export const KINDS = {
  cross: "cross-attention",
  encoder: "encoder self-attention",
  decoder: "decoder self-attention",
};

export const kind = computed(() => (get("kind") in KINDS ? get("kind") : "cross"));
export const layers = computed(() => {
  const shown = model.value;
  if (!shown) return 0;
  return kind.value === "encoder" ? shown.encoder_layers : shown.decoder_layers;
});
export const heads = computed(() => model.value?.heads ?? 0);

// The cross-attention head that aligns best on the validation text: shown by default.
export const aligning = signal({});
const best = computed(() => (kind.value === "cross" ? aligning.value[model.value?.name] ?? null : null));
effect(() => {
  const name = model.value?.name;
  if (run.value.status === "loading") return; // first the sentence, then what takes longer
  if (!model.value?.layered || name in untracked(() => aligning.value)) return;
  const keep = (found) => { aligning.value = { ...untracked(() => aligning.value), [name]: found }; };
  ask("/api/best_head", { model: name }).then(keep, () => keep(null));
});

// In the address they count from 1, as on the page; in questions from 0, as in Python.
export const layer = computed(() => {
  const standard = best.value ? best.value.layer + 1 : layers.value;
  return clamp(number("layer", standard) - 1, 0, Math.max(0, layers.value - 1));
});
// No head at all means the mean of a layer's heads.
export const head = computed(() => {
  if (get("head") === "mean") return null;
  if (get("head") !== "") return clamp(number("head", 1) - 1, 0, heads.value - 1);
  return best.value && get("layer") === "" ? best.value.head : null;
});
// Where one head must be meant, the mean stands for the first.
export const oneHead = computed(() => head.value ?? 0);

export const sourcePlace = computed(() => (get("i") === "" ? null : number("i")));
export const targetPlace = computed(() => (get("j") === "" ? null : number("j")));

export function moveLayer(by) {
  const now = head.value === null ? "mean" : head.value + 1;
  set({ layer: clamp(layer.value + by, 0, layers.value - 1) + 1, head: now });
}

// From the last head on, and from the first back, comes the mean of all.
export function moveHead(by) {
  const now = head.value === null ? (by > 0 ? -1 : heads.value) : head.value;
  const next = now + by;
  set({ layer: layer.value + 1, head: next < 0 || next >= heads.value ? "mean" : next + 1 });
}

// Places are pieces in the address; in words, a piece stands for the word it is in.
export function toUnit(tokens, place) {
  if (place === null || !tokens) return null;
  const piece = clamp(place, 0, tokens.pieces.length - 1);
  if (unit.value === "piece") return piece;
  return tokens.words.findIndex((word) => piece >= word.start && piece < word.end);
}

export function fromUnit(tokens, index) {
  if (index === null) return "";
  return unit.value === "piece" ? index : tokens.words[index].start;
}

export function labels(tokens) {
  return unit.value === "piece" ? tokens.pieces.map(readable) : tokens.words.map((word) => word.text);
}

export const headName = (of, at, number_) => `${of} ${at + 1}.${number_ + 1}`;
export const ablation = (of, at, number_) => `ablate:${of}.${at}.${number_}`;
