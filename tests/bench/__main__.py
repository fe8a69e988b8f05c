"""script/bench: runs benchmarks and prints what came out beside what was promised."""

import argparse
import importlib
import os
import pathlib
import sys

from tests.bench import machine, output
from tests.bench.figures import Bench, BenchError, judge
from tests.bench.stage import Stage

HERE = pathlib.Path(__file__).parent


def names() -> list[str]:
    return sorted(path.parent.name for path in HERE.glob("*/bench.py"))


def load(name: str) -> Bench:
    if name not in names():
        raise BenchError(f"there is no benchmark {name}: name one of {', '.join(names())}")
    return importlib.import_module(f"tests.bench.{name}.bench").BENCH


def command_of(bench: Bench, part: str, size: str) -> str:
    return " ".join(filter(None, ["script/bench", bench.name, "--part", part, output.SIZES[size]]))


def run_part(bench: Bench, part, size: str, build: pathlib.Path, peers: dict, folder: str | None) -> list[dict]:
    stage = Stage(build, bench.sizes[size], peers, folder)
    try:
        samples = part.run(stage)
    finally:
        stage.close()
    rows = []
    for figure in part.figures:
        missing = figure.peer is not None and peers[figure.peer] is None
        if figure.key not in samples and not missing:
            raise BenchError(f"{bench.name} gave no samples of {figure.key}")
        rows.append({**judge(figure, samples.get(figure.key), bench.sizes[size]),
                     "command": command_of(bench, part.name, size)})
    return rows


def run_bench(bench: Bench, args, build: pathlib.Path) -> dict:
    peers = {name: machine.peer_version(name) for name in bench.peers}
    report = {"bench": bench.name, "summary": bench.summary, "size": args.size, "date": machine.today(),
              "commit": machine.commit(), "machine": machine.facts(pathlib.Path(args.folder or "/tmp")),
              "peers": peers, "figures": []}
    chosen = [p for p in bench.parts if not args.part or p.name in args.part]
    if not chosen:
        raise BenchError(f"{bench.name} has no such part: name one of {', '.join(p.name for p in bench.parts)}")
    for part in chosen:
        print(f"{bench.name}: {part.name}", file=sys.stderr)
        report["figures"] += run_part(bench, part, args.size, build, peers, args.folder)
    return report


def parse(argv: list[str]) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    p.add_argument("names", nargs="+", metavar="NAME", help=", ".join(names()))
    p.add_argument("--json", metavar="FILE", help="write the figures, too")
    p.add_argument("--markdown", action="store_true", help="print the table as docs/benchmarks.md has it")
    p.add_argument("--part", action="append", metavar="PART", help="only this part; may be given again")
    p.add_argument("--quick", dest="size", action="store_const", const="quick", default="full",
                   help="smaller counts, about a minute")
    p.add_argument("--smoke", dest="size", action="store_const", const="smoke",
                   help="counts so small that the figures say nothing: whether all of it runs")
    p.add_argument("--check", action="store_true", help="end with status 1 when a goal is not met")
    p.add_argument("--folder", metavar="DIR", help="where databases are made (default: TMPDIR)")
    p.add_argument("--realtime", action="store_true",
                   help="run all sides at real-time priority, so that a shared machine's other work waits")
    return p.parse_args(argv)


def main(argv: list[str]) -> int:
    args = parse(argv)
    build = pathlib.Path(os.environ.get("AURABENCH_BUILD", HERE.parents[1] / "build")).resolve()
    machine.cargo_bin_on_path()
    try:
        if args.realtime:
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
        reports = [run_bench(load(name), args, build) for name in args.names]
    except (BenchError, OSError) as e:
        print(f"script/bench: {e}", file=sys.stderr)
        return 2
    for report in reports:
        print(output.markdown(report) if args.markdown else output.table(report["figures"]))
    if args.json:
        pathlib.Path(args.json).write_text(output.as_json(reports))
    missed = any(row["met"] is False for report in reports for row in report["figures"])
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
