"""Cancelling in every state, and a daemon that stops, is killed, and starts again."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import threading

import pytest

import harness
from harness import GATE_LANE, GATE_SH, LANE_SH, protocol

# What a stray process is known by, whoever else runs these tests at the time.
STRAY = f"86397.{os.getpid()}"


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


class Jobs:
    """Suites that a test can hold at a build step or at an observation."""

    def __init__(self, daemon, folder, policy, gate):
        self.daemon, self.folder, self.policy, self.gate, self.count = daemon, folder, policy, gate, 0

    def submit(self, lane=LANE_SH, build=None, repetitions=1, policy=None, **members) -> str:
        self.count += 1
        suite = harness.make_suite(
            self.folder / f"suite{self.count}", [protocol({"lane": {"command": ["{suite}/lane"]}})],
            {"lane": lane, "build": build or "#!/bin/sh\n"}, env=self.gate.env(),
            **({"build": [["{suite}/build"]]} if build else {}))
        job = harness.job_file(self.folder / "job.json", suite={"path": str(suite)},
                               repetitions=repetitions, **members)
        return self.daemon.json("submit", job, "--policy", policy or self.policy)["id"]

    def held_in_build(self, **members) -> str:
        self.gate.shut(1)
        id = self.submit(build=GATE_SH, **members)
        self.gate.await_run(1)
        return id

    def held_in_timing(self, run=2, repetitions=5) -> str:
        """Held inside observation number `run`; those before it are stored."""
        self.gate.shut(run)
        id = self.submit(lane=GATE_LANE, repetitions=repetitions)
        self.gate.await_run(run)
        return id


@pytest.fixture
def jobs(daemon, tmp_path, policy, gate):
    return Jobs(daemon, tmp_path, policy, gate)


def check_database(daemon) -> None:
    """What must hold whatever happened: no attempt of a job that is over is open, references hold."""
    assert daemon.sql("PRAGMA integrity_check")[0][0] == "ok"
    assert daemon.sql("PRAGMA foreign_key_check") == []
    open_attempts = daemon.sql(
        "SELECT a.id, j.state FROM attempts a JOIN jobs j ON j.id = a.job WHERE a.ended_ms IS NULL")
    assert [tuple(r) for r in open_attempts if r["state"] not in ("preparing", "measuring", "verifying")] \
        == []


def check_over(daemon, policy, id: str, state: str, outcome: str | None = None) -> dict:
    """The job is over, its attempt too, nothing of it is left, and the next job runs."""
    shown = daemon.finish(id)
    assert shown["job"]["state"] == state, shown["job"]
    harness.wait_for(lambda: daemon.json("status")["active"] is None, "the attempt's end")
    assert harness.processes_with(str(daemon.state / "work")) == []
    assert list((daemon.state / "work").iterdir()) == []
    if outcome:
        assert daemon.show(id)["attempts"][-1]["outcome"] == outcome
    check_database(daemon)
    harness.check_next_job_runs(daemon, policy)
    return shown


# ---- cancel

def test_a_queued_job_is_cancelled_and_the_one_before_it_goes_on(daemon, jobs, policy):
    first = jobs.held_in_build()
    second = jobs.submit()
    assert daemon.state_of(second) == "queued"
    assert daemon.json("cancel", second)["state"] == "cancelled"
    daemon.run("wait", second, check=5)
    assert daemon.state_of(first) == "preparing"
    jobs.gate.open(1)
    check_over(daemon, policy, first, "done")
    assert daemon.show(second)["attempts"] == []


def test_a_waiting_job_is_cancelled(daemon, jobs, policy, fake_host):
    fake_host.burner()
    id = jobs.submit()
    daemon.until(id, "waiting")
    assert daemon.json("cancel", id)["state"] == "cancelled"
    fake_host.quiet()
    check_over(daemon, policy, id, "cancelled", "refused")


def test_a_waiting_job_that_keeps_its_build_is_cancelled_with_it(daemon, jobs, policy, fake_host):
    id = jobs.held_in_build(retry={"every": "1h"})
    fake_host.burner()
    jobs.gate.open(1)
    daemon.until(id, "waiting")
    assert len(list((daemon.state / "work").iterdir())) == 1
    daemon.json("cancel", id)
    assert list((daemon.state / "work").iterdir()) == []
    fake_host.quiet()
    check_over(daemon, policy, id, "cancelled", "refused")


def test_a_job_is_cancelled_in_the_middle_of_a_build(daemon, jobs, policy):
    id = jobs.held_in_build()
    assert daemon.json("cancel", id)["state"] == "cancelled"
    check_over(daemon, policy, id, "cancelled", "cancelled")
    assert (daemon.show(id)["job"]["error"] or {"code": None})["code"] in (None, "job.cancelled")


def test_a_job_is_cancelled_while_the_host_settles(daemon, jobs, policy, tmp_path):
    slow = tmp_path / "slow.json"
    slow.write_text(json.dumps(harness.quick_policy(settle="1h")))
    id = jobs.submit(policy=slow)
    harness.wait_for(lambda: (daemon.show(id)["job"]["progress"] or {}).get("step") == "settle",
                     "the settling")
    daemon.json("cancel", id)
    check_over(daemon, policy, id, "cancelled", "cancelled")


def test_a_job_is_cancelled_between_observations_and_what_was_observed_stays(daemon, jobs, policy):
    id = jobs.held_in_timing(run=3)
    # The daemon does not listen inside the interval: the cancel is served after it.
    canceller = threading.Thread(target=daemon.json, args=("cancel", id))
    canceller.start()
    jobs.gate.open(3)
    canceller.join()
    check_over(daemon, policy, id, "cancelled", "cancelled")
    observed = daemon.sql("SELECT o.seq FROM observations o JOIN attempts a ON a.id = o.attempt "
                          "WHERE a.job = ?", id)
    assert 3 <= len(observed) <= 5
    assert daemon.show(id)["job"]["report"] is None


@pytest.fixture
def held_in_a_long_lane(daemon, jobs, tmp_path):
    """A job whose only lane never says DONE and has all the time in the world."""
    patient = tmp_path / "patient.json"
    patient.write_text(json.dumps(harness.quick_policy(done_timeout="1h")))
    id = jobs.submit(lane="#!/bin/sh\necho READY tiny\nread go\nexec sleep " + STRAY + "\n",
                     policy=patient)
    # Not by asking the daemon: what follows may come before the lane has begun, or inside of it.
    harness.wait_for(lambda: daemon.sql("SELECT state FROM jobs")[0][0] == "measuring", "the lane")
    return id


@pytest.mark.parametrize("daemon", [["--listen-every", "500ms"]], ids=["listens-often"], indirect=True)
def test_a_job_is_cancelled_inside_a_long_observation(daemon, policy, held_in_a_long_lane):
    """A lane that nobody has timed yet is left every few seconds, for just this."""
    assert daemon.json("cancel", held_in_a_long_lane)["state"] == "cancelled"
    check_over(daemon, policy, held_in_a_long_lane, "cancelled", "cancelled")
    assert harness.processes_with(STRAY) == []


@pytest.mark.parametrize("daemon", [["--listen-every", "500ms"]], ids=["listens-often"], indirect=True)
def test_a_stop_inside_a_long_observation_does_not_wait_for_its_end(daemon, policy, held_in_a_long_lane):
    daemon.stop()
    assert harness.processes_with(STRAY) == []
    daemon.start()
    check_over(daemon, policy, held_in_a_long_lane, "lost", "lost")


def test_a_job_that_is_over_cannot_be_cancelled(daemon, jobs):
    id = jobs.submit()
    daemon.finish(id)
    error = daemon.refused("cancel", id)
    assert (error["code"], error["exit"]) == ("job.bad_state", 1)
    assert daemon.state_of(id) == "done"
    assert daemon.refused("cancel", "01J9Z3ABCDEFGHJKMNPQRSTVWX")["code"] == "job.not_found"


STEPS = ["inventory_before_build", "checkout", "build", "hash", "inventory_before_timing", "measure",
         "inventory_after_timing", "rehash", "seal", "cleanup"]


def test_a_cancel_at_any_step_ends_in_cancelled_with_an_ended_attempt(daemon, jobs, policy):
    """Cancels as soon as a watcher sees the step, over all steps."""
    for step in STEPS:
        wire = daemon.connect()
        id = jobs.submit(build="#!/bin/sh\nsleep 0.1\n", repetitions=3)
        wire.call("job.watch", id=id)
        seen = {"step": None, "final": False}
        while seen["step"] != step and not seen["final"]:
            note = wire.receive()
            seen = note["params"] if note.get("method") == "job.event" else seen
        answer = wire.call("job.cancel", id=id)
        wire.close()
        shown = daemon.finish(id)
        harness.wait_for(lambda: daemon.json("status")["active"] is None, "the attempt's end")
        state = shown["job"]["state"]
        # It may have been faster; then the cancel says so.
        assert state == ("done" if "error" in answer else "cancelled"), (step, shown["job"], answer)
        assert daemon.show(id)["attempts"][-1]["outcome"] in (state, "cancelled")
        check_database(daemon)
    harness.check_next_job_runs(daemon, policy)


# ---- stop

def test_a_stop_in_the_middle_of_a_build_loses_the_attempt_and_the_job_is_tried_again(
        daemon, jobs, policy):
    id = jobs.held_in_build()
    daemon.stop()
    assert harness.processes_with(str(daemon.state)) == []
    rows = daemon.sql("SELECT state FROM jobs")
    assert [r["state"] for r in rows] == ["queued"]
    jobs.gate.open(1)
    daemon.start()
    shown = check_over(daemon, policy, id, "done", "done")
    assert [a["outcome"] for a in shown["attempts"]] == ["lost", "done"]
    assert [h["event"] for h in shown["history"]][:5] == ["submit", "claim", "lose", "requeue", "claim"]


def test_a_job_is_tried_again_only_once(daemon, jobs, policy):
    id = jobs.held_in_build()
    jobs.gate.shut(2)
    daemon.stop()
    daemon.start()
    jobs.gate.await_run(2)
    daemon.stop()
    daemon.start()
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "lost" and shown["job"]["error"]["code"] == "daemon.lost"
    assert [a["outcome"] for a in shown["attempts"]] == ["lost", "lost"]
    daemon.run("wait", id, check=7)
    check_over(daemon, policy, id, "lost")


def test_a_stop_in_the_middle_of_timing_loses_the_job(daemon, jobs, policy):
    id = jobs.held_in_timing()
    process = daemon.process
    process.send_signal(signal.SIGTERM)
    jobs.gate.open(2)
    daemon.stop()
    daemon.start()
    shown = check_over(daemon, policy, id, "lost", "lost")
    assert "timing had begun" in shown["job"]["error"]["text"]
    # The whole repetitions that were seen are kept.
    assert daemon.sql("SELECT count(*) FROM observations o JOIN attempts a ON a.id = o.attempt "
                      "WHERE a.job = ?", id)[0][0] >= 2


def test_a_stop_while_a_job_waits_leaves_it_waiting(daemon, jobs, policy, fake_host):
    fake_host.burner()
    id = jobs.submit(retry={"every": "200ms"})
    daemon.until(id, "waiting")
    daemon.stop()
    daemon.start()
    harness.wait_for(lambda: daemon.show(id)["job"]["refusals"] >= 2, "a refusal by the new daemon")
    fake_host.quiet()
    check_over(daemon, policy, id, "done")


def test_a_stop_while_a_build_is_kept_builds_anew_afterwards(daemon, jobs, policy, fake_host):
    id = jobs.held_in_build(retry={"every": "100ms"})
    fake_host.burner()
    jobs.gate.open(1)
    daemon.until(id, "waiting")
    daemon.stop()
    fake_host.quiet()
    daemon.start()
    shown = check_over(daemon, policy, id, "done", "done")
    assert shown["attempts"][-1]["reused_from"] is None
    assert jobs.gate.runs() == 2


def test_stopping_an_idle_daemon_ends_its_watchers_quietly(daemon, jobs):
    fake = daemon.fake
    fake.burner()
    id = jobs.submit()
    daemon.until(id, "waiting")
    wire = daemon.connect()
    wire.call("job.watch", id=id)
    daemon.stop()
    while wire.receive() is not None:
        pass
    wire.close()


# ---- kill

def check_orphans_end(daemon) -> None:
    harness.wait_for(lambda: harness.processes_with(str(daemon.state)) == [] and
                     harness.processes_with(STRAY) == [], "the orphans' end")


def test_a_kill_in_the_middle_of_a_build_leaves_no_orphan_and_the_job_is_tried_again(
        daemon, jobs, policy):
    jobs.gate.shut(1)
    id = jobs.submit(build=GATE_SH.replace("while", f"setsid sleep {STRAY} &\nwhile", 1))
    jobs.gate.await_run(1)
    daemon.kill()
    check_orphans_end(daemon)
    jobs.gate.open(1)
    daemon.start()
    shown = daemon.finish(id)
    assert [a["outcome"] for a in shown["attempts"]] == ["lost", "done"]
    check_over(daemon, policy, id, "done", "done")


def test_a_kill_in_the_middle_of_timing_leaves_no_orphan_and_a_consistent_database(
        daemon, jobs, policy):
    id = jobs.held_in_timing(run=4)
    daemon.kill()
    check_orphans_end(daemon)
    # Three whole repetitions are on the disk.
    assert daemon.sql("SELECT count(*) FROM observations")[0][0] == 3
    daemon.start()
    shown = check_over(daemon, policy, id, "lost", "lost")
    assert shown["job"]["error"]["code"] == "daemon.lost"
    assert daemon.sql("SELECT count(*) FROM observations o JOIN attempts a ON a.id = o.attempt "
                      "WHERE a.job = ?", id)[0][0] == 3


def kill_the_runner(daemon) -> None:
    children = pathlib.Path(f"/proc/{daemon.process.pid}/task/{daemon.process.pid}/children")
    runners = [int(pid) for pid in children.read_text().split()]
    assert len(runners) == 1
    os.kill(runners[0], signal.SIGKILL)


def test_an_attempt_whose_runner_is_killed_in_a_build_is_lost_and_tried_once_more(daemon, jobs, policy):
    id = jobs.held_in_build()
    kill_the_runner(daemon)
    shown = check_over(daemon, policy, id, "done", "done")
    assert [a["outcome"] for a in shown["attempts"]] == ["lost", "done"]
    assert [h["event"] for h in shown["history"]][:4] == ["submit", "claim", "lose", "requeue"]
    assert "runner" in shown["history"][2]["text"]
    check_orphans_end_but_the_daemon(daemon)


def test_a_job_whose_runner_is_killed_while_it_times_is_lost_and_says_so(daemon, jobs, policy):
    id = jobs.held_in_timing()
    kill_the_runner(daemon)
    shown = check_over(daemon, policy, id, "lost", "lost")
    assert shown["job"]["error"]["code"] == "runner.lost"
    assert "timing had begun" in shown["job"]["error"]["text"]
    check_orphans_end_but_the_daemon(daemon)


def check_orphans_end_but_the_daemon(daemon) -> None:
    harness.wait_for(lambda: harness.processes_with(str(daemon.state / "work")) == [], "the orphans' end")


def test_reports_of_before_are_read_after_a_kill(daemon, jobs, compare, policy):
    id = compare("--repetitions", "1", "--warmups", "0")
    daemon.finish(id)
    before = daemon.run("report", id).stdout, daemon.run("log", id).stdout, daemon.json("show", id)
    daemon.kill()
    daemon.start()
    assert (daemon.run("report", id).stdout, daemon.run("log", id).stdout, daemon.json("show", id)) == before
    assert [j["id"] for j in daemon.json("list")["jobs"]] == [id]
    harness.check_next_job_runs(daemon, policy)


def test_what_a_killed_daemon_left_half_sealed_is_swept(daemon, policy):
    daemon.json("status")  # it has begun to serve, and swept before that
    daemon.kill()
    half = daemon.state / "evidence/.partial-01J9Z3ABCDEFGHJKMNPQRSTVWX"
    half.mkdir()
    (half / "raw.json").write_text("{")
    (daemon.state / "work/01J9Z3ABCDEFGHJKMNPQRSTVWX").mkdir()
    daemon.start().json("status")
    assert not half.exists() and list((daemon.state / "work").iterdir()) == []
    harness.check_next_job_runs(daemon, policy)


# ---- who owns the state and the socket

def second(daemon, *args) -> subprocess.CompletedProcess:
    return subprocess.run([str(harness.DAEMON), "--fake-host", str(daemon.fake.folder), *map(str, args)],
                          env={**harness.CLEAN_ENV, "HOME": str(daemon.folder)}, text=True,
                          capture_output=True, timeout=harness.PATIENCE_S)


def test_a_second_daemon_on_the_same_state_is_refused(daemon, policy):
    done = second(daemon, "--state", daemon.state, "--socket", daemon.short / "other")
    assert done.returncode == 1
    assert f"another aurabenchd uses {daemon.state}" in done.stderr
    assert not (daemon.short / "other").exists()
    harness.check_next_job_runs(daemon, policy)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_a_state_folder_that_others_may_write_is_refused(daemon, tmp_path, mode):
    state = tmp_path / "open"
    state.mkdir()
    state.chmod(mode)
    done = second(daemon, "--state", state, "--socket", daemon.short / "second")
    assert done.returncode == 1 and "may be written by others" in done.stderr
    assert list(state.iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_a_state_folder_of_somebody_else_is_refused(daemon, tmp_path):
    state = tmp_path / "theirs"
    state.mkdir(0o755)
    os.chown(state, 12345, 12345)
    done = second(daemon, "--state", state, "--socket", daemon.short / "second")
    assert done.returncode == 1 and "belongs to user 12345" in done.stderr
    assert list(state.iterdir()) == []


def test_a_second_daemon_on_the_same_socket_is_refused(daemon, tmp_path, policy):
    done = second(daemon, "--state", tmp_path / "state2", "--socket", daemon.socket)
    assert done.returncode == 1
    assert f"another daemon answers on {daemon.socket}" in done.stderr
    harness.check_next_job_runs(daemon, policy)


def test_a_stale_socket_is_replaced(daemon, policy):
    daemon.kill()
    assert daemon.socket.is_socket()
    daemon.start()
    harness.check_next_job_runs(daemon, policy)


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_no_socket_is_never_replaced(daemon, tmp_path, kind):
    path = daemon.short / "not-a-socket"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(daemon.socket)
    else:
        path.write_text("precious")
    done = second(daemon, "--state", tmp_path / "state2", "--socket", path)
    assert done.returncode == 1 and "is no socket" in done.stderr
    assert path.is_symlink() if kind == "link" else path.exists()
    assert daemon.answers()


def test_a_socket_that_somebody_put_in_our_place_is_not_removed(daemon):
    daemon.socket.unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(daemon.socket))
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(harness.PATIENCE_S) == 0
        assert daemon.socket.is_socket()
    daemon.socket.unlink()


def test_a_socket_path_that_is_too_long_is_refused(daemon, tmp_path):
    done = second(daemon, "--state", tmp_path / "state2", "--socket", "/tmp/" + "x" * 100)
    assert done.returncode == 1 and "at most 103" in done.stderr


def test_jobs_are_kept_in_order_over_a_restart(daemon, jobs, policy):
    first = jobs.held_in_build()
    rest = [jobs.submit(priority=p) for p in (0, 5, 0)]
    daemon.stop()
    jobs.gate.open(1)
    daemon.start()
    for id in [first, *rest]:
        assert daemon.finish(id)["job"]["state"] == "done"
    order = [r["job"] for r in daemon.sql("SELECT job FROM attempts WHERE outcome = 'done' ORDER BY started_ms")]
    assert order == [rest[1], first, rest[0], rest[2]]


# ---- a store that cannot take the end of an attempt


@contextlib.contextmanager
def locked_store(daemon):
    """Keeps the database locked for writing, as a disk that is full would."""
    db = sqlite3.connect(daemon.state / "aurabench.db", isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        db.rollback()
        db.close()


def await_log(daemon, text: str) -> None:
    harness.wait_for(lambda: text in daemon.log.read_text(), f"{text!r} in the log")


NOT_STORED = "storing how an attempt ended"


def test_an_end_that_the_store_could_not_take_is_stored_when_it_can(daemon, jobs, policy):
    id = jobs.held_in_build()
    with locked_store(daemon):
        jobs.gate.open(1)
        await_log(daemon, NOT_STORED)
        harness.wait_for(lambda: "ended waits for it" in (daemon.json("status")["blocked"] or ""), "what it waits for")
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "failed" and shown["job"]["error"]["code"] == "store.busy"
    assert [a["outcome"] for a in shown["attempts"]] == ["failed"]
    harness.check_next_job_runs(daemon, policy)


def test_a_daemon_stops_although_the_store_cannot_take_the_end(daemon, jobs):
    id = jobs.held_in_build()
    with locked_store(daemon):
        jobs.gate.open(1)
        await_log(daemon, NOT_STORED)
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(harness.PATIENCE_S) == 0
    daemon.start()
    assert daemon.finish(id)["job"]["state"] == "done"
