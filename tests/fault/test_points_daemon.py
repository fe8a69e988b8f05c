"""kill -9 of the daemon at every named point of an attempt."""

import pytest

import matrix

PARTS = 3  # run beside each other
# Every single pass of these; of others the first and the last one in an attempt.
EVERY_PASS = {"store.commit", "store.committed", "work.done", "evidence.file"}


def moments(world) -> list[tuple[str, int]]:
    found = []
    for name in matrix.names("attempt"):
        n = world.passed[name]
        assert n > 0, f"an attempt does not pass {name}"
        found += [(name, i) for i in (range(1, n + 1) if name in EVERY_PASS else sorted({1, n}))]
    return found


def kill_at(world, words: str) -> None:
    world.arm(words)
    if world.restart():
        world.top_up(3)
    world.await_death(words)
    world.check_dead()
    world.counts["points"] += 1


@pytest.mark.parametrize("part", range(PARTS))
def test_the_daemon_is_killed_at_every_point_of_an_attempt(world, part):
    assert world.restart()
    world.top_up(4)
    world.daemon.kill()
    for name, n in moments(world)[part::PARTS]:
        kill_at(world, f"{name}=kill@{n}")
    world.settle()
