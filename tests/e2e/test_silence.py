"""Inside a timed interval the daemon makes no system call, nor does the runner's guard, and the runner
only writes GO and reads DONE: counted by strace, while clients wait for the daemon."""

import os
import pathlib
import re
import resource
import shutil

import pytest

import harness
from wiretools import SANITIZED

LINE = re.compile(r"^(\d+)\s+\d+\.\d+ (.*)$")
CALL = re.compile(r"^([a-z_0-9]+)\(")
GO, DONE = r'"GO tiny\n"', r'"DONE tiny 42\n"'
WAIT = (r"read\(.*EAGAIN", r"poll\(.*<unfinished \.\.\.>$")
# It works for a while after GO and before DONE, so that whatever is not silent gets its chance.
LANE = harness.LANE_SH.replace("read go\n", "read go\nsleep 0.7\n")


class Trace:
    """What strace -f -ttt saw of a daemon and all that it started, call by call in order."""

    def __init__(self, text: str, daemon: int):
        found = [LINE.match(line) for line in text.splitlines()]
        self.lines = [(int(m[1]), m[2]) for m in found if m]
        self.daemon = self.threads_of(daemon)
        self.guards = {pid for pid, what in self.lines if what.startswith("execve(") and "/aurabench-runner\"" in what}

    def threads_of(self, daemon: int) -> set[int]:
        """A thread is what the daemon cloned with its memory, its table of files and its signals."""
        made, cloning = {daemon}, set()
        for pid, what in self.lines:
            if re.match(r"clone3?\(.*CLONE_THREAD", what):
                cloning.add(pid)
            ended = re.match(r"(?:clone3?\(|<\.\.\. clone3? resumed>).* = (\d+)$", what)
            if ended and pid in cloning and pid in made:
                made.add(int(ended[1]))
            if ended:
                cloning.discard(pid)
        return made

    def intervals(self) -> list[tuple[int, int, int]]:
        """The runner, and where it wrote GO and read DONE."""
        found, begun = [], {}
        for at, (pid, what) in enumerate(self.lines):
            if what.startswith("write(") and GO in what:
                begun[pid] = at
            elif pid in begun and DONE in what and (what.startswith("read(") or "read resumed>" in what):
                found.append((pid, begun.pop(pid), at))
        return found

    def calls(self, who: set[int], begin: int, end: int) -> list[str]:
        return [what for pid, what in self.lines[begin + 1:end] if pid in who and CALL.match(what)]

    def noise(self, runner: int, begin: int, end: int) -> list[str]:
        """What should not be there. On a busy machine the daemon may begin its wait only now (a look at the
        pipe, then the one poll), and a read may be whole or in two lines, of which the second is the
        interval's end."""
        daemon = self.calls(self.daemon, begin, end)
        if len(daemon) in (1, 2) and all(re.match(wait, c) for wait, c in zip(reversed(WAIT), reversed(daemon))):
            daemon = []
        own = self.calls({runner}, begin, end)
        if len(own) == 1 and own[0].startswith("read(") and own[0].endswith("<unfinished ...>"):
            own = []
        return daemon + own + self.calls(self.guards, begin, end)


# The plain build is traced; a sanitized runner, which gets no options, ends below strace with a failed leak check.
@pytest.mark.skipif(SANITIZED, reason="a leak check cannot run below strace")
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed: say script/bootstrap --test")
def test_inside_a_timed_interval_nobody_makes_a_call_but_the_lane(tmp_path):
    trace = tmp_path / "trace"
    daemon = harness.Daemon(tmp_path, harness.FakeHost(tmp_path / "host"))
    daemon.wrapper = ["strace", "-D", "-f", "-ttt", "-s", "64", "-o", str(trace)]
    daemon.start()
    pid = daemon.process.pid
    try:
        suite = harness.make_suite(tmp_path / "suite", [harness.protocol({
            "subject": {"command": ["{suite}/lane"], "cpus": 1}})], {"lane": LANE})
        policy = tmp_path / "policy.json"
        policy.write_text(harness.json.dumps(harness.quick_policy()))
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, policy="quick", repetitions=3)
        id = daemon.json("submit", job, "--policy", policy)["id"]
        asks = daemon.connect()
        while daemon.state_of(id) not in ("done", "failed"):
            asks.call("daemon.status")
        assert daemon.state_of(id) == "done", daemon.log_of(id)
        asks.close()
    finally:
        daemon.close()
    seen = Trace(trace.read_text(errors="replace"), pid)
    assert len(seen.guards) == 1, seen.guards
    assert len(seen.daemon) > 1, "the daemon's other threads were not recognized"
    intervals = seen.intervals()
    assert len(intervals) == 3
    for interval in intervals:
        assert seen.noise(*interval) == []


QUIET = """\
10 1.0 execve("/x/aurabenchd", [], 0x0) = 0
10 1.0 clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x1}, 88) = 11
10 1.0 clone3({flags=CLONE_VM|CLONE_THREAD, stack=0x2}, 88 <unfinished ...>
12 1.0 rseq(0x7, 0x20, 0, 0x53053053) = 0
10 1.0 <... clone3 resumed> => {parent_tid=[12]}, 88) = 12
10 1.0 clone3({flags=CLONE_VM|CLONE_VFORK, stack=0x1}, 88) = 20
20 1.1 execve("/x/aurabench-runner", ["aurabench-runner"], 0x0) = 0
20 1.1 clone(child_stack=NULL, flags=SIGCHLD) = 21
10 1.2 poll([{fd=3, events=POLLIN}], 1, 1000 <unfinished ...>
21 1.3 write(5, "GO tiny\\n", 8) = 8
21 1.3 read(6,  <unfinished ...>
30 1.4 read(0, "GO tiny\\n", 8) = 8
%s
30 1.4 write(1, "DONE tiny 42\\n", 13) = 13
21 1.5 <... read resumed>"DONE tiny 42\\n", 512) = 13
10 1.6 <... poll resumed>) = 1
10 1.6 pwrite64(7, "", 1, 0) = 1
"""


@pytest.mark.parametrize(("line", "noise"), [
    ("30 1.4 getpid() = 30", []),
    ("10 1.4 write(7, \"x\", 1) = 1", ["write(7, \"x\", 1) = 1"]),
    ("11 1.4 futex(0x1, FUTEX_WAKE, 1) = 0", ["futex(0x1, FUTEX_WAKE, 1) = 0"]),
    ("20 1.4 wait4(21, 0x1, 0, NULL) = 0", ["wait4(21, 0x1, 0, NULL) = 0"]),
    ("10 1.4 poll([{fd=3, events=POLLIN}], 1, 1000 <unfinished ...>", []),
    ("10 1.4 poll([{fd=3, events=POLLIN}], 1, 0) = 0 (Timeout)", ["poll([{fd=3, events=POLLIN}], 1, 0) = 0 (Timeout)"]),
    ("21 1.4 clock_gettime(0, 0x1) = 0", ["read(6,  <unfinished ...>", "clock_gettime(0, 0x1) = 0"]),
])
def test_whoever_is_not_silent_is_found_in_the_trace(line, noise):
    seen = Trace(QUIET % line, 10)
    assert seen.daemon == {10, 11, 12}
    assert seen.guards == {20}
    [interval] = seen.intervals()
    assert seen.noise(*interval) == noise


def status_of(pid: int, key: str) -> int:
    """A figure of /proc/PID/status in KiB."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key + ":"))


def children_of(pid: int) -> list[int]:
    return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_runner_is_small_and_its_memory_is_locked_before_anything_is_timed(tmp_path, daemon):
    gate = harness.Gate(tmp_path / "gate")
    gate.shut(1)
    suite = harness.make_suite(tmp_path / "suite", [harness.protocol({
        "subject": {"command": ["{suite}/lane"], "cpus": 1, "env": gate.env()}})], {"lane": harness.GATE_LANE})
    policy = tmp_path / "policy.json"
    policy.write_text(harness.json.dumps(harness.quick_policy()))
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, policy="quick")
    id = daemon.json("submit", job, "--policy", policy)["id"]
    gate.await_run(1)
    [guard] = children_of(daemon.process.pid)
    [runner] = children_of(guard)
    locked, resident = status_of(runner, "VmLck"), status_of(runner, "VmRSS")
    gate.open(1)
    daemon.finish(id)
    assert daemon.state_of(id) == "done"
    # What a sanitizer maps is more than can be locked.
    if not SANITIZED and (resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY or os.geteuid() == 0):
        assert locked > 0
    if not SANITIZED:
        assert resident < 4096
