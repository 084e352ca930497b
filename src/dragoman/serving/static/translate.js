// The translation page: it asks `/v1` and writes text, never markup.
const WAIT = 350; // milliseconds without a key before it asks
const KEPT = 20; // translations in the history
const SURE = -0.7; // log-probability from which a piece counts as sure
const DOUBTFUL = -1.6;
const by = (id) => document.getElementById(id);
const source = by("source"), target = by("target"), text = by("text");
let models = [], asking = null, timer = 0, shown = null;

function headers() {
  const key = by("key").value;
  const all = { "Content-Type": "application/json" };
  return key ? { ...all, Authorization: `Bearer ${key}` } : all;
}

async function ask(path, body, signal) {
  const options = body && { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(path, { ...options, headers: headers(), signal });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  return said;
}

function complain(message) {
  by("problem").hidden = !message;
  by("problem").textContent = message;
}

function choices(select, pairs) {
  const before = select.value;
  select.replaceChildren(...pairs.map(([code, name]) => new Option(name, code)));
  if (pairs.some(([code]) => code === before)) select.value = before;
}

function fillTargets() {
  const from = source.value;
  const fit = models.filter((m) => from === "auto" || m.source === from);
  choices(target, [...new Map(fit.map((m) => [m.target, m.target_name]))]);
}

function glossary() {
  const lines = by("glossary").value.split("\n").map((line) => line.split("="));
  const terms = lines.filter((pair) => pair.length === 2 && pair[0].trim() && pair[1].trim());
  return Object.fromEntries(terms.map(([a, b]) => [a.trim(), b.trim()]));
}

async function translate() {
  asking?.abort();
  by("choices").hidden = true;
  const written = text.value;
  by("count").textContent = `${written.length.toLocaleString("en")} characters`;
  if (!written.trim()) return show(null);
  asking = new AbortController();
  try {
    const body = { texts: [written], source: source.value, target: target.value,
      token_scores: true, glossary: glossary() };
    const said = await ask("/v1/translate", body, asking.signal);
    show(said.translations[0]);
    complain(said.translations[0].warnings.join("; "));
    remember(written, said.translations[0].text);
  } catch (error) {
    if (error.name !== "AbortError") complain(error.message);
  }
}

// Words with the least log-probability of their pieces; "▁" begins a word.
function surenesses(sentence) {
  const found = [];
  (sentence.pieces ?? []).forEach((piece, place) => {
    const least = sentence.log_probabilities[place] ?? 0;
    if (piece.startsWith("▁") || !found.length) found.push(least);
    else found[found.length - 1] = Math.min(found[found.length - 1], least);
  });
  return found;
}

function show(result) {
  shown = result;
  const place = by("translation");
  place.replaceChildren();
  by("found").textContent = "";
  if (!result) return;
  if (source.value === "auto") by("found").textContent = `found: ${result.detected.language}`;
  let at = 0;
  for (const [number, sentence] of result.sentences.entries()) {
    const start = result.text.indexOf(sentence.text, at);
    if (start < 0) continue;
    place.append(result.text.slice(at, start));
    at = start + sentence.text.length;
    const sure = surenesses(sentence);
    let word = 0, before = 0;
    for (const match of sentence.text.matchAll(/\S+/g)) {
      place.append(sentence.text.slice(before, match.index));
      before = match.index + match[0].length;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = match[0];
      const least = sure[word++] ?? 0;
      if (least < DOUBTFUL) button.className = "unsure";
      else if (least < SURE) button.className = "doubtful";
      button.addEventListener("click", () => offer(number, match.index));
      place.append(button);
    }
    place.append(sentence.text.slice(before));
  }
  place.append(result.text.slice(at));
}

async function offer(number, index) {
  const sentence = shown.sentences[number];
  const prefix = sentence.text.slice(0, index).trimEnd();
  const panel = by("choices");
  try {
    const from = source.value === "auto" ? shown.detected.language : source.value;
    const said = await ask("/v1/alternatives", { text: sentence.source, source: from,
      target: target.value, prefix, count: 6 });
    const list = document.createElement("ul");
    for (const one of said.alternatives) {
      const item = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = one.translation;
      button.addEventListener("click", () => take(number, one.translation));
      item.append(button);
      list.append(item);
    }
    panel.replaceChildren(list);
    panel.hidden = false;
    list.querySelector("button")?.focus();
  } catch (error) {
    complain(error.message);
  }
}

function take(number, translation) {
  const old = shown.sentences[number].text;
  const sentences = shown.sentences.map((sentence, place) =>
    place === number ? { ...sentence, text: translation, pieces: [] } : sentence);
  show({ ...shown, text: shown.text.replace(old, () => translation), sentences });
  by("choices").hidden = true;
  by("translation").focus();
}

function history() {
  try { return JSON.parse(localStorage.getItem("dragoman.history")) ?? []; }
  catch { return []; }
}

function remember(from, to) {
  const kept = history().filter((one) => !from.startsWith(one.from));
  localStorage.setItem("dragoman.history", JSON.stringify([{ from, to }, ...kept].slice(0, KEPT)));
  showHistory();
}

function showHistory() {
  by("history").replaceChildren(...history().map(({ from, to }) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = `${from.slice(0, 60)} → ${to.slice(0, 60)}`;
    button.addEventListener("click", () => { text.value = from; translate(); });
    item.append(button);
    return item;
  }));
}

async function translateFile() {
  const [file] = by("file").files;
  if (!file) return;
  by("file-state").textContent = "Translating …";
  const form = new FormData();
  form.append("file", file);
  form.append("source", source.value);
  form.append("target", target.value);
  form.append("api_key", by("key").value);
  const answer = await fetch("/translate_file", { method: "POST", body: form });
  const said = await answer.json();
  by("file-state").textContent = answer.ok ? "" : said.error;
  if (!answer.ok) return;
  const link = document.createElement("a");
  link.href = new URL(said.translatedFileUrl).pathname;
  link.download = file.name.replace(/(\.[^.]*)$/, `.${target.value}$1`);
  link.textContent = `Save ${link.download}`;
  by("file-state").append(link);
}

async function begin() {
  models = (await ask("/v1/models")).models;
  const sources = new Map(models.map((m) => [m.source, m.source_name]));
  choices(source, [["auto", "Find out"], ...sources]);
  fillTargets();
}

text.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(translate, WAIT); });
source.addEventListener("change", () => { fillTargets(); translate(); });
target.addEventListener("change", translate);
by("glossary").addEventListener("change", translate);
by("key").addEventListener("change", () => begin().catch((error) => complain(error.message)));
by("file").addEventListener("change", () => translateFile().catch((e) => complain(e.message)));
by("clear").addEventListener("click", () => { text.value = ""; translate(); text.focus(); });
by("copy").addEventListener("click", () => navigator.clipboard?.writeText(shown?.text ?? ""));
by("forget").addEventListener("click", () => { localStorage.removeItem("dragoman.history"); showHistory(); });
by("shade").addEventListener("change", () => by("translation").classList.toggle("shaded", by("shade").checked));
by("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", document.documentElement.dataset.theme);
});
by("swap").addEventListener("click", () => {
  const from = source.value === "auto" ? shown?.detected.language : source.value;
  const back = models.some((m) => m.source === target.value && m.target === from);
  if (!back) return complain("There is no model for the other direction here.");
  [source.value, text.value] = [target.value, shown?.text ?? ""];
  fillTargets();
  target.value = from;
  translate();
});
by("translation").classList.add("shaded");
showHistory();
begin().catch((error) => complain(error.message));
