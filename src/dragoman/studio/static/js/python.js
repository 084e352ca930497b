// The Python that gives the same numbers as a figure.
import { changes, model } from "./state.js";

export const quote = (text) => JSON.stringify(text);

// What `dragoman.inspect` takes for a model: its folder, or one checkpoint in it.
function opening(one) {
  if (one.step === null) return { lines: ["import dragoman"], model: quote(one.folder) };
  return {
    lines: [
      "from pathlib import Path",
      "",
      "import dragoman",
      "from dragoman.model_folder import load_model",
      "from dragoman.studio.shelf import at_checkpoint",
      "",
      `folder = Path(${quote(one.folder)})`,
      `saved = at_checkpoint(load_model(folder), folder / "checkpoints" / "step-${one.step}")`,
    ],
    model: "saved",
  };
}

function change(text) {
  const [verb, what, value] = text.split(":");
  const [kind, ...numbers] = what.split(".");
  const given = [quote(kind), ...numbers].join(", ");
  if (verb === "force") return `force([${what.split(".").join(", ")}])`;
  if (verb === "ablate") return `ablate(${given})`;
  if (verb === "temperature") return `set_temperature(${given}, ${value})`;
  if (verb === "edit") return `edit(${given}, ${value})`;
  return `without(${quote(what)})`;
}

// Code that opens the run on show; `then` goes on with the name `inspection`.
export function python(question, then, { of = model.value, changed = true } = {}) {
  const opened = opening(of);
  const target = question.target ? `, target=${quote(question.target)}` : "";
  const lines = [
    ...opened.lines, "",
    `inspection = dragoman.inspect(${opened.model}, ${quote(question.source)}${target})`,
  ];
  if (changed && changes.value.length) {
    const forced = (text) => text.startsWith("force:");
    const ordered = [...changes.value.filter((one) => !forced(one)), ...changes.value.filter(forced)];
    lines.push(...ordered.map((one) => `inspection = inspection.${change(one)}.after`));
  }
  return `${[...lines, then].join("\n")}\n`;
}

// Code about the model alone; `then` goes on with the name `translator`.
export function pythonOfModel(then, of = model.value) {
  const opened = opening(of);
  return `${[...opened.lines, "from dragoman.inspection.inspect import as_reader", "", `translator = as_reader(${opened.model})`, then].join("\n")}\n`;
}
