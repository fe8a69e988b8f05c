// The kernel as a module for a page, held against the native one: wasm.mjs MODULE DRIVER PROBE EXAMPLES.
// Same artifact bytes, same values, same statistics to the bit; and nothing imported.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [modulePath, driver, probe, examples] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(modulePath));
const kernel = new WebAssembly.Instance(module, {}).exports;

function put(bytes) {
  const at = kernel.kernel_alloc(bytes.length);
  new Uint8Array(kernel.memory.buffer, at, bytes.length).set(bytes);
  return at;
}

function result() {
  const at = kernel.kernel_result();
  return Buffer.from(new Uint8Array(kernel.memory.buffer, at, kernel.kernel_result_bytes()).slice());
}

// Calls with each argument's bytes in memory; a number goes as it is. Bytes count, then their length
// unless they end with a NUL.
function call(name, ...args) {
  const held = [], given = [];
  for (const arg of args) {
    if (typeof arg === "number") {
      given.push(arg);
      continue;
    }
    held.push(put(arg));
    given.push(held.at(-1), ...(arg.at(-1) === 0 && arg.text ? [] : [arg.length]));
  }
  const refused = kernel[name](...given) ?? 0;
  held.forEach((at) => kernel.kernel_free(at));
  return refused;
}

function text(s) {
  const bytes = Buffer.from(s + "\0");
  bytes.text = true;
  return bytes;
}

const made = (name, ...args) => {
  assert.equal(call(name, ...args), 0, result().toString());
  return result();
};
const refused = (name, ...args) => {
  assert.equal(call(name, ...args), 1);
  return result().toString();
};

// What the native kernel says of a program, through its driver.
function native(program, entry, kind, input) {
  const requests = [
    { request: "compile", program, iterations: 1 },
    { request: "decode", iterations: 1 },
    { request: "dispatch", entry, entryKind: kind, input, iterations: 1, workers: 1 },
    { request: "end" },
  ];
  const done = spawnSync(driver, [], { input: requests.map((r) => JSON.stringify(r) + "\n").join(""), encoding: "utf8" });
  assert.equal(done.status, 0, done.stdout);
  const lines = done.stdout.trim().split("\n").map((l) => JSON.parse(l));
  return { hello: lines[0], artifact: lines.find((l) => l.samples === "compile").digest,
           terminal: lines.find((l) => l.samples === "firstDispatch").digest };
}

const hex = (bytes) => made("kernel_sha256", bytes).toString("hex");
const tests = {
  "the module imports nothing"() {
    assert.deepEqual(WebAssembly.Module.imports(module), []);
  },

  "artifacts and values are those of the native kernel"() {
    for (const [file, entry, kind] of [["reducer", "reduce", "function"], ["reducer", "twice", "pipeline"], ["sums", "sums", "function"]]) {
      const path = join(examples, `${file}.pk`);
      const input = readFileSync(join(examples, `${file}-input.json`));
      const artifact = made("kernel_compile", readFileSync(path));
      assert.deepEqual(artifact, execFileSync(driver, ["compile", path]));
      const said = native(path, entry, kind, input.toString());
      assert.equal(hex(artifact), said.artifact);
      const value = made("kernel_start", artifact, text(entry), kind === "pipeline" ? 1 : 0, input);
      assert.equal(hex(value), said.terminal);
      const { version, ...about } = JSON.parse(made("kernel_about").toString());
      assert.equal(version, said.hello.version);
      for (const [key, value] of Object.entries(about)) assert.equal(value, said.hello[key]);
    }
  },

  "a program is decoded once and dispatched often"() {
    const artifact = made("kernel_compile", Buffer.from("fn main(x: int): list<int> { range(0, x) }"));
    assert.equal(call("kernel_decode", artifact), 0);
    const before = kernel.memory.buffer.byteLength;
    for (let i = 0; i < 2000; i++)
      assert.equal(made("kernel_dispatch", text("main"), 0, Buffer.from("3")).toString(), "[0,1,2]");
    assert.equal(kernel.memory.buffer.byteLength, before);
  },

  "what is wrong is said in a sentence"() {
    assert.equal(refused("kernel_compile", Buffer.from("fn main(x: int): int {\n  y\n}")),
                 "line 2, column 3: y is not known here");
    const artifact = made("kernel_compile", Buffer.from("fn main(x: int): int { 1 / x }"));
    assert.equal(refused("kernel_start", artifact, text("main"), 0, Buffer.from("0")), "line 1, column 26: division by zero");
    assert.match(refused("kernel_start", artifact, text("none"), 0, Buffer.from("0")), /no function none/);
    assert.match(refused("kernel_start", artifact, text("main"), 0, Buffer.from("[]")), /the input has no whole number/);
    artifact[100] ^= 1;
    assert.match(refused("kernel_decode", artifact), /not those that were written/);
    assert.equal(refused("kernel_dispatch", text("main"), 0, Buffer.from("0")), "nothing is decoded");
  },

  "what is nested too deep is refused and does not overflow the stack"() {
    for (const [open, inner, close] of [["(", "1", ")"], ["[", "1", "]"], ["{a: ", "1", "}"], ["f(", "1", ")"]]) {
      const source = `fn main(x: int): int { ${open.repeat(3000)}${inner}${close.repeat(3000)} }`;
      assert.match(refused("kernel_compile", Buffer.from(source)), /stand inside each other/);
    }
    let type = "int";
    for (let i = 0; i < 90; i++) type = `{f: ${type}}`;
    made("kernel_compile", Buffer.from(`fn main(x: ${type}): ${type} { x }`));
    const value = `${'{"f":'.repeat(90)}7${"}".repeat(90)}`;
    assert.equal(made("kernel_start", result(), text("main"), 0, Buffer.from(value)).toString(), value);
  },

  "statistics are those of the native code, to the bit"() {
    for (const n of [0, 1, 2, 7, 500, 4001]) {
      const ns = new BigInt64Array(n);
      let x = 12345;
      for (let i = 0; i < n; i++) {
        x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
        ns[i] = BigInt(x >>> 4);
      }
      const at = put(new Uint8Array(ns.buffer));
      kernel.kernel_statistics(at, n);
      assert.equal(result().toString("hex"), execFileSync(probe, [String(n)], { encoding: "utf8" }).trim(), `n ${n}`);
      kernel.kernel_free(at);
    }
  },
};

// The page's measuring, with workers that are no threads; `lie` alters what one of them answers.
const { coordinate } = await import(join(examples, "../browser/coordinate.mjs"));
const { member } = await import(join(examples, "../browser/measure.mjs"));
const clock = () => performance.now();

function measured(asked, lie = (name, step, answer) => answer, now = clock, timer = undefined) {
  const what = { wasm: readFileSync(modulePath), source: readFileSync(join(examples, "reducer.pk"), "utf8"), path: "reducer.pk",
                 entry: "reduce", kind: "function", input: JSON.parse(readFileSync(join(examples, "reducer-input.json"), "utf8")),
                 compiles: 3, dispatches: 20, workers: 1, os: "test", ...asked };
  const spawned = [], ended = [];
  const spawn = (name) => {
    const ask = member(now);
    spawned.push(name);
    return { name, ask: async (request) => lie(name, request.step, await ask(request)), end: () => ended.push(name) };
  };
  const receipt = coordinate(what, spawn, now, undefined, timer).finally(() => assert.deepEqual(ended, spawned));
  return { spawned, receipt, what };
}

// Async: awaited one after the other like the rest.
tests["a worker that does not answer is given up and named, and none is left"] = async () => {
  for (const [hangs, step] of [["worker 0", "compile"], ["worker 1", "prepare"], ["worker 2", "batch"]]) {
    const pending = new Map();
    let next = 0, bound;
    const timer = { set: (fn, ms) => { bound = ms; pending.set(++next, fn); return next; }, clear: (t) => pending.delete(t) };
    // Every other answer comes first: what is left when nothing else happens is the silent one's.
    const lie = (name, at, answer) => {
      if (name !== hangs || at !== step) return answer;
      setImmediate(function fire() { pending.size > 1 ? setImmediate(fire) : [...pending.values()].forEach((fn) => fn()); });
      return new Promise(() => {});
    };
    const { receipt } = measured({ workers: 3, silenceMs: 1234 }, lie, clock, timer);
    await assert.rejects(receipt, new RegExp(`^Error: ${hangs} did not answer "${step}" within 1234 ms; `));
    assert.equal(bound, 1234);
    assert.equal(pending.size, 0);
  }
  await assert.rejects(measured({ silenceMs: 0 }).receipt.catch((e) => { throw e; }), /silenceMs must be a whole number/);
};

tests["the page's measuring makes a receipt, with one worker and with several"] = async () => {
  for (const [workers, dispatches, started] of [[1, 20, 1], [3, 20, 3], [8, 5, 5]]) {
    const { spawned, receipt: promise, what } = measured({ workers, dispatches });
    const receipt = await promise;
    const said = native(join(examples, "reducer.pk"), "reduce", "function", JSON.stringify(what.input));
    assert.equal(receipt.artifactDigest, said.artifact);
    assert.equal(receipt.terminalDigest, said.terminal);
    assert.equal(receipt.compile.repeated.iterations, 3);
    assert.equal(receipt.dispatch.repeated.iterations, dispatches);
    assert.equal(receipt.workers, started);
    assert.deepEqual(spawned, Array.from({ length: started }, (_, i) => `worker ${i}`));
    assert.ok(receipt.dispatch.repeated.total_ms <= started * receipt.dispatch.batchWallMs + 1e-6);
  }
};

tests["what cannot be asked for is refused"] = async () => {
  await assert.rejects(measured({ dispatches: 0 }).receipt, /dispatches must be a whole number from 1 to 1000000/);
  await assert.rejects(measured({ compiles: 100001 }).receipt, /compiles must be a whole number from 1 to 100000/);
  await assert.rejects(measured({ workers: 257 }).receipt, /workers must be a whole number from 1 to 256/);
  await assert.rejects(measured({ workers: 1.5 }).receipt, /workers must be a whole number/);
  await assert.rejects(measured({}, undefined, () => 0).receipt, /too coarse/);
  await assert.rejects(measured({ entry: "none" }).receipt, /no function none/);
};

tests["a worker that is not like the first is refused by its name"] = async () => {
  const other = "0".repeat(64);
  const lies = [
    ["prepare", { digest: other }, /^Error: worker 2 gave another terminal value than the first dispatch, in front of the batch: 000000000000, not/],
    ["collect", { differs: { start: 4, digest: other } }, /^Error: worker 2 gave another terminal value than the first dispatch, in its dispatch 4: 0/],
    ["collect", { samples: [1, 2] }, /^Error: worker 2 made 2 dispatches, its share is 6$/],
    ["batch", { ms: 1e9 }, /^Error: worker 2 reports 1000000000.000 ms in a batch of .* ms; its clock is wrong$/],
  ];
  for (const [step, lie, sentence] of lies)
    await assert.rejects(measured({ workers: 3 }, (name, at, answer) => (name === "worker 2" && at === step ? { ...answer, ...lie } : answer)).receipt,
                         (e) => sentence.test(String(e)) || assert.fail(String(e)));
  await assert.rejects(measured({ workers: 2 }, (name, step, answer) => {
    if (name === "worker 1" && step === "initialize") throw new Error("no memory");
    return answer;
  }).receipt, /^Error: worker 1: no memory$/);
};

let failed = 0;
for (const [name, run] of Object.entries(tests)) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAILED ${name}: ${e.stack}`);
  }
}
process.exit(failed ? 1 : 0);
