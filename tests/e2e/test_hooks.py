"""Programs that are told of ends: with what, when, how often, and what is left of them."""

import json
import os
import pathlib
import signal
import subprocess
import time

import jsonschema
import pytest

import harness
from harness import GATE_SH, LANE_SH, protocol

SCHEMA = json.loads((harness.ROOT / "proto/schema/notification.json").read_text())
# Writes down what it is told and how it is called, then what follows.
TELL = """#!/bin/sh
{{ cat; env | sort | tr '\\n' ' '; ls /proc/self/fd | tr '\\n' ' '; echo "$@"; }} >>{told}
{then}
"""


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


@pytest.fixture
def program(tmp_path):
    def one(name="tell", then="") -> str:
        path = tmp_path / name
        path.write_text(TELL.format(told=tmp_path / f"{name}.told", then=then))
        path.chmod(0o755)
        return str(path)

    return one


@pytest.fixture
def submit(daemon, tmp_path, policy, gate):
    def one(*args, build="#!/bin/sh\n", **members) -> str:
        one.count += 1
        suite = harness.make_suite(tmp_path / f"suite{one.count}",
                                   [protocol({"lane": {"command": ["{suite}/lane"]}})], {"lane": LANE_SH, "build": build},
                                   env=gate.env(), build=[["{suite}/build"]])
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
        return daemon.json("submit", job, "--policy", policy, *args)["id"]

    one.count = 0
    return one


def told(tmp_path, name="tell") -> list[dict]:
    path = tmp_path / f"{name}.told"
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def hooks(daemon, job) -> list[dict]:
    return daemon.show(job)["hooks"]


def settled(daemon, job, n=1) -> list[dict]:
    return harness.wait_for(lambda: [h for h in hooks(daemon, job) if h["state"] != "owed"][n - 1:] and
                            hooks(daemon, job), "the hooks")


def test_a_job_tells_its_own_program_with_a_document_and_nothing_else(daemon, submit, program, tmp_path):
    id = submit(notify=[{"command": [program(), "one", "two words"]}])
    daemon.finish(id)
    hook, = settled(daemon, id)
    assert (hook["state"], hook["tries"], hook["last"]["outcome"]) == ("delivered", 1, "ok")
    document, = told(tmp_path)
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["id"] == hook["id"] and document["event"] == "job_ended"
    report = daemon.show(id)["job"]["report"]
    assert (document["job"]["id"], document["job"]["state"]) == (id, "done")
    assert document["job"]["report"] == report
    rest = (tmp_path / "tell.told").read_text().splitlines()[1]
    assert rest.endswith("one two words")
    names = {word.split("=")[0] for word in rest.split() if "=" in word}
    assert names <= {"PATH", "HOME", "LANG", "TZ", "PWD", "OLDPWD", "SHLVL", "_"}, names
    # 3 is the folder that ls reads
    assert " 0 1 2 3 one" in rest
    assert "notify" not in daemon.raw(id)["job"], "whom a job tells is not for those who read its report"


def test_a_flag_names_programs_too_and_the_end_decides_who_is_told(daemon, submit, program, tmp_path):
    id = submit("--notify", json.dumps([program("a"), "x"]), "--notify", program("b"),
                notify=[{"command": [program("c")], "on": ["failed", "cancelled"]}])
    daemon.finish(id)
    harness.wait_for(lambda: len(told(tmp_path, "a")) == len(told(tmp_path, "b")) == 1, "both")
    settled(daemon, id, 2)
    assert told(tmp_path, "c") == []
    error = daemon.refused("compare", "--before", "x", "--suite", "y", "--notify", "a/b")
    assert (error["code"], error["exit"], error["field"]) == ("usage", 2, "--notify")


def test_the_host_tells_of_every_end_and_of_an_empty_queue(tmp_path, fake_host, policy, program):
    d = harness.Daemon(tmp_path, fake_host, args=["--notify-job", json.dumps([program("all"), "x"]),
                                                  "--notify-empty", program("empty")]).start()
    try:
        fake_host.burner()
        suite = harness.make_suite(tmp_path / "s", [protocol({"lane": {"command": ["{suite}/lane"]}})],
                                   {"lane": LANE_SH})
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
        ids = [d.json("submit", job, "--policy", policy)["id"] for _ in range(2)]
        d.json("cancel", ids[1])
        harness.wait_for(lambda: len(told(tmp_path, "all")) == 1, "the first end")
        d.json("cancel", ids[0])
        harness.wait_for(lambda: len(told(tmp_path, "all")) == 2 and told(tmp_path, "empty"), "the last end")
        for document in told(tmp_path, "all") + told(tmp_path, "empty"):
            jsonschema.Draft202012Validator(SCHEMA).validate(document)
        assert [t["job"]["id"] for t in told(tmp_path, "all")] == [ids[1], ids[0]]
        assert [(t["event"], t["job"]["id"]) for t in told(tmp_path, "empty")] == [("queue_empty", ids[0])]
    finally:
        d.close()


def test_what_fails_is_tried_again_later_with_the_same_document_and_given_up_at_last(
        daemon, submit, program, tmp_path, fake_host):
    ahead_ms = 0
    id = submit(notify=[{"command": [program(then="echo a bad day; exit 3")]}])
    daemon.finish(id)
    for tries, wait_s in enumerate([10, 60, 600, 3600], 1):
        harness.wait_for(lambda: hooks(daemon, id)[0]["tries"] == tries and hooks(daemon, id)[0]["last"]["ended_ms"],
                         f"try {tries}")
        hook = hooks(daemon, id)[0]
        assert (hook["state"], hook["last"]["exit_status"]) == ("owed", 3)
        assert hook["next_try_ms"] - hook["last"]["ended_ms"] == wait_s * 1000
        ahead_ms += wait_s * 1000
        fake_host.write("identity", f"wall_offset_ms {ahead_ms}\n")
    hook, = settled(daemon, id)
    assert (hook["state"], hook["tries"], hook["next_try_ms"]) == ("given_up", 5, None)
    assert "a bad day" in hook["last"]["output"]
    assert len({json.dumps(t) for t in told(tmp_path)}) == 1 and len(told(tmp_path)) == 5
    assert "given up after 5 tries" in daemon.run("show", id).stdout


def test_a_hook_that_hangs_is_ended_with_all_it_started(daemon, submit, program, tmp_path):
    stray = f"86398.{os.getpid()}"
    id = submit(notify=[{"command": [program(then=f"trap '' TERM; setsid sleep {stray} & sleep {stray}")],
                         "timeout": "1s"}])
    daemon.finish(id)
    harness.wait_for(lambda: (hooks(daemon, id)[0]["last"] or {}).get("ended_ms"), "the timeout")
    assert hooks(daemon, id)[0]["last"]["outcome"] == "exec.timeout"
    assert harness.processes_with(stray) == []
    assert list((daemon.state / "work").iterdir()) == []


@pytest.mark.parametrize("command, why", [
    ("/nonexistent/program", "No such file or directory"), ("no-such-program", "there is none in /usr/local/bin:"),
    ("/etc/passwd", "may not execute it"), ("/etc", "is no file"), ("/etc/passwd/x", "Not a directory")])
def test_a_program_that_could_not_be_started_is_refused_when_it_is_named(daemon, tmp_path, policy, program, command, why):
    suite = harness.make_suite(tmp_path / "s", [protocol({"lane": {"command": ["{suite}/lane"]}})], {"lane": LANE_SH})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)},
                           notify=[{"command": [program()]}, {"command": ["true"]}, {"command": [command, "x"]}])
    error = daemon.refused("submit", job, "--policy", policy)
    assert (error["code"], error["field"]) == ("job.bad", "notify[2].command[0]")
    assert error["message"].startswith(f"{command} cannot be told of ends: ") and why in error["message"]
    assert daemon.json("list")["jobs"] == []
    for option in ("--notify-job", "--notify-empty"):
        done = subprocess.run([harness.DAEMON, "--state", tmp_path / "other", "--socket", tmp_path / "other.sock",
                               option, json.dumps([command, "x"])], env=harness.CLEAN_ENV, capture_output=True, text=True)
        assert done.returncode == 1 and f"{command} cannot be told of ends: " in done.stderr, done.stderr


def test_a_job_that_is_here_is_sent_again_whatever_became_of_its_program(daemon, submit, program, policy):
    id = submit(notify=[{"command": [program()]}])
    daemon.finish(id)
    document = json.loads(daemon.sql("SELECT document FROM jobs")[0][0])
    os.unlink(daemon.folder / "tell")
    wire = daemon.connect()
    answer = wire.call("job.submit", job=document, policy=json.loads(policy.read_text()))
    wire.close()
    assert answer["result"]["duplicate"]


def test_a_program_that_is_gone_when_there_is_an_end_to_tell_is_said(daemon, submit, program, gate):
    gate.shut(1)
    id = submit(build=GATE_SH, notify=[{"command": [program()]}])
    gate.await_run(1)
    os.unlink(daemon.folder / "tell")
    gate.open(1)
    daemon.finish(id)
    harness.wait_for(lambda: (hooks(daemon, id)[0]["last"] or {}).get("ended_ms"), "the try")
    last = hooks(daemon, id)[0]["last"]
    assert last["outcome"] == "exec.failed" and "could not be started" in last["output"]


def test_no_hook_runs_while_an_attempt_does(daemon, submit, gate, program, tmp_path):
    gate.shut(1)
    first = submit(build=GATE_SH)
    gate.await_run(1)
    second = submit(notify=[{"command": [program()]}])
    daemon.json("cancel", second)
    assert hooks(daemon, second)[0]["tries"] == 0
    assert told(tmp_path) == []
    gate.open(1)
    daemon.finish(first)
    settled(daemon, second)
    started = daemon.sql("SELECT min(started_ms) FROM hook_tries")[0][0]
    assert started >= daemon.show(first)["attempts"][-1]["ended_ms"]


def test_hooks_that_hang_let_the_next_job_pass_after_one_pause(daemon, submit, gate, program):
    gate.shut(1)
    first = submit(build=GATE_SH)
    gate.await_run(1)
    hanging = [submit(notify=[{"command": [program(f"h{i}", then="exec sleep 1000")], "timeout": "1s"}])
               for i in range(5)]
    last = submit()
    gate.open(1)
    for id in hanging:
        daemon.json("cancel", id)
    daemon.finish(first)
    daemon.finish(last)
    begun = daemon.show(last)["attempts"][-1]["started_ms"]
    after = daemon.sql("SELECT count(*) FROM hooks")[0][0] - daemon.sql(
        "SELECT count(DISTINCT hook) FROM hook_tries WHERE started_ms < ?", begun)[0][0]
    assert after >= 1, "all were told before the next job began"


def test_a_daemon_that_is_killed_under_a_hook_tells_it_again_with_the_same_id(daemon, submit, gate, program,
                                                                              tmp_path):
    gate.shut(1)
    path = tmp_path / "tell"
    path.write_text(GATE_SH.replace("#!/bin/sh\n", f"#!/bin/sh\ncat >>{tmp_path}/tell.told\n"
                                                   f"echo >>{tmp_path}/tell.told\nGATE={gate.folder}\n"))
    path.chmod(0o755)
    id = submit(notify=[{"command": [str(path)]}])
    gate.await_run(1)
    daemon.kill()
    gate.open(1)
    daemon.start()
    hook, = settled(daemon, id)
    assert (hook["state"], hook["tries"]) == ("delivered", 2)
    assert [t["id"] for t in told(tmp_path)] == [hook["id"]] * 2


def test_a_daemon_that_is_stopped_under_a_hook_ends_it_and_tells_it_again(daemon, submit, gate, tmp_path):
    gate.shut(1)
    path = tmp_path / "tell"
    path.write_text(GATE_SH.replace("#!/bin/sh\n", f"#!/bin/sh\nGATE={gate.folder}\n"))
    path.chmod(0o755)
    id = submit(notify=[{"command": [str(path)]}])
    gate.await_run(1)
    daemon.stop()
    assert harness.processes_with(str(tmp_path / "tell")) == []
    gate.open(1)
    daemon.start()
    assert [h["state"] for h in settled(daemon, id)] == ["delivered"]


POINTS = ["attempt.stored", "hook.counted", "hook.begun", "hook.ended", "hook.stored"]


@pytest.mark.skipif(b"AURABENCH_FAULT" not in harness.DAEMON.read_bytes(), reason="a build without fault points")
@pytest.mark.parametrize("point", POINTS)
def test_an_end_is_told_wherever_the_daemon_dies(tmp_path, fake_host, policy, program, point):
    d = harness.Daemon(tmp_path, fake_host)
    spec = tmp_path / "fault"
    spec.write_text(f"{point}=kill")
    d.env = {"AURABENCH_FAULT": f"@{spec}"}
    d.start()
    try:
        suite = harness.make_suite(tmp_path / "s", [protocol({"lane": {"command": ["{suite}/lane"]}})],
                                   {"lane": LANE_SH})
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)},
                               notify=[{"command": [program()]}])
        id = d.json("submit", job, "--policy", policy)["id"]
        assert d.process.wait(harness.PATIENCE_S) == -9
        d.process = None
        d.start()
        assert [h["state"] for h in settled(d, id)] == ["delivered"]
        assert len({t["id"] for t in told(tmp_path)}) == 1
    finally:
        d.close()


def children(pid: int) -> list[int]:
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def stopped_runner(daemon) -> int | None:
    """The one that works, below the one that guards it."""
    for guard in children(daemon.process.pid):
        for pid in children(guard):
            if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                return pid
    return None


@pytest.mark.skipif(b"AURABENCH_FAULT" not in harness.DAEMON.read_bytes(), reason="a build without fault points")
def test_a_runner_that_does_not_end_after_a_hook_keeps_nobody_waiting_for_an_answer(tmp_path, fake_host, policy, program):
    """And nothing else is begun before it is gone."""
    d = harness.Daemon(tmp_path, fake_host)
    spec = tmp_path / "fault"
    d.env = {"AURABENCH_FAULT": f"@{spec}"}
    d.start()
    try:
        suite = harness.make_suite(tmp_path / "s", [protocol({"lane": {"command": ["{suite}/lane"]}})],
                                   {"lane": LANE_SH})
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, notify=[{"command": [program()]}])
        id = d.json("submit", job, "--policy", policy, "--hold")["id"]
        spec.write_text("in_runner.replied=stop@2")  # not its hello, its answer
        d.json("cancel", id)
        runner = harness.wait_for(lambda: stopped_runner(d), "a runner that stands still")
        spec.unlink()
        after = d.json("submit", harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}), "--policy", policy)["id"]
        for _ in range(5):
            assert d.json("status")["state"]["hook"] and d.state_of(after) == "queued"
            time.sleep(0.1)
        assert stopped_runner(d) == runner, "nobody was answered before it was gone"
        os.kill(runner, signal.SIGCONT)
        assert d.finish(after)["job"]["state"] == "done"
        assert [h["state"] for h in settled(d, id)] == ["delivered"]
    finally:
        d.close()


@pytest.mark.parametrize("text", ["a/b", "[]", "[\"x\", \"|\"]", "[1]"])
def test_a_daemon_refuses_a_hook_that_cannot_be_one(tmp_path, text):
    done = subprocess.run([str(harness.DAEMON), "--state", str(tmp_path / "s"), "--socket", str(tmp_path / "k"),
                           "--notify-job", text], capture_output=True, text=True, env=harness.CLEAN_ENV)
    assert done.returncode == 1 and done.stderr.splitlines()[-1].startswith("aurabenchd: --notify-job takes ")
