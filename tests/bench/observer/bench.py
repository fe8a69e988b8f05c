"""What observing costs: what our runner adds to what it times, and what the daemon uses when nothing is timed.

Everything of ours is the product: the daemon's code drives the real aurabench-runner, the real probe
looks at the real process table, the real daemon idles. The floors beside it are written down plainly
in bare.c, or are the foreign programs themselves."""

import json
import os
import pathlib
import statistics
import struct
import subprocess
import time

from tests.bench.figures import Bench, BenchError, Figure, Part, Samples, at_most, below, no_more
from tests.bench.stage import Daemon

SIZES = {
    "full": {"rounds": 15, "trials": 60, "python_trials": 20, "work_ms": 10, "starts": 100, "held_mib": 500,
             "few": 1000, "many": 5000, "looks": 9, "idle_s": 60, "watch_s": 40, "processes": 100},
    "quick": {"rounds": 5, "trials": 30, "python_trials": 10, "work_ms": 10, "starts": 50, "held_mib": 500,
              "few": 500, "many": 1000, "looks": 3, "idle_s": 20, "watch_s": 11, "processes": 100},
    "smoke": {"rounds": 2, "trials": 2, "python_trials": 2, "work_ms": 1, "starts": 3, "held_mib": 20,
              "few": 10, "many": 30, "looks": 1, "idle_s": 1, "watch_s": 1, "processes": 5},
}
NONE = 1e-6  # a figure is above 0
SETTLE_S = 2  # after which a daemon that was started has nothing left to do


def microseconds(ns: list[float]) -> list[float]:
    return [v / 1e3 for v in ns]


def milliseconds(ns: list[float]) -> list[float]:
    return [v / 1e6 for v in ns]


def last_cpu() -> int:
    """As the programs count them, from 1. Interrupts are mostly served by the first core."""
    return max(os.sched_getaffinity(0)) + 1


def spread_pct(values: list[float]) -> float:
    """Half of all samples lie within so much of the median."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return 100 * (high - low) / middle


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


# ---- GO to DONE


def read_line(stream) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = stream.read(1)
        if not byte:
            raise BenchError(f"the worker said {line!r} and no more")
        line += byte
    return line


def python_trial(worker: pathlib.Path, stamps: pathlib.Path, work_ns: int) -> int:
    """A harness as one would write it at first: pipes, read byte by byte, wherever it may run."""
    with subprocess.Popen([worker, stamps, str(work_ns)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          bufsize=0) as child:
        if read_line(child.stdout) != b"READY work\n":
            raise BenchError("the worker did not get ready")
        go_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        child.stdin.write(b"GO work\n")
        done = read_line(child.stdout)
        done_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        child.stdin.close()
    if done != b"DONE work\n":
        raise BenchError(f"the worker said {done!r}")
    began_ns, ended_ns = struct.unpack("=qq", stamps.read_bytes())
    return done_ns - go_ns - (ended_ns - began_ns)


def run_protocol(stage) -> dict[str, Samples]:
    sizes, stamps = stage.sizes, stage.folder / "stamps"
    worker, work_ns = stage.program("bench-observer-worker"), sizes["work_ms"] * 1_000_000
    everything = {"ours": [], "bare": [], "python": []}
    medians = {name: [] for name in everything}
    for _ in range(sizes["rounds"]):
        got = stage.samples("bench-observer-floor", "protocol", sizes["trials"], last_cpu(),
                            stage.program("aurabench-runner"), worker, stamps, work_ns)
        got["python"] = [python_trial(worker, stamps, work_ns) for _ in range(sizes["python_trials"])]
        for name, values in got.items():
            everything[name] += values
            medians[name].append(statistics.median(values) / 1e3)
    worst = {name: percentile(values, 0.99) / 1e3 for name, values in everything.items()}
    return {"protocol.bare": Samples(medians["ours"], medians["bare"]),
            "protocol.python": Samples(medians["ours"], medians["python"]),
            "protocol.p99": Samples([worst["ours"]], [worst["bare"]])}


PROTOCOL = [
    Figure("protocol.bare", "GO to DONE beyond {work_ms} ms of work, median of {trials}", "us",
           "a blocking pipe pair in C on the same core", goal=at_most(1.15)),
    Figure("protocol.p99", "the same, 99th percentile of all", "us",
           "a blocking pipe pair in C on the same core", goal=at_most(1)),
    Figure("protocol.python", "the same, median", "us", "Python that reads byte by byte, unpinned",
           goal=at_most(0.1)),
]


# ---- whole processes


def hyperfine(stage, program: pathlib.Path, runs: int) -> list[float]:
    """Nanoseconds of each run."""
    out = stage.folder / "hyperfine.json"
    done = subprocess.run(["hyperfine", "-N", "--warmup", "3", "--runs", str(max(runs, 2)), "--style", "none",
                           "--export-json", out, str(program)], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchError(f"hyperfine failed: {done.stderr.strip()}")
    return [v * 1e9 for v in json.loads(out.read_text())["results"][0]["times"]]


def run_process(stage) -> dict[str, Samples]:
    sizes, program = stage.sizes, stage.program("bench-observer-minimal")
    medians = {"ours": [], "bare": [], "large": [], "hyperfine": []}
    spreads = {"ours": [], "hyperfine": []}
    for _ in range(sizes["rounds"]):
        got = stage.samples("bench-observer-floor", "process", sizes["starts"], last_cpu(),
                            stage.program("aurabench-runner"), program, sizes["held_mib"])
        if stage.has("hyperfine"):
            got["hyperfine"] = hyperfine(stage, program, sizes["starts"])
        for name, values in got.items():
            medians[name].append(statistics.median(values) / 1e3)
            if name in spreads:
                spreads[name].append(spread_pct(values))
    out = {"process.bare": Samples(medians["ours"], medians["bare"]),
           "process.large": Samples(medians["large"], medians["ours"])}
    if stage.has("hyperfine"):
        out["process.hyperfine"] = Samples(medians["ours"], medians["hyperfine"])
        out["process.spread"] = Samples(spreads["ours"], spreads["hyperfine"])
    return out


PROCESS = [
    Figure("process.bare", "a static program that does nothing, from before its start to its end, median of {starts}",
           "us", "vfork and wait4 with the same child set-up", goal=at_most(1.04)),
    Figure("process.hyperfine", "the same", "us", "`hyperfine -N`", "hyperfine", at_most(0.8)),
    Figure("process.spread", "the same, quartile distance by median", "%", "`hyperfine -N`", "hyperfine", at_most(1)),
    Figure("process.large", "the same while the daemon's side holds {held_mib} MiB", "us", "while it is small",
           goal=at_most(1.2)),
]


# ---- inventories


def run_inventory(stage) -> dict[str, Samples]:
    sizes, out = stage.sizes, {}
    for name in ("few", "many"):
        got = stage.samples("bench-observer-inventory", sizes[name], sizes["looks"])
        ps = milliseconds(got["ps"])
        out |= {f"inventory.{key}.{name}": Samples(milliseconds(got[key]), ps) for key in ("look", "phase", "first")}
    return out


def inventory_figures() -> list[Figure]:
    ps = "`ps -axo pid,ppid,pcpu,comm,args`"
    figures = []
    for name, goal in (("few", at_most(1 / 14)), ("many", at_most(1 / 12))):
        more = f"{{{name}}} processes more"
        figures += [
            Figure(f"inventory.look.{name}", f"CPU time of one look at the process table, {more}", "ms", ps, goal=goal),
            Figure(f"inventory.phase.{name}", f"a whole inventory, which looks three times, {more}", "ms", ps),
            Figure(f"inventory.first.{name}", f"the first whole inventory of a daemon, {more}", "ms", ps),
        ]
    return figures


# ---- a daemon that has nothing to do


class IdleDaemon(Daemon):
    """On the real host, with an empty queue."""

    def command(self) -> list[str]:
        return [str(self.stage.program("aurabenchd")), "--no-calibration", "--state", str(self.state), "--socket",
                str(self.socket)]

    def occupy(self, log) -> None:
        time.sleep(SETTLE_S)

    def switches(self) -> int:
        """How often its threads were put to sleep: as often they had been woken."""
        total = 0
        for status in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*/status"):
            lines = status.read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt"))
        return total


def cpu_s(pid: int) -> float:
    """Of all threads of a process; the kernel's clock of it, as clock_getcpuclockid(3) has it."""
    return time.clock_gettime(((~pid) << 3) | 2)


def populate(stage, count: int) -> None:
    """More processes, as an inventory meets them."""
    for _ in range(count):
        child = subprocess.Popen(["sleep", "100000"], stdin=subprocess.DEVNULL)
        stage.ends.append(lambda child=child: (child.kill(), child.wait()))


def watch_pct(stage, daemon, *command) -> float:
    """Daemon and client together, in percent of one core."""
    client = subprocess.Popen([stage.program("aurabench"), *command], env=daemon.env(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(SETTLE_S)
        before, began = cpu_s(client.pid) + cpu_s(daemon.process.pid), time.monotonic()
        time.sleep(stage.sizes["watch_s"])
        if client.poll() is not None:
            raise BenchError(f"aurabench {' '.join(command)} ended with {client.returncode}")
        used = cpu_s(client.pid) + cpu_s(daemon.process.pid) - before
        return 100 * used / (time.monotonic() - began)
    finally:
        client.kill()
        client.wait()


def run_idle(stage) -> dict[str, Samples]:
    daemon = IdleDaemon(stage, "idle")
    stage.ends.append(daemon.stop)
    daemon.start()
    populate(stage, stage.sizes["processes"])
    before = daemon.switches()
    time.sleep(stage.sizes["idle_s"])
    wakes = (daemon.switches() - before) / stage.sizes["idle_s"] * 10
    out = {"idle.wakes": Samples([wakes or NONE]), "idle.memory": Samples([daemon.rss_mib()])}
    out["idle.watch"] = Samples([watch_pct(stage, daemon, "quiet", "--watch") or NONE])
    return out


IDLE = [
    Figure("idle.wakes", "wake-ups of a daemon with an empty queue and no watcher, in 10 s", "", goal=no_more(1)),
    Figure("idle.memory", "its resident memory", "MiB", goal=below(6)),
    Figure("idle.watch", "`aurabench quiet --watch` with {processes} processes more, CPU time of daemon and client, "
           "of one core", "%", goal=below(0.1)),
]

BENCH = Bench(
    name="observer",
    summary="What our runner adds to what it times, and what looking around and being there cost.",
    parts=[Part("protocol", PROTOCOL, run_protocol), Part("process", PROCESS, run_process),
           Part("inventory", inventory_figures(), run_inventory), Part("idle", IDLE, run_idle)],
    sizes=SIZES,
    peers=["hyperfine"],
)
