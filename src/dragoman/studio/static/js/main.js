// Starts the page: reads the shelf, then shows whatever the address says.
import { html, render, useEffect } from "./lib.js";
import { askNow } from "./api.js";
import { Dialog } from "./dialog.js";
import { listen } from "./keyboard.js";
import { PAGES } from "./pages.js";
import { run } from "./run.js";
import { Bar, Navigation } from "./shell.js";
import { Empty, Loading, Problem } from "./states.js";
import { go, model, models, page, set } from "./state.js";

const EXAMPLES = {
  en: ["A man is riding a bicycle down the street.", "The little girl who lost her shoe is laughing.", "Two dogs play in the snow."],
};

function Welcome() {
  const examples = model.value.examples.length ? model.value.examples : EXAMPLES[model.value.languages[0]] ?? [];
  return html`
    <${Empty}>
      <p>Type a sentence above and press Enter${examples.length ? ", or try one of these:" : "."}</p>
      <ul class="examples">${examples.map((text) => html`
        <li><button onClick=${() => set({ s: text }, { replace: false })}>${text}</button></li>`)}</ul>
    <//>`;
}

function View({ shown }) {
  if (shown.needsLayers && !model.value.layered) {
    return html`<${Empty}>${model.value.name} is a ${model.value.kind}: it has no heads to show here.<//>`;
  }
  if (!shown.needsSentence) return html`<${shown.view} />`;
  const { status, data, error } = run.value;
  if (status === "error") return html`<${Problem}>${error}<//>`;
  if (data) return html`<${shown.view} data=${data} />`;
  return status === "loading" ? html`<${Loading} />` : html`<${Welcome} />`;
}

function Studio() {
  const shown = PAGES.find((one) => one.id === page.value);
  useEffect(() => { document.title = `${shown?.name ?? "Not found"} – Dragoman studio`; }, [shown]);
  return html`
    <${Bar} />
    <${Navigation} />
    <main>
      ${shown ? html`
        <header><h1>${shown.name}</h1><p>${shown.lead}</p></header>
        <${View} key=${shown.id} shown=${shown} />`
      : html`<${Empty}>There is no page ${page.value}. <button onClick=${() => go("translate")}>To the first</button><//>`}
    </main>
    <${Dialog} />`;
}

async function start() {
  const place = document.getElementById("studio");
  try {
    models.value = await askNow("/api/models", {});
  } catch (error) {
    render(html`<main><${Problem}>${error.message}<//></main>`, place);
    return;
  }
  listen();
  render(html`<${Studio} />`, place);
}

start();
