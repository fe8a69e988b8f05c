// A benchmark of the module by one worker or several: the receipt. Pure but for what it is given.
//
// The first worker is alone while it initializes, compiles and makes the first start: nothing disturbs
// what is timed once. Then come the others, with the same artifact bytes and an input of their own; each makes
// one start in front of the batch. When all are ready they are let go together. The batch's wall time is that of
// one clock, the coordinator's, from letting go to the answer of the last.

import { Kernel, canonical } from "./kernel.mjs";

export const LIMITS = { compiles: 100000, dispatches: 1000000, workers: 256, silenceMs: 86400000 };
const SILENCE_MS = 600000; // as a driver's, of aurabench kernel
const TIMER = { set: (fn, ms) => setTimeout(fn, ms), clear: (t) => clearTimeout(t) };

// Whole ns, as native samples are: what a clock adds behind them is noise of its arithmetic.
function whole(ms) {
  return Math.round(ms * 1e6) / 1e6;
}

function check(what) {
  for (const [name, most] of Object.entries(LIMITS))
    if (!Number.isInteger(what[name]) || what[name] < 1 || what[name] > most)
      throw new Error(`${name} must be a whole number from 1 to ${most}`);
}

// As even as it can be: 7 starts of 3 workers are 3, 2 and 2.
function share(starts, workers, i) {
  return Math.floor(starts / workers) + (i < starts % workers ? 1 : 0);
}

class Silence extends Error {}

// What has no answer in time is refused by its worker's name and its step. A request's work has no bound of
// its own: it may be many dispatches. timer: {set(fn, ms), clear(what set gave)}.
function answered(worker, request, { silenceMs, timer }) {
  let set;
  const silent = new Promise((_, refuse) => {
    set = timer.set(() => refuse(new Silence(`${worker.name} did not answer "${request.step}" within ${silenceMs} ms; ` +
      "it hangs, or takes longer than that: ask for less, or for a longer silence")), silenceMs);
  });
  return Promise.race([worker.ask(request), silent]).finally(() => timer.clear(set));
}

function bounded(worker, patience) {
  return { ...worker, ask: (request) => answered(worker, request, patience) };
}

// Every worker is asked before the first answer is awaited. What one refuses is said with its name.
function askAll(workers, request) {
  return Promise.all(workers.map((w, i) => w.ask(request(i)).catch((e) => {
    throw e instanceof Silence ? e : new Error(`${w.name}: ${e.message}`);
  })));
}

function refuseDiffering(worker, where, digest, first) {
  if (digest !== first)
    throw new Error(`${worker.name} gave another terminal value than the first dispatch, ${where}: ` +
      `${digest.slice(0, 12)}, not ${first.slice(0, 12)}; every dispatch must give the same`);
}

// Clocks of workers and coordinator are rounded apart: one part in a thousand and a millisecond.
function refuseLonger(worker, ms, wallMs) {
  if (ms - wallMs > wallMs / 1000 + 1)
    throw new Error(`${worker.name} reports ${ms.toFixed(3)} ms in a batch of ${wallMs.toFixed(3)} ms; its clock is wrong`);
}

async function runBatch(workers, starts, first, now) {
  const begin = now();
  const ended = await askAll(workers, (i) => ({ step: "batch", starts: share(starts, workers.length, i) }));
  const coordinatorMs = now() - begin;
  workers.forEach((w, i) => refuseLonger(w, ended[i].ms, coordinatorMs));
  const wallMs = whole(Math.max(coordinatorMs, ...ended.map((e) => e.ms)));
  if (!(wallMs > 0)) throw new Error("the clock is too coarse for this batch; ask for more dispatches");
  const taken = await askAll(workers, () => ({ step: "collect" }));
  workers.forEach((w, i) => {
    const { differs, samples } = taken[i], own = share(starts, workers.length, i);
    if (differs) refuseDiffering(w, `in its dispatch ${differs.start}`, differs.digest, first);
    if (samples.length !== own) throw new Error(`${w.name} made ${samples.length} dispatches, its share is ${own}`);
  });
  return { wallMs, samples: taken.flatMap((t) => t.samples) };
}

async function measureAlone(worker, what, say) {
  say("initializing");
  const initialized = await worker.ask({ step: "initialize", wasm: what.wasm });
  say("compiling");
  const compiled = await worker.ask({ step: "compile", source: what.source, compiles: what.compiles });
  const started = await worker.ask(prepare(compiled.artifact, what));
  return { initialized, compiled, started };
}

function prepare(artifact, { entry, kind, input }) {
  return { step: "prepare", artifact, entry, kind, input };
}

async function readyOthers(others, artifact, first, what) {
  await askAll(others, () => ({ step: "initialize", wasm: what.wasm }));
  const prepared = await askAll(others, () => prepare(artifact, what));
  others.forEach((w, i) => refuseDiffering(w, "in front of the batch", prepared[i].digest, first));
}

function provenance(kernel, what) {
  const about = kernel.about(), bytes = (s) => new TextEncoder().encode(s);
  return {
    aurabenchVersion: about.version, driver: "aurabench-kernel.wasm", driverVersion: about.version,
    kernelVersion: about.kernelVersion, artifactFormatVersion: about.artifactFormatVersion,
    semanticAbiFingerprint: about.semanticAbiFingerprint, opcodeAbiFingerprint: about.opcodeAbiFingerprint,
    buildProfile: "release", os: what.os, arch: "wasm32", machine: null,
    sourceDigest: kernel.sha256(bytes(what.source)), inputDigest: kernel.sha256(bytes(canonical(what.input))),
  };
}

// After the batch: an instance before the first worker's would have it find the module compiled.
async function receiptOf(what, workers, { initialized, compiled, started }, batch) {
  const kernel = new Kernel((await WebAssembly.instantiate(what.wasm, {})).instance);
  return {
    schemaVersion: "aurabench.kernel.v1", target: "browser", source: what.path, entry: what.entry, entryKind: what.kind,
    artifactBytes: compiled.artifact.length, artifactDigest: kernel.sha256(compiled.artifact),
    iterations: what.dispatches, workers, provenance: provenance(kernel, what), initializationMs: whole(initialized.ms),
    compile: { firstMs: whole(compiled.samples[0]), repeated: kernel.statistics(compiled.samples.slice(1)) },
    decode: null,
    dispatch: {
      firstMs: whole(started.ms), repeated: kernel.statistics(batch.samples), batchWallMs: batch.wallMs,
      throughputPerSecond: what.dispatches / (batch.wallMs / 1000),
    },
    terminalDigest: started.digest,
  };
}

// what: {wasm: bytes, source, path, entry, kind, input, compiles, dispatches, workers, os}; of the workers at most
// one for each dispatch is started. spawn(name): {name, ask(request): promise of the answer, end()}.
// silenceMs in what: after so long without an answer a worker is given up; left out: ten minutes.
// now: a clock in ms. say: is told what goes on. timer: as that of the system.
export async function coordinate(given, spawn, now, say = () => {}, timer = TIMER) {
  const what = { silenceMs: SILENCE_MS, ...given };
  check(what);
  const workers = [];
  const add = (i) => workers.push(bounded(spawn(`worker ${i}`), { silenceMs: what.silenceMs, timer }));
  try {
    add(0);
    const alone = await measureAlone(workers[0], what, say);
    const count = Math.min(what.workers, what.dispatches);
    say("starting the workers");
    for (let i = 1; i < count; i++) add(i);
    await readyOthers(workers.slice(1), alone.compiled.artifact, alone.started.digest, what);
    say("dispatching");
    const batch = await runBatch(workers, what.dispatches, alone.started.digest, now);
    return await receiptOf(what, count, alone, batch);
  } finally {
    workers.forEach((w) => w.end());
  }
}
