// The few names that every file needs, from the vendored libraries.
import { h, render, Fragment } from "../vendor/preact.js";
import {
  useEffect, useLayoutEffect, useMemo, useRef, useState,
} from "../vendor/preact-hooks.js";
import { signal, computed, effect, batch, untracked } from "../vendor/signals.js";
import htm from "../vendor/htm.js";

export const html = htm.bind(h);
export {
  render, Fragment, signal, computed, effect, batch, untracked,
  useEffect, useLayoutEffect, useMemo, useRef, useState,
};

export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

export function fixed(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "−");
}

export const signed = (value, digits = 3) =>
  value > 0 && Number(value.toFixed(digits)) !== 0 ? `+${fixed(value, digits)}` : fixed(value, digits);

export const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)} %`;

// A piece for people: without the blank mark that begins a word; inside a word, a dot.
let joined = false;
export const setPieces = (kind) => { joined = kind === "bpe" || kind === "unigram"; };
export function readable(piece) {
  if (piece === "▁") return "␣";
  if (piece.startsWith("▁")) return piece.slice(1);
  if (piece.startsWith("##")) return `·${piece.slice(2)}`;
  return joined && /[\p{L}\p{N}]/u.test(piece) && !/^<.*>$/.test(piece) ? `·${piece}` : piece;
}
