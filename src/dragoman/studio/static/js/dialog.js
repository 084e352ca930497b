// One dialog for the whole page: help, or code to copy.
import { html, signal, useLayoutEffect, useRef, useState } from "./lib.js";

export const dialog = signal(null);

const KEYS = [
  ["/", "type a sentence"],
  ["← → ↑ ↓", "move along the words, or over a matrix that has the focus"],
  ["[  ]", "layer before, layer after"],
  [",  .", "head before, head after"],
  ["a", "switch the selected head off, or on again"],
  ["w", "words or pieces"],
  ["1 … 9", "go to a page"],
  ["?", "this help"],
  ["Esc", "close"],
];

function Help() {
  return html`
    <p>Everything that you see is in the address of the page: a link shows it again. The
    selected words, layer and head go with you from page to page.</p>
    <dl class="keys">${KEYS.map(([keys, what]) => html`<div><dt><kbd>${keys}</kbd></dt><dd>${what}</dd></div>`)}</dl>`;
}

function Code({ text }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return html`
    <pre class="code" tabindex="0" aria-label="Python code"><code>${text}</code></pre>
    <button onClick=${copy}>${copied ? "Copied" : "Copy"}</button>`;
}

export function Dialog() {
  const element = useRef(null);
  const shown = dialog.value;
  useLayoutEffect(() => { // in the same frame as its contents, so that Esc always finds it open
    const node = element.current;
    if (shown && !node.open) node.showModal();
    if (!shown && node.open) node.close();
  }, [shown]);
  return html`
    <dialog ref=${element} onClose=${() => { dialog.value = null; }} aria-labelledby="dialog-title">
      <header>
        <h2 id="dialog-title">${shown?.title ?? ""}</h2>
        <button class="quiet" onClick=${() => { dialog.value = null; }} aria-label="Close">✕</button>
      </header>
      ${shown?.code !== undefined && html`<${Code} text=${shown.code} />`}
      ${shown?.help && html`<${Help} />`}
    </dialog>`;
}

export const showHelp = () => { dialog.value = { title: "Keys", help: true }; };
