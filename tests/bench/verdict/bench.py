"""Verdicts: how often they are right where the truth is known, beside other rules on the same observations.

Simulated comparisons, and real ones: the daemon's own runner times a program that does a fixed amount of work."""

from tests.bench.figures import Bench, Figure, Part, Samples, no_more, value_at_least

SIZES = {"full": {"comparisons": 1000, "seed": 1, "real": 40, "work_us": 25000, "groups": 5},
         "quick": {"comparisons": 200, "seed": 1, "real": 10, "work_us": 25000, "groups": 5},
         "smoke": {"comparisons": 5, "seed": 1, "real": 1, "work_us": 300, "groups": 1}}
WHERE = {"quiet": "quiet host", "burner": "burner 30 % of the time", "same": "the same, on the lane's core only",
         "always": "burner all the time on the lane's core", "drift": "slow drift"}
CONDITIONS = list(WHERE)
CHANGES = [0, 2, 5, 10]
REAL_CONDITIONS = ["quiet", "burner", "same", "always"]
REAL_CHANGES = [0, 5]
RULES = {"ours": "ours", "ours_cpu": "ours on CPU time", "hyperfine": "hyperfine", "welch": "Welch's t-test",
         "minimum": "minimum of 11", "benchstat": "benchstat"}
OURS = ["ours", "ours_cpu"]
# What is said of a slower program and cannot be: that it is faster, or that nothing changed.
WRONG = {True: ["FASTER", "SAME"], False: ["FASTER", "SLOWER"]}
NONE = 1e-9  # no figure may be 0


def percent(part: float, whole: float) -> Samples:
    return Samples([max(100 * part / whole, NONE)])


def shares(key: str, seen: dict, prefix: str, comparisons: int, change: int) -> dict[str, Samples]:
    """Of the lines that a program printed behind this prefix: the figures of one condition and change."""
    def count(*names: str) -> float:
        return sum(seen[prefix + name][0] for name in names)

    out = {f"{key}.{change}.few": percent(count("few"), comparisons),
           f"{key}.{change}.disturbed": percent(count("disturbed"), count("repetitions"))}
    for rule in RULES:
        wrong = [f"{rule}.{verdict}" for verdict in WRONG[change > 0]]
        out[f"{key}.{rule}.{change}.wrong"] = percent(count(*wrong), comparisons)
        if rule in OURS:
            clean = [f"{name}.clean" for name in wrong]
            out[f"{key}.{rule}.{change}.wrong_clean"] = percent(count(*clean), comparisons)
        out[f"{key}.{rule}.{change}.unresolved"] = percent(count(f"{rule}.UNRESOLVED"), comparisons)
        if change:
            out[f"{key}.{rule}.{change}.found"] = percent(count(f"{rule}.SLOWER"), comparisons)
    return out


def run_condition(condition: str):
    def run(stage) -> dict[str, Samples]:
        n, out = stage.sizes["comparisons"], {}
        for change in CHANGES:
            seen = stage.samples("bench-verdict-simulate", condition, change, n, stage.sizes["seed"])
            out |= shares(condition, seen, "", n, change)
        return out
    return run


def run_real(stage) -> dict[str, Samples]:
    s = stage.sizes
    seen = stage.samples("bench-verdict-real", s["real"], s["seed"], s["work_us"], s["groups"],
                         *map(stage.program, ["aurabench-runner", "aurabench-floor", "bench-verdict-burner"]))
    out = {"real.work": Samples([seen["work"][0] / 1e6]),
           "real.noise_floor": percent(seen["noise_floor"][0], 1),
           "real.cpu_noise_floor": percent(seen["cpu_noise_floor"][0], 1)}
    for condition in REAL_CONDITIONS:
        for change in REAL_CHANGES:
            out |= shares(f"real.{condition}", seen, f"{condition}.{change}.", s["real"], change)
    return out


def figures_of(key: str, where: str, rule: str, change: int) -> list[Figure]:
    name, mine = RULES[rule], rule in OURS
    what = f"{change} % slower" if change else "equal programs"
    wrong = " or ".join(WRONG[change > 0])
    out = [Figure(f"{key}.{rule}.{change}.wrong", f"{where}, {what}: {wrong}, {name}", "%",
                  goal=no_more(1) if mine else None)]
    if mine:
        out.append(Figure(f"{key}.{rule}.{change}.wrong_clean",
                          f"{where}, {what}: the same with enough clean repetitions, {name}", "%"))
    if change:
        goal = value_at_least(97) if mine and key.endswith("quiet") and change == 5 else None
        out.append(Figure(f"{key}.{rule}.{change}.found", f"{where}, {what}: found, {name}", "%", goal=goal))
    out.append(Figure(f"{key}.{rule}.{change}.unresolved", f"{where}, {what}: UNRESOLVED, {name}", "%"))
    return out


def figures(key: str, where: str, changes: list[int]) -> list[Figure]:
    out = [figure for rule in RULES for change in changes for figure in figures_of(key, where, rule, change)]
    for change in changes:
        out += [Figure(f"{key}.{change}.few", f"{where}, {change} % slower: too few clean repetitions", "%"),
                Figure(f"{key}.{change}.disturbed", f"{where}, {change} % slower: repetitions called disturbed", "%")]
    return out


REAL = [
    Figure("real.work", "real: CPU time of the program", "ms"),
    Figure("real.noise_floor", "real: noise floor of the calibration", "%"),
    Figure("real.cpu_noise_floor", "real: the same of CPU time", "%"),
    *(figure for condition in REAL_CONDITIONS
      for figure in figures(f"real.{condition}", f"real: {WHERE[condition]}", REAL_CHANGES)),
]

BENCH = Bench("verdict", "How often verdicts are right, on comparisons of 11 repetitions.",
              [*(Part(name, figures(name, WHERE[name], CHANGES), run_condition(name)) for name in CONDITIONS),
               Part("real", REAL, run_real)], SIZES)
