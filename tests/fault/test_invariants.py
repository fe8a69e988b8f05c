"""The checks that the crash tests rest on find what they are for: each is shown a state folder in which
one thing is wrong."""

import shutil
import sqlite3

import pytest

import invariants


def change(world, *statements: str) -> None:
    """As no daemon would: the database's own guards are taken out first."""
    db = sqlite3.connect(world.daemon.state / "aurabench.db")
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert db.execute(statement).rowcount != 0, statement
    db.commit()
    db.close()


WRONG = {
    "a job vanished": ["DELETE FROM job_history", "DELETE FROM observations", "DELETE FROM jobs"],
    "a job is there twice": [
        "INSERT INTO jobs (id, id_reversed, state, priority, document, policy, submitted_ms, changed_ms, timed)"
        " SELECT '7' || substr(id, 2), id_reversed || 'X', 'done', 0, document, policy, 0, 0, 0 FROM jobs"],
    "a state without its step": ["UPDATE jobs SET state = 'failed'"],
    "a step is missing": ["DELETE FROM job_history WHERE event = 'timing_ends'"],
    "a step that the table forbids": ["UPDATE job_history SET event = 'cancel' WHERE event = 'finish'"],
    "an attempt that never ends": ["UPDATE attempts SET ended_ms = NULL, outcome = NULL"],
    "an attempt that nobody claimed": ["UPDATE attempts SET number = 3"],
    "a loss that is not named": ["UPDATE attempts SET outcome = 'lost'"],
    "an observation is missing": ["DELETE FROM observations WHERE seq = 3"],
    "the last observation is missing": [
        "DELETE FROM observations WHERE seq = (SELECT max(seq) FROM observations)"],
    "an observation that no runner reported": [
        "UPDATE observations SET exit_ns = exit_ns + 1 WHERE seq = 0"],
    "an observation with another figure": ["UPDATE observations SET user_us = user_us + 1 WHERE seq = 2"],
    "a figure that its report does not have": ["UPDATE figures SET median = median + 1 WHERE number = 1"],
    "a report without its figures": ["DELETE FROM figures"],
    "figures that are there twice": [
        "INSERT INTO figures SELECT 100 + number, attempt, started_ms, workload, value, lane, side, commit_id, measure, unit,"
        " operations, control, n, median, mad, low, high, cpu_median, grade FROM figures"],
    "a report that is not stored": ["UPDATE jobs SET report = NULL", "DELETE FROM reports"],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_in_the_database_is_found(world, wrong):
    invariants.check_dead(world)
    change(world, *WRONG[wrong])
    with pytest.raises((AssertionError, KeyError)):
        invariants.check_dead(world)
    world.broken = True


def test_evidence_that_is_missing_is_found(world):
    for folder in (world.daemon.state / "evidence").iterdir():
        shutil.rmtree(folder)
    with pytest.raises(AssertionError, match="a report without its evidence"):
        invariants.check_dead(world)
    world.broken = True


@pytest.mark.parametrize("name", ["01J9Z3ABCDEFGHJKMNPQRSTVWX", ".partial-01J9Z3ABCDEFGHJKMNPQRSTVWX"])
def test_evidence_that_is_half_or_nobodys_is_found(world, name):
    (world.daemon.state / "evidence" / name).mkdir()
    with pytest.raises(AssertionError, match="evidence"):
        invariants.check_dead(world)
    world.broken = True


@pytest.mark.parametrize("place", ["work/left", "trash/left", "uploads/left", "host.key.tmp.17",
                                   "repos/store.git/packed-refs.lock"])
def test_what_is_left_in_the_state_folder_is_found(world, place):
    path = world.daemon.state / place
    path.parent.mkdir(exist_ok=True)
    path.write_text("")
    with pytest.raises(AssertionError):
        invariants.check_settled(world)
    world.broken = True


def test_a_loss_that_is_not_tried_again_is_found(world):
    """One attempt was lost before timing, and its job stayed lost."""
    change(world, "DELETE FROM observations", "DELETE FROM job_history WHERE seq > 2",
           "INSERT INTO job_history (job, seq, from_state, event, to_state, wall_ms, text, attempt)"
           " SELECT job, 3, 'preparing', 'lose', 'lost', 0, 'the daemon went down during the attempt', id"
           " FROM attempts",
           "UPDATE attempts SET outcome = 'lost'",
           "UPDATE jobs SET state = 'lost', error_code = 'daemon.lost', error_text = 'submit the job again'")
    with pytest.raises(AssertionError):
        invariants.check_losses(world)
    world.broken = True
