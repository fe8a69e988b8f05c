"""What is read of a lane that waits, from its records to the page: resident bytes before and after a load,
and the share of the CPU in a window."""

import json
import subprocess

import pytest

import harness

MEMORY_PY = """#!/usr/bin/env python3
import sys
print("BASELINE held", flush=True)
assert sys.stdin.readline() == "LOAD held\\n"
held = bytearray(int(sys.argv[1]) << 20)
for i in range(0, len(held), 4096):
    held[i] = 1
print("READY held", flush=True)
assert sys.stdin.readline() == "GO held\\n"
print("DONE held", flush=True)
sys.stdin.read()
"""

IDLE_SH = """#!/bin/sh
echo "READY idle"
read go
echo "DONE idle"
cat >/dev/null
"""


def memory(lanes: dict, **members) -> dict:
    return {"name": "held", "measure": "memory", "baseline": "BASELINE held", "load": "LOAD held", "ready": "READY held",
            "go": "GO held", "done": "DONE held", "lanes": lanes, **members}


def cpu(lanes: dict, **members) -> dict:
    return {"name": "idle", "measure": "cpu", "ready": "READY idle", "go": "GO idle", "done": "DONE idle",
            "window_ms": 200, "lanes": lanes, **members}


def submit(daemon, tmp_path, policy, suite, **members) -> dict:
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    return daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])


@pytest.fixture
def measured(daemon, tmp_path, policy):
    suite = harness.make_suite(
        tmp_path / "standing",
        [memory({"small": {"command": ["{suite}/memory", "8"]}, "large": {"command": ["{suite}/memory", "24"]}}),
         cpu({"idle": {"command": ["{suite}/idle"], "cpus": 1}})],
        {"memory": MEMORY_PY, "idle": IDLE_SH})
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3)
    assert shown["job"]["state"] == "done", shown["job"]
    return shown["job"]["id"]


def test_memory_and_cpu_are_values_of_the_report(daemon, measured, tmp_path):
    raw, summary = daemon.raw(measured), daemon.summary(measured)
    held, idle = raw["workloads"]
    assert held["baseline"] is True and held["tool"] in ("smaps_rollup", "status")
    assert idle["window_ms"] == 200 and idle["tool"] in ("process_clocks", "process_clocks+cgroup")
    for o in raw["observations"]:
        values = {v["name"]: v["value"] for v in o["values"]}
        assert o["elapsed_ns"] is None and o["disturbed"] is None
        if o["workload"] == "idle":
            assert o["done_ns"] - o["go_ns"] >= 200_000_000
            assert values == {"cpu_ppm": o["interval_cpu_ns"] * 1000000 // (o["done_ns"] - o["go_ns"])}
            continue
        assert list(values) == ["baseline_rss", "ready_rss", "incremental_rss", "peak_rss"]
        assert values["incremental_rss"] == values["ready_rss"] - values["baseline_rss"]
        least = 8 << 20 if o["lane"] == "small" else 24 << 20
        assert least <= values["incremental_rss"] < least + (4 << 20)
        assert values["peak_rss"] >= values["ready_rss"]
    assert [(w["unit"], w["rows"]) for w in summary["workloads"]] == [("bytes", []), ("ppm", [])]
    assert len(summary["workloads"][0]["value_rows"][0]["values"]) == 4
    text = daemon.run("report", measured).stdout
    assert "incremental_rss" in text and " MiB" in text and "cpu_ppm" in text and "of a core" in text
    assert "held: resident bytes are read from" in text and "over at least 200 ms" in text
    assert "incremental_rss" in daemon.run("page", "--reports", measured).stdout
    stored = daemon.sql("SELECT count(*) AS n FROM observation_values WHERE name = 'peak_rss'")
    assert stored[0]["n"] == sum(o["workload"] == "held" for o in raw["observations"])
    targets = tmp_path / "targets.json"
    targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
        {"workload": "held", "lane": "small", "reference": "large", "value": "incremental_rss", "max_ratio": 0.6,
         "diagnostic": True}]}))
    assert daemon.json("gate", targets, "--job", measured)["targets"][0]["status"] == "met"


def test_memory_before_and_after_has_verdicts_by_interval(daemon, tmp_path, policy):
    """The load triples; the control's does not. No repetition need have the same bytes as another."""
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"memory": MEMORY_PY.replace("sys.argv[1]", "8")},
                             "two": {"memory": MEMORY_PY.replace("sys.argv[1]", "24")}})
    suite = harness.make_suite(tmp_path / "grown", [memory({
        "subject": {"command": ["{source}/memory"]},
        "control": {"command": ["{suite}/memory", "8"], "control": True}})], {"memory": MEMORY_PY})
    job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                      "--policy", policy, "--repetitions", 6, "--warmups", 1)["id"]
    shown = daemon.finish(job)
    assert shown["job"]["state"] == "done", shown["job"]
    sides = {(c["subject"]["lane"], c["name"]): c for c in daemon.summary(job)["value_comparisons"]
             if c["kind"] == "sides"}
    assert sides["subject", "ready_rss"]["value_verdict"] == sides["subject", "peak_rss"]["value_verdict"] == "MORE"
    for (lane, _), c in sides.items():
        # It may happen that all six are the same; what is not is never called equal.
        assert ("estimate" in c) == (c["difference"] is None)
        if "estimate" not in c:
            assert c["value_verdict"] == ("MORE" if c["difference"] > 0 else "LESS" if c["difference"] < 0 else "EQUAL")
            continue
        estimate = c["estimate"]
        assert estimate["pairs"] == 6 and estimate["margin"] == 0.01 and not estimate["unpaired"]
        low, high = estimate["interval"]["low"], estimate["interval"]["high"]
        assert low <= estimate["paired_median_ratio"] <= high and estimate["interval"]["coverage"] == 0.96875
        beyond = "MORE" if low > 1.01 else "LESS" if high < 1 / 1.01 else "UNRESOLVED"
        assert c["value_verdict"] == beyond and estimate["note"]
    text = daemon.run("report", job).stdout
    assert "MORE" in text and " of values" in text
    if any("estimate" in c for (lane, _), c in sides.items() if lane == "subject"):
        assert "resolves" in text and "96.88%" in text and "beyond the margin of 1.00%" in " ".join(text.split())


@pytest.mark.parametrize(("workload", "value"), [("held", 2), ("held", 3), ("idle", 0)])
def test_a_value_that_does_not_follow_does_not_verify(daemon, measured, tmp_path, workload, value):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", daemon.evidence(measured), copy], check=True)
    raw = json.loads((copy / "raw.json").read_text())
    timed = next(o for o in raw["observations"] if o["workload"] == workload)  # also where it is a warmup
    timed["values"][value]["value"] += -50_000_000 if value == 3 else 1
    timed["values"][value]["value"] = max(0, timed["values"][value]["value"])
    (copy / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":")) + "\n")
    done = daemon.run("verify", copy, check=1)
    assert "follow" in done.stdout


@pytest.mark.parametrize(("say", "code", "words"), [
    ("echo READY held; read a", "lane.baseline_missing", "no BASELINE"),
    ("echo BASELINE held; echo BASELINE held; read a", "lane.baseline_twice", "print it once"),
    ("echo BASELINE held; sleep 0.2; echo READY held; exec sleep 100", "lane.ready_early", "before it had read"),
    ("exit 0", "lane.eof_before_baseline", "closed its stdout before it printed BASELINE"),
])
def test_a_lane_that_keeps_not_to_its_records_makes_the_attempt_void(daemon, tmp_path, policy, say, code, words):
    suite = harness.make_suite(tmp_path / "bad", [memory({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": f"#!/bin/sh\n{say}\n"})
    shown = submit(daemon, tmp_path, policy, suite)
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", code)
    assert words in error["text"] and "workload held, lane lane" in error["text"]
    raw = daemon.raw(shown["job"]["id"])
    assert raw["void_code"] == code and "values" not in raw["observations"][-1]


def test_a_lane_that_ends_in_its_window_makes_the_attempt_void(daemon, tmp_path, policy):
    suite = harness.make_suite(tmp_path / "short", [cpu({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": "#!/bin/sh\necho READY idle\nexit 0\n"})
    error = submit(daemon, tmp_path, policy, suite)["job"]["error"]
    assert error["code"] == "lane.window_ended" and "200 ms" in error["text"]


@pytest.mark.parametrize(("workload", "field"), [
    (memory({"lane": {"command": ["true"]}}, window_ms=200), "workloads[0].window_ms"),
    (cpu({"lane": {"command": ["true"]}}, load="L"), "workloads[0].load"),
    (cpu({"lane": {"command": ["true"]}}, window_ms=1), "workloads[0].window_ms"),
    (memory({"lane": {"command": ["true"]}}, baseline="READY held"), "workloads[0].baseline"),
])
def test_a_suite_is_refused_by_field(daemon, tmp_path, policy, workload, field):
    suite = harness.make_suite(tmp_path / "refused", [workload])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2
