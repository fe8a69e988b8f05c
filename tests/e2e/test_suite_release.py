"""The suite that ships: every lane by its records, the whole of it through the daemon, and a
slowdown that is known."""

import json
import shutil
import subprocess

import pytest

import harness

SUITE = harness.ROOT / "workloads/release-performance"
DOCUMENT = json.loads((SUITE / "suite.json").read_text())


def lanes() -> list[tuple[str, str]]:
    return [(w["name"], lane) for w in DOCUMENT["workloads"] for lane in w["lanes"]]


def present(raw: dict) -> list[tuple[str, str]]:
    """The lanes that take part; Rust's may be absent, with a reason."""
    absent = {(w["name"], lane["name"]) for w in raw["workloads"] for lane in w["lanes"] if lane["absent"]}
    assert all(lane.startswith("rust") for _, lane in absent)
    return [lane for lane in lanes() if lane not in absent]


def make_demo(folder) -> None:
    subprocess.run([str(SUITE / "demo/make-repository.sh"), str(folder)], check=True,
                   capture_output=True, env={**harness.CLEAN_ENV, "HOME": "/nonexistent"})


def replace_in(path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path} has changed: {old}"
    path.write_text(text.replace(old, new))


def double_the_work(repo) -> None:
    """A commit, tagged double, that does everything twice and says the second result."""
    replace_in(repo / "fib30.c", '    record_finish("DONE release-performance fib30 %" PRId64, fib(n));',
               '    int64_t first = fib(n), second = fib(n);\n'
               '    if (first != second)\n'
               '        fail("fib30: two results");\n'
               '    record_finish("DONE release-performance fib30 %" PRId64, second);')
    harness.git(repo, "commit", "-q", "-a", "-m", "Do it twice")
    harness.git(repo, "tag", "double")


def test_every_lane_does_its_work_by_its_records(tmp_path):
    source = tmp_path / "subject"
    shutil.copytree(SUITE / "subject", source, ignore=shutil.ignore_patterns("out"))
    done = subprocess.run(["/usr/bin/python3", "-B", str(SUITE / "check.py"), "--source",
                           str(source), "--build", str(tmp_path / "out")],
                          capture_output=True, text=True, env=harness.CLEAN_ENV)
    assert done.returncode == 0, done.stdout + done.stderr
    for workload, lane in lanes():
        passed = ("pass", "absent") if lane.startswith("rust") else ("pass",)
        assert any(line.split()[:2] == [word, f"{workload}/{lane}"] for word in passed
                   for line in done.stdout.splitlines()), (workload, lane, done.stdout)
    assert "FAIL" not in done.stdout


def fib30_suite(folder):
    """A copy of the suite with fib30 alone, without Rust, whose building takes longer than all else."""
    shutil.copytree(SUITE, folder, ignore=shutil.ignore_patterns("__pycache__", "out"))
    fib30 = next(w for w in DOCUMENT["workloads"] if w["name"] == "fib30")
    lanes = {name: lane for name, lane in fib30["lanes"].items() if name != "rust"}
    document = {**DOCUMENT, "suite_build": [], "workloads": [{**fib30, "lanes": lanes}]}
    (folder / "suite.json").write_text(json.dumps(document))
    return folder


def test_the_check_finds_a_lane_that_cheats(tmp_path):
    source = tmp_path / "subject"
    shutil.copytree(SUITE / "subject", source, ignore=shutil.ignore_patterns("out"))
    replace_in(source / "fib30.c", "fib(n));\n    return 0;", "fib(n) + 1);\n    return 0;")
    done = subprocess.run(["/usr/bin/python3", "-B", str(SUITE / "check.py"), "--source",
                           str(source), "--build", str(tmp_path / "out"), "--suite",
                           str(fib30_suite(tmp_path / "suite"))],
                          capture_output=True, text=True, env=harness.CLEAN_ENV)
    assert done.returncode == 1
    assert "FAIL" in done.stdout and "832041" in done.stdout


def test_the_whole_suite_is_measured_through_the_daemon(daemon, tmp_path):
    make_demo(tmp_path / "repo")
    policy = tmp_path / "patient.json"
    policy.write_text(json.dumps(harness.quick_policy(build_timeout=f"{harness.BUILD_PATIENCE_S}s")))
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "before", "--after",
                      "after", "--suite", "release-performance", "--repetitions", 2, "--warmups", 1,
                      "--policy", policy)["id"]
    daemon.run("wait", job, check=None, timeout=harness.BUILD_PATIENCE_S)
    shown = daemon.finish(job)["job"]
    assert shown["state"] == "done", shown["error"]
    raw = daemon.raw(job)
    by_name = {w["name"]: w for w in DOCUMENT["workloads"]}
    seen = set()
    for o in raw["observations"]:
        workload = by_name[o["workload"]]
        seen.add((o["workload"], o["lane"], o["side"], o["kind"], o["repetition"]))
        assert (o["outcome"], o["exit_status"], o["stderr_bytes"], o["leftovers"]) == (
            "ok", 0, 0, 0), o
        if workload["measure"] == "protocol":
            assert (o["ready"], o["done"]) == (workload["ready"], workload["done"])
            assert o["elapsed_ns"] >= workload.get("declared_wait_ns", 0)
        assert o["elapsed_ns"] > 0
    assert seen == {(w, lane, side, *pass_) for w, lane in present(raw) for side in ("before", "after")
                    for pass_ in (("warmup", 0), ("timed", 0), ("timed", 1))}
    assert {b["exit_status"] for b in raw["builds"]} == {0}
    summary = daemon.summary(job)
    predicates = {p["name"]: p["status"] for p in summary["grade"]["predicates"]}
    for name in ("sources_clean_detached", "commits_pinned", "sources_frozen", "inputs_unchanged",
                 "binaries_unchanged", "fresh_build", "protocol_exact", "warmups_excluded",
                 "cleanup_verified", "boot_unchanged", "no_override", "no_lane_excluded"):
        assert predicates[name] == "PASS", (name, summary["grade"])
    text = daemon.run("report", job).stdout
    for workload in by_name:
        assert workload in text


def test_twice_the_work_is_seen_as_slower(daemon, policy, tmp_path):
    repo, suite = tmp_path / "repo", fib30_suite(tmp_path / "suite")
    make_demo(repo)
    double_the_work(repo)
    job = daemon.json("compare", "--repo", repo, "--before", "after", "--after", "double",
                      "--suite", suite, "--repetitions", 11, "--policy", policy)["id"]
    shown = daemon.finish(job)["job"]
    assert shown["state"] == "done", shown["error"]
    comparison = next(c for c in daemon.summary(job)["comparisons"]
                      if c["kind"] == "sides" and c["subject"]["lane"] == "c")
    assert comparison["wall"]["pairs"] == 11
    slower = comparison["wall"]["verdict"] == "SLOWER"
    assert slower or comparison["wall"]["paired_median_ratio"] > 1.3, comparison
    # Of CPU time the neighbours take nothing: there it is nearly two.
    assert 1.5 < comparison["cpu"]["paired_median_ratio"] < 2.6, comparison
