"""Waiting for ends: of several jobs, of the first, over restarts of the daemon, within a limit."""

import json
import signal

import pytest

import harness
from harness import GATE_SH, LANE_SH, begin_connected, end, protocol


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


@pytest.fixture
def submit(daemon, tmp_path, policy, gate):
    """Submits a job of one lane; build is a program that runs before it."""

    def one(build: str = "#!/bin/sh\n", with_policy=None, **members) -> str:
        one.count += 1
        suite = harness.make_suite(
            tmp_path / f"suite{one.count}", [protocol({"lane": {"command": ["{suite}/lane"]}})],
            {"lane": LANE_SH, "build": build}, env=gate.env(), build=[["{suite}/build"]])
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
        return daemon.json("submit", job, "--policy", with_policy or policy)["id"]

    one.count = 0
    return one


@pytest.fixture
def held(submit, gate):
    """A job in the middle of its build, until gate.open(1)."""
    gate.shut(1)
    id = submit(GATE_SH)
    gate.await_run(1)
    return id


def test_several_jobs_are_waited_for_and_said_in_their_order(daemon, submit, held, gate):
    second = submit()
    third = submit()
    waiting = begin_connected(daemon, "wait", third, held[-8:], second)
    gate.open(1)
    status, out = end(waiting)
    assert status == 0
    assert [line.split()[1] for line in out.splitlines() if line.startswith("job ")] \
        == [third[-8:], held[-8:], second[-8:]]
    document = daemon.json("wait", held, second)
    assert [j["id"] for j in document["jobs"]] == [held, second]
    assert daemon.json("wait", held)["job"]["id"] == held


def test_of_several_the_first_that_is_not_good_gives_the_status(daemon, submit, held, gate):
    second, third = submit(), submit()
    failed = submit("#!/bin/sh\nexit 1\n")
    daemon.json("cancel", second)
    gate.open(1)
    assert daemon.run("wait", held, third, check=0)
    daemon.run("wait", held, second, failed, check=5)
    daemon.run("wait", held, failed, second, check=1)


def test_any_ends_with_the_first_end_and_its_status(daemon, submit, held, gate):
    second = submit()
    waiting = begin_connected(daemon, "wait", "--any", held, second)
    daemon.json("cancel", second)
    status, out = end(waiting)
    assert status == 5 and out.startswith(f"job {second[-8:]} cancelled") and held[-8:] not in out
    assert [j["id"] for j in daemon.json("wait", "--any", held, second, check=5)["jobs"]] == [second]
    assert daemon.state_of(held) == "preparing"
    gate.open(1)
    daemon.run("wait", held)


def test_until_holds_for_several_jobs(daemon, submit, held, gate):
    daemon.run("wait", "--until", "preparing", held)
    second = submit()
    daemon.run("wait", "--until", "preparing", held, second, "--timeout", "200ms", check=124)
    gate.open(1)
    daemon.run("wait", "--until", "preparing", held, second)
    daemon.run("wait", held, second)


def test_the_limit_of_the_client_leaves_the_jobs_alone(daemon, held, gate):
    done = daemon.run("wait", held, "--timeout", "300ms", check=124)
    assert done.stderr.startswith("aurabench: the time of --timeout is over")
    assert daemon.refused("wait", held, "--timeout", "100ms")["code"] == "client.timeout"
    assert daemon.state_of(held) == "preparing"
    gate.open(1)
    daemon.run("wait", held, "--timeout", "10m")


def test_one_unknown_job_among_several_is_said_at_once(daemon, held, gate):
    error = daemon.refused("wait", held, "01J9Z3ABCDEFGHJKMNPQRSTVWX")
    assert (error["code"], error["exit"]) == ("job.not_found", 4)
    daemon.run("wait", *["x"] * 65, check=2)
    gate.open(1)
    daemon.run("wait", held)


# ---- over a restart


def test_a_restart_in_between_does_not_end_the_waiting(daemon, held, gate):
    waiting = begin_connected(daemon, "wait", held)
    daemon.stop()
    gate.open(1)
    daemon.start()
    status, out = end(waiting)
    assert status == 0 and out.startswith(f"job {held[-8:]} done")
    assert [a["outcome"] for a in daemon.show(held)["attempts"]] == ["lost", "done"]


def test_an_end_that_nobody_could_tell_of_is_not_missed(daemon, held, submit, gate, tmp_path):
    """Both are cancelled and the daemon is restarted while the client cannot listen."""
    second = submit()
    waiting = begin_connected(daemon, "wait", held, second)
    waiting.send_signal(signal.SIGSTOP)
    daemon.json("cancel", second)
    daemon.json("cancel", held)
    harness.wait_for(lambda: daemon.json("status")["active"] is None, "the attempt's end")
    daemon.stop()
    daemon.start()
    waiting.send_signal(signal.SIGCONT)
    status, out = end(waiting)
    assert status == 5 and out.count("cancelled") == 2, out
    gate.open(1)


def test_a_daemon_that_dies_loses_the_job_and_the_waiting_ends_with_7(daemon, submit, gate, held):
    gate.open(1)
    daemon.finish(held)
    gate.shut(2)
    id = submit(GATE_SH)
    waiting = begin_connected(daemon, "wait", id)
    gate.await_run(2)
    gate.shut(3)
    daemon.kill()  # once is tried again, twice is lost
    daemon.start()
    gate.await_run(3)
    daemon.kill()
    daemon.start()
    status, out = end(waiting)
    assert status == 7 and " lost" in out
    gate.open(2)
    gate.open(3)


def test_a_daemon_that_does_not_come_back_ends_the_waiting_at_the_limit(daemon, held, gate):
    waiting = begin_connected(daemon, "wait", held, "--timeout", "3s")
    daemon.stop()
    out, err = waiting.communicate(timeout=harness.PATIENCE_S)
    assert waiting.returncode == 124 and out == ""
    assert err.startswith("aurabench: the time of --timeout is over") and err.count("\n") == 1
    gate.open(1)
    daemon.start()
    daemon.run("wait", held)


def test_without_a_limit_everyone_gives_up_after_half_a_minute(daemon, held, gate):
    clients = [begin_connected(daemon, *words)
               for words in (["wait", held], ["watch", held], ["log", "--follow", held])]
    daemon.stop()
    for client in clients:
        _, err = client.communicate(timeout=harness.PATIENCE_S)
        assert client.returncode == 3 and err.splitlines()[-1].startswith("aurabench: ")
    gate.open(1)
    daemon.start()
    daemon.run("wait", held)


def test_watch_goes_on_over_a_restart_too(daemon, held, gate):
    watching = begin_connected(daemon, "watch", "--json", held)
    daemon.stop()
    gate.open(1)
    daemon.start()
    status, out = end(watching)
    lines = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and lines[-1]["job"]["state"] == "done"
    assert any(line.get("event", {}).get("state") == "measuring" for line in lines)


def test_no_daemon_at_all_is_said_at_once(daemon):
    daemon.stop()
    daemon.run("wait", "01J9Z3ABCDEFGHJKMNPQRSTVWX", check=3, timeout=20)
    daemon.start()
