"""The tables of docs/observer.md, from the figures that `script/bench verdict --json FILE` wrote: those of them that
are in it."""

import json
import sys

from tests.bench.verdict.bench import CHANGES, CONDITIONS, OURS, REAL_CHANGES, REAL_CONDITIONS, RULES, WHERE


def table(seen: dict, prefix: str, conditions: list[str], changes: list[int]) -> None:
    slower = [c for c in changes if c]
    heads = ["condition", "rule", "wrong, equal programs", *(f"{c} % found" for c in slower),
             f"wrong of {', '.join(map(str, slower))} %", f"UNRESOLVED of {', '.join(map(str, changes))} %", "too few clean",
             "wrong with enough clean"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for condition in conditions:
        key = prefix + condition

        def each(of: list[int], form: str) -> str:
            return ", ".join(f"{seen[form.format(c)]:.1f}" for c in of)

        for rule, name in RULES.items():
            cells = [WHERE[condition], name, f"{seen[f'{key}.{rule}.0.wrong']:.1f}",
                     *(f"{seen[f'{key}.{rule}.{c}.found']:.1f}" for c in slower),
                     each(slower, f"{key}.{rule}.{{}}.wrong"), each(changes, f"{key}.{rule}.{{}}.unresolved"),
                     each(changes, f"{key}.{{}}.few") if rule in OURS else "-",
                     each(changes, f"{key}.{rule}.{{}}.wrong_clean") if rule in OURS else "-"]
            print(f"| {' | '.join(cells)} |")


def main(path: str) -> None:
    with open(path, encoding="utf-8") as f:
        [report] = json.load(f)["benches"]
    seen = {row["key"]: row["ours"]["median"] for row in report["figures"]}
    if f"{CONDITIONS[0]}.ours.0.wrong" in seen:
        table(seen, "", CONDITIONS, CHANGES)
    if "real.noise_floor" in seen:
        print(f"\nThe program needs {seen['real.work']:.1f} ms; noise floor {seen['real.noise_floor']:.2f} %, of CPU time "
              f"{seen['real.cpu_noise_floor']:.2f} %.\n")
        table(seen, "real.", REAL_CONDITIONS, REAL_CHANGES)


if __name__ == "__main__":
    main(sys.argv[1])
