"""Measure "kernel": a lane is a driver of a portable kernel; the statistics of its phases are values. Each
way in which a run can be wrong is met once, by name."""

import json
import pathlib
import shutil
import subprocess

import harness
import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "workloads/portable-kernel/example"
DRIVER = harness.CLIENT.parent / "aurabench-kernel"
NAMES = ["compile_first", "compile_min", "compile_p50", "compile_p95", "compile_max", "decode_min", "decode_p50",
         "decode_p95", "decode_max", "dispatch_first", "dispatch_min", "dispatch_p50", "dispatch_p95",
         "dispatch_max", "batch_wall"]
# Speaks the protocol; what it says differs where a test replaces a word.
FAKE = """#!/usr/bin/python3 -IS
import json, os, sys, time
def say(**line): print(json.dumps(line), flush=True)
def ask(): return json.loads(sys.stdin.readline())
count = os.environ["COUNT"]
run = int(open(count).read()) + 1 if os.path.exists(count) else 1
open(count, "w").write(str(run))
A, V = "a" * 64, "b" * 64
say(kernelDriver=1, name="fake", version="1", target="native", kernelVersion="1", artifactFormatVersion=1,
    semanticAbiFingerprint=A, opcodeAbiFingerprint=A, buildProfile="release", os="linux", arch="x",
    initializationNs=None)
n = ask()["iterations"]; time.sleep(0.02)
say(samples="compile", ns=[1000] * (n + 1), digest=A)
say(done="compile", artifactBytes=7)
n = ask()["iterations"]; time.sleep(0.02)
say(samples="decode", ns=[1000] * n)
say(done="decode")
r = ask(); n = r["iterations"]; time.sleep(0.02)
say(samples="firstDispatch", ns=[1000], digest=V)
say(samples="dispatch", worker=0, ns=[1000] * n, digest=V)
say(done="dispatch", batchWallNs=2000 * n, workers=1)
ask()
"""


def kernel(lanes: dict, **asked) -> dict:
    return {"name": "reducer", "measure": "kernel", "lanes": lanes, "kernel": {
        "program": "{suite}/reducer.pk", "input": "{suite}/reducer-input.json", "entry": "reduce", "compiles": 5,
        "dispatches": 40, **asked}}


def make_suite(folder, workload, files=None, **members):
    suite = harness.make_suite(folder, [workload], files or {}, **members)
    for path in EXAMPLE.glob("reducer*"):
        shutil.copy(path, suite)
    return suite


def submit(daemon, tmp_path, policy, suite, **members) -> dict:
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    return daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])


@pytest.fixture
def measured(daemon, tmp_path, policy):
    """The kernel that ships, as a lane and as its control."""
    suite = make_suite(tmp_path / "kernels", kernel({
        "subject": {"command": [str(DRIVER)], "cpus": 1},
        "control": {"command": [str(DRIVER)], "control": True}}, workers=2))
    shown = submit(daemon, tmp_path, policy, suite, repetitions=6, warmups=1)
    assert shown["job"]["state"] == "done", shown["job"]
    return shown["job"]["id"]


def test_each_statistic_of_a_phase_is_a_value_of_its_own(daemon, measured, tmp_path):
    raw, summary = daemon.raw(measured), daemon.summary(measured)
    for o in raw["observations"]:
        assert [v["name"] for v in o["values"]] == NAMES and o["elapsed_ns"] is None
        assert all(v["value"] > 0 for v in o["values"])
        assert [x["name"] for x in o["outputs"]] == ["artifact", "terminal"] and o["outputs"][0]["bytes"] > 0
    assert len({o["outputs"][0]["sha256"] for o in raw["observations"]}) == 1
    workload = summary["workloads"][0]
    assert (workload["unit"], workload["rows"]) == ("ns", [])
    assert [v["name"] for v in workload["value_rows"][0]["values"]] == NAMES
    assert {c["name"] for c in summary["value_comparisons"]} == set(NAMES)
    # Of a short phase all six may have the same whole number of ns.
    for c in [c for c in summary["value_comparisons"] if c["difference"] is None]:
        assert c["estimate"]["pairs"] == 6 and c["estimate"]["interval"]["coverage"] == 0.96875
        assert c["value_verdict"] in ("MORE", "LESS", "UNRESOLVED")
    assert "`estimate`" in summary["rules"]["value_verdict"]
    text = daemon.run("report", measured).stdout
    assert "resolves" in text and "No noise floor is known of values" in " ".join(text.split())
    assert "compile_first" in text and "batch_wall" in text and "OUTPUTS" in text and "artifact" in text
    assert "dispatch_p95" in daemon.run("page", "--reports", measured).stdout
    targets = tmp_path / "targets.json"
    targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
        {"workload": "reducer", "lane": "subject", "reference": "control", "value": "dispatch_p50",
         "max_ratio": 1000, "diagnostic": True}]}))
    assert daemon.json("gate", targets, "--job", measured)["targets"][0]["status"] == "met"


@pytest.mark.parametrize(("change", "words"), [
    (lambda o: o["values"][2].update(value=0), "do not follow from each other"),
    (lambda o: o["values"].pop(), "has not the values"),
    (lambda o: o["outputs"][1].update(sha256="0" * 64), "wrote other bytes than an earlier one"),
])
def test_what_was_changed_does_not_verify(daemon, measured, tmp_path, change, words):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", daemon.evidence(measured), copy], check=True)
    raw = json.loads((copy / "raw.json").read_text())
    change(raw["observations"][-1])
    (copy / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":")) + "\n")
    assert words in daemon.run("verify", copy, check=1).stdout


@pytest.mark.parametrize(("right", "wrong", "code", "words"), [
    ('ns=[1000] * (n + 1), digest=A)', 'ns=[1000] * n, digest=A); say(samples="compile", ns=[1000], digest=V)',
     "lane.artifact_differs", "compile 6"),
    ('ns=[1000] * n, digest=V', 'ns=[1000] * n, digest=V if run < 2 else A', "lane.terminal_differs", "worker 0"),
    ("ns=[1000], digest=V", "ns=[10 ** 12], digest=V", "lane.kernel_failed", "kernel"),
    ("artifactBytes=7)", 'artifactBytes=7); say(done="compile", artifactBytes=7)', "lane.kernel_failed", "kernel"),
    ('say(done="decode")', 'say(done="decode", measurable=False)', "lane.kernel_failed", "kernel"),
    ('V = "a" * 64, "b" * 64', 'V = ("a" if run < 2 else "c") * 64, "b" * 64', "lane.output_differs", "artifact"),
])
def test_a_run_that_is_wrong_makes_the_attempt_void(daemon, tmp_path, policy, right, wrong, code, words):
    assert right in FAKE
    suite = make_suite(tmp_path / "bad", kernel({"lane": {"command": ["{suite}/driver"]}}),
                       {"driver": FAKE.replace(right, wrong)}, env={"COUNT": str(tmp_path / "count")})
    shown = submit(daemon, tmp_path, policy, suite, repetitions=3)
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", code), error
    assert words in error["text"] and "workload reducer, lane lane" in error["text"]
    last = daemon.raw(shown["job"]["id"])["observations"][-1]
    assert "values" not in last and "outputs" not in last


@pytest.mark.parametrize(("change", "field"), [
    ({"kernel": {}}, "workloads[0].kernel.program"),
    ({"kernel": {**kernel({})["kernel"], "program": "/etc/passwd"}}, "workloads[0].kernel.program"),
    ({"kernel": {**kernel({})["kernel"], "input": "{suite}/../x"}}, "workloads[0].kernel.input"),
    ({"kernel": {**kernel({})["kernel"], "entry": "--profile"}}, "workloads[0].kernel.entry"),
    ({"kernel": {**kernel({})["kernel"], "workers": 41}}, "workloads[0].kernel.workers"),
    ({"stdout": ""}, "workloads[0].stdout"),
    ({"declared_wait_ns": 5}, "workloads[0].declared_wait_ns"),
    ({"measure": "process"}, "workloads[0].kernel"),
])
def test_a_suite_that_asks_for_what_is_none_is_refused_by_field(daemon, tmp_path, policy, change, field):
    suite = make_suite(tmp_path / "bad", {**kernel({"lane": {"command": ["true"]}}), **change})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2


def test_the_suite_that_ships_measures_our_kernel_before_and_after(daemon, tmp_path, policy):
    folder = EXAMPLE.parent
    subprocess.run([str(folder / "demo/make-repository.sh"), str(tmp_path / "repo")], check=True,
                   capture_output=True, env={**harness.CLEAN_ENV, "HOME": "/nonexistent"})
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "before", "--after", "after", "--suite",
                      "portable-kernel", "--policy", policy, "--repetitions", 2, "--warmups", 0)["id"]
    shown = daemon.finish(job)
    assert shown["job"]["state"] == "done", shown["job"]
    raw = daemon.raw(job)
    assert {o["workload"] for o in raw["observations"]} == {"reducer", "reducer_workers"}
    # Another optimization of the kernel is the same language: same artifact, same value.
    assert len({tuple(x["sha256"] for x in o["outputs"]) for o in raw["observations"]}) == 1
