// What stays while pages change: the model, the sentence, the selection, the changes.
import { fixed, html, signed, useEffect, useRef, useState } from "./lib.js";
import { dark, nextTheme } from "./appearance.js";
import { changes, get, go, link, model, models, page, set, unit } from "./state.js";
import {
  KINDS, head, heads, kind, layer, layers, moveHead, moveLayer, sourcePlace, targetPlace,
} from "./selection.js";
import { describe, toggle } from "./changes.js";
import { SCALES } from "./colour.js";
import { showHelp } from "./dialog.js";
import { PAGES } from "./pages.js";
import { run } from "./run.js";
import { Words } from "./words.js";

function Mark() {
  return html`
    <a class="mark" href=${link("translate")} onClick=${follow("translate")}>
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <path d="M5 8 C16 8 16 24 27 24 M5 16 C14 16 18 8 27 8 M5 24 C13 24 18 16 27 16" /></svg>
      <span>Dragoman <em>studio</em></span>
    </a>`;
}

const follow = (id) => (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  go(id);
};

function Share() {
  const [said, setSaid] = useState("Share");
  const share = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      setSaid("Link copied");
    } catch {
      setSaid("Copy the address");
    }
    setTimeout(() => setSaid("Share"), 2000);
  };
  return html`<button onClick=${share} title="Copy a link that shows exactly this"><span aria-live="polite">${said}</span></button>`;
}

function Sentence() {
  const [text, setText] = useState(get("s"));
  const [reference, setReference] = useState(get("t"));
  const [open, setOpen] = useState(get("t") !== "");
  useEffect(() => { setText(get("s")); }, [get("s")]);
  useEffect(() => { setReference(get("t")); if (get("t")) setOpen(true); }, [get("t")]);
  const submit = (event) => {
    event.preventDefault();
    set({ s: text.trim(), t: open ? reference.trim() : "", i: "", j: "" }, { replace: false });
    performance.mark("asked");
  };
  return html`
    <form class="sentence" onSubmit=${submit} autocomplete="off">
      <label class="unseen" for="sentence">Sentence in ${model.value?.languages[0]}</label>
      <input id="sentence" value=${text} onInput=${(event) => setText(event.target.value)}
        maxlength="5000" placeholder="Type a sentence and press Enter" spellcheck="false" />
      ${open && html`
        <label class="unseen" for="given">Translation to look at instead of the model's own</label>
        <input id="given" value=${reference} onInput=${(event) => setReference(event.target.value)}
          maxlength="5000" placeholder="a translation of yours, to look at instead" spellcheck="false" />`}
      <button type="submit" class="main">Translate</button>
      <button type="button" class="quiet" aria-pressed=${open} title="Look at a translation of your own"
        onClick=${() => { if (open && get("t")) set({ t: "", j: "" }); setOpen(!open); }}>given</button>
    </form>`;
}

function Models() {
  return html`
    <label class="unseen" for="model">Model</label>
    <select id="model" value=${model.value?.name} onChange=${(event) => set({ model: event.target.value }, { replace: false })}>
      ${models.value.map((one) => html`<option value=${one.name}>${one.name}</option>`)}
    </select>`;
}

function Stepper({ name, value, count, onStep, all }) {
  return html`
    <span class="stepper" role="group" aria-label=${name}>
      <button class="quiet" aria-label=${`${name} before`} onClick=${() => onStep(-1)}>‹</button>
      <span aria-live="polite">${name} ${value === null ? all : `${value + 1}/${count}`}</span>
      <button class="quiet" aria-label=${`${name} after`} onClick=${() => onStep(1)}>›</button>
    </span>`;
}

function Score({ data }) {
  return html`
    <span class="score" title="log-probability of the whole translation">log P${" "}
      <output id="log-probability">${fixed(data.log_probability)}</output>
      ${data.given && html`<em>${" "}given, not searched for</em>`}</span>`;
}

function Selection({ data }) {
  if (!model.value?.layered) return html`<div class="selection"><${Score} data=${data} /></div>`;
  return html`
    <div class="selection">
      <label><span class="unseen">Attention</span>
        <select value=${kind.value} onChange=${(event) => set({ kind: event.target.value, layer: "", head: "" })}>
          ${Object.entries(KINDS).map(([id, name]) => html`<option value=${id}>${name}</option>`)}
        </select></label>
      <${Stepper} name="layer" value=${layer.value} count=${layers.value}
        onStep=${moveLayer} />
      <${Stepper} name="head" value=${head.value} count=${heads.value} all="mean" onStep=${moveHead} />
      <span class="switch" role="group" aria-label="Unit">
        ${["word", "piece"].map((name) => html`
          <button aria-pressed=${unit.value === name} onClick=${() => set({ unit: name })}>${name}s</button>`)}
      </span>
      <label><span class="unseen">Colours</span>
        <select value=${get("scale")} onChange=${(event) => set({ scale: event.target.value })}>
          ${SCALES.map((name) => html`<option value=${name}>${name}</option>`)}
        </select></label>
      <${Score} data=${data} />
    </div>`;
}

function Changes({ data }) {
  if (!changes.value.length) return null;
  const effect = data?.effect;
  return html`
    <div class="changes" role="region" aria-label="Changes to the model">
      <strong>Changed</strong>
      ${changes.value.map((change) => html`
        <button class="change" onClick=${() => toggle(change)} title="take back">${describe(change, data)} <span aria-hidden="true">✕</span><span class="unseen">, take back</span></button>`)}
      <button class="quiet" onClick=${() => set({ changes: "" })}>take all back</button>
      ${effect && html`
        <span class="effect">
          ${effect.translation === effect.translation_before
            ? "same translation"
            : html`now <q lang=${model.value.languages[1]}>${effect.translation}</q>`}
          , Δ log P <output>${signed(effect.total)}</output>
        </span>`}
    </div>`;
}

function Strip() {
  const { status, data } = run.value;
  if (!data) {
    // A page that needs the sentence says itself what is wrong with it.
    const said = PAGES.find((one) => one.id === page.value)?.needsSentence;
    return status === "error" && !said ? html`<p class="strip problem" role="alert">${run.value.error}</p>` : null;
  }
  return html`
    <div class=${`strip${status === "loading" ? " stale" : ""}`} aria-busy=${status === "loading"}>
      <span class="side">${model.value.languages[0]}</span>
      <${Words} name="Source words" tokens=${data.source} place=${sourcePlace.value} onChoose=${(i) => set({ i })} />
      <span class="side">${model.value.languages[1]}</span>
      <${Words} name="Target words" tokens=${data.target} place=${targetPlace.value} onChoose=${(j) => set({ j })} />
    </div>`;
}

// How high the bar is, for what sticks below it.
function useHeight(element) {
  useEffect(() => {
    const note = () => document.documentElement.style.setProperty("--bar", `${element.current.offsetHeight}px`);
    const observer = new ResizeObserver(note);
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
}

export function Bar() {
  const element = useRef(null);
  useHeight(element);
  return html`
    <header class="bar" ref=${element}>
      <div class="top">
        <${Mark} /><${Models} /><${Sentence} /><${Share} />
        <button class="quiet" onClick=${nextTheme} aria-label=${dark.value ? "Light colours" : "Dark colours"}>${dark.value ? "☀" : "☾"}</button>
        <button class="quiet" onClick=${showHelp} aria-label="Help: keys">?</button>
      </div>
      <${Strip} />
      <${Changes} data=${run.value.data} />
      ${run.value.data && html`<${Selection} data=${run.value.data} />`}
    </header>`;
}

export function Navigation() {
  const here = PAGES.find((one) => one.id === page.value);
  const element = useRef(null);
  useEffect(() => { // on a phone the names are a strip: bring this one to its middle
    const [strip, name] = [element.current, element.current.querySelector("[aria-current]")];
    if (name) strip.scrollLeft = name.offsetLeft - (strip.clientWidth - name.offsetWidth) / 2;
  }, [here]);
  return html`
    <nav aria-label="Pages" ref=${element}><ul>
      ${PAGES.map((one) => html`
        <li><a href=${link(one.id)} aria-current=${one === here ? "page" : undefined} onClick=${follow(one.id)}>${one.name}</a></li>`)}
    </ul></nav>`;
}
