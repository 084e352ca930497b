// Long work with progress and a way to call it off.
import { html, useEffect, useState } from "./lib.js";
import { askNow } from "./api.js";

const EVERY = 400;

// Begins the work when asked, then follows it; `body` says which work it is.
export function useJob(path, body) {
  const [job, setJob] = useState(null);
  const [error, setError] = useState("");
  const key = JSON.stringify(body);
  useEffect(() => { setJob(null); setError(""); }, [path, key]);
  useEffect(() => {
    if (job?.state !== "running") return undefined;
    const timer = setTimeout(() => {
      askNow("/api/job", { number: job.number }).then(setJob, (problem) => setError(problem.message));
    }, EVERY);
    return () => clearTimeout(timer);
  }, [job]);
  const start = () => {
    setError("");
    askNow(path, job ? { ...body, again: true } : body).then(setJob, (problem) => setError(problem.message));
  };
  const cancel = () => askNow("/api/cancel", { number: job.number }).then(setJob, (problem) => setError(problem.message));
  return { job, start, cancel, error: error || job?.error || "" };
}

export function JobControl({ of, name, again = "Run again" }) {
  const { job, start, cancel, error } = of;
  const running = job?.state === "running";
  return html`
    <div class="controls job">
      ${!running && html`<button class=${job ? "" : "main"} onClick=${start}>${job ? again : name}</button>`}
      ${running && html`
        <progress value=${job.done} max=${Math.max(1, job.total)} aria-label=${`${name}: progress`}></progress>
        <output>${job.done} of ${job.total || "…"}</output>
        <button onClick=${cancel}>Cancel</button>`}
      ${job?.state === "cancelled" && html`<em>called off</em>`}
      ${error && html`<p class="problem" role="alert">${error}</p>`}
    </div>`;
}
