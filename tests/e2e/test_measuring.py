"""A daemon inside a timed interval: clients wait, are told so, and never meet an error."""

import json
import os
import pty
import re
import subprocess
import time

import pytest

import harness
from harness import GATE_SH, protocol

# The gate stands between GO and DONE: whoever is held there is being timed.
HELD_LANE = """#!/bin/sh
echo "READY tiny"
read go
""" + GATE_SH.removeprefix("#!/bin/sh\n") + """echo "DONE tiny 42"
cat >/dev/null
"""


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


@pytest.fixture
def start(tmp_path, fake_host):
    """Starts the daemon with a period of its own."""
    daemons = []

    def with_period(period: str) -> harness.Daemon:
        daemons.append(harness.Daemon(tmp_path, fake_host, args=["--listen-every", period]).start())
        return daemons[0]

    yield with_period
    for daemon in daemons:
        daemon.close()


def submit(daemon, tmp_path, policy, gate, **members) -> str:
    suite = harness.make_suite(tmp_path / "suite", [protocol({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": HELD_LANE}, env=gate.env())
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    return daemon.json("submit", job, "--policy", policy)["id"]


def held(daemon, tmp_path, policy, gate, run, **members) -> str:
    """A job whose observation number `run` has begun and does not end before the gate opens."""
    gate.shut(run)
    id = submit(daemon, tmp_path, policy, gate, **members)
    gate.await_run(run)
    return id


LISTENED = re.compile(r"clients were listened to (\d+) times inside timed intervals, which took (\d+) us")


def test_a_lane_that_nobody_has_timed_yet_lets_clients_be_answered(start, tmp_path, policy, gate):
    daemon = start("50ms")
    id = held(daemon, tmp_path, policy, gate, run=1)
    assert daemon.json("status")["active"]["state"] == "measuring"
    assert daemon.json("list")["jobs"][0]["state"] == "measuring"
    gate.open(1)
    daemon.finish(id)


def test_a_long_lane_lets_clients_be_answered_again_and_again_and_the_log_counts_it(start, tmp_path, policy,
                                                                                   gate):
    daemon = start("50ms")
    # The warmup is held until it is known to be long.
    id = held(daemon, tmp_path, policy, gate, run=1, warmups=1, repetitions=1)
    for _ in range(3):
        daemon.json("status")
    gate.shut(2)
    gate.open(1)
    gate.await_run(2)
    for _ in range(3):
        assert daemon.json("status")["active"]["done"] == 1
    gate.open(2)
    daemon.finish(id)
    turns, used_us = map(int, LISTENED.search(daemon.log_of(id)).groups())
    # At least one turn for each of the clients, and none was free.
    assert turns >= 6 and used_us > 0


def test_a_short_lane_that_hangs_does_not_keep_clients_for_ever(start, tmp_path, policy, gate):
    daemon = start("1s")
    id = held(daemon, tmp_path, policy, gate, run=2, warmups=1)
    assert daemon.json("status")["active"]["done"] == 1
    gate.open(2)
    daemon.finish(id)
    assert LISTENED.search(daemon.log_of(id))


def test_a_job_that_is_never_left_has_nothing_to_say_of_it(start, tmp_path, policy, gate):
    daemon = start("1h")
    id = submit(daemon, tmp_path, policy, gate)
    daemon.finish(id)
    assert not LISTENED.search(daemon.log_of(id))


NOTICE = "the host is measuring; the answer comes between two observations"


def status_on_terminal(daemon, *args) -> tuple[int, str, str]:
    """aurabench status with stderr on a terminal: exit status, stdout, stderr."""
    master, slave = pty.openpty()
    done = subprocess.run([str(harness.CLIENT), "status", *args], stdout=subprocess.PIPE, stderr=slave,
                          env={**harness.CLEAN_ENV, "AURABENCH_SOCKET": str(daemon.socket), "TERM": "dumb"},
                          timeout=harness.PATIENCE_S)
    os.close(slave)
    os.set_blocking(master, False)
    try:
        said = os.read(master, 65536).decode()
    except OSError:
        said = ""
    os.close(master)
    return done.returncode, done.stdout.decode(), said


def test_who_waits_on_a_terminal_is_told_that_the_host_measures_and_is_answered(start, tmp_path, policy, gate):
    daemon = start("1500ms")
    id = held(daemon, tmp_path, policy, gate, run=1)
    # The daemon may be listening just now: asked again until it is not.
    for said in range(50):
        time.sleep(0.2)
        status, out, said = status_on_terminal(daemon)
        assert status == 0 and "measuring" in out, (status, out, said)
        if said:
            break
    assert said.split("\r\n") == [NOTICE, ""]
    time.sleep(0.2)
    status, out, said = status_on_terminal(daemon, "--json")
    assert (status, said) == (0, "") and json.loads(out)["active"]["job"] == id
    time.sleep(0.2)
    assert daemon.run("status").stderr == ""
    gate.open(1)
    daemon.finish(id)


def test_a_client_with_less_patience_than_the_daemon_ends_with_124(start, tmp_path, policy, gate):
    daemon = start("1h")
    id = held(daemon, tmp_path, policy, gate, run=1)
    done = daemon.run("status", "--timeout", "200ms", check=124)
    assert "the time of --timeout is over" in done.stderr
    gate.open(1)
    daemon.finish(id)
