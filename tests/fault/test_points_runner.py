"""kill -9 of the runner at every point that is passed while it lives, and of the daemon at every point
of the runner. The daemon goes on when the runner dies: one daemon sees most of the deaths."""

import harness
import matrix

# Nothing of an attempt's runner is there before this point or after that one.
FIRST, LAST = "runner.hello", "runner.end"
# Passed all the time, with a runner or without.
ALWAYS = {"store.begin", "store.commit", "store.committed"}


def with_a_runner() -> list[str]:
    names = matrix.names("attempt")
    return [n for n in names[names.index(FIRST):names.index(LAST) + 1] if n not in ALWAYS]


def kill_runner_at(world, words: str) -> None:
    before = world.ended()
    world.top_up(3)
    world.arm(words)
    harness.wait_for(lambda: not world.spec.exists(), f"a pass of {words}")
    harness.wait_for(lambda: world.ended() > before, "the attempt's end")
    assert world.daemon.process.poll() is None, world.daemon.log.read_text()[-3000:]
    world.counts["points"] += 1
    world.counts["runner_kills"] += 1


def test_the_runner_is_killed_at_every_point_of_an_attempt(world):
    assert world.restart()
    for name in with_a_runner():
        # Some are passed without a runner, too: then the next pass is meant.
        kill_runner_at(world, f"{name}=kill-runner@1+")
    world.settle()


def test_the_runner_is_killed_at_every_point_of_its_own(world):
    assert world.restart()
    for name in matrix.names("runner"):
        assert world.passed[name] > 0
        # The first pass is a build's, where there is one; then come lanes.
        for n in sorted({1, min(3, world.passed[name])}):
            kill_runner_at(world, f"{name}=kill@{n}")
    world.settle()


def test_the_daemon_is_killed_at_every_point_of_its_runner(world):
    assert world.restart()
    world.top_up(3)
    world.daemon.kill()
    for name in matrix.names("runner"):
        for n in sorted({1, min(4, world.passed[name])}):
            world.arm(f"{name}=kill-daemon@{n}")
            if world.restart():
                world.top_up(3)
            world.await_death(name)
            world.check_dead()
            world.counts["points"] += 1
    world.settle()
