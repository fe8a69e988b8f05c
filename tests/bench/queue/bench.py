"""The queue at a size: what submitting, claiming, listing and storing cost, and against whom."""

import os
import shutil
import subprocess
import time

from tests.bench.figures import Bench, BenchError, Figure, Part, Samples, at_least, at_most, below

SIZES = {
    "full": {"rounds": 9, "kept": 300, "pipelined": 1000, "processes": 100, "some": 100_000, "many": 1_000_000,
             "each": 250, "pages": 200, "few_rows": 1_000_000, "rows": 10_000_000, "latest": 1000,
             "queries": 300, "few_figures": 100_000, "figures": 1_000_000, "history": 1000},
    "quick": {"rounds": 5, "kept": 100, "pipelined": 400, "processes": 40, "some": 10_000, "many": 50_000,
              "each": 100, "pages": 50, "few_rows": 50_000, "rows": 500_000, "latest": 1000, "queries": 100,
              "few_figures": 20_000, "figures": 100_000, "history": 1000},
    "smoke": {"rounds": 2, "kept": 5, "pipelined": 10, "processes": 2, "some": 50, "many": 200, "each": 5,
              "pages": 3, "few_rows": 1500, "rows": 4000, "latest": 50, "queries": 3, "few_figures": 660, "figures": 2200,
              "history": 50},
}
# task-spooler takes no more than this into one queue.
TSP_MAX = 900


def per_second(ns: list[float]) -> list[float]:
    return [1e9 / v for v in ns]


def milliseconds(ns: list[float]) -> list[float]:
    return [v / 1e6 for v in ns]


def microseconds(ns: list[float]) -> list[float]:
    return [v / 1e3 for v in ns]


# ---- foreign queues, each with one job that runs as long as the benchmark does


class Tsp:
    command = ["tsp", "true"]

    def __init__(self, stage):
        self.folder = stage.short
        self.env = {**os.environ, "TMPDIR": str(stage.short)}
        self.queued = self.servers = 0
        stage.ends.append(self.stop)

    def call(self, *args) -> None:
        done = subprocess.run(["tsp", *args], env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise BenchError(f"tsp {' '.join(args)} failed: {done.stderr.strip()}")

    def make_room(self, jobs: int) -> None:
        if self.queued and self.queued + jobs > TSP_MAX:
            self.stop()
        if not self.queued:
            # Each server has a socket of its own: the one before may still be ending.
            self.servers += 1
            self.env["TS_SOCKET"] = str(self.folder / f"tsp{self.servers}")
            self.call("sleep", "100000")
            self.queued = 1
        self.queued += jobs

    def stop(self) -> None:
        if self.queued:
            self.call("-k")
            self.call("-K")
            self.queued = 0


class Pueue:
    def __init__(self, stage):
        self.folder = stage.short / "pueue"
        self.folder.mkdir()
        config = self.folder / "pueue.yml"
        config.write_text(f"shared:\n  pueue_directory: {self.folder}\n  runtime_directory: {self.folder}\n"
                          f"  use_unix_socket: true\n  unix_socket_path: {self.folder}/socket\n"
                          "client: {}\ndaemon: {}\nprofiles: {}\n")
        self.env = dict(os.environ)
        self.command = ["pueue", "-c", str(config), "add", "true"]
        self.process = subprocess.Popen(["pueued", "-c", str(config)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stage.ends.append(self.stop)
        deadline = time.monotonic() + 30
        while subprocess.run([*self.command[:-1], "sleep 100000"], capture_output=True).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise BenchError("pueued did not begin")
            time.sleep(0.1)

    def stop(self) -> None:
        if self.process.poll() is None:
            subprocess.run([*self.command[:3], "kill"], capture_output=True)
            subprocess.run([*self.command[:3], "shutdown"], capture_output=True)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


# ---- submissions


def process_round(stage, daemon, queues: dict) -> dict[str, float]:
    """Nanoseconds of one client process, of ours and of each foreign queue, in this round."""
    each = stage.sizes["processes"]
    words = ["ours", stage.program("aurabench"), "submit", daemon.job]
    env = daemon.env()
    for name, queue in queues.items():
        if name == "tsp":
            queue.make_room(each)
            env |= {k: queue.env[k] for k in ("TS_SOCKET", "TMPDIR")}
        words += ["--", name, *queue.command]
    return {name: values[0] for name, values in stage.samples("bench-spawn", each, *words, env=env).items()}


def run_submit(stage) -> dict[str, Samples]:
    sizes = stage.sizes
    daemon = stage.daemon("submit")
    document, _ = daemon.texts()
    queues = {name: make(stage) for name, make in (("tsp", Tsp), ("pueue", Pueue)) if stage.has(name)}
    ns = {"one": [], "pipelined": [], "ours": [], **{name: [] for name in queues}}
    for _ in range(sizes["rounds"]):
        for mode, series, each in (("submit", "one", "kept"), ("pipelined", "pipelined", "pipelined")):
            got = stage.samples("bench-queue-client", mode, 1, sizes[each], document, daemon.socket)
            ns[series] += got[str(daemon.socket)]
        for name, value in process_round(stage, daemon, queues).items():
            ns[name].append(value)
    rate = {name: per_second(values) for name, values in ns.items()}
    out = {}
    for queue in queues:
        out[f"submit.one.{queue}"] = Samples(rate["one"], rate[queue])
        out[f"submit.pipelined.{queue}"] = Samples(rate["pipelined"], rate[queue])
        out[f"submit.process.{queue}"] = Samples(milliseconds(ns["ours"]), milliseconds(ns[queue]))
    return out


def submit_figures() -> list[Figure]:
    figures = []
    for queue, goal, equal in (("tsp", at_least(15), at_most(1)), ("pueue", None, None)):
        figures += [
            Figure(f"submit.one.{queue}", "durable submissions over one kept connection, one after the other",
                   "per second", f"`{queue}`, one process each", queue, goal),
            Figure(f"submit.pipelined.{queue}", "the same, sent without waiting for each answer",
                   "per second", f"`{queue}`, one process each", queue, goal),
            Figure(f"submit.process.{queue}", "`aurabench submit`, one process each", "ms",
                   f"`{queue}`, one process each", queue, equal),
        ]
    return figures


# ---- a long queue


def fill_jobs(stage, daemon, count: int) -> None:
    document, policy = daemon.texts()
    stage.run("bench-queue-fill", "jobs", daemon.database, document, policy, count)


def against_first(series: dict[str, list[float]], names: list) -> dict[str, Samples]:
    """Of the stores empty, some, many: the latter two against the first."""
    empty, some, many = (microseconds(series[str(name)]) for name in names)
    return {"some": Samples(some, empty), "many": Samples(many, empty)}


def run_scale(stage) -> dict[str, Samples]:
    sizes, out = stage.sizes, {}
    daemons = [stage.daemon(name) for name in ("empty", "some", "many")]
    many = daemons[2]
    document, policy = many.texts()
    fill_jobs(stage, daemons[1], sizes["some"])
    fill_jobs(stage, many, sizes["many"])
    sockets = [d.socket for d in daemons]
    got = stage.samples("bench-queue-client", "submit", sizes["rounds"], sizes["each"], document, *sockets)
    pairs = {"socket": against_first(got, sockets)}
    got = stage.samples("bench-queue-client", "list", sizes["pages"], 1, 100, many.socket)
    out["list.socket"] = Samples(milliseconds(got[str(many.socket)]))
    pages = []
    for _ in range(sizes["pages"]):
        pages += stage.samples("bench-spawn", 1, "list", stage.program("aurabench"), "list",
                               env=many.env())["list"]
    out["list.process"] = Samples(milliseconds(pages))
    out["memory"] = Samples([many.rss_mib()])
    for daemon in daemons:
        daemon.stop()
    databases = [d.database for d in daemons]
    for what in ("submit", "claim"):
        got = stage.samples("bench-queue-store", what, sizes["rounds"], sizes["each"], document, policy, *databases)
        pairs[what] = against_first(got, databases)
    for what, pair in pairs.items():
        out |= {f"scale.{what}.{size}": samples for size, samples in pair.items()}
    return out


def scale_figures() -> list[Figure]:
    what = {"socket": "a submit over the socket", "submit": "a submit in the store", "claim": "a claim"}
    figures = [Figure(f"scale.{key}.{size}", f"{title}, {{{size}}} jobs queued", "us", "in an empty queue",
                      goal=at_most(1.1))
               for key, title in what.items() for size in ("some", "many")]
    return figures + [
        Figure("list.socket", "one page of `job.list` of {many} jobs, over the socket", "ms", goal=below(20)),
        Figure("list.process", "`aurabench list` of {many} jobs, the whole process", "ms", goal=below(20)),
        Figure("memory", "resident memory of a daemon that has {many} jobs, after lists and submits", "MiB",
               goal=below(16)),
    ]


# ---- observations


def run_store(stage) -> dict[str, Samples]:
    sizes = stage.sizes
    got = stage.samples("bench-queue-store", "batch", sizes["rounds"], sizes["each"], stage.folder / "batch.db")
    return {"store.run": Samples(microseconds(got["run"]), microseconds(got["one"])),
            "store.bare": Samples(microseconds(got["run"]), microseconds(got["bare"]))}


def ask_both(stage, kind: str, rows: str, what: str) -> dict[str, Samples]:
    """The same query of a store of few rows of this kind, and of one of many."""
    sizes = stage.sizes
    few, many = stage.folder / f"few-{kind}.db", stage.folder / f"all-{kind}.db"
    stage.run("bench-queue-fill", kind, few, sizes[f"few_{rows}"])
    shutil.copyfile(few, many)
    many.chmod(0o600)
    stage.run("bench-queue-fill", kind, many, sizes[rows] - sizes[f"few_{rows}"])
    got = stage.samples("bench-queue-store", what, sizes["queries"], sizes[what], few, many)
    return {what: Samples(microseconds(got[str(many)]), microseconds(got[str(few)]))}


def run_latest(stage) -> dict[str, Samples]:
    return ask_both(stage, "observations", "rows", "latest")


def run_history(stage) -> dict[str, Samples]:
    return ask_both(stage, "figures", "figures", "history")


STORE = [
    Figure("store.run", "a run of 22 observations stored durably", "us", "one observation", goal=at_most(1.2)),
    Figure("store.bare", "the same", "us", "one row of a plain table of two columns"),
]
LATEST = [Figure("latest", "the latest {latest} observations of a lane among {rows}", "us", "among {few_rows}",
                 goal=at_most(1.3))]
HISTORY = [Figure("history", "the latest {history} figures of a lane among {figures}, with what their reports are", "us",
                  "among {few_figures}", goal=at_most(1.3))]

BENCH = Bench(
    name="queue",
    summary="What the queue costs: submitting against other queues, and everything again when it is long.",
    parts=[Part("submit", submit_figures(), run_submit), Part("scale", scale_figures(), run_scale),
           Part("store", STORE, run_store), Part("latest", LATEST, run_latest),
           Part("history", HISTORY, run_history)],
    sizes=SIZES,
    peers=["tsp", "pueue"],
)
