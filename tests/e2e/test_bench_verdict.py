"""The benchmark of verdicts: what its programs refuse, what a simulation with a clear truth comes to, and
that its tables hold what was measured. Nothing here depends on how quiet this machine is."""

import json
import os
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(harness.ROOT))

from tests.bench.verdict import __main__ as tables  # noqa: E402
from tests.bench.verdict.bench import BENCH, WHERE, shares  # noqa: E402

BUILD = harness.BUILD.resolve()
PROGRAMS = BUILD / "tests/bench/verdict"


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["flock", BUILD, "ninja", "-C", BUILD, "--quiet", "bench"], check=True)


def simulate(*args, check=0) -> dict[str, int]:
    done = subprocess.run([PROGRAMS / "bench-verdict-simulate", *map(str, args)], text=True, capture_output=True)
    assert done.returncode == check, done.stderr
    return done.stderr if check else {k: int(v) for k, v in map(str.split, done.stdout.splitlines())}


def real(folder, *paths, **kwargs) -> str:
    """The sentence with which it ends: one short comparison of each kind, with these programs."""
    done = subprocess.run([PROGRAMS / "bench-verdict-real", "1", "1", "300", "1", *map(str, paths)], text=True,
                          capture_output=True, cwd=folder, timeout=harness.PATIENCE_S, **kwargs)
    assert done.returncode == 1, done.stdout
    return done.stderr


def test_a_clear_difference_is_found_by_all_and_equal_programs_are_not_called_different_by_ours():
    slower, equal = simulate("quiet", 10, 20, 1), simulate("quiet", 0, 20, 1)
    assert [slower[f"{rule}.SLOWER"] for rule in ("ours", "ours_cpu", "hyperfine", "welch", "minimum", "benchstat")] == [20] * 6
    assert equal["ours.FASTER"] + equal["ours.SLOWER"] == 0 and equal["few"] == 0


def test_the_seed_fixes_a_simulation():
    assert simulate("burner", 5, 10, 7) == simulate("burner", 5, 10, 7) != simulate("burner", 5, 10, 8)


def test_a_burner_that_never_pauses_leaves_no_clean_repetition():
    seen = simulate("always", 0, 5, 1)
    assert seen["few"] == 5 and seen["disturbed"] == seen["repetitions"] == 5 * 22


@pytest.mark.parametrize("args", [("windy", 5, 10, 1), ("quiet", -1, 10, 1), ("quiet", "x", 10, 1), ("quiet", 5, 0, 1),
                                  ("quiet", 5, 10)])
def test_a_simulation_of_nothing_that_there_is_is_refused(args):
    assert simulate(*args, check=1)


RUNNER, FLOOR, BURNER = (BUILD / "aurabench-runner", BUILD / "aurabench-floor",
                         PROGRAMS / "bench-verdict-burner")


def test_one_cpu_is_too_few_for_real_comparisons(tmp_path):
    one = {min(os.sched_getaffinity(0))}
    assert "two CPUs are needed" in real(tmp_path, RUNNER, FLOOR, BURNER, preexec_fn=lambda: os.sched_setaffinity(0, one))


needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one CPU")


@needs_two
def test_a_burner_that_ends_by_itself_ends_the_benchmark(tmp_path):
    assert "it ended before the comparison did" in real(tmp_path, RUNNER, FLOOR, "/bin/true")
    assert harness.processes_with(str(tmp_path)) == []


@needs_two
def test_a_program_that_does_not_do_its_work_is_not_measured(tmp_path):
    assert "the calibration's program failed" in real(tmp_path, RUNNER, "/bin/false", BURNER)


def test_a_burner_without_a_share_or_with_a_strange_cpu_does_not_run():
    for args in (["0", "0", "0", "50", "1"], ["0", "0", "101", "50", "1"], ["0", "-1", "30", "50", "1"], ["0", "0", "30"]):
        done = subprocess.run([BURNER, *args], capture_output=True, timeout=harness.PATIENCE_S)
        assert done.returncode == 1 and done.stderr, args


def test_saying_the_same_of_a_slower_program_is_wrong():
    seen = {f"{rule}.{verdict}": [0.0] for rule in ("ours", "ours_cpu", "hyperfine", "welch", "minimum", "benchstat")
            for verdict in ("FASTER", "SLOWER", "SAME", "UNRESOLVED")}
    seen |= {f"{name}.clean": count for name, count in seen.items()}
    seen |= {"ours.SAME": [1.0], "ours.SLOWER.clean": [2.0], "ours.SLOWER": [3.0], "few": [1.0], "repetitions": [44.0], "disturbed": [11.0]}
    out = {key: samples.ours[0] for key, samples in shares("quiet", seen, "", 4, 5).items()}
    assert (out["quiet.ours.5.wrong"], out["quiet.ours.5.found"]) == (25, 75)
    assert (out["quiet.5.few"], out["quiet.5.disturbed"]) == (25, 25)
    assert out["quiet.ours.5.wrong_clean"] < 1e-6
    equal = shares("quiet", seen, "", 4, 0)
    assert (equal["quiet.ours.0.wrong"].ours, equal["quiet.ours.0.wrong_clean"].ours) == ([75], [50])


def test_the_tables_hold_every_condition_and_what_the_real_part_was_measured_with(tmp_path, capsys):
    rows = [{"key": f.key, "ours": {"median": float(i)}} for i, f in enumerate(f for p in BENCH.parts for f in p.figures)]
    (tmp_path / "f.json").write_text(json.dumps({"benches": [{"figures": rows}]}))
    tables.main(str(tmp_path / "f.json"))
    text = capsys.readouterr().out
    assert [text.count(f"| {where} | ours |") for where in WHERE.values()] == [2, 2, 2, 2, 1]
    work = next(row["ours"]["median"] for row in rows if row["key"] == "real.work")
    assert f"The program needs {work:.1f} ms" in text
