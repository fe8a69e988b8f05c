"""The benchmarks themselves: each runs whole, at counts that take seconds, and gives every figure that
it declares; what is promised is judged so that a bad figure fails. Nothing here depends on how fast
this machine is."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import harness

sys.path.insert(0, str(harness.ROOT))

from tests.bench import __main__ as driver  # noqa: E402
from tests.bench import machine, output, stage  # noqa: E402
from tests.bench.figures import (Bench, BenchError, Figure, Part, Samples, at_least, at_most, below, judge,  # noqa: E402
                                 no_more, value_at_least)

BENCHES = driver.names()


def script_bench(*args, check=0) -> subprocess.CompletedProcess:
    env = {**harness.CLEAN_ENV, "BUILD_DIR": str(harness.BUILD), "HOME": os.environ.get("HOME", "/root")}
    done = subprocess.run([str(harness.ROOT / "script/bench"), *map(str, args)], env=env, text=True,
                          capture_output=True, timeout=harness.PATIENCE_S * 5)
    assert done.returncode == check, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("name", BENCHES)
def test_a_benchmark_gives_every_figure_that_it_declares(name, tmp_path):
    out = tmp_path / "bench.json"
    table = script_bench(name, "--smoke", "--json", out, "--folder", tmp_path).stdout
    document = json.loads(out.read_text())
    assert document["schema"] == output.SCHEMA
    [report] = document["benches"]
    declared = [figure for part in driver.load(name).parts for figure in part.figures]
    assert [row["key"] for row in report["figures"]] == [figure.key for figure in declared]
    for figure, row in zip(declared, report["figures"]):
        here = figure.peer is None or report["peers"][figure.peer] is not None
        assert (row["ours"] is not None) == here, row
        assert (row["met"] is not None) == (here and figure.goal is not None), row
        assert row["command"].startswith(f"script/bench {name} --part ")
        assert row["title"] in table
    assert {"host", "kernel", "cpu", "cores"} <= report["machine"].keys()
    assert list(tmp_path.iterdir()) == [out], "the benchmark left something behind"
    assert harness.processes_with(str(tmp_path)) == []


def test_what_a_link_in_a_stage_points_to_stays_as_it_is(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "kept").write_text("")
    outside.chmod(0o555)
    played = stage.Stage(harness.BUILD, {}, {}, str(tmp_path))
    (played.folder / "own").mkdir(mode=0o500)
    (played.folder / "link").symlink_to(outside)
    played.close()
    assert outside.stat().st_mode & 0o777 == 0o555 and (outside / "kept").exists()
    assert not played.folder.exists() and not played.short.exists()
    outside.chmod(0o755)


@pytest.mark.parametrize(("goal", "ours", "theirs", "met"), [
    (at_least(15), [150.0, 160.0, 170.0], [10.0, 10.0, 10.0], True),
    (at_least(15), [149.0, 149.0, 149.0], [10.0, 10.0, 10.0], False),
    (at_most(1.1), [1.09, 1.1, 5.0], [1.0, 1.0, 1.0], True),
    (at_most(1.1), [1.0, 1.2, 1.2], [1.0, 1.0, 1.0], False),
    (below(20), [19.0, 19.9, 40.0], None, True),
    (below(20), [20.0], None, False),
    (no_more(1), [1.0], None, True),
    (no_more(1), [1.01], None, False),
    (value_at_least(98), [98.0], None, True),
    (value_at_least(98), [97.9], None, False),
    # Pairs are compared, not medians: each of ours ran beside its neighbour.
    (at_most(1.1), [1.0, 10.0, 100.0], [1.0, 9.9, 50.0], True),
])
def test_a_goal_is_met_or_not_by_the_median_of_the_pairs(goal, ours, theirs, met):
    figure = Figure("k", "t", "u", "them" if theirs else None, goal=goal)
    assert judge(figure, Samples(ours, theirs), {})["met"] is met


@pytest.mark.parametrize(("ours", "theirs"), [
    ([], [1.0]), ([1.0, 2.0], [1.0]), ([float("nan")], [1.0]), ([0.0], [1.0]), ([1.0], [-1.0]),
    ([float("inf")], [1.0]),
])
def test_samples_that_are_no_figures_are_refused(ours, theirs):
    with pytest.raises(BenchError):
        judge(Figure("k", "t", "u", "them", goal=at_most(2)), Samples(ours, theirs), {})


def bench_of(figure: Figure, samples: dict) -> Bench:
    return Bench("made", "Made up.", [Part("only", [figure], lambda stage: samples)], {"smoke": {}}, ["tsp"])


def rows_of(bench: Bench, peers: dict, tmp_path: pathlib.Path) -> list[dict]:
    return driver.run_part(bench, bench.parts[0], "smoke", harness.BUILD, peers, str(tmp_path))


def test_a_figure_without_samples_is_refused(tmp_path):
    bench = bench_of(Figure("k", "t", "u"), {})
    with pytest.raises(BenchError, match="gave no samples of k"):
        rows_of(bench, {"tsp": None}, tmp_path)


def test_an_absent_peer_is_shown_as_not_here_and_judges_nothing(tmp_path):
    figure = Figure("k", "t", "u", "tsp", "tsp", at_least(15))
    [row] = rows_of(bench_of(figure, {}), {"tsp": None}, tmp_path)
    assert (row["met"], row["theirs"]) == (None, None)
    assert "not here" in output.table([row])
    # One that is here has to be measured.
    with pytest.raises(BenchError):
        rows_of(bench_of(figure, {}), {"tsp": "1.0"}, tmp_path)


def test_a_missed_goal_is_shown_and_ends_a_checked_run_with_status_1(monkeypatch, capsys):
    figure = Figure("k", "t", "u", "them", goal=at_least(15))
    bench = bench_of(figure, {"k": Samples([1.0], [1.0])})
    monkeypatch.setattr(driver, "load", lambda name: bench)
    monkeypatch.setattr(machine, "peer_version", lambda name: None)
    assert driver.main(["made", "--smoke", "--check"]) == 1
    assert "NO" in capsys.readouterr().out
    assert driver.main(["made", "--smoke"]) == 0
    bench.parts[0].figures[0] = Figure("k", "t", "u", "them", goal=at_least(1))
    assert driver.main(["made", "--smoke", "--check"]) == 0


def test_an_unknown_benchmark_is_refused_with_the_names_of_those_there_are():
    assert "name one of " + ", ".join(BENCHES) in script_bench("no-such", check=2).stderr


def test_an_unknown_part_is_refused_with_the_names_of_those_there_are():
    assert "name one of submit, scale" in script_bench("queue", "--part", "x", "--smoke", check=2).stderr


def test_the_markdown_names_machine_and_peers():
    text = script_bench("queue", "--smoke", "--part", "store", "--markdown").stdout
    assert text.startswith("### queue\n")
    assert "| `script/bench queue --part store --smoke` |" in text
    assert "| processor |" in text and "| tsp |" in text
