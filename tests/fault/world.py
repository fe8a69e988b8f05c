"""A daemon that is killed again and again, always with work in its queue, and what was promised for
each of its jobs. Everything is checked on the database as it lies on the disk."""

import collections
import json
import os
import pathlib
import random
import shutil
import signal
import time

import harness
import invariants

RUN = """#!/bin/sh
# What a lane may do to hide: two forks, a session of its own, no environment. It ends it itself,
# unless it is killed before that.
hidden=$(setsid /usr/bin/env -i /usr/bin/sleep {stray} </dev/null >/dev/null 2>&1 & echo $!)
{work}
kill "$hidden"
"""
LANE = """echo "READY tiny"
read go
i=0
while [ $i -lt {loops} ]; do i=$((i + 1)); done
echo "DONE tiny 42"
cat >/dev/null"""
BUILD = """mkdir -p "$1"
cp run.sh "$1/run.sh"
"""
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(rng: random.Random) -> str:
    n = int(time.time() * 1000) << 80 | rng.getrandbits(80)
    return "".join(ALPHABET[n >> 5 * i & 31] for i in reversed(range(26)))


def write_program(path: pathlib.Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


# A workload whose lane leaves a profile.
PROFILED = {
    "name": "calls", "measure": "attribution", "stdout": "done\n",
    "profile": {"format": "perf-script", "categories": [{"name": "frames", "symbols": ["frame_*"]}]},
    "lanes": {"left": {"command": ["/bin/sh", "-c", 'echo "a 1 1.5: e: 1 frame_a (/b)" >p; echo done']}}}


class World:
    """One state folder and its many daemons. `counts` is what the tests add up."""

    def __init__(self, folder: pathlib.Path, seed: int = 0):
        self.folder = folder
        self.rng = random.Random(seed)
        self.stray = f"86{os.getpid()}.{self.rng.randrange(10**6)}"
        self.fake = harness.FakeHost(folder / "host")
        self.daemon = harness.Daemon(folder, self.fake)
        self.spec, self.trace, self.told = (folder / n for n in ("fault", "trace", "told"))
        self.daemon.env = {"AURABENCH_FAULT": f"@{self.spec}", "AURABENCH_FAULT_TELL": str(self.told)}
        self.accepted: list[str] = []
        self.unsure: list[str] = []  # sent, and the daemon died before it answered
        self.cancelled: set[str] = set()
        self.sessions: set[str] = set()  # closed, and so with a folder of their own
        self.excused: set[str] = set()  # may fail: their disk failed before they were timed
        self.template, self.policy = None, None
        self.counts = collections.Counter()
        self.armed = self.boots = 0
        self.broken = False  # by a test that shows that it is seen

    # ---- the job

    def write_work(self, tag: str = "") -> tuple[pathlib.Path, pathlib.Path, pathlib.Path]:
        """A repository with two revisions, a suite, a policy: others for each tag."""
        work = RUN.format(stray=self.stray, work=LANE.format(loops=300)) + f"# {tag}\n"
        build = RUN.format(stray=self.stray, work=BUILD)
        repo, suite = self.folder / f"repo{tag}", self.folder / f"suite{tag}"
        harness.make_repo(repo, {r: {"run.sh": work, "build.sh": build, "r": r} for r in ("one", "two")})
        harness.tiny_suite(
            suite, build=[["{source}/build.sh", "{build}"]],
            lanes={"subject": {"command": ["{build}/run.sh"], "cpus": 1},
                   "control": {"control": True, "command": ["{suite}/control.sh"], "cpus": 1}})
        write_program(suite / "control.sh", work)
        policy = self.folder / "policy.json"
        policy.write_text(json.dumps(harness.quick_policy(retry={"every": "200ms", "limit": 0})))
        return repo, suite, policy

    def prepare(self) -> None:
        """Sends sources and suite once; later jobs are this one under new ids."""
        repo, suite, policy = self.write_work()
        self.policy = json.loads(policy.read_text())
        assert self.start()
        id = self.daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite",
                              suite, "--policy", policy, "--repetitions", "2", "--warmups", "1")["id"]
        self.accepted.append(id)
        self.finish(id)
        self.template = json.loads(self.daemon.sql("SELECT document FROM jobs")[0][0])
        self.daemon.stop()

    def copy_to(self, folder: pathlib.Path, seed: int) -> "World":
        """The same prepared state under another folder: cheaper than to prepare it again."""
        folder.mkdir()
        other = World(folder, seed)
        other.stray, other.template, other.policy = self.stray, self.template, self.policy
        other.accepted = list(self.accepted)
        shutil.copytree(self.daemon.state, other.daemon.state, symlinks=True)
        (other.daemon.state / "lock").unlink(missing_ok=True)
        shutil.copy(self.told, other.told)
        return other

    # ---- asking the daemon, which may die at any time

    def call(self, method: str, **params) -> dict | None:
        """The answer; None when the daemon died or was not there."""
        try:
            wire = self.daemon.connect()
        except OSError:
            return None
        try:
            return wire.call(method, **params)
        except (AssertionError, OSError, ValueError):
            return None
        finally:
            wire.close()

    def new_id(self) -> str:
        return ulid(self.rng)

    def state_of(self, job: str) -> str:
        return self.daemon.sql("SELECT state FROM jobs WHERE id = ?", job)[0][0]

    def finish(self, job: str) -> None:
        harness.wait_for(lambda: self.state_of(job) in invariants.FINAL, f"the end of {job}")

    def submit(self, id: str | None = None, **changes) -> str | None:
        id = id or ulid(self.rng)
        answer = self.call("job.submit", job={**self.template, "id": id, **changes}, policy=self.policy)
        if answer is None:
            if id not in self.unsure:
                self.unsure.append(id)
            return None
        assert "result" in answer, answer
        if id in self.unsure:
            self.unsure.remove(id)
        assert id not in self.accepted or answer["result"]["duplicate"], f"{id} was forgotten"
        if id not in self.accepted:
            self.accepted.append(id)
        return id

    def send_again(self) -> None:
        """As a client does whose connection broke: the same id, so that it is one job."""
        for id in list(self.unsure):
            self.submit(id)

    def open_jobs(self) -> int:
        return self.daemon.sql("SELECT count(*) FROM jobs WHERE state IN ('queued', 'waiting',"
                               " 'preparing', 'measuring', 'verifying')")[0][0]

    def top_up(self, n: int = 2) -> None:
        for _ in range(n - self.open_jobs()):
            self.submit()

    # ---- killing

    def arm(self, words: str) -> None:
        self.armed += 1
        temporary = self.folder / "fault.tmp"
        temporary.write_text(f"# {self.armed},{words}")
        temporary.rename(self.spec)

    def start(self) -> bool:
        """False when it died before it served."""
        self.daemon.start(wait=False)
        process = self.daemon.process
        harness.wait_for(lambda: process.poll() is not None or self.daemon.answers(), "a daemon that serves")
        return process.poll() is None

    def await_death(self, why: str) -> None:
        process = self.daemon.process
        harness.wait_for(lambda: process.poll() is not None, f"the daemon's death at {why}")
        assert process.returncode == -signal.SIGKILL, \
            f"{why}: {process.returncode}\n{self.daemon.log.read_text()[-4000:]}"
        self.daemon.process = None
        self.counts["daemon_kills"] += 1

    def descendants(self) -> list[int]:
        return descendants(self.daemon.process.pid)

    def runners(self) -> list[int]:
        """The runner's processes, the outermost first."""
        pids = descendants(self.daemon.process.pid)
        return [p for p in pids if comm(p).startswith("aurabench-runne")]

    def stopped(self) -> int | None:
        """The daemon or a runner that a fault point made stand still."""
        pids = [self.daemon.process.pid, *self.runners()]
        return next((p for p in pids if status(p) == "T"), None)

    def ended(self) -> int:
        return self.daemon.sql("SELECT count(*) FROM attempts WHERE ended_ms IS NOT NULL")[0][0]

    def passes(self) -> dict[str, int]:
        """How often one attempt passes each point, and how long it takes."""
        self.daemon.env["AURABENCH_FAULT_TRACE"] = str(self.trace)
        assert self.restart()
        began = time.monotonic()
        self.submit()
        self.settle()
        self.seconds = time.monotonic() - began
        self.daemon.stop()
        del self.daemon.env["AURABENCH_FAULT_TRACE"]
        return collections.Counter(line.split()[1] for line in self.trace.read_text().splitlines())

    def strays(self) -> list[int]:
        """What runs on its own since its lane or build was killed, or before it ends it itself."""
        return [int(line.split(":")[0]) for line in harness.processes_with(f"sleep {self.stray}")
                if "env" not in line.split()[1]]

    # ---- after a death

    def check_dead(self) -> None:
        """With no daemon at all: what lies on the disk is whole."""
        invariants.check_dead(self)

    def restart(self, new_boot: bool = False) -> bool:
        """The next daemon; whatever the last one left running is ended when it answers. False when it
        was killed again before that."""
        if new_boot:
            self.boots += 1
            self.fake.write("identity", f"boot_id 00000000-0000-4000-8000-0000000001{self.boots:02}\n")
        before = [p for p in map(identity, self.strays()) if p]
        alive = self.start() and self.call("daemon.status") is not None
        if not alive:
            return False
        if new_boot:
            # Of another boot, as far as it knows. What still runs is ours to end.
            for pid in self.strays():
                os.kill(pid, signal.SIGKILL)
        else:
            left = [p for p in before if identity(p[0]) == p]
            assert left == [], f"orphans {left} live on\n{self.daemon.log.read_text()[-3000:]}"
            self.counts["orphans"] += len(before)
        self.send_again()
        return True

    def settle(self) -> None:
        """Lets everything run to its end and checks all of it."""
        if self.spec.exists():
            self.spec.unlink()
        if self.daemon.process is None:
            assert self.restart()
        self.send_again()
        harness.wait_for(lambda: self.open_jobs() == 0, "the end of all jobs")
        harness.wait_for(lambda: self.call("daemon.status")["result"]["active"] is None, "the last attempt")
        # Put away by the daemon that has just started, and removed on another thread.
        trash = self.daemon.state / "trash"
        harness.wait_for(lambda: not trash.exists() or not any(trash.iterdir()), "an empty trash")
        invariants.check_settled(self)

    def close(self) -> None:
        try:
            self.daemon.stop()
            if not self.broken:
                invariants.check_dead(self)
        finally:
            if self.daemon.process:
                self.daemon.kill()
            for pid in self.strays():
                os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.daemon.short, ignore_errors=True)


def identity(pid: int) -> tuple[int, str] | None:
    """Pid and start ticks; None for what is not there or has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if text[0] in "ZX" else (pid, text[19])


def children(pid: int) -> list[int]:
    return [p for p in descendants(pid) if parent(p) == pid]


def parent(pid: int) -> int:
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def status(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def comm(pid: int) -> str:
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return ""


def descendants(pid: int) -> list[int]:
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found, grown = {pid}, True
    while grown:
        more = {p for p, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return sorted(found - {pid})
