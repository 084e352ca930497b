// The run on show: what the model made of the sentence, with and without the changes.
import { computed, effect, signal, untracked, useLayoutEffect } from "./lib.js";
import { ask, askTensor, useTensor } from "./api.js";
import { changes, models, question } from "./state.js";

export const run = signal({ status: "empty", data: null });

export const body = computed(() => ({ ...question.value, changes: changes.value }));

effect(() => {
  const asked = body.value;
  if (!models.value.length) return;
  if (!asked.source.trim()) { run.value = { status: "empty", data: null }; return; }
  untracked(() => { run.value = { ...run.value, status: "loading" }; });
  const still = () => untracked(() => body.value) === asked;
  ask("/api/inspect", asked).then(
    (data) => { if (still()) run.value = { status: "ready", data }; },
    (error) => { if (still()) run.value = { status: "error", data: null, error: error.message }; },
  );
});

// The question behind what is on show: further questions ask about the same run.
export const shown = computed(() => (run.value.data ? run.value.data.question : null));

// A tensor of the run on show. That of a run on its way is asked for along with it, so
// that it is there when the run is.
export function useTensorOf(data, path, fields) {
  const coming = run.value.status === "loading" ? { ...body.value, ...fields } : null;
  useLayoutEffect(() => {
    if (coming) askTensor(path, coming).catch(() => {}); // the run itself says what is wrong
  }, [JSON.stringify(coming)]);
  return useTensor(path, { ...data.question, ...fields });
}
