// What a person did to the model: written in the address, taken back one by one.
import { changes, set } from "./state.js";
import { headName } from "./selection.js";

export function toggle(change) {
  const now = changes.value;
  const next = now.includes(change) ? now.filter((one) => one !== change) : [...now, change];
  set({ changes: next.join(" ") });
}

// At most one change of this beginning: a temperature replaces a temperature.
export function replaceChange(beginning, change) {
  const others = changes.value.filter((one) => !one.startsWith(beginning));
  set({ changes: [...others, ...(change ? [change] : [])].join(" ") });
}

export function describe(change, run) {
  const [verb, what, value] = change.split(":");
  const [kind, layer, head, query, key] = what.split(".");
  const named = () => headName(kind, Number(layer), Number(head));
  if (verb === "force") return run?.begins ? `begins with “${run.begins}”` : "forced beginning";
  if (verb === "ablate") return `${named()} off`;
  if (verb === "temperature") return `${named()} at temperature ${value}`;
  if (verb === "edit") return `${named()}: score (${Number(query) + 1}, ${Number(key) + 1}) = ${value}`;
  if (verb === "without") return { scaling: "without √dₖ", mask: "without masks", positions: "without positions" }[what] ?? change;
  return change;
}
