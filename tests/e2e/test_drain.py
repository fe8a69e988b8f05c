"""Drain: what runs goes to its end, nothing else is begun, over restarts, until it is ended."""

import time

import pytest

import harness
from harness import GATE_SH, LANE_SH, begin_connected, end, protocol


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


@pytest.fixture
def submit(daemon, tmp_path, policy, gate):
    def one(build="#!/bin/sh\n", **members) -> str:
        one.count += 1
        suite = harness.make_suite(
            tmp_path / f"suite{one.count}", [protocol({"lane": {"command": ["{suite}/lane"]}})],
            {"lane": LANE_SH, "build": build}, env=gate.env(), build=[["{suite}/build"]])
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
        return daemon.json("submit", job, "--policy", policy)["id"]

    one.count = 0
    return one


@pytest.fixture
def running(submit, gate):
    gate.shut(1)
    id = submit(GATE_SH)
    gate.await_run(1)
    return id


def test_the_running_attempt_ends_and_no_other_begins(daemon, running, submit, gate):
    second = submit()
    answer = daemon.json("drain")
    assert (answer["job"], answer["idle"]) == (running, False) and answer["drained_ms"]
    assert "nothing is begun until" in daemon.run("status").stdout
    waiting = begin_connected(daemon, "drain", "--wait")
    watching = begin_connected(daemon, "watch", second)
    gate.open(1)
    status, out = end(waiting)
    assert status == 0 and out.startswith("drained: nothing runs")
    assert daemon.state_of(running) == "done" and daemon.state_of(second) == "queued"
    third = submit()  # taken all the same
    assert daemon.state_of(third) == "queued"
    assert daemon.json("drain", "--off")["drained_ms"] is None
    daemon.finish(second)
    daemon.finish(third)
    status, out = end(watching)
    assert status == 0 and "drained: nothing is begun until" in out


def test_who_watches_is_told_when_it_begins_and_when_it_ends(daemon, fake_host, submit):
    fake_host.burner()
    id = submit(retry={"every": "1h"})
    daemon.until(id, "waiting")
    wire = daemon.connect()
    wire.call("job.watch", id=id)
    daemon.run("drain")
    assert "drained" in wire.receive()["params"]["text"]
    daemon.run("drain", "--off")
    assert wire.receive()["params"]["text"] == "the queue goes on"
    wire.close()
    daemon.run("cancel", id)


@pytest.mark.parametrize("kill", [False, True])
def test_a_restart_changes_nothing(daemon, submit, kill):
    daemon.run("drain")
    id = submit()
    since = daemon.json("status")["state"]["drained_ms"]
    daemon.kill() if kill else daemon.stop()
    daemon.start()
    assert daemon.json("status")["state"]["drained_ms"] == since
    assert daemon.json("drain", "--wait")["idle"] and daemon.state_of(id) == "queued"
    daemon.run("drain", "--off")
    daemon.finish(id)


def test_waiting_goes_on_over_a_restart(daemon, running, gate):
    waiting = begin_connected(daemon, "drain", "--wait")
    daemon.stop()
    gate.open(1)
    daemon.start()
    assert end(waiting)[0] == 0
    assert daemon.state_of(running) == "queued"  # lost before timing, and tried again once it may
    daemon.run("drain", "--off")
    daemon.finish(running)


def test_waiting_has_a_limit_and_ends_when_the_drain_does(daemon, running, gate):
    assert daemon.refused("drain", "--wait", "--timeout", "200ms")["exit"] == 124
    waiting = begin_connected(daemon, "drain", "--wait")
    daemon.run("drain", "--off")
    out, err = waiting.communicate(timeout=harness.PATIENCE_S)
    assert waiting.returncode == 1 and "somebody ended the drain" in err
    daemon.run("drain", "--off", "--wait", check=2)
    gate.open(1)
    daemon.finish(running)


def test_deadlines_pass_and_cancels_are_heard_all_the_same(daemon, submit, fake_host):
    daemon.run("drain")
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
    late, other = submit(deadline=soon), submit()
    fake_host.write("identity", "wall_offset_ms 3700000\n")
    daemon.until(late, "expired")
    daemon.run("cancel", other)
    daemon.run("drain", "--off")
