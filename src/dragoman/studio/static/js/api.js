// Questions to the server, answers kept: JSON for words, raw floats for tensors.
import { useLayoutEffect, useState } from "./lib.js";

const KEPT = 80;
const answers = new Map();

export class StudioError extends Error {}

async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new StudioError("The studio does not answer: is `dragoman studio` still running?");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  throw new StudioError(said.error ?? `The studio answered ${response.status}.`);
}

const FLOAT16 = new Float32Array(65536);
for (let bits = 0; bits < 65536; bits += 1) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) FLOAT16[bits] = sign * 2 ** -24 * fraction;
  else if (exponent === 31) FLOAT16[bits] = fraction ? NaN : sign * Infinity;
  else FLOAT16[bits] = sign * 2 ** (exponent - 25) * (1024 + fraction);
}

async function tensorOf(response) {
  const shape = response.headers.get("X-Shape").split(",").map(Number);
  const buffer = await response.arrayBuffer();
  if (response.headers.get("X-Type") === "float32") {
    return { shape, data: new Float32Array(buffer) };
  }
  const data = Float32Array.from(new Uint16Array(buffer), (bits) => FLOAT16[bits]);
  return { shape, data };
}

function kept(key, make) {
  if (!answers.has(key)) {
    const promise = make().catch((error) => { answers.delete(key); throw error; });
    answers.set(key, promise);
    if (answers.size > KEPT) answers.delete(answers.keys().next().value);
  }
  return answers.get(key);
}

export const ask = (path, body) =>
  kept(path + JSON.stringify(body), async () => (await post(path, body)).json());

export const askNow = async (path, body) => (await post(path, body)).json();

export const askTensor = (path, body) =>
  kept(path + JSON.stringify(body), async () => tensorOf(await post(path, body)));

// What a page has: nothing asked yet, still waiting, an answer, or an error in a line.
// While a new answer is on its way, the old one stays on show.
function useQuestion(asking, path, body) {
  const [state, setState] = useState({ status: "empty", data: null, key: null });
  const key = body === null ? null : path + JSON.stringify(body);
  useLayoutEffect(() => { // before the next frame, which a question need not wait for
    if (key === null) { setState({ status: "empty", data: null, key }); return undefined; }
    let current = true;
    setState((old) => ({ ...old, status: "loading" }));
    asking(path, body).then(
      (data) => current && setState({ status: "ready", data, key }),
      (error) => current && setState({ status: "error", data: null, error: error.message, key }),
    );
    return () => { current = false; };
  }, [key]);
  // Between a new question and its effect, what is on show answers the one before.
  return state.key === key ? state : { ...state, status: key === null ? "empty" : "loading" };
}

export const useAnswer = (path, body) => useQuestion(ask, path, body);
export const useTensor = (path, body) => useQuestion(askTensor, path, body);
