"""What lanes print after their work, from the records to the page: samples, the ack before them, and the same
work as one task and as several. Each way in which it can be wrong is met once, with its code and its sentence."""

import json
import re
import subprocess

import pytest

import harness

# Six samples of which the fifth is late, and one of how long arming took.
LANE_SH = """#!/bin/sh
echo "READY tiny"
read go
echo "DONE tiny 42"
read ack
[ "$ack" = "ACK tiny" ] || exit 9
echo "SAMPLE arm_span 0 120"
for i in 0 1 2 3 4 5; do echo "SAMPLE late $i $((i == 4 ? $1 : 10 * i))"; done
cat >/dev/null
"""
BURN_PY = """#!/usr/bin/python3
import sys
print("READY tiny", flush=True)
sys.stdin.readline()
total = 0
for i in range(int(sys.argv[1])):
    total += i
print("DONE tiny 42", flush=True)
sys.stdin.readline()
"""
LATE = {"name": "late", "unit": "ns", "max": 6, "p99_max": 5000}
SPAN = {"name": "arm_span", "unit": "ns", "max": 1}


def timers(lanes: dict, *series: dict, **members) -> dict:
    return harness.protocol(lanes, ack="ACK tiny", samples=list(series), **members)


def submit(daemon, tmp_path, policy, suite, **members) -> dict:
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    return daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])


@pytest.fixture
def sampled(daemon, tmp_path, policy):
    suite = harness.make_suite(tmp_path / "sampled", [timers(
        {"subject": {"command": ["{suite}/lane", "9000"], "cpus": 1},
         "control": {"command": ["{suite}/lane", "700"], "control": True}}, LATE, SPAN)], {"lane": LANE_SH})
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3, warmups=1)
    assert shown["job"]["state"] == "done", shown["job"]
    return shown["job"]["id"]


def rows_of(summary: dict) -> dict:
    return {row["lane"]: row for row in summary["workloads"][0]["rows"]}


def test_samples_are_evidence_and_figures_over_all_repetitions(daemon, sampled):
    raw, summary = daemon.raw(sampled), daemon.summary(sampled)
    workload = raw["workloads"][0]
    assert workload["ack"] is True
    assert workload["samples"] == [{"name": "late", "unit": "ns", "min": 6, "max": 6, "p99_max": 5000},
                                   {"name": "arm_span", "unit": "ns", "min": 1, "max": 1, "p99_max": None}]
    for o in raw["observations"]:
        late = 9000 if o["lane"] == "subject" else 700
        assert o["samples"] == [{"name": "late", "values": [0, 10, 20, 30, late, 50]},
                                {"name": "arm_span", "values": [120]}]
        assert o["elapsed_ns"] == o["done_ns"] - o["go_ns"] > 0
    late, span = rows_of(summary)["subject"]["samples"]
    assert late == {"name": "late", "unit": "ns", "n": 18, "median": 25, "p99": 9000, "max": 9000,
                    "total": 27330, "p99_max": 5000, "within": "FAIL"}
    assert (span["n"], span["p99"], span["within"]) == (3, 120, "NOT_APPLICABLE")
    control = rows_of(summary)["control"]["samples"][0]
    assert (control["p99"], control["p99_max"]) == (700, None)
    graded = next(r for r in summary["grade"]["rows"] if r["lane"] == "subject")
    within = next(p for p in graded["predicates"] if p["name"] == "samples_within")
    assert within["status"] == "FAIL" and "p99 of late is 9000 ns, its bound 5000 ns" in within["fact"]
    stored = daemon.sql("SELECT name, samples, count(*) AS n FROM observation_samples GROUP BY name, samples"
                        " ORDER BY name, samples")
    assert [tuple(r) for r in stored] == [("arm_span", "120", 8), ("late", "0 10 20 30 700 50", 4),
                                          ("late", "0 10 20 30 9000 50", 4)]


def test_report_page_and_gate_show_samples(daemon, sampled, tmp_path):
    text = daemon.run("report", sampled).stdout
    assert "SAMPLES" in text and "0.009000" in text and "0.005000" in text and "FAIL" in text
    assert "samples_within" in text
    markdown = (daemon.evidence(sampled) / "report.md").read_text()
    assert "| arm_span | ms | 3 | 0.000120 | 0.000120 | 0.000120 | none | - |" in markdown
    assert "### Samples" in daemon.run("page", "--reports", sampled).stdout
    targets = tmp_path / "targets.json"

    def gate(check, **target):
        targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
            {"workload": "tiny", "lane": "subject", "sample": "late", "diagnostic": True, **target}]}))
        return daemon.json("gate", targets, "--job", sampled, check=check)["targets"][0]

    assert (gate(0, max_p99=9000)["status"], gate(1, max_p99=8999)["status"]) == ("met", "missed")
    assert gate(0, max_p99=9000)["figure"] == 9000
    assert "no samples early" in gate(1, max_p99=9000, sample="early")["why"]
    assert gate(1, max_p99=9000, diagnostic=False)["status"] == "diagnostic"


@pytest.mark.parametrize(("change", "words"), [
    (lambda o: o["samples"][0]["values"].__setitem__(0, 7), "summary"),  # as many digits
    (lambda o: o["samples"][0]["values"].__setitem__(0, 17), "suite asks"),
    (lambda o: o["samples"][0]["values"].pop(), "samples that its workload declares"),
    (lambda o: o.pop("samples"), "samples that its workload declares"),
])
def test_a_changed_sample_does_not_verify(daemon, sampled, tmp_path, change, words):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", daemon.evidence(sampled), copy], check=True)
    raw = json.loads((copy / "raw.json").read_text())
    change(next(o for o in raw["observations"] if o["kind"] == "timed" and o["lane"] == "subject"))
    (copy / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":")) + "\n")
    done = daemon.run("verify", copy, check=1)
    assert "FAIL" in done.stdout and words in done.stdout


@pytest.mark.parametrize(("after", "code", "words"), [
    ("echo SAMPLE late 0 1; sleep 100", "lane.ack_early", "before it had read the line \"ACK tiny\""),
    ("exit 0", "lane.ack_unread", "without reading the line \"ACK tiny\""),
    ("read ack; echo SAMPLE late 0 1", "lane.sample_missing", "fewer samples of late"),
    ("read ack; echo SAMPLE late 0 1; echo SAMPLE late 0 1", "lane.sample_twice", "SAMPLE late 0 1"),
    ("read ack; echo SAMPLE late 1 1", "lane.sample_gap", "SAMPLE late 1 1"),
    ("read ack; for i in 0 1 2; do echo SAMPLE late $i 1; done", "lane.sample_extra", "SAMPLE late 2 1"),
    ("read ack; echo SAMPLE early 0 1", "lane.sample_unknown", "SAMPLE early 0 1"),
    ("read ack; echo SAMPLE late 0 1.5", "lane.sample_bad", "SAMPLE late 0 1.5"),
    ("read ack; head -c 600 /dev/zero | tr '\\0' x; echo", "lane.line_too_long", "over 512 bytes"),
    ("read ack; exec yes 'SAMPLE late 0 1'", "lane.sample_limit", "256 KiB"),
])
def test_what_is_no_sample_makes_the_attempt_void(daemon, tmp_path, policy, after, code, words):
    suite = harness.make_suite(
        tmp_path / "bad", [timers({"lane": {"command": ["{suite}/lane"]}}, {**LATE, "max": 2})],
        {"lane": f"#!/bin/sh\necho READY tiny\nread go\necho DONE tiny 42\n{after}\n"})
    shown = submit(daemon, tmp_path, policy, suite)
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", code), error
    assert words in error["text"] and "workload tiny, lane lane" in error["text"]
    raw = daemon.raw(shown["job"]["id"])
    assert raw["void_code"] == code and "samples" not in raw["observations"][-1]


def test_an_ack_without_samples_ends_with_silence(daemon, tmp_path, policy):
    lane = "#!/bin/sh\necho READY tiny\nread go\necho DONE tiny 42\nread ack\n{}\n"
    suite = harness.make_suite(tmp_path / "told", [harness.protocol({"lane": {"command": ["{suite}/lane"]}},
                                                                    ack="ACK tiny")], {"lane": lane.format("exit 0")})
    assert submit(daemon, tmp_path, policy, suite)["job"]["state"] == "done"
    suite = harness.make_suite(tmp_path / "loud", [harness.protocol({"lane": {"command": ["{suite}/lane"]}},
                                                                    ack="ACK tiny")],
                               {"lane": lane.format("echo SAMPLE late 0 1")})
    assert submit(daemon, tmp_path, policy, suite)["job"]["error"]["code"] == "lane.output_extra"


def test_only_a_warmups_sample_can_change_unseen(daemon, sampled):
    done = subprocess.run([harness.BUILD / "tests/unit/client/verify_mutations", daemon.evidence(sampled)],
                          capture_output=True, text=True, env=harness.CLEAN_ENV)
    assert done.returncode == 0, done.stderr
    missed = dict(re.findall(r"^missed raw\.json (\S+) (\d+)$", done.stdout, re.M))
    unseen = {path: int(n) for path, n in missed.items() if "samples" in path or path.startswith("workloads")}
    assert set(unseen) <= {"observations[].samples[].values[]"}, unseen
    assert sum(unseen.values()) <= 14  # two warmups of seven


# ---- one task and several

def scaled(daemon, tmp_path, policy, tasks: int) -> tuple[str, dict]:
    burn = {"command": ["{suite}/burn", "300000"]}
    suite = harness.make_suite(
        tmp_path / "scaled", [harness.protocol(
            {"one": burn, "many": {**burn, "scaling": {"of": "one", "tasks": tasks, "max_ratio": 0.5}}},
            ack="ACK tiny")], {"burn": BURN_PY})
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3)
    assert shown["job"]["state"] == "done", shown["job"]
    id = shown["job"]["id"]
    return id, daemon.summary(id)["scaling"][0]


def test_more_tasks_than_cpus_tell_nothing_and_say_so(daemon, tmp_path, policy):
    id, row = scaled(daemon, tmp_path, policy, 1000)
    assert daemon.raw(id)["workloads"][0]["lanes"][1]["scaling"] == \
        {"of": "one", "tasks": 1000, "max_ratio": 0.5}
    assert (row["subject"]["lane"], row["reference"]["lane"], row["pairs"]) == ("many", "one", 3)
    assert row["status"] == "UNRESOLVED" and row["ratio"] > 0
    assert row["why"] == f"1000 tasks need as many CPUs, the lanes have {row['cpus']}"
    graded = next(r for r in daemon.summary(id)["grade"]["rows"] if r["lane"] == "many")
    within = next(p for p in graded["predicates"] if p["name"] == "scaling_within")
    assert within == {"name": "scaling_within", "status": "UNKNOWN", "fact": row["why"]}
    text = daemon.run("report", id).stdout
    assert "SCALING" in text and "UNRESOLVED" in text and "not valid, 1000 tasks need" in text
    page = daemon.run("page", "--reports", id).stdout
    assert "### Scaling" in page and "not valid, 1000 tasks need" in page


def test_three_repetitions_have_no_interval_to_judge_by(daemon, tmp_path, policy):
    _, row = scaled(daemon, tmp_path, policy, 2)
    assert (row["status"], row["interval"]) == ("UNRESOLVED", None)
    assert row["why"]  # which it is first depends on the host: CPUs, what else ran, the interval


# ---- suites

SERIES = {"name": "late", "unit": "ns", "max": 2}
LANE = {"command": ["true"]}


@pytest.mark.parametrize(("workload", "field"), [
    (harness.protocol({"lane": LANE}, samples=[SERIES]), "workloads[0].samples"),
    (timers({"lane": LANE}), "workloads[0].samples"),
    (timers({"lane": LANE}, SERIES, SERIES), "workloads[0].samples[1].name"),
    (timers({"lane": LANE}, {**SERIES, "unit": "ms"}), "workloads[0].samples[0].unit"),
    (timers({"lane": LANE}, {**SERIES, "min": 3}), "workloads[0].samples[0].min"),
    (timers({"lane": LANE}, {**SERIES, "max": 8000}, {**SERIES, "name": "b", "max": 193}),
     "workloads[0].samples[1].max"),
    ({"name": "w", "measure": "process", "lanes": {"lane": LANE}, "ack": "A"}, "workloads[0].ack"),
    ({"name": "w", "measure": "process", "lanes": {"lane": LANE}, "samples": [SERIES]}, "workloads[0].samples"),
    (harness.protocol({"lane": {**LANE, "scaling": {"of": "one", "tasks": 4, "max_ratio": 1}}}),
     "workloads[0].lanes.lane.scaling.of"),
    (harness.protocol({"lane": {**LANE, "scaling": {"of": "lane", "tasks": 4, "max_ratio": 1}}}),
     "workloads[0].lanes.lane.scaling.of"),
    (harness.protocol({"one": {**LANE, "cpus": 1}, "lane": {**LANE, "scaling": {"of": "one", "tasks": 4, "max_ratio": 1}}}),
     "workloads[0].lanes.lane.scaling.of"),
    (harness.protocol({"one": {**LANE, "control": True},
                       "lane": {**LANE, "scaling": {"of": "one", "tasks": 4, "max_ratio": 1}}}),
     "workloads[0].lanes.lane.scaling.of"),
    (harness.protocol({"one": LANE, "lane": {**LANE, "scaling": {"of": "one", "tasks": 1, "max_ratio": 1}}}),
     "workloads[0].lanes.lane.scaling.tasks"),
    (harness.protocol({"one": LANE, "lane": {**LANE, "scaling": {"of": "one", "tasks": 4, "max_ratio": 0}}}),
     "workloads[0].lanes.lane.scaling.max_ratio"),
    ({"name": "w", "measure": "counters", "counters": ["a"],
      "lanes": {"one": LANE, "lane": {**LANE, "scaling": {"of": "one", "tasks": 4, "max_ratio": 1}}}},
     "workloads[0].lanes.lane.scaling"),
])
def test_a_suite_is_refused_by_field(daemon, tmp_path, policy, workload, field):
    suite = harness.make_suite(tmp_path / "refused", [workload])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2
