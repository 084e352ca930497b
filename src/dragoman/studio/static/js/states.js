// What a page shows while it has nothing to show.
import { html } from "./lib.js";

export const Empty = ({ children }) => html`<div class="state empty">${children}</div>`;
export const Loading = () => html`
  <div class="state loading" role="status"><span class="pulse"></span> working …</div>`;
export const Problem = ({ children }) => html`<div class="state problem" role="alert">${children}</div>`;

// Shows the answer when there is one, keeps the last one while the next is on its way.
export function Answer({ of, children, empty = "Nothing to show yet." }) {
  if (of.status === "error") return html`<${Problem}>${of.error}<//>`;
  if (of.data !== null) {
    return html`<div class=${of.status === "loading" ? "answer stale" : "answer"} aria-busy=${of.status === "loading"}>${children(of.data)}</div>`;
  }
  return of.status === "loading" ? html`<${Loading} />` : html`<${Empty}>${empty}<//>`;
}
