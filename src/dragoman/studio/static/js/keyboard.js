// Keys that work everywhere but in a field.
import { ablation, kind, layer, moveHead, moveLayer, oneHead } from "./selection.js";
import { toggle } from "./changes.js";
import { dialog, showHelp } from "./dialog.js";
import { go, model, set, unit } from "./state.js";
import { PAGES } from "./pages.js";

const ACTIONS = {
  "[": () => moveLayer(-1),
  "]": () => moveLayer(1),
  ",": () => moveHead(-1),
  ".": () => moveHead(1),
  a: () => model.value?.layered && toggle(ablation(kind.value, layer.value, oneHead.value)),
  w: () => set({ unit: unit.value === "word" ? "piece" : "word" }),
  "?": showHelp,
  "/": () => document.getElementById("sentence")?.select(),
};

export function listen() {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.value) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const page = /^[1-9]$/.test(event.key) ? PAGES[Number(event.key) - 1] : null;
    const action = page ? () => go(page.id) : ACTIONS[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
