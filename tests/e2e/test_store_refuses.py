"""A store that takes everything but the end of an attempt, and never will."""

import sqlite3

import pytest

import harness


def make_it_refuse(daemon, name: str, what: str) -> None:
    change(daemon, f"CREATE TRIGGER {name} BEFORE {what} BEGIN SELECT RAISE(ABORT, 'refused by a test'); END")


def change(daemon, statement: str) -> None:
    db = sqlite3.connect(daemon.state / "aurabench.db", timeout=60)
    db.execute(statement)
    db.commit()
    db.close()


@pytest.fixture
def job(compare):
    return lambda: compare("--repetitions", "1", "--warmups", "0")


def test_a_report_that_the_store_refuses_fails_its_job_and_the_next_one_runs(daemon, job, policy):
    make_it_refuse(daemon, "no_reports", "INSERT ON reports")
    shown = daemon.finish(job())
    error = shown["job"]["error"]
    assert (shown["job"]["state"], error["code"]) == ("failed", "store.constraint")
    assert "how the attempt ended could not be stored" in error["text"] and "its evidence is kept in" in error["text"]
    assert [a["outcome"] for a in shown["attempts"]] == ["failed"]
    change(daemon, "DROP TRIGGER no_reports")
    harness.check_next_job_runs(daemon, policy)


def test_a_store_that_refuses_every_end_stops_the_queue_and_says_so(daemon, job, policy):
    """And nothing is lost: the next daemon takes the sealed report over."""
    make_it_refuse(daemon, "no_ends", "UPDATE OF ended_ms ON attempts")
    first, second = job(), job()
    blocked = harness.wait_for(lambda: daemon.json("status")["blocked"], "a queue that stands still")
    assert "the store refuses to take how attempt" in blocked and "restart aurabenchd" in blocked
    assert daemon.state_of(first) == "verifying" and daemon.state_of(second) == "queued"
    daemon.stop()
    change(daemon, "DROP TRIGGER no_ends")
    daemon.start()
    assert daemon.finish(first)["job"]["state"] == "done"
    assert daemon.show(first)["job"]["report"]
    assert daemon.finish(second)["job"]["state"] == "done"
    harness.check_next_job_runs(daemon, policy)
