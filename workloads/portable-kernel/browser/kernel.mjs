// The module's exports with bytes in place of addresses. `new Kernel(instance)`; what is refused throws
// an Error with the module's sentence.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Kernel {
  constructor(instance) {
    this.exports = instance.exports;
  }

  // Memory may have grown, and so moved, with every call.
  put(bytes) {
    const at = this.exports.kernel_alloc(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return at;
  }

  result() {
    const at = this.exports.kernel_result();
    return new Uint8Array(this.exports.memory.buffer, at, this.exports.kernel_result_bytes()).slice();
  }

  check(refused) {
    if (refused) throw new Error(decoder.decode(this.result()));
    return this.result();
  }

  with(bytes, call) {
    const at = this.put(bytes);
    try {
      return this.check(call(at, bytes.length));
    } finally {
      this.exports.kernel_free(at);
    }
  }

  about() {
    this.exports.kernel_about();
    return JSON.parse(decoder.decode(this.result()));
  }

  compile(source) {
    return this.with(encoder.encode(source), (at, n) => this.exports.kernel_compile(at, n));
  }

  // The public start: artifact bytes and JSON text in, JSON text out.
  start(artifact, entry, kind, input) {
    return decoder.decode(this.with(artifact, (a, an) => {
      const name = this.put(encoder.encode(entry + "\0")), json = encoder.encode(input), at = this.put(json);
      try {
        return this.exports.kernel_start(a, an, name, kind === "pipeline" ? 1 : 0, at, json.length);
      } finally {
        this.exports.kernel_free(name);
        this.exports.kernel_free(at);
      }
    }));
  }

  sha256(bytes) {
    const digest = this.with(bytes, (at, n) => this.exports.kernel_sha256(at, n));
    return Array.from(digest, (b) => b.toString(16).padStart(2, "0")).join("");
  }

  // Of samples in ms: rounded to whole ns, as native samples are; the definitions are the native ones.
  statistics(samplesMs) {
    const ns = new BigInt64Array(samplesMs.map((ms) => BigInt(Math.round(ms * 1e6))));
    const view = new DataView(this.with(new Uint8Array(ns.buffer), (at) => this.exports.kernel_statistics(at, ns.length)).buffer);
    const names = ["min_ms", "mean_ms", "p50_ms", "p95_ms", "max_ms", "stddev_ms", "total_ms"];
    const out = { iterations: Number(view.getBigInt64(0, true)) };
    names.forEach((name, i) => (out[name] = view.getFloat64(8 + 8 * i, true)));
    return out;
  }
}

// Keys by their bytes (here: all ASCII or compared by code points), no white space.
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((k) => `${JSON.stringify(k)}:${canonical(value[k])}`).join(",")}}`;
}
