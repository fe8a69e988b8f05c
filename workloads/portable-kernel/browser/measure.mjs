// What one worker of a benchmark does: a step for each request, each answered once. Runs in a worker of a
// page (worker.mjs), and in node for tests. coordinate.mjs says in which order the requests come.
//
// Boundaries: initialization is compiling and instantiating the module; dispatch is the public start,
// which holds decoding, JSON in and JSON out, so that there is no decode by itself. It is no native dispatch.

import { Kernel, canonical } from "./kernel.mjs";

const encoder = new TextEncoder();

function equal(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

// now: a clock in ms. Returns an async function from a request to its answer; it throws what was refused.
export function member(now) {
  let kernel, prepared, terminal, samples, differs;
  const start = () => kernel.start(prepared.artifact, prepared.entry, prepared.kind, prepared.text);
  const digest = (value) => kernel.sha256(encoder.encode(value));

  const steps = {
    // {wasm: bytes}
    async initialize({ wasm }) {
      const before = now();
      const { instance } = await WebAssembly.instantiate(wasm, {});
      kernel = new Kernel(instance);
      return { ms: now() - before };
    },

    // {source, compiles}: that many behind the first.
    compile({ source, compiles }) {
      const taken = [];
      let first = null;
      for (let i = 0; i <= compiles; i++) {
        const before = now();
        const artifact = kernel.compile(source);
        taken.push(now() - before);
        first ??= artifact;
        if (!equal(first, artifact)) throw new Error(`compile ${i + 1} made other artifact bytes than the first`);
      }
      return { artifact: first, samples: taken };
    },

    // {artifact, entry, kind, input}: one start in front of the batch.
    prepare({ artifact, entry, kind, input }) {
      prepared = { artifact, entry, kind, text: canonical(input) };
      const before = now();
      terminal = start();
      return { ms: now() - before, digest: digest(terminal) };
    },

    // {starts}: this worker's share of the batch. The answer is short, so that it is there at once.
    batch({ starts }) {
      samples = [];
      differs = null;
      const begin = now();
      for (let i = 0; i < starts && !differs; i++) {
        const before = now();
        const value = start();
        samples.push(now() - before);
        if (value !== terminal) differs = { start: i + 1, value };
      }
      return { ms: now() - begin };
    },

    // What the batch took, once all workers are through with it.
    collect() {
      return { samples, differs: differs && { start: differs.start, digest: digest(differs.value) } };
    },
  };
  return async (request) => steps[request.step](request);
}
