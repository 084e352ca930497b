// What was read, what was answered, and what else might have been said.
byId("about").textContent = data.about;
["source", "target"].forEach((side, i) => {
  const [label, text] = data.texts[i];
  byId(`${side}-label`).textContent = label;
  byId(`${side}-text`).textContent = text || "(blank)";
});
for (const [name, value] of data.facts) byId("facts").append(make("div", {}, make("dt", {}, name), make("dd", {}, value)));
byId("concerns").hidden = !data.concerns.length;
const warned = data.concerns.slice(0, 5);
if (data.concerns.length > warned.length) warned.push(`and ${data.concerns.length - warned.length} more warnings like these`);
byId("concerns").append(...warned.map((message) => make("li", {}, message)));
byId("merge-rule").textContent = data.merge_rule;
byId("footer").textContent = data.footer;

const tokenButtons = data.predictions.map((prediction, place) => {
  const fill = make("span", { className: "fill" });
  fill.style.width = `${100 * prediction.probability}%`;
  const button = make("button", { className: "token", type: "button", role: "option" },
    make("span", { className: "piece" }, shown(prediction.predicts)),
    make("span", { className: "track" }, fill),
    make("span", { className: "share" }, percent(prediction.probability)));
  button.title = `reads ${shown(prediction.reads)} → predicts ${shown(prediction.predicts)}`;
  button.addEventListener("click", () => choose({ target: place }));
  return button;
});
byId("tokens").append(...tokenButtons);
byId("tokens").addEventListener("keydown", (event) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const place = Math.max(0, Math.min(tokenButtons.length - 1, chosen.target + step));
  choose({ target: place });
  tokenButtons[place].focus();
});

views.push(function showTokens() {
  tokenButtons.forEach((button, place) => {
    button.setAttribute("aria-selected", place === chosen.target);
    button.tabIndex = place === chosen.target ? 0 : -1;
  });
});

views.push(function showAlternatives() {
  const prediction = data.predictions[chosen.target];
  byId("alternatives-title").textContent = `${data.where} ${shown(prediction.reads)} it could say`;
  const listed = [...prediction.alternatives];
  if (!listed.some(([piece]) => piece === prediction.predicts)) listed.push([prediction.predicts, prediction.probability]);
  byId("alternatives").replaceChildren(...listed.map(([piece, probability]) => {
    const fill = make("span", { className: "fill" });
    fill.style.width = `${100 * probability}%`;
    return make("li", { className: piece === prediction.predicts ? "came" : "" },
      make("span", { className: "name" }, shown(piece)),
      make("span", { className: "track" }, fill),
      make("span", { className: "number" }, percent(probability)));
  }));
});

// The chosen token's row of the attention that is shown first, written into what it looks at.
views.push(function showLooks() {
  const { kind } = data.start;
  byId("looks-title").parentElement.hidden = !kind;
  if (!kind) return;
  const { layer, head } = chosen.kind === kind ? chosen : data.start;
  const [from, to] = sides[kind];
  const row = rowOf(chosen.target, from);
  const weights = matrix(kind, layer, head)[row];
  const most = Math.max(...weights);
  const scale = colours();
  byId("looks-title").textContent = `${names(from)[row]} looks at`;
  byId("looks").replaceChildren(...names(to).map((name, i) => {
    const span = make("span", { title: percent(weights[i]) }, name);
    const share = most ? weights[i] / most * 0.85 : 0;
    span.style.background = scale.css(share);
    span.style.color = scale.ink(share);
    return span;
  }));
  byId("looks-hint").textContent = `${kind === "cross" ? "Cross" : "Self"}-attention of layer ${layer + 1}, ${head === null ? "mean of all heads" : `head ${head + 1}`}${data.best && layer === data.best.layer && head === data.best.head ? `: the head that aligns best on the validation text (${percent(data.best.score)} of words)` : ""}.`;
});

function rowOf(piece, side) {
  return spans(side).findIndex(([start, end]) => start <= piece && piece < end);
}
