"""The measure "instructions": by the CPU's counter where there is one, else under callgrind; which of the two
is part of the report."""

import json

import pytest

import harness

WORK = """#include <stdio.h>
int main(void) {{ volatile long x = 0; for (long i = 0; i < {loops}; i++) x += i; puts("done"); return 0; }}
"""
BUILD = [["cc", "-O1", "-o", "{build}/work", "{source}/work.c"]]

counted = pytest.mark.skipif(not harness.counts_instructions(),
                             reason="neither valgrind nor a counter of the CPU is here")


def instructions(lanes: dict, **members) -> dict:
    return {"name": "work", "measure": "instructions", "stdout": "done\n", "lanes": lanes, **members}


def compare(daemon, tmp_path, policy, lanes) -> dict:
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"work.c": WORK.format(loops=100000)},
                             "two": {"work.c": WORK.format(loops=200000)}})
    suite = harness.make_suite(tmp_path / "work-suite", [instructions(lanes)], build=BUILD)
    job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                      "--policy", policy, "--repetitions", "3", "--warmups", "1")["id"]
    return daemon.finish(job)


@counted
def test_instructions_are_those_of_the_whole_process(daemon, tmp_path, policy):
    shown = compare(daemon, tmp_path, policy, {"c": {"command": ["{build}/work"]}})
    assert shown["job"]["state"] == "done", shown["job"]
    job = shown["job"]["id"]
    raw, summary = daemon.raw(job), daemon.summary(job)
    tool = raw["workloads"][0]["tool"]
    assert tool in ("perf_event", "callgrind")
    valgrind = [t for t in raw["tools"] if t["name"] == "valgrind"]
    assert len(valgrind) == (tool == "callgrind")
    assert all(t["version"].startswith("valgrind-") for t in valgrind)
    for o in raw["observations"]:
        assert o["elapsed_ns"] is None and o["process_ns"] > 0
        assert [v["name"] for v in o["values"]] == ["instructions"]
        assert (300000 if o["side"] == "before" else 600000) < o["values"][0]["value"] < 5000000
    change = summary["value_comparisons"][0]
    assert (change["kind"], change["unit"]) == ("sides", "instructions")
    assert change["value_verdict"] in ("MORE", "INEXACT") and change["ratio_of_medians"] > 1  # three are too few
    assert change["value_verdict"] == "MORE" or "too few" in change["estimate"]["note"]
    # What is not the same in every repetition is no fault: there is no such predicate.
    assert {p["name"] for p in summary["grade"]["rows"][0]["predicates"]} == {"pairs_complete"}
    assert f"instructions are counted by {tool}" in daemon.run("report", job).stdout


@counted
def test_children_count_too(daemon, tmp_path, policy):
    shown = compare(daemon, tmp_path, policy, {
        "direct": {"command": ["{build}/work"]},
        "child": {"command": ["/bin/sh", "-c", "$0; true", "{build}/work"]}})
    assert shown["job"]["state"] == "done", shown["job"]
    values = {}
    for o in daemon.raw(shown["job"]["id"])["observations"]:
        values.setdefault((o["lane"], o["side"]), []).append(o["values"][0]["value"])
    for side in ("before", "after"):
        assert min(values["child", side]) > max(values["direct", side])


@counted
@pytest.mark.parametrize(("command", "code"), [
    (["/bin/sh", "-c", "echo wrong"], "lane.stdout_wrong"),
    (["/bin/sh", "-c", "echo done; exit 3"], "lane.exit_status"),
])
def test_a_lane_is_still_judged_as_a_process(daemon, tmp_path, policy, command, code):
    suite = harness.make_suite(tmp_path / "wrong", [instructions({"lane": {"command": command}})])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    assert (shown["job"]["state"], shown["job"]["error"]["code"]) == ("failed", code)


def test_without_anything_that_counts_the_job_fails_by_name(daemon, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    policy = tmp_path / "bare.json"
    policy.write_text(json.dumps(harness.quick_policy(path=str(tools))))
    suite = harness.make_suite(tmp_path / "bare", [instructions({"lane": {"command": ["/bin/echo", "done"]}})])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    if shown["job"]["state"] == "done":
        assert daemon.raw(shown["job"]["id"])["workloads"][0]["tool"] == "perf_event"
        pytest.skip("the CPU counts here, so that nothing is missing")
    error = shown["job"]["error"]
    assert (error["code"], error["field"]) == ("lane.tool_missing", "workloads.work.measure")
    assert "install valgrind" in error["text"]


def test_a_count_that_was_not_written_makes_the_attempt_void(daemon, tmp_path):
    """A valgrind that runs the program and counts nothing."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "valgrind").write_text('#!/bin/sh\nwhile test "${1#--}" != "$1"; do shift; done\nexec "$@"\n')
    (tools / "valgrind").chmod(0o755)
    policy = tmp_path / "fake.json"
    policy.write_text(json.dumps(harness.quick_policy(path=f"{tools}:/usr/bin:/bin")))
    suite = harness.make_suite(tmp_path / "uncounted", [instructions({"lane": {"command": ["/bin/echo", "done"]}})])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    if shown["job"]["state"] == "done":
        assert daemon.raw(shown["job"]["id"])["workloads"][0]["tool"] == "perf_event"
        pytest.skip("the CPU counts here, so that valgrind is not asked")
    assert shown["job"]["error"]["code"] == "lane.instructions_unknown"
    assert "could not be counted" in shown["job"]["error"]["text"]
    assert daemon.raw(shown["job"]["id"])["void_code"] == "lane.instructions_unknown"


@pytest.mark.parametrize(("change", "field"), [
    ({"ready": "R"}, "workloads[0].ready"),
    ({"declared_wait_ns": 5}, "workloads[0].declared_wait_ns"),
    ({"counters": ["a"]}, "workloads[0].counters"),
    ({"growth_pct": 5}, "workloads[0].growth_pct"),
    ({"lanes": {"lane": {"command": ["true"], "startup": "s"}, "s": {"command": ["true"]}}},
     "workloads[0].lanes.lane.startup"),
    ({"lanes": {"lane": {"command": ["true"], "files": {"a": "{build}/x"}}}}, "workloads[0].lanes.lane.files"),
])
def test_a_suite_that_mixes_instructions_with_times_is_refused_by_field(daemon, tmp_path, policy, change, field):
    suite = harness.make_suite(tmp_path / "mixed", [{**instructions({"lane": {"command": ["true"]}}), **change}])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2
