"""A daemon whose runner is broken: the attempt fails with a named cause, nothing is stored twice, and
the daemon goes on answering."""

import json
import os
import pathlib

import pytest

import harness

FAKE_RUNNER = pathlib.Path(os.environ.get("AURABENCH_BUILD", harness.ROOT / "build"),
                           "tests/unit/run/run_fake_runner")

pytestmark = pytest.mark.skipif(not FAKE_RUNNER.exists(), reason="the fake runner was not built")


@pytest.fixture
def start(tmp_path):
    """Starts a daemon with a runner that is broken in this way."""
    daemons = []

    def start(way):
        folder = tmp_path / f"d{len(daemons)}"
        folder.mkdir()
        runner = folder / "runner"
        runner.write_text(f"#!{FAKE_RUNNER} {way}\n")
        runner.chmod(0o755)
        daemon = harness.Daemon(folder, harness.FakeHost(folder / "host"), ["--runner", str(runner)])
        daemons.append(daemon)
        return daemon.start()

    yield start
    for daemon in daemons:
        daemon.close()


def run_job(daemon, repetitions=2):
    suite = harness.make_suite(daemon.folder / "suite",
                               [harness.protocol({"lane": {"command": ["/bin/true"]}})])
    job = harness.job_file(daemon.folder / "job.json", suite={"path": str(suite)},
                           repetitions=repetitions)
    policy = daemon.folder / "policy.json"
    policy.write_text(json.dumps(harness.quick_policy()))
    return daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])


def stored(daemon):
    return daemon.sql("SELECT count(*), count(DISTINCT attempt || '/' || seq) FROM observations")[0]


@pytest.mark.parametrize("way, code", [
    ("random:7", "runner.garbled"), ("half-end", "runner.lost"), ("end", "runner.lost"),
    ("early", "runner.garbled"), ("id", "runner.garbled"), ("type", "runner.garbled"),
    ("past", "runner.garbled"), ("status", "runner.garbled"), ("huge", "runner.garbled"),
])
def test_a_broken_runner_ends_the_attempt_by_name_and_stores_nothing(start, way, code):
    daemon = start(way)
    shown = run_job(daemon)
    state = "lost" if code == "runner.lost" else "failed"
    assert (shown["job"]["state"], shown["job"]["error"]["code"]) == (state, code)
    assert tuple(stored(daemon)) == (0, 0)
    assert daemon.json("status")
    assert list((daemon.state / "work").iterdir()) == []


def test_an_observation_that_is_answered_twice_is_stored_once(start):
    daemon = start("twice")
    shown = run_job(daemon)
    assert (shown["job"]["state"], shown["job"]["error"]["code"]) == ("failed", "runner.garbled")
    assert tuple(stored(daemon)) == (1, 1)
    assert daemon.json("status")
