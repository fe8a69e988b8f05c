"""Figures that are no times, from a lane's output to the page: counters. Each way in which they can be
wrong is met once, with its code, its sentence, and nothing that was averaged in silence."""

import json
import subprocess

import pytest

import harness

COUNTERS_SH = """#!/bin/sh
echo "COUNTER allocations $1"
echo "COUNTER retains 7"
"""


def counters(lanes: dict, names=("allocations", "retains"), **members) -> dict:
    return {"name": "heap", "measure": "counters", "counters": list(names), "lanes": lanes, **members}


def submit(daemon, tmp_path, policy, suite, **members) -> dict:
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    return daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])


def compare(daemon, policy, repo, suite, *args) -> dict:
    job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                      "--policy", policy, "--repetitions", "3", "--warmups", "1", *args)["id"]
    return daemon.finish(job)


@pytest.fixture
def compared(daemon, tmp_path, policy):
    """A job whose allocations fall from 1200 to 900, beside a control."""
    repo = tmp_path / "repo"
    program = "#!/bin/sh\necho COUNTER retains 7\necho COUNTER allocations {}\n"
    harness.make_repo(repo, {"one": {"count": program.format(1200)}, "two": {"count": program.format(900)}})
    suite = harness.make_suite(tmp_path / "heap-suite", [counters({
        "subject": {"command": ["{source}/count"], "cpus": 1},
        "control": {"command": ["{suite}/counters", "50"], "control": True}})],
        {"counters": COUNTERS_SH})
    shown = compare(daemon, policy, repo, suite)
    assert shown["job"]["state"] == "done", shown["job"]
    return shown["job"]["id"]


def test_counters_are_exact_and_their_difference_is(daemon, compared):
    raw, summary = daemon.raw(compared), daemon.summary(compared)
    assert raw["workloads"][0]["counters"] == ["allocations", "retains"]
    for o in raw["observations"]:
        assert o["elapsed_ns"] is None and o["process_ns"] > 0 and o["disturbed"] is None
        assert [v["name"] for v in o["values"]] == ["allocations", "retains"]
    workload = summary["workloads"][0]
    assert (workload["unit"], workload["rows"]) == ("count", [])
    after = next(r for r in workload["value_rows"] if (r["lane"], r["side"]) == ("subject", "after"))
    assert after["values"][0] == {"name": "allocations", "n": 3, "median": 900, "min": 900, "max": 900,
                                  "total": 2700, "exact": True}
    change = next(c for c in summary["value_comparisons"]
                  if (c["kind"], c["name"], c["subject"]["lane"]) == ("sides", "allocations", "subject"))
    assert (change["value_verdict"], change["difference"], change["ratio_of_medians"]) == ("LESS", -300, 0.75)
    assert all(c["value_verdict"] == "EQUAL" for c in summary["value_comparisons"] if c["name"] == "retains")
    assert summary["comparisons"] == [] and summary["controls"] == []
    predicates = {p["name"]: p["status"] for p in summary["grade"]["predicates"]}
    assert predicates["observer_silent"] == predicates["controls_within_drift"] == "NOT_APPLICABLE"
    rows = daemon.sql("SELECT name, value, count(*) AS n FROM observation_values GROUP BY name, value"
                      " ORDER BY name, value")
    assert [tuple(r) for r in rows] == [("allocations", 50, 8), ("allocations", 900, 4),
                                        ("allocations", 1200, 4), ("retains", 7, 16)]


def test_report_page_and_gate_show_values(daemon, compared, tmp_path):
    text = daemon.run("report", compared).stdout
    assert "RESULT  1 EQUAL, 1 LESS, in 2 comparisons of values" in text
    assert "VALUES" in text and "LESS" in text and "-300" in text and "1,200" in text
    markdown = (daemon.evidence(compared) / "report.md").read_text()
    assert "| heap | subject | allocations | 1,200 | 900 | -300 | -25.0000% | 0.750000 | LESS |" in markdown
    page = daemon.run("page", "--reports", compared).stdout
    assert "### Values" in page and "| LESS |" in page and "| 1 EQUAL, 1 LESS |" in page
    targets = tmp_path / "targets.json"

    def gate(check, **target):
        targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
            {"workload": "heap", "lane": "subject", "diagnostic": True, **target}]}))
        return daemon.json("gate", targets, "--job", compared, check=check)["targets"][0]

    met = gate(0, value="allocations", max_slowdown_pct=-20)
    assert (met["status"], met["figure"]) == ("met", -25)
    assert gate(1, value="allocations", max_slowdown_pct=-30)["status"] == "missed"
    assert gate(0, value="allocations", reference="control", max_ratio=18)["figure"] == 18
    assert "no value releases" in gate(1, value="releases", max_slowdown_pct=0)["why"]
    assert gate(1, max_slowdown_pct=0)["status"] == "undefined"  # it has no time


def test_a_counter_that_changes_is_flagged_by_name(daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(tmp_path / "changing", [counters({"lane": {"command": ["{suite}/count"]}})],
                               {"count": harness.GATE_SH + "echo COUNTER allocations $n\n"
                                                           "echo COUNTER retains 7\n"}, env=gate.env())
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3)
    assert shown["job"]["state"] == "done", shown["job"]
    job = shown["job"]["id"]
    row = daemon.summary(job)["workloads"][0]["value_rows"][0]
    assert [(v["name"], v["min"], v["max"], v["exact"]) for v in row["values"]] == \
        [("allocations", 1, 3, False), ("retains", 7, 7, True)]
    graded = daemon.summary(job)["grade"]["rows"][0]
    assert graded["value"] == "diagnostic"
    assert {p["name"]: p["status"] for p in graded["predicates"]} == {"pairs_complete": "PASS", "values_exact": "FAIL"}
    report = daemon.run("report", job).stdout
    assert "allocations changes between repetitions, 1 to 3" in report


@pytest.mark.parametrize(("say", "code", "words"), [
    ("echo COUNTER allocations 1; echo COUNTER retains 2; echo COUNTER releases 3", "lane.counter_unknown",
     "COUNTER releases 3"),
    ("echo COUNTER allocations 1", "lane.counter_missing", "did not print its counter retains"),
    ("echo COUNTER allocations 1; echo COUNTER allocations 1; echo COUNTER retains 2", "lane.counter_twice",
     "COUNTER allocations 1"),
    ("echo COUNTER allocations 1.5; echo COUNTER retains 2", "lane.counter_bad", "COUNTER allocations 1.5"),
    ("echo hello; echo COUNTER allocations 1; echo COUNTER retains 2", "lane.counter_bad", "hello"),
])
def test_what_is_no_counter_makes_the_attempt_void(daemon, tmp_path, policy, say, code, words):
    suite = harness.make_suite(tmp_path / "bad", [counters({"lane": {"command": ["{suite}/count"]}})],
                               {"count": f"#!/bin/sh\n{say}\n"})
    shown = submit(daemon, tmp_path, policy, suite)
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", code)
    assert words in error["text"] and "workload heap, lane lane" in error["text"]
    raw = daemon.raw(shown["job"]["id"])
    assert raw["void_code"] == code and "values" not in raw["observations"][-1]


def test_values_stand_beside_times(daemon, tmp_path, policy):
    suite = harness.make_suite(
        tmp_path / "mixed", [harness.protocol({"lane": {"command": ["{suite}/lane"]}}),
                             counters({"lane": {"command": ["{suite}/counters", "3"]}})],
        {"lane": harness.LANE_SH, "counters": COUNTERS_SH})
    shown = submit(daemon, tmp_path, policy, suite, repetitions=2)
    assert shown["job"]["state"] == "done", shown["job"]
    summary = daemon.summary(shown["job"]["id"])
    assert [len(w["rows"]) for w in summary["workloads"]] == [1, 0]
    assert ["value_rows" in w for w in summary["workloads"]] == [False, True]
    assert [r["workload"] for r in summary["grade"]["rows"]] == ["tiny", "heap"]


def test_a_changed_value_does_not_verify(daemon, compared, tmp_path):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", daemon.evidence(compared), copy], check=True)
    raw = json.loads((copy / "raw.json").read_text())
    timed = next(o for o in raw["observations"] if o["kind"] == "timed" and o["lane"] == "subject")
    timed["values"][0]["value"] -= 1
    (copy / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":")) + "\n")
    done = daemon.run("verify", copy, check=1)
    assert "FAIL" in done.stdout and "summary" in done.stdout


@pytest.mark.parametrize(("change", "field"), [
    ({"ready": "R"}, "workloads[0].ready"),
    ({"stdout": "1"}, "workloads[0].stdout"),
    ({"declared_wait_ns": 5}, "workloads[0].declared_wait_ns"),
    ({"counters": []}, "workloads[0].counters"),
    ({"lanes": {"lane": {"command": ["true"], "startup": "s"}, "s": {"command": ["true"]}}},
     "workloads[0].lanes.lane.startup"),
])
def test_a_suite_that_mixes_counters_with_times_is_refused_by_field(daemon, tmp_path, policy, change, field):
    suite = harness.make_suite(tmp_path / "mixed", [{**counters({"lane": {"command": ["true"]}}), **change}])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2
