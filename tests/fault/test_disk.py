"""The disk is full, or fails, at a write of the database, of evidence, of a log or of what is sent: once, or
from then on until it is mended. What was accepted is measured in the end; what was measured is never thrown
away for it; who asks is answered all the while; nothing has to be restarted.

Each write of an attempt fails, from its submission to its report: the first, the second, and so on until an
attempt goes through without a failure. In which way changes from write to write and with the seed; each fails in
all ways with AURABENCH_DISK_ALL=1, which script/crash sets."""

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import time

import pytest

import harness
import matrix
import world as worlds

ALL = os.environ.get("AURABENCH_DISK_ALL") == "1"
SAMPLE = 4  # writes of a job with two sides, in each way
SLICES = 4  # of the sweep, so that several workers share it
ENOUGH = 2000  # writes of one attempt
FINAL = ("done", "failed", "lost", "cancelled")
WORDS = {"ENOSPC": "no space is left on the disk that holds", "EIO": "could not be"}
WAYS = [(way, lasts) for way in WORDS for lasts in (True, False)]
CODES = {"ENOSPC": "store.full", "EIO": "store.io"}


def mend(w) -> None:
    w.arm("")


def says_why(error: dict, way: str, w) -> None:
    assert error["data"]["code"] == CODES[way], error
    assert WORDS[way] in error["message"] and str(w.daemon.state) in error["message"], error
    assert way != "ENOSPC" or "MiB free" in error["message"], error
    assert "try again" in error["message"] or "check its disk" in error["message"], error


def reading_goes_on(w) -> None:
    """Whatever only reads is answered, and none of it is an error."""
    first = w.accepted[0]
    for method, params in (("daemon.status", {}), ("job.list", {}), ("job.show", {"id": first}),
                           ("job.log", {"id": first, "offset": 0}), ("host.show", {}), ("session.list", {}),
                           ("report.get", {"id": first, "format": "text"}),
                           ("report.get", {"id": first, "format": "raw"}),
                           ("source.missing", {"commits": ["0" * 40]})):
        answer = w.call(method, **params)
        assert answer is not None and "result" in answer, (method, answer)


def state_of(w, id: str) -> str | None:
    found = w.daemon.sql("SELECT state FROM jobs WHERE id = ?", id)
    return found[0][0] if found else None


def begun(w, id: str) -> bool:
    return bool(w.daemon.sql("SELECT 1 FROM job_history WHERE job = ? AND event = 'timing_begins'", id))


def blocked(w) -> str | None:
    return w.call("daemon.status")["result"]["blocked"]


def submit(w, way: str) -> str:
    """The id of a job that is in the queue in the end; a refused one is not stored, and sent again."""
    id = worlds.ulid(w.rng)
    answer = w.call("job.submit", job={**w.template, "id": id}, policy=w.policy)
    if "error" in answer:
        says_why(answer["error"], way, w)
        assert state_of(w, id) is None, "a refused job was stored"
        reading_goes_on(w)
        mend(w)
    assert w.submit(id) == id
    return id


def check_end(w, id: str, way: str) -> None:
    """Lost to nobody, and no better than it is."""
    harness.wait_for(lambda: state_of(w, id) in FINAL, f"the end of {id}")
    if state_of(w, id) == "failed":
        (job,) = w.daemon.sql("SELECT * FROM jobs WHERE id = ?", id)
        assert way == "EIO" and not begun(w, id) and job["error_code"] == "store.io", tuple(job)
        w.excused.add(id)
    else:
        assert state_of(w, id) == "done"
        show = w.call("job.show", id=id)["result"]["job"]["report"]
        assert show["grade"] != "void"


def failures(w, point: str) -> int:
    return w.told.read_text().count(f" failed {point} ")


def fail_in_an_attempt(w, point: str, way: str, n: int, lasts: bool) -> bool:
    """False when it has fewer writes than n."""
    before = failures(w, point)
    w.arm(f"{point}={way}@{n}{'+' if lasts else ''}")
    id = submit(w, way)
    if lasts:
        harness.wait_for(lambda: blocked(w) or state_of(w, id) in (*FINAL, "waiting"), f"{point} {n} to show")
        said = blocked(w)
        assert said is None or WORDS[way] in said, said
        if said:
            reading_goes_on(w)
        mend(w)
    check_end(w, id, way)
    failed = failures(w, point) - before
    assert lasts or failed <= 1
    w.counts["disk"] += failed > 0
    return failed > 0


def ways_of(n: int) -> list[tuple[str, bool]]:
    """In which the n-th write fails."""
    return WAYS if ALL else [WAYS[(n // SLICES + matrix.SEED) % len(WAYS)]]


def short_template(w) -> dict:
    """A job with all that writes in the daemon, and little that takes time beside that."""
    policy = w.folder / "policy.json"
    policy.write_text(json.dumps(w.policy))
    suite = harness.make_suite(w.folder / "short", [harness.protocol({"lane": {"command": ["{suite}/lane"]}}),
                                                    worlds.PROFILED],
                               {"lane": harness.LANE_SH}, suite_build=[["/bin/echo", "built"]])
    job = harness.job_file(w.folder / "short.json", suite={"path": str(suite)})
    id = w.daemon.json("submit", job, "--policy", policy)["id"]
    w.accepted.append(id)
    w.finish(id)
    return json.loads(w.daemon.sql("SELECT document FROM jobs WHERE id = ?", id)[0][0])


@pytest.mark.parametrize("part", range(SLICES))
@pytest.mark.parametrize("point", ["store.write", "disk.write"])
def test_every_write_of_an_attempt_fails_and_the_job_survives(world, point, part):
    """The last one of each part is behind all writes."""
    assert world.restart()
    world.template = short_template(world)
    n = part + 1
    while all([fail_in_an_attempt(world, point, way, n, lasts) for way, lasts in ways_of(n)]):
        n += SLICES
        assert n < ENOUGH
    assert n > SLICES * 5
    mend(world)
    world.settle()


@pytest.mark.parametrize("point", ["store.write", "disk.write"])
def test_a_sample_of_the_writes_of_two_sides_fails(world, point):
    """Of a job with sources, builds and controls."""
    assert world.restart()
    rng = random.Random(f"{matrix.SEED} {point}")
    for way, lasts in WAYS:
        for i in range(SAMPLE):
            n = 1 + int((i + rng.random()) * world.passed[point] / SAMPLE)
            fail_in_an_attempt(world, point, way, n, lasts)
    mend(world)
    world.settle()


@pytest.mark.parametrize("way", WORDS)
def test_a_build_whose_log_cannot_be_written_is_not_to_blame(world, way):
    assert world.restart()
    for n in range(1, 3):  # of each runner: what a log holds, and that it is there at all
        assert fail_in_an_attempt(world, "in_runner.log", way, n, True)
    mend(world)
    world.settle()


@pytest.fixture
def preparing(world) -> None:
    """A job whose one program that writes a log is what prepares its lane; it needs some space, too."""
    assert world.restart()
    lane = {"prepare": [["/bin/sh", "-c", "head -c 300000 /dev/zero >made"]],
            "steps": {"look": {"command": ["/bin/sh", "-c", "test -s made"]}}}
    suite = harness.make_suite(world.folder / "preparing", [{"name": "prepared", "measure": "build", "steps": ["look"],
                                                         "lanes": {"lane": lane}}], {"some": "file\n"})
    policy = world.folder / "policy.json"
    policy.write_text(json.dumps(world.policy))
    id = world.daemon.json("submit", harness.job_file(world.folder / "preparing.json", suite={"path": str(suite)}),
                       "--policy", policy)["id"]
    world.accepted.append(id)
    world.finish(id)
    world.template = json.loads(world.daemon.sql("SELECT document FROM jobs WHERE id = ?", id)[0][0])
    world.daemon.stop()


@pytest.mark.parametrize("way", WORDS)
def test_what_prepares_a_lane_is_not_to_blame_for_its_log(world, preparing, way):
    """It is prepared once more, in the same attempt: timing has begun, and what was measured is kept."""
    assert world.restart()
    assert fail_in_an_attempt(world, "in_runner.log", way, 1, way == "ENOSPC")
    (attempts,) = world.daemon.sql("SELECT count(*) AS n FROM attempts WHERE job = ?", world.accepted[-1])
    assert attempts["n"] == 1
    mend(world)
    world.settle()


def test_who_prepares_and_waits_for_space_can_be_cancelled(world, preparing):
    """At once, although the disk is as full as before; the next job is prepared when it no longer is."""
    assert world.restart()
    world.arm("in_runner.log=ENOSPC@1+")
    id = world.submit()
    harness.wait_for(lambda: blocked(world), "that it says what it waits for")
    assert "result" in world.call("job.cancel", id=id)
    harness.wait_for(lambda: blocked(world) is None, "that nothing waits for it any more")
    assert state_of(world, id) == "cancelled"
    world.cancelled.add(id)
    mend(world)
    check_end(world, world.submit(), "ENOSPC")
    world.settle()


def test_a_disk_that_goes_on_failing_ends_the_attempt_and_leaves_no_evidence(world):
    """Five tries; the job fails by name, what was observed stays, and the next job runs."""
    assert world.restart()
    world.arm("evidence.filled=stop")
    id = world.submit()
    pid = world.daemon.process.pid
    harness.wait_for(lambda: stopped(pid), "the daemon before it seals")
    world.arm("disk.write=EIO@1+")
    os.kill(pid, signal.SIGCONT)
    harness.wait_for(lambda: state_of(world, id) in FINAL, "the end of the job")
    (job,) = world.daemon.sql("SELECT * FROM jobs WHERE id = ?", id)
    assert (job["state"], job["error_code"]) == ("failed", "store.io"), tuple(job)
    assert world.daemon.sql("SELECT count(*) FROM observations o JOIN attempts a ON a.id = o.attempt"
                            " WHERE a.job = ?", id)[0][0] > 0
    world.excused.add(id)
    mend(world)
    check_end(world, world.submit(), "EIO")
    world.settle()


def test_what_was_measured_waits_for_space_and_does_not_spin(world):
    """Held where it is sealed; tries are bounded; the report is then as good as any."""
    assert world.restart()
    world.arm("evidence.filled=stop")  # when the folder is all but done
    id = world.submit()
    pid = world.daemon.process.pid
    harness.wait_for(lambda: stopped(pid), "the daemon before it seals")
    world.arm("disk.write=ENOSPC@1+")
    os.kill(pid, signal.SIGCONT)
    began = time.monotonic()
    harness.wait_for(lambda: blocked(world), "that it says what it waits for")
    assert "waits for it" in blocked(world) and state_of(world, id) == "verifying"
    time.sleep(1)
    reading_goes_on(world)
    assert not list((world.daemon.state / "evidence").glob(f"*{id}*"))
    mend(world)
    check_end(world, id, "ENOSPC")
    waited = time.monotonic() - began
    (said,) = [line for line in world.daemon.log.read_text().splitlines() if "the disk lets attempt" in line]
    tries = int(said.split("after ")[1].split()[0])
    assert 2 <= tries <= waited * 10 + 2, (tries, waited)
    assert blocked(world) is None
    world.settle()


def stopped(pid: int) -> bool:
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_who_waits_for_space_can_be_stopped(world):
    """A daemon that is told to end does, and the next one says that the attempt is lost."""
    assert world.restart()
    world.arm("store.write=ENOSPC@1+")
    answer = world.call("job.submit", job={**world.template, "id": worlds.ulid(world.rng)}, policy=world.policy)
    says_why(answer["error"], "ENOSPC", world)
    mend(world)
    world.arm("repetition.complete=stop")
    id = world.submit()
    pid = world.daemon.process.pid
    harness.wait_for(lambda: stopped(pid), "the daemon before it stores")
    world.arm("store.write=ENOSPC@1+")
    os.kill(pid, signal.SIGCONT)
    harness.wait_for(lambda: blocked(world), "that it says what it waits for")
    assert state_of(world, id) == "measuring"
    answer = world.call("job.cancel", id=id)
    says_why(answer["error"], "ENOSPC", world)
    world.daemon.stop()
    assert state_of(world, id) == "measuring"
    mend(world)
    assert world.restart()
    harness.wait_for(lambda: state_of(world, id) == "lost", "the loss")
    world.settle()


# ---- what is sent

def fresh_suite(folder: pathlib.Path, n: int) -> pathlib.Path:
    return harness.make_suite(folder / f"sent{n}", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
                              {"lane": harness.LANE_SH, "other": f"{n}\n"})


def test_an_upload_is_refused_and_sent_again(world):
    """Nothing of it is left; the next one is taken."""
    assert world.restart()
    policy = world.folder / "policy.json"
    policy.write_text(json.dumps(world.policy))
    repo = world.folder / "sent-repo"
    harness.make_repo(repo, {"first": {"a": "1"}})
    n, failures = 0, 1
    while failures:
        n += 1
        suite = fresh_suite(world.folder, n)
        (repo / "a").write_text(f"{n} more\n")
        harness.git(repo, "add", "-A")
        harness.git(repo, "commit", "-q", "-m", f"{n}")
        job = harness.job_file(world.folder / "sent.json", suite={"path": str(suite)},
                               sources={"only": {"repo": str(repo), "rev": "HEAD"}})
        world.arm(f"disk.write=ENOSPC@{n if ALL else 1 + (n - 1) * 3}+")
        done = world.daemon.run("submit", "--json", job, "--policy", policy, check=None)
        failures = done.returncode
        if failures:
            error = json.loads(done.stdout)["error"]
            assert error["code"] == "store.full" and "MiB free" in error["message"], error
            assert world.daemon.sql("SELECT count(*) FROM jobs")[0][0] == len(world.accepted)
            mend(world)
            harness.wait_for(lambda: not list((world.daemon.state / "uploads").iterdir()), "no upload left")
            assert not (world.daemon.state / "suites/.new").exists()
            assert not list((world.daemon.state / "repos").rglob("incoming"))
            world.counts["disk"] += 1
            done = world.daemon.run("submit", "--json", job, "--policy", policy)
        mend(world)
        world.accepted.append(json.loads(done.stdout)["id"])
        assert n < 200
    assert n > 3
    world.settle()


def test_a_session_is_sealed_when_there_is_space(world):
    assert world.restart()
    policy = world.folder / "policy.json"
    policy.write_text(json.dumps(world.policy))
    suite = fresh_suite(world.folder, 0)
    session = world.folder / "session.json"
    job = json.loads(harness.job_file(world.folder / "one.json", suite={"path": str(suite)}).read_text())
    session.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "night", "jobs": [job]}))
    id = world.daemon.json("session", "open", session, "--policy", policy)["jobs"][0]
    world.accepted.append(id)
    check_end(world, id, "ENOSPC")
    for n in (1, 2, 5, 9, 14):
        world.arm(f"disk.write=ENOSPC@{n}+")
        error = world.daemon.refused("session", "close", "night")
        assert error["code"] == "store.full", error
        assert world.daemon.json("session", "show", "night")["session"]["evidence"] is None
        world.counts["disk"] += 1
    mend(world)
    closed = world.daemon.json("session", "close", "night")
    world.sessions.add(pathlib.Path(closed["evidence"]).name)
    world.daemon.run("verify", closed["evidence"], "--key", world.daemon.state / "host.pub")
    world.settle()


def test_a_backup_without_space_leaves_nothing(world):
    assert world.restart()
    for n in (1, 2, 7):
        world.arm(f"{'disk' if n == 1 else 'store'}.write=ENOSPC@{n}+")
        error = world.daemon.refused("backup", world.folder / "copy.db")
        assert error["code"] == "store.full" and "uploads" in error["message"], error
        assert not list(world.folder.glob("copy.db*"))
        assert not list((world.daemon.state / "uploads").iterdir())
        world.counts["disk"] += 1
    mend(world)
    world.daemon.run("backup", world.folder / "copy.db")
    world.settle()


# ---- a disk that really fills

FULL_DISK = """mount -t tmpfs -o size=5m,mode=700 tmpfs "$1" && cp -a "$2/." "$1/" && shift 2 && exec "$@" """


@pytest.fixture
def small_disk(world):
    """The daemon's state on a disk of 5 MiB of its own; seen from outside through /proc."""
    prefix = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    able = subprocess.run([*prefix, "sh", "-c", 'mount -t tmpfs -o size=1m tmpfs "$0"', str(world.folder)],
                          capture_output=True).returncode == 0
    if not able:
        pytest.skip("this machine gives a test no mount namespace")
    prepared = world.folder / "prepared-state"
    world.daemon.state.rename(prepared)
    world.daemon.state.mkdir(mode=0o700)
    world.daemon.wrapper = [*prefix, "sh", "-c", FULL_DISK, "sh", str(world.daemon.state), str(prepared)]
    assert world.daemon.start() and world.call("daemon.status")
    inside = pathlib.Path(f"/proc/{world.daemon.process.pid}/root{world.daemon.state}")
    yield inside
    world.daemon.stop()
    world.daemon.wrapper = []
    world.daemon.state.rmdir()
    prepared.rename(world.daemon.state)


def fill(inside: pathlib.Path) -> pathlib.Path:
    filler = inside / "filler"
    with filler.open("wb", buffering=0) as f:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    f.write(bytes(size))
            except OSError:
                continue
    return filler


def test_a_disk_that_fills_while_a_job_is_measured(world, small_disk):
    """What was measured waits; the report that it becomes verifies."""
    world.arm("measure.over=stop")
    id = worlds.ulid(world.rng)
    assert "result" in world.call("job.submit", job={**world.template, "id": id}, policy=world.policy)
    pid = world.daemon.process.pid
    harness.wait_for(lambda: stopped(pid), "the end of timing")
    filler = fill(small_disk)
    os.kill(pid, signal.SIGCONT)
    harness.wait_for(lambda: blocked(world), "that it says what it waits for")
    assert WORDS["ENOSPC"] in blocked(world) and shown(world, id)["state"] in ("measuring", "verifying")
    reading_goes_on(world)
    filler.unlink()
    harness.wait_for(lambda: shown(world, id)["state"] in FINAL, "the end of the job")
    job = shown(world, id)
    assert job["state"] == "done" and blocked(world) is None
    out = world.folder / job["report"]["attempt"]
    shutil.copytree(small_disk / "evidence" / out.name, out)
    world.daemon.run("verify", out, "--key", small_disk / "host.pub")


def submit_and_fill(world, small_disk, point: str, what: str):
    """Submits a job and fills the disk where the daemon stops: the job's id, and the file to remove."""
    world.arm(f"{point}=stop")
    id = worlds.ulid(world.rng)
    assert "result" in world.call("job.submit", job={**world.template, "id": id}, policy=world.policy)
    pid = world.daemon.process.pid
    harness.wait_for(lambda: stopped(pid), what)
    filler = fill(small_disk)
    world.arm("")
    os.kill(pid, signal.SIGCONT)
    return id, filler


def test_a_build_without_space_is_tried_again(world, small_disk):
    id, filler = submit_and_fill(world, small_disk, "build.begun", "the first build")
    harness.wait_for(lambda: blocked(world) or shown(world, id)["state"] in (*FINAL, "waiting"), "the disk to be met")
    filler.unlink()
    harness.wait_for(lambda: shown(world, id)["state"] in FINAL, "the end of the job")
    assert shown(world, id)["state"] == "done"


def test_what_prepares_a_lane_waits_for_space(world, preparing, small_disk):
    """Nothing was measured wrongly: the report is not void."""
    id, filler = submit_and_fill(world, small_disk, "timing.begun", "the beginning of timing")
    harness.wait_for(lambda: blocked(world), "that it says what it waits for")
    assert WORDS["ENOSPC"] in blocked(world) and shown(world, id)["state"] == "measuring"
    filler.unlink()
    harness.wait_for(lambda: shown(world, id)["state"] in FINAL, "the end of the job")
    job = shown(world, id)
    assert job["state"] == "done" and job["report"]["grade"] != "void" and blocked(world) is None


def shown(world, id: str) -> dict:
    return world.call("job.show", id=id)["result"]["job"]


def test_a_disk_that_fills_and_is_emptied_again(world, small_disk):
    template = {**world.template, "repetitions": 1, "warmups": 0}
    filler = fill(small_disk)
    refused = 0
    for _ in range(200):  # what the log of the database has room for is taken
        id = worlds.ulid(world.rng)
        answer = world.call("job.submit", job={**template, "id": id}, policy=world.policy)
        if "error" in answer:
            says_why(answer["error"], "ENOSPC", world)
            assert "0.0 MiB free" in answer["error"]["message"]
            assert world.call("job.show", id=id)["error"]["data"]["code"] == "job.not_found"
            refused += 1
            break
    assert refused == 1, "a full disk took 200 jobs"
    reading_goes_on(world)
    filler.unlink()
    answer = world.call("job.submit", job={**template, "id": id}, policy=world.policy)
    assert not answer["result"]["duplicate"]
    harness.wait_for(lambda: shown(world, id)["state"] in FINAL, "the end of the job")
    assert shown(world, id)["state"] == "done"
    counts = world.call("daemon.status")["result"]["jobs"]
    assert counts["failed"] == counts["lost"] == 0, counts
