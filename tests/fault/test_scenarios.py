"""kill -9 of the daemon where a single attempt does not lead: at its first start, while a client sends,
when a job waits, is cancelled, when a session is closed, and while the next daemon recovers."""

import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

import harness
import matrix
from world import PROFILED, World, children, identity, status


@pytest.fixture
def empty(tmp_path, record_property):
    """A world whose state folder is not there yet."""
    (tmp_path / "w").mkdir()
    w = World(tmp_path / "w", matrix.SEED)
    try:
        yield w
    finally:
        w.close()
    for name in matrix.COUNTS:
        record_property(name, w.counts[name])


def kill_at(world, words: str) -> None:
    world.await_death(words)
    world.counts["points"] += 1


def test_a_first_start_that_is_killed_anywhere_is_followed_by_a_good_one(empty):
    """Also in the middle of the migrations: each is one transaction."""
    for words in ["store.commit=kill", "store.commit=kill@2", "store.committed=kill", "store.commit=kill@2",
                  *(f"{n}=kill" for n in matrix.names("first_start"))]:
        empty.arm(words)
        assert not empty.start(), f"{words} was not passed"
        kill_at(empty, words)
    empty.prepare()
    assert (empty.daemon.state / "host.key").stat().st_mode & 0o777 == 0o600
    empty.start()
    empty.settle()


def client(world, *args) -> subprocess.Popen:
    return subprocess.Popen(
        [harness.CLIENT, *map(str, args)], cwd=world.folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env={**harness.CLEAN_ENV, "HOME": str(world.folder),
                                        "AURABENCH_SOCKET": str(world.daemon.socket)})


def test_what_is_sent_when_the_daemon_is_killed_is_sent_again_and_taken_in_once(empty):
    """Other commits and another suite for each kill; sent again, they go through."""
    # Once there is a store, none is made.
    names = sorted(matrix.names("upload"), key=lambda name: name != "import.store_made")
    for i, name in enumerate(names):
        repo, suite, policy = empty.write_work(f"-{i}")
        command = ("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                   "--policy", policy, "--repetitions", "1", "--warmups", "0")
        empty.arm(f"{name}=kill")
        assert empty.start()
        sender = client(empty, *command)
        kill_at(empty, name)
        sender.kill()
        sender.wait()
        assert empty.start()
        assert list((empty.daemon.state / "uploads").iterdir()) == []
        empty.accepted.append(empty.daemon.json(*command)["id"])
        empty.finish(empty.accepted[-1])
        empty.daemon.kill()
    empty.start()
    empty.settle()
    harness.git(empty.daemon.state / "repos/store.git", "fsck", "--strict")


def test_a_lock_that_a_killed_git_left_is_in_nobodys_way(empty):
    empty.prepare()
    store = empty.daemon.state / "repos/store.git"
    commit = empty.template["sources"]["before"]["commit"]
    for lock in (store / "packed-refs.lock", store / f"refs/aurabench/commits/{commit}.lock"):
        lock.touch()
    assert empty.start()
    repo, suite, policy = empty.write_work("-more")
    empty.accepted.append(empty.daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two",
                                            "--suite", suite, "--policy", policy)["id"])
    empty.settle()


def test_a_submit_that_is_not_answered_is_one_job_when_it_is_sent_again(world):
    assert world.restart()
    for name in matrix.names("submit"):
        for times in range(3):
            world.arm(f"{name}=kill")
            assert world.submit() is None
            kill_at(world, name)
            world.check_dead()
            stored = {r["id"] for r in world.daemon.sql("SELECT id FROM jobs")}
            assert (world.unsure[-1] in stored) == (name == "submit.stored")
            assert world.restart() and world.unsure == []
    world.settle()


# ---- refused, kept, cancelled


def job_before_settling(world) -> str:
    """Everything is built, and the daemon stands still before it looks at the host again."""
    world.arm("step.settle=stop")
    id = world.submit()
    harness.wait_for(world.stopped, "a daemon that stands still")
    return id


@pytest.mark.parametrize("name", matrix.names("refusal"))
def test_the_daemon_is_killed_when_a_job_is_refused_and_cancelled(world, name):
    assert world.restart()
    id = job_before_settling(world)
    world.fake.burner()
    world.arm(f"{name}=kill")
    os.kill(world.daemon.process.pid, signal.SIGCONT)
    if name != "parked.kept":
        harness.wait_for(lambda: world.state_of(id) == "waiting", "the refusal")
        world.cancelled.add(id)
        world.call("job.cancel", id=id)
    kill_at(world, name)
    world.check_dead()
    world.fake.quiet()
    assert world.restart()
    world.settle()
    assert world.state_of(id) == ("done" if name == "parked.kept" else "cancelled")


def test_what_was_built_for_a_cancelled_job_is_removed_while_the_daemon_answers(world):
    """Not on its loop, and not while another job is timed."""
    assert world.restart()
    id = job_before_settling(world)
    world.fake.burner()
    world.spec.unlink()
    os.kill(world.daemon.process.pid, signal.SIGCONT)
    harness.wait_for(lambda: world.state_of(id) == "waiting", "the refusal")
    kept = list((world.daemon.state / "work").iterdir())
    assert len(kept) == 1
    world.fake.quiet()
    world.cancelled.add(id)
    assert world.call("job.cancel", id=id)["result"]["state"] == "cancelled"
    assert not kept[0].exists()
    harness.wait_for(lambda: list((world.daemon.state / "trash").iterdir()) == [], "an empty trash")
    world.settle()


# ---- profiles


def write_profiler(world) -> tuple[pathlib.Path, pathlib.Path]:
    """A suite whose lane leaves a profile."""
    suite = harness.make_suite(world.folder / "suite-profile", [PROFILED])
    policy = world.folder / "profile.json"
    policy.write_text(json.dumps(world.policy))
    return suite, policy


def profiled(world, suite, policy) -> str:
    job = harness.job_file(world.folder / "job.json", suite={"path": str(suite)}, repetitions=2)
    world.accepted.append(world.daemon.json("submit", job, "--policy", policy)["id"])
    return world.accepted[-1]


@pytest.mark.parametrize("words", [
    *(f"{name}=kill@{n}" for name in matrix.names("profile") for n in (1, 2)),
    "timing.ended=kill", "seal.inputs_ready=kill", "seal.sealed=kill"])
def test_what_was_counted_is_sealed_whole_or_lost_with_its_attempt(world, words):
    """The next attempt of the same suite finds nothing of it, and has all of its own."""
    suite, policy = write_profiler(world)
    assert world.restart()
    world.arm(words)
    first = profiled(world, suite, policy)
    kill_at(world, words)
    world.check_dead()
    assert world.restart()
    world.finish(first)
    assert world.state_of(first) == ("done" if words == "seal.sealed=kill" else "lost")
    second = profiled(world, suite, policy)
    world.finish(second)
    assert world.state_of(second) == "done"
    for id in {first, second} if words == "seal.sealed=kill" else {second}:
        kept = world.daemon.evidence(id) / "profiles"
        assert len(list(kept.iterdir())) == len(world.daemon.raw(id)["observations"]) == 2
    world.settle()


# ---- sessions


def test_a_session_whose_closing_is_killed_is_closed_again_and_verifies(world):
    assert world.restart()
    for name in matrix.names("session"):
        label = name.replace(".", "-")
        id = world.new_id()
        opened = world.call("session.open", jobs=[], session={"schema": "aurabench.session.v1", "id": id,
                                                              "label": label})
        assert "result" in opened, opened
        job = world.submit(session=id)
        world.finish(job)
        world.arm(f"{name}=kill")
        assert world.call("session.close", id=id) is None
        kill_at(world, name)
        assert world.restart()
        closed = world.call("session.close", id=id)["result"]
        folder = pathlib.Path(closed["evidence"])
        done = world.daemon.run("verify", folder, "--key", world.daemon.state / "host.pub")
        assert done.returncode == 0
        world.sessions.add(folder.name)
    world.settle()


# ---- recovery


def test_a_recovery_that_is_killed_is_done_by_the_next_daemon(world):
    assert world.restart()
    for name in matrix.names("recovery"):
        for where in ("step.build=kill", "repetition.committed=kill@2", "evidence.synced=kill"):
            world.top_up(3)
            world.arm(where)
            kill_at(world, where)
            world.arm(f"{name}=kill")
            assert not world.restart()
            kill_at(world, name)
            world.check_dead()
            assert world.restart()
    world.settle()


def test_a_report_that_was_sealed_before_the_kill_is_the_jobs_report(world):
    for name in ("evidence.renamed", "evidence.synced", "seal.sealed", "step.cleanup", "attempt.over"):
        world.arm(f"{name}=kill")
        assert world.restart()
        job = world.submit()
        world.await_death(name)
        assert world.restart()
        world.finish(job)
        shown = world.daemon.show(job)
        assert [a["outcome"] for a in shown["attempts"]] == ["done"], (name, shown)
        assert "took the report over" in world.daemon.log_of(job)
        world.daemon.kill()
    world.start()
    world.settle()


@pytest.mark.parametrize("point", ["cleanup.runner_ended", "attempt.over"])
def test_a_void_report_that_was_sealed_before_the_kill_is_kept_too(world, point):
    """The lane's answer is wrong: the attempt is void, and its evidence says so."""
    suite = world.folder / "suite"
    harness.make_suite(suite, [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
                       {"lane": harness.LANE_SH.replace("DONE tiny 42", "DONE tiny 41")})
    policy = world.folder / "policy.json"
    policy.write_text(json.dumps(world.policy))
    world.start()
    world.arm(f"{point}=kill")
    job = world.daemon.json("submit", harness.job_file(world.folder / "job.json", suite={"path": str(suite)}),
                            "--policy", policy)["id"]
    world.accepted.append(job)
    world.await_death(point)
    assert world.restart()
    shown = world.daemon.finish(job)
    assert (shown["job"]["state"], shown["job"]["error"]["code"]) == ("failed", "lane.done_wrong")
    assert shown["job"]["report"]["grade"] == "void"
    assert [a["outcome"] for a in shown["attempts"]] == ["void"]
    world.daemon.verify_all()


# ---- orphans, and other boots


def kill_with_orphans(world) -> list[tuple[int, str]]:
    """Daemon, guard and runner at once, inside a lane whose hidden process then lives on."""
    world.arm("in_runner.going=stop@2")
    world.submit()
    harness.wait_for(world.stopped, "a runner that stands still")
    world.spec.unlink()
    # It hides itself beside the lane, which does not wait for it: READY may come before it is what it will be.
    harness.wait_for(lambda: len(world.strays()) == 1, "the hidden process")
    hidden = [identity(p) for p in world.strays()]
    assert None not in hidden
    # All stand still first: nobody sees another go. The lane does, too: its input ends a moment before it is killed
    # with the runner, and it would end what it has hidden.
    everybody = [world.daemon.process.pid, *world.runners()]
    lanes = children(everybody[-1])
    assert lanes
    for pid in [*everybody, *lanes]:
        os.kill(pid, signal.SIGSTOP)
    harness.wait_for(lambda: all(status(pid) == "T" for pid in [*everybody, *lanes]), "everybody standing still")
    for pid in reversed(everybody):
        os.kill(pid, signal.SIGKILL)
    world.await_death("everything at once")
    assert identity(hidden[0][0]) == hidden[0], "nobody was left to end it"
    return hidden


def test_a_hidden_grandchild_is_ended_when_daemon_and_runner_were_killed_at_once(world):
    assert world.restart()
    hidden = kill_with_orphans(world)
    other = subprocess.Popen(["/usr/bin/sleep", world.stray])  # looks the same and is nobody's
    try:
        assert world.start() and world.call("daemon.status")
        assert [p for p in hidden if identity(p[0]) == p] == []
        assert other.poll() is None, "a process without the mark was ended"
        assert "ended what a killed runner had left" in world.daemon.log.read_text()
    finally:
        other.kill()
        other.wait()
    world.counts["orphans"] += len(hidden)
    world.settle()


def test_after_another_boot_no_process_is_signalled_and_the_attempt_is_lost_by_its_name(world):
    """What has the number of a process of another boot is not that process."""
    assert world.restart()
    hidden = kill_with_orphans(world)
    try:
        world.fake.write("identity", "boot_id 00000000-0000-4000-8000-00000000abcd\n")
        assert world.start() and world.call("daemon.status")
        assert [p for p in hidden if identity(p[0]) == p] == hidden
        texts = [r["text"] for r in world.daemon.sql("SELECT text FROM job_history WHERE event = 'lose'")]
        assert texts == ["the host was restarted during the attempt"]
    finally:
        for pid, _ in hidden:
            os.kill(pid, signal.SIGKILL)
    world.settle()


def test_no_signal_goes_to_anybody_after_another_boot(world):
    """The same by the system's own record of what the new daemon calls until it serves."""
    assert world.restart()
    hidden = kill_with_orphans(world)
    trace = world.folder / "strace"
    world.fake.write("identity", "boot_id 00000000-0000-4000-8000-00000000abcd\n")
    world.daemon.wrapper = ["strace", "-D", "-f", "-qq", "-o", str(trace), "-e",
                            "trace=openat,kill,tkill,tgkill,pidfd_send_signal,rt_sigqueueinfo"]
    world.daemon.env["ASAN_OPTIONS"] = "detect_leaks=0"  # which cannot be traced
    try:
        assert world.start() and world.call("daemon.status")
        calls = trace.read_text()
        assert "aurabench.db" in calls, "nothing was recorded"
        assert re.findall(r".*(?:kill|send_signal|sigqueueinfo)\(.*", calls) == []
    finally:
        for pid, _ in hidden:
            os.kill(pid, signal.SIGKILL)
