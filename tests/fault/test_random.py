"""kill -9 at moments that nobody chose: the daemon, its runner, both at once, everything at once; now
and then the next daemon finds itself in another boot. `script/crash` does more of them."""

import os
import signal
import time

import pytest

import matrix

SHARES = 2  # run beside each other


def kill_all(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def kill_something(world) -> bool:
    """True when the daemon is among the dead."""
    what = world.rng.choices(("daemon", "both", "all", "runner", "outermost"), (4, 3, 1, 2, 1))[0]
    runners = world.runners()
    if what in ("daemon", "both", "all"):
        rest = {"daemon": [], "both": runners, "all": world.descendants()}[what]
        pid = world.daemon.process.pid
        kill_all([pid, *rest])
        world.await_death("a random moment")
        world.counts["runner_kills"] += bool(rest)
        return True
    if runners:
        kill_all(runners[-1:] if what == "runner" else runners[:1])
        world.counts["runner_kills"] += 1
    return False


def strike(world) -> None:
    if world.daemon.process is None:
        assert world.restart(new_boot=world.rng.random() < 0.1)
    world.top_up(3)
    time.sleep(world.rng.uniform(0, 1.2 * world.seconds))
    world.counts["random"] += 1
    if kill_something(world):
        world.check_dead()


@pytest.mark.parametrize("share", range(SHARES))
def test_kills_at_random_moments(world, share):
    print(f"seed {matrix.SEED}: AURABENCH_CRASH_SEED={matrix.SEED} repeats the choice")
    world.rng.seed(f"{matrix.SEED} {share}")
    assert world.restart()
    for i in range(matrix.RANDOM // SHARES + (share < matrix.RANDOM % SHARES)):
        try:
            strike(world)
        except AssertionError as e:
            raise AssertionError(f"seed {matrix.SEED}, share {share}, moment {i}: {e}") from e
    world.settle()
