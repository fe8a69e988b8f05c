"""The disturbance ledger: how many bursts of other processes it finds, and how often it cries wolf."""

import statistics

from tests.bench.figures import Bench, BenchError, Figure, Part, Samples, below, value_at_least

SIZES = {
    "full": {"rounds": 10, "trials": 20, "lane_ms": 200, "absent_us": 300},
    "quick": {"rounds": 4, "trials": 10, "lane_ms": 200, "absent_us": 300},
    "smoke": {"rounds": 1, "trials": 2, "lane_ms": 20, "absent_us": 0},
}
BURSTS = [5, 20, 50, 100, 500]
# Counters: of this host's best, and of /proc alone. Goals of the first from 5 ms on, of the second from 20 ms.
ROOTS = {"best": ("the best counters here", 98, 5), "proc": ("/proc alone", 95, 20)}
PLACES = {"near": "on the lane's core", "far": "on another core"}


def root_of(stage, name: str) -> str:
    if name == "best":
        return ""
    folder = stage.folder / "proc-alone"
    if not folder.exists():
        folder.mkdir()
        (folder / "proc").symlink_to("/proc")
    return str(folder)


def trials(stage, root: str, where: str, burst: int, seed: int) -> dict[str, list[float]]:
    s = stage.sizes
    return stage.samples("bench-ledger-trial", root_of(stage, root), s["trials"], where, burst, s["lane_ms"],
                         s["absent_us"], seed)


def percent(values: list[float]) -> float:
    return 100 * statistics.fmean(values)


def run_bursts(stage) -> dict[str, Samples]:
    """Of each kind in turn, so that whatever the machine does meets all of them."""
    found = {}
    for seed in range(1, stage.sizes["rounds"] + 1):
        for root in ROOTS:
            for where in PLACES:
                for burst in BURSTS:
                    got = trials(stage, root, where, burst, seed)["found"]
                    found.setdefault(f"found.{root}.{where}.{burst}", []).extend(got)
    # One figure for all trials of a kind: none found would be no figure at all.
    return {key: Samples([max(percent(values), 0.01)]) for key, values in found.items()}


def run_quiet(stage) -> dict[str, Samples]:
    clean, first, again = {}, [], []
    for seed in range(1, stage.sizes["rounds"] + 1):
        for root in ROOTS:
            got = trials(stage, root, "none", 1, seed)
            clean.setdefault(root, []).extend(got.get("clean", []))
            if root == "best":
                first += got["first"]
                again += got["again"]
    for root, values in clean.items():
        if not values and stage.sizes["absent_us"]:
            raise BenchError(f"others ran beside every trial of {ROOTS[root][0]}: say nothing of false alarms here, and try "
                             "again on a machine that nobody else uses")
    out = {f"clean.{root}": Samples([max(percent(values), 0.01)]) for root, values in clean.items()}
    out["snapshot"] = Samples([v / 1e3 for v in again])
    out["snapshot.first"] = Samples([v / 1e3 for v in first])
    return out


def figures() -> list[Figure]:
    out = []
    for root, (counters, goal, least) in ROOTS.items():
        for where, place in PLACES.items():
            out += [Figure(f"found.{root}.{where}.{burst}",
                           f"bursts of {burst} ms {place} found, {counters}", "%",
                           goal=value_at_least(goal) if burst >= least else None) for burst in BURSTS]
    return out


BENCH = Bench(
    "ledger", "What the disturbance ledger finds of bursts at random moments of an observation.",
    [Part("bursts", figures(), run_bursts),
     Part("quiet", [Figure(f"clean.{root}", f"observations called clean while nobody else ran, {counters}", "%",
                           goal=value_at_least(98)) for root, (counters, _, _) in ROOTS.items()] +
          [Figure("snapshot", "one reading of all counters", "us", goal=below(30)),
           Figure("snapshot.first", "the same, where something else has used the caches meanwhile", "us")], run_quiet)],
    SIZES)
