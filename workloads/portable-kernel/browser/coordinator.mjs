// The worker of the page that has the others: the page's own work delays neither its clock nor its messages.
// Fetches, has it measured, answers once; before that it says what goes on.
import { coordinate } from "./coordinate.mjs";

async function fetched(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
  return answer;
}

// What is posted is copied: every worker has an input and an artifact of its own.
function spawn(name) {
  const worker = new Worker("worker.mjs", { type: "module", name });
  const ask = (request) => new Promise((take, refuse) => {
    worker.onmessage = ({ data }) => (data.error === undefined ? take(data.answer) : refuse(new Error(data.error)));
    worker.onerror = (e) => {
      e.preventDefault();
      refuse(new Error(e.message || "it does not start"));
    };
    worker.postMessage(request);
  });
  return { name, ask, end: () => worker.terminate() };
}

onmessage = async ({ data }) => {
  try {
    const receipt = await coordinate({
      ...data, path: data.program, os: navigator.platform || "browser",
      wasm: await (await fetched(data.module)).arrayBuffer(),
      source: await (await fetched(data.program)).text(),
      input: await (await fetched(data.input)).json(),
    }, spawn, () => performance.now(), (state) => postMessage({ state }));
    postMessage({ receipt });
  } catch (e) {
    postMessage({ error: String(e.message ?? e) });
  }
};
