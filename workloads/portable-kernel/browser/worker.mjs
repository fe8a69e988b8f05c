// One worker of a benchmark: a request in, its answer out, one after the other.
import { member } from "./measure.mjs";

const answer = member(() => performance.now());

onmessage = async ({ data }) => {
  try {
    postMessage({ answer: await answer(data) });
  } catch (e) {
    postMessage({ error: String(e.message ?? e) });
  }
};
