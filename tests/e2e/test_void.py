"""What makes an attempt void: anything that changed while it was measured. Its evidence is sealed
with the cause and the grade void, it has no figures, and the next job runs."""

import json
import subprocess

import pytest

import harness

# Answers as it should, and on the way does what $DO says.
CULPRIT = """#!/usr/bin/python3 -IS
import os, sys
exec(os.environ["DO"])
print("READY tiny", flush=True)
sys.stdin.readline()
print("DONE tiny 42", flush=True)
sys.stdin.read()
"""
APPEND = 'open(sys.argv[1], "a").write("# changed\\n")'


def check_void(daemon, job: str, code: str) -> dict:
    """The job failed with code and its attempt is void in show, database, evidence, report."""
    shown = daemon.finish(job)
    assert (shown["job"]["state"], shown["job"]["error"]["code"]) == ("failed", code)
    assert [a["outcome"] for a in shown["attempts"]] == ["void"]
    report = shown["job"]["report"]
    assert report["grade"] == "void" and report["summary_sha256"] is None
    assert report["line"].startswith(f"void ({code}), policy quick")
    evidence = daemon.evidence(job)
    assert not (evidence / "summary.json").exists()
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=evidence).returncode == 0
    raw = daemon.raw(job)
    assert raw["void_code"] == code and raw["void_text"] == shown["job"]["error"]["text"]
    assert daemon.refused("report", job, "--format", "json")["code"] == "report.void"
    text = daemon.run("report", job).stdout
    assert f"void ({code})" in text and "FASTER" not in text and "SLOWER" not in text
    assert daemon.run("wait", job, check=1).returncode == 1
    return raw


@pytest.mark.parametrize(
    ("what", "target", "failed"),
    [
        ("source before", "{source}/culprit", "sources_frozen"),
        ("suite suite", "{suite}/data", "inputs_unchanged"),
        ("artifact before:product", "{build}/product", "binaries_unchanged"),
        ("tool", "TOOL", "inputs_unchanged"),
    ],
)
def test_what_changes_during_timing_makes_the_attempt_void(daemon, tmp_path, what, target, failed):
    repo, tools = tmp_path / "changing", tmp_path / "tools"
    harness.make_repo(repo, {"one": {"culprit": CULPRIT}, "two": {"other": ""}})
    tools.mkdir()
    (tools / "cp-of-ours").write_text('#!/bin/sh\nexec cp "$@"\n')
    (tools / "cp-of-ours").chmod(0o755)
    policy = tmp_path / "quick.json"
    policy.write_text(json.dumps(harness.quick_policy(path=f"{tools}:/usr/bin:/bin")))
    suite = harness.make_suite(
        tmp_path / "changing-suite",
        [harness.protocol({"subject": {"command": [
            "{source}/culprit", target.replace("TOOL", str(tools / "cp-of-ours"))]}})],
        {"data": "x\n"}, build=[["cp-of-ours", "{suite}/data", "{build}/product"]],
        env={"DO": APPEND})
    job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                      "--policy", policy, "--repetitions", "1", "--warmups", "0")["id"]
    raw = check_void(daemon, job, "attempt.hash_changed")
    error = daemon.show(job)["job"]["error"]["text"]
    assert error.startswith(what) and "changed while it was measured" in error
    # The observations are kept as they were seen.
    assert [o["outcome"] for o in raw["observations"]] == ["ok", "ok"]
    changed = [r for r in raw["rechecks"] if r["sha256"] != r["again"]]
    assert changed and f"{changed[0]['kind']} {changed[0]['name']}".startswith(what)
    markdown = (daemon.evidence(job) / "report.md").read_text()
    assert any(failed in line and "FAIL" in line for line in markdown.splitlines())
    harness.check_next_job_runs(daemon, policy)


def test_a_product_that_vanishes_during_timing_makes_the_attempt_void(daemon, tmp_path, policy):
    suite = harness.make_suite(
        tmp_path / "vanishing",
        [harness.protocol({"lane": {"command": ["{suite}/culprit", "{build}/product"]}})],
        {"culprit": CULPRIT}, suite_build=[["cp", "/etc/hostname", "{build}/product"]],
        env={"DO": "os.path.exists(sys.argv[1]) and os.unlink(sys.argv[1])"})
    job = daemon.json("submit", harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}),
                      "--policy", policy)["id"]
    raw = check_void(daemon, job, "attempt.hash_changed")
    assert [r["again"] for r in raw["rechecks"] if r["kind"] == "artifact"] == [None]
    harness.check_next_job_runs(daemon, policy)


def test_a_boot_that_changes_under_way_makes_the_attempt_void(daemon, tmp_path, policy, fake_host):
    other = "00000000-0000-4000-8000-00000000beef"
    suite = harness.make_suite(
        tmp_path / "rebooting", [harness.protocol({"lane": {"command": ["{suite}/culprit"]}})],
        {"culprit": CULPRIT},
        env={"DO": f"open('{fake_host.folder}/identity', 'w').write('boot_id {other}')"})
    job = daemon.json("submit", harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}),
                      "--policy", policy)["id"]
    raw = check_void(daemon, job, "attempt.boot_changed")
    assert raw["boot"]["id"] != raw["boot_id_after"] == other
    # The next attempt belongs to the new boot.
    harness.check_next_job_runs(daemon, policy)
    assert [r["boot"] for r in daemon.sql("SELECT boot FROM attempts ORDER BY started_ms")] == \
        [raw["boot"]["id"], other]


def test_a_machine_that_slept_under_way_makes_the_attempt_void(daemon, tmp_path, policy, fake_host):
    """Neither is what happened beside it known, nor what the clocks counted."""
    fake_host.write("identity", "suspend_ms 5000\n")
    suite = harness.make_suite(
        tmp_path / "sleeping", [harness.protocol({"lane": {"command": ["{suite}/culprit"]}})],
        {"culprit": CULPRIT},
        env={"DO": f"open('{fake_host.folder}/identity', 'w').write('suspend_ms 65000')"})
    job = daemon.json("submit", harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}),
                      "--policy", policy)["id"]
    raw = check_void(daemon, job, "attempt.suspended")
    assert (raw["suspend_before_ms"], raw["suspend_after_ms"]) == (5000, 65000)
    assert "slept for 60000 ms" in raw["void_text"]
    # What slept before an attempt is no fault of it.
    harness.check_next_job_runs(daemon, policy)


def test_a_wrong_answer_keeps_the_right_ones_that_came_before_it(daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(
        tmp_path / "turning", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
        {"lane": harness.GATE_SH + 'echo "READY tiny"\nread go\ntest $n -lt 3 && echo "DONE tiny 42" || '
                                   'echo "DONE tiny 41"\ncat >/dev/null\n'},
        env=gate.env())
    job = daemon.json("submit", harness.job_file(tmp_path / "job.json", suite={"path": str(suite)},
                                                 repetitions=5), "--policy", policy)["id"]
    raw = check_void(daemon, job, "lane.done_wrong")
    assert [o["outcome"] for o in raw["observations"]] == ["ok", "ok", "lane.done_wrong"]
    assert [o["elapsed_ns"] is None for o in raw["observations"]] == [False, False, True]
    assert raw["inventories"]["after_timing"] is None
    harness.check_next_job_runs(daemon, policy)
