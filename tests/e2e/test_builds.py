"""Measure "build": named steps of a lane, each timed as a whole process and a figure of its own, from a
clean folder in each observation. Each way in which a step can be wrong is met once, by name."""

import json
import subprocess

import harness
import pytest

# A step that says what it found of an earlier one, and writes what it is told to.
STEP_SH = """#!/bin/sh
set -e
for file in "$@"; do
    test ! -e "$file"
    echo "bytes of $file" >"$file"
done
"""


def build(lanes: dict, steps=("check", "build", "link"), **members) -> dict:
    return {"name": "hello", "measure": "build", "steps": list(steps), "lanes": lanes, **members}


def steps_of(program: str) -> dict:
    """check writes nothing, build writes an object, link needs it and writes the program."""
    return {"check": {"command": [program]}, "build": {"command": [program, "hello.o"], "outputs": ["hello.o"]},
            "link": {"command": ["/bin/sh", "-c", "cat hello.o >hello"], "outputs": ["hello"]}}


def one_step(script: str, **members) -> dict:
    return {"build": {"command": ["/bin/sh", "-c", script], **members}}


def submit(daemon, tmp_path, policy, suite, *args, **members) -> dict:
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    return daemon.finish(daemon.json("submit", job, "--policy", policy, *args)["id"])


@pytest.fixture
def compared(daemon, tmp_path, policy):
    """Both sides write the same; the later one sleeps longer in its step build."""
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"step": STEP_SH}, "two": {"step": STEP_SH + "\n"}})
    suite = harness.make_suite(tmp_path / "build-suite", [build({
        "subject": {"steps": steps_of("{source}/step"), "cpus": 1},
        "control": {"steps": steps_of("{suite}/step"), "cpus": 1, "control": True}}, reproducible=True,
        stdout="")], {"step": STEP_SH})
    job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                      "--policy", policy, "--repetitions", "6", "--warmups", "1")["id"]
    shown = daemon.finish(job)
    assert shown["job"]["state"] == "done", shown["job"]
    return job


def test_each_step_is_a_figure_of_its_own(daemon, compared):
    raw, summary = daemon.raw(compared), daemon.summary(compared)
    names = ["hello.check", "hello.build", "hello.link"]
    assert [(w["name"], w["steps_of"], w["measure"]) for w in raw["workloads"]] == \
        [(name, "hello", "build") for name in names]
    assert [w["name"] for w in summary["workloads"]] == names
    for w in summary["workloads"]:
        assert w["unit"] == "ns" and len(w["rows"]) == 4
        assert all(r["wall"]["n"] == 6 and r["wall"]["median_ns"] > 0 for r in w["rows"])
    sides = [c for c in summary["comparisons"] if c["kind"] == "sides" and c["subject"]["lane"] == "subject"]
    assert [c["workload"] for c in sides] == names
    assert all(c["wall"]["interval"] is not None and c["wall"]["verdict"] for c in sides)
    assert {(c["workload"], c["lane"]) for c in summary["controls"]} == {(name, "control") for name in names}
    for o in raw["observations"]:
        assert o["elapsed_ns"] == o["exit_ns"] - o["start_ns"] == o["process_ns"]


def test_steps_of_a_lane_on_a_side_follow_each_other(daemon, compared):
    raw = daemon.raw(compared)
    place = [(o["workload"], o["lane"], o["side"], o["position"]) for o in raw["observations"]]
    for at in range(0, len(place), 3):
        assert [p[0] for p in place[at:at + 3]] == ["hello.check", "hello.build", "hello.link"]
        assert len({p[1:] for p in place[at:at + 3]}) == 1
    first, second = place[0:12:3], place[12:24:3]
    assert {p[1:3] for p in first} == {p[1:3] for p in second} and first != second  # they take turns


def test_what_a_step_wrote_is_in_the_report(daemon, compared, tmp_path):
    raw = daemon.raw(compared)
    built = [o for o in raw["observations"] if o["workload"] == "hello.build"]
    assert {(o["outputs"][0]["name"], o["outputs"][0]["bytes"]) for o in built} == {("hello.o", 17)}
    assert len({o["outputs"][0]["sha256"] for o in built}) == 1
    assert all("outputs" not in o for o in raw["observations"] if o["workload"] == "hello.check")
    stored = daemon.sql("SELECT count(*) AS n FROM observation_outputs WHERE name = 'hello'")
    assert stored[0]["n"] == sum(o["workload"] == "hello.link" for o in raw["observations"])


def test_report_page_and_gate_show_steps(daemon, compared, tmp_path):
    text = daemon.run("report", compared).stdout
    assert "hello.check" in text and "hello.link" in text and "OUTPUTS" in text and "same bytes" in text
    page = daemon.run("page", "--reports", compared).stdout
    assert "hello.build" in page and "one build step" in page
    targets = tmp_path / "targets.json"

    def gate(check, **target):
        targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
            {"lane": "subject", "diagnostic": True, **target}]}))
        return daemon.json("gate", targets, "--job", compared, check=check)["targets"][0]

    assert gate(0, workload="hello.link", reference="control", max_ratio=1000)["status"] == "met"
    assert gate(1, workload="hello.run", reference="control", max_ratio=1000)["status"] == "undefined"
    targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
        {"workload": "hello.", "lane": "subject", "max_slowdown_pct": 1}]}))
    assert daemon.refused("gate", targets, "--job", compared)["field"] == "targets[0].workload"


def put(daemon, job, tmp_path, change) -> str:
    """What verify says of the report when its raw report is another."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", daemon.evidence(job), copy], check=True)
    raw = json.loads((copy / "raw.json").read_text())
    change(raw)
    (copy / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":")) + "\n")
    return daemon.run("verify", copy, check=1).stdout


def last_link(raw) -> dict:
    return [o for o in raw["observations"] if o["workload"] == "hello.link"][-1]


@pytest.mark.parametrize(("change", "words"), [
    (lambda raw: last_link(raw)["outputs"][0].update(sha256="0" * 64), "wrote other bytes than an earlier one"),
    (lambda raw: last_link(raw).pop("outputs"), "has not the outputs that its lane names"),
    (lambda raw: last_link(raw)["outputs"][0].update(name="other"), "has not the outputs that its lane names"),
    (lambda raw: last_link(raw).update(elapsed_ns=1), "elapsed_ns"),
    (lambda raw: [w.update(reproducible=False) for w in raw["workloads"]], "is not that of the suite"),
    (lambda raw: raw["workloads"][1].update(steps_of="other"), "of the plan"),
])
def test_what_was_changed_does_not_verify(daemon, compared, tmp_path, change, words):
    assert words in put(daemon, compared, tmp_path, change)


@pytest.mark.parametrize(("lane", "code", "words"), [
    ({"steps": one_step("true", outputs=["hello"])}, "lane.output_missing", "did not write its output hello"),
    ({"steps": one_step("ln -s /bin/sh hello", outputs=["hello"])}, "lane.output_link", "wrote a link"),
    ({"steps": one_step("ln -s /bin bin", outputs=["bin/sh"])}, "lane.output_link", "output bin/sh"),
    ({"steps": one_step("mkdir hello", outputs=["hello"])}, "lane.output_special", "no regular file"),
    ({"steps": one_step("truncate -s 1073741825 hello", outputs=["hello"])}, "lane.output_large", "more than 1 GiB"),
    ({"steps": one_step("exit 3")}, "lane.exit_status", "exited with status 3"),
    ({"steps": one_step("echo oh >&2")}, "lane.stderr_written", "its stderr ends: oh"),
    ({"steps": one_step("echo hello", stdout="")}, "lane.stdout_wrong", "expected 0 bytes"),
    ({"prepare": [["true"], ["/bin/sh", "-c", "echo no room; exit 2"]], "steps": one_step("true")},
     "lane.prepare_failed", "its output ends: no room"),
    ({"prepare": [["/bin/sh", "-c", "echo old >hello"]], "steps": one_step("true", outputs=["hello"])},
     "lane.output_missing", "did not write its output hello"),
])
def test_a_step_that_went_wrong_makes_the_attempt_void(daemon, tmp_path, policy, lane, code, words):
    suite = harness.make_suite(tmp_path / "bad", [build({"lane": lane}, ["build"])])
    shown = submit(daemon, tmp_path, policy, suite)
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", code)
    assert words in error["text"] and "workload hello.build, lane lane" in error["text"]
    raw = daemon.raw(shown["job"]["id"])
    assert raw["void_code"] == code and "outputs" not in raw["observations"][-1]


def test_outputs_of_a_reproducible_build_that_differ_make_the_attempt_void(daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    lanes = {"lane": {"steps": {"build": {"command": ["{suite}/count"], "outputs": ["hello"]}}}}
    files = {"count": harness.GATE_SH + "echo $n >hello\n"}
    suite = harness.make_suite(tmp_path / "times", [build(lanes, ["build"], reproducible=True)], files,
                               env=gate.env())
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3)
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", "lane.output_differs")
    assert "wrote other bytes to its output hello" in error["text"]
    assert len(daemon.raw(shown["job"]["id"])["observations"]) == 2


def test_outputs_may_differ_where_nobody_asks(daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    lanes = {"lane": {"steps": {"build": {"command": ["{suite}/count"], "outputs": ["hello"]}}}}
    files = {"count": harness.GATE_SH + "echo $n >hello\n"}
    suite = harness.make_suite(tmp_path / "times", [build(lanes, ["build"])], files, env=gate.env())
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3)
    assert shown["job"]["state"] == "done", shown["job"]
    assert "other bytes" in daemon.run("report", shown["job"]["id"]).stdout


def test_nothing_is_left_of_an_earlier_observation(daemon, tmp_path, policy):
    """Neither in the folder nor in HOME; what prepare made is there, and only before the first step."""
    script = 'test "$HOME" = "$PWD"; test ! -e .cache; : >.cache; test -e ready; rm ready'
    lanes = {"lane": {"prepare": [["/bin/sh", "-c", "test ! -e ready && : >ready"]],
                      "steps": {"first": {"command": ["/bin/sh", "-ec", script]},
                                "second": {"command": ["/bin/sh", "-ec", "test -e .cache; test ! -e ready"]}}}}
    suite = harness.make_suite(tmp_path / "clean", [build(lanes, ["first", "second"])])
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3, warmups=1)
    assert shown["job"]["state"] == "done", shown["job"]
    assert len(daemon.raw(shown["job"]["id"])["observations"]) == 8


def test_a_disturbed_step_makes_all_steps_run_again(daemon, fake_host, tmp_path, policy):
    lanes = {"lane": {"steps": {"a": {"command": ["true"]}, "b": {"command": ["true"]}}, "cpus": 1}}
    suite = harness.make_suite(tmp_path / "again", [build(lanes, ["a", "b"])])
    fake_host.write("ledger", "near_foreign_ns 0\nat 3 near_foreign_ns 900000000\n")
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3, warmups=1)
    raw = daemon.raw(shown["job"]["id"])
    hit = raw["observations"][3]
    assert (hit["workload"], hit["disturbed"]) == ("hello.b", ["near_foreign"])
    again = [o for o in raw["observations"] if o["replaces"] is not None]
    assert [(o["workload"], o["replaces"], o["repetition"]) for o in again] == \
        [("hello.a", hit["repetition"], 3), ("hello.b", hit["repetition"], 3)]
    assert "0 failed" in daemon.run("verify", shown["job"]["report"]["evidence"]).stdout


def test_a_lane_is_left_out_with_all_its_steps(daemon, tmp_path, policy):
    lanes = {name: {"steps": {"a": {"command": ["true"]}, "b": {"command": [program]}}, "optional": True}
             for name, program in (("here", "true"), ("out", "true"), ("gone", "no-such-program"))}
    suite = harness.make_suite(tmp_path / "some", [build(lanes, ["a", "b"])])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, exclude=["hello/out"])
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    assert shown["job"]["state"] == "done", shown["job"]
    raw = daemon.raw(shown["job"]["id"])
    assert {o["lane"] for o in raw["observations"]} == {"here"}
    for w in raw["workloads"]:
        kept = {lane["name"]: lane for lane in w["lanes"]}
        assert kept["out"]["excluded"] and "no-such-program" in kept["gone"]["absent"]


def test_a_job_can_be_cancelled_while_it_prepares(daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    gate.shut(2)
    lanes = {"lane": {"prepare": [["{suite}/wait"]], "steps": one_step("true")}}
    suite = harness.make_suite(tmp_path / "waits", [build(lanes, ["build"])], {"wait": harness.GATE_SH},
                               env=gate.env())
    path = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=3)
    job = daemon.json("submit", path, "--policy", policy)["id"]
    gate.await_run(2)
    daemon.run("cancel", job)
    assert daemon.finish(job)["job"]["state"] == "cancelled"
    assert gate.runs() == 2


@pytest.mark.parametrize(("change", "field"), [
    ({"steps": []}, "workloads[0].steps"),
    ({"steps": ["build", "build"]}, "workloads[0].steps[1]"),
    ({"steps": ["build", "link"]}, "workloads[0].lanes.lane.steps.link"),
    ({"steps": ["x" * 62, "build"]}, "workloads[0].steps"),
    ({"declared_wait_ns": 5}, "workloads[0].declared_wait_ns"),
    ({"lanes": {"lane": {"command": ["true"]}}}, "workloads[0].lanes.lane.command"),
    ({"lanes": {"lane": {"steps": {"run": {"command": ["true"]}}}}}, "workloads[0].lanes.lane.steps.run"),
    ({"lanes": {"lane": {"steps": one_step("true", outputs=["../x"])}}},
     "workloads[0].lanes.lane.steps.build.outputs[0]"),
    ({"lanes": {"lane": {"steps": one_step("true", outputs=["x", "x"])}}},
     "workloads[0].lanes.lane.steps.build.outputs[1]"),
    ({"lanes": {"lane": {"control": True, "steps": {"build": {"command": ["{source}/x"]}}}}},
     "workloads[0].lanes.lane.steps.build.command"),
    ({"lanes": {"lane": {"control": True, "prepare": [["{source}/x"]], "steps": one_step("true")}}},
     "workloads[0].lanes.lane.prepare"),
    ({"lanes": {"lane": {"cwd": "/tmp", "steps": one_step("true")}}}, "workloads[0].lanes.lane.cwd"),
    ({"measure": "process", "lanes": {"lane": {"command": ["true"]}}}, "workloads[0].steps"),
])
def test_a_suite_of_bad_steps_is_refused_by_field(daemon, tmp_path, policy, change, field):
    workload = {**build({"lane": {"steps": one_step("true")}}, ["build"]), **change}
    suite = harness.make_suite(tmp_path / "bad", [workload])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2
