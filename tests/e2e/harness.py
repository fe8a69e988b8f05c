"""What the end-to-end tests share: a real daemon on a state folder of its own, the real client, real
git repositories, a scripted host that a test can make noisy. Teardown fails a test that leaves
processes, work folders or sanitizer output behind."""

import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AURABENCH_BUILD", ROOT / "build"))
DAEMON, CLIENT = BUILD / "aurabenchd", BUILD / "aurabench"
# A generous bound: the machine that tests run on is shared and noisy.
PATIENCE_S = 120
BUILD_PATIENCE_S = 600  # cargo builds tokio, in a minute where it has one CPU

CLEAN_ENV = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")},
}


def counts_instructions() -> bool:
    """Whether something here counts instructions: valgrind, or the CPU's counter by perf_event_open(2)."""
    number = {"x86_64": 298, "aarch64": 241}.get(os.uname().machine)
    if shutil.which("valgrind", path=CLEAN_ENV["PATH"]):
        return True
    if number is None or os.uname().sysname != "Linux":
        return False
    # PERF_TYPE_HARDWARE, PERF_ATTR_SIZE_VER0, PERF_COUNT_HW_INSTRUCTIONS; disabled, without kernel and hypervisor.
    attr = struct.pack("<IIQQQQQ", 0, 64, 1, 0, 0, 0, 1 | 1 << 5 | 1 << 6).ljust(64, b"\0")
    fd = ctypes.CDLL(None, use_errno=True).syscall(number, attr, 0, -1, -1, 8)
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def quick_policy(**changes) -> dict:
    """`standard` with short times; conditions as given (name -> rule)."""
    policy = json.loads((ROOT / "proto/policy/standard.json").read_text())
    policy.update(name="quick", settle="0ms", drift_limit_pct=10000, ready_timeout="20s", done_timeout="20s",
                  build_timeout="60s", retry={"every": "1s", "limit": 0})
    policy["inventory"]["snapshot_gap"] = "10ms"
    policy.update(changes)
    return policy


class FakeHost:
    """The folder of `aurabenchd --fake-host`: a good host unless a test says otherwise."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir()

    def write(self, name: str, text: str) -> None:
        temporary = self.folder / f".{name}.tmp"
        temporary.write_text(text)
        temporary.rename(self.folder / name)

    def burner(self, pid: int = 4711, pct: int = 98, command: str = "burner") -> None:
        self.write("processes", f"{pid} 1 1000 1 {pct} {command} / {command} --hot\n")

    def quiet(self) -> None:
        self.write("processes", "")


class Daemon:
    """One aurabenchd. Real host unless `fake` is given."""

    def __init__(self, folder: pathlib.Path, fake: FakeHost | None = None, args: list[str] = ()):
        self.folder = folder
        self.state = folder / "state"
        # Sockets need short paths, wherever the tests' own folder lies.
        self.short = pathlib.Path(tempfile.mkdtemp(prefix="ab-", dir="/tmp"))
        self.socket = self.short / "sock"
        self.fake = fake
        self.args = list(args)
        self.calibrates = False  # by itself: takes seconds, in which no attempt begins
        self.env = {}  # of the daemon, beside the usual
        self.wrapper = []  # a program that starts it and stays out of its way
        self.log = folder / "daemon.log"
        self.process = None

    def start(self, wait: bool = True) -> "Daemon":
        command = [*self.wrapper, str(DAEMON), "--state", str(self.state), "--socket", str(self.socket),
                   "--log", "debug", *self.args]
        if not self.calibrates:
            command.append("--no-calibration")
        if self.fake:
            command += ["--fake-host", str(self.fake.folder)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env={**CLEAN_ENV, "HOME": str(self.folder),
                                                             **self.env})
        deadline = time.monotonic() + PATIENCE_S
        while wait and not self.answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, "the daemon did not begin to serve"
            time.sleep(0.02)
        return self

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect(str(self.socket))
            except OSError:
                return False
            return True

    def begin_short_run(self) -> str:
        """The id of a job that times `true` once, without the waits of a policy that ships."""
        policy = self.folder / "quick.json"
        policy.write_text(json.dumps(quick_policy()))
        return self.json("run", "--repetitions", "1", "--warmups", "0", "--no-wait", "--policy", policy, "--",
                         "true")["id"]

    def stop(self) -> None:
        """Ends it in good order and checks that nothing is left behind."""
        if self.process is None:
            return
        process, self.process = self.process, None
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError("the daemon did not stop: " + self.log.read_text()) from None
        text = self.log.read_text(errors="replace")
        assert code == 0, f"exit status {code}: {text}"
        assert "Sanitizer" not in text and "runtime error" not in text, text
        assert "a handle was left open" not in text, text
        assert not self.socket.exists(), "the socket was left behind"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process = None

    def verify_all(self) -> None:
        """Whatever a test made this daemon seal, it must verify."""
        for evidence in sorted((self.state / "evidence").glob("[!.]*")):
            done = self.run("verify", evidence, "--key", self.state / "host.pub", check=None)
            assert done.returncode == 0, f"{evidence}\n{done.stdout}{done.stderr}"

    def close(self) -> None:
        try:
            self.stop()
            self.verify_all()
            left = processes_with(str(self.state))
            assert left == [], f"processes left behind: {left}"
        finally:
            shutil.rmtree(self.short, ignore_errors=True)

    def run(self, *args, check: int | None = 0, cwd=None, env=None, stdin=None,
            timeout=PATIENCE_S) -> subprocess.CompletedProcess:
        """aurabench ARGS against this daemon; check is the exit status expected, None: any."""
        full_env = {**CLEAN_ENV, "HOME": str(self.folder), "AURABENCH_SOCKET": str(self.socket),
                    "AURABENCH_WORKLOADS": str(ROOT / "workloads"), **(env or {})}
        done = subprocess.run([str(CLIENT), *map(str, args)], cwd=cwd or self.folder, env=full_env,
                              text=True, capture_output=True, timeout=timeout, input=stdin)
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        if check is not None:
            assert done.returncode == check, f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *args, **kwargs) -> dict:
        return json.loads(self.run(args[0], "--json", *args[1:], **kwargs).stdout)

    def show(self, job: str) -> dict:
        return self.json("show", job)

    def state_of(self, job: str) -> str:
        return self.show(job)["job"]["state"]

    def until(self, job: str, *states: str) -> dict:
        """Waits until the job is in one of the states; the last `show`."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            shown = self.show(job)
            if shown["job"]["state"] in states:
                return shown
            assert time.monotonic() < deadline, f"still {shown['job']['state']}: {shown}"
            time.sleep(0.02)

    def finish(self, job: str) -> dict:
        return self.until(job, "done", "failed", "cancelled", "expired", "unqualified", "lost")

    def refused(self, *args, **kwargs) -> dict:
        """The error with which the client refuses ARGS; `exit` is its status."""
        done = self.run(args[0], "--json", *args[1:], check=None, **kwargs)
        assert done.returncode != 0, f"{args} was accepted: {done.stdout}"
        error = json.loads(done.stdout)["error"]
        # One sentence for a person: the same one, on one line.
        assert done.stderr == f"aurabench: {error['message']}\n", done.stderr
        return {**error, "exit": done.returncode}

    def sql(self, query: str, *values) -> list[sqlite3.Row]:
        """Rows of the daemon's database, read beside it."""
        db = sqlite3.connect(f"file:{self.state}/aurabench.db?mode=ro", uri=True)
        db.row_factory = sqlite3.Row
        try:
            return db.execute(query, values).fetchall()
        finally:
            db.close()

    def evidence(self, job: str) -> pathlib.Path:
        return pathlib.Path(self.show(job)["job"]["report"]["evidence"])

    def raw(self, job: str) -> dict:
        return json.loads((self.evidence(job) / "raw.json").read_text())

    def summary(self, job: str) -> dict:
        return json.loads((self.evidence(job) / "summary.json").read_text())

    def log_of(self, job: str) -> str:
        return self.run("log", job).stdout

    def connect(self) -> "Wire":
        return Wire(self.socket)


class Wire:
    """A raw connection, for what the client would never send."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))  # waits where the queue is full; with a timeout it fails
        self.socket.settimeout(PATIENCE_S)
        self.file = self.socket.makefile("rb")
        self.hello = json.loads(self.file.readline())
        self.ids = 0

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> dict | None:
        line = self.file.readline()
        return json.loads(line) if line else None

    def call(self, method: str, **params) -> dict:
        self.ids += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self.ids, "method": method,
                              "params": params}).encode() + b"\n")
        while True:
            answer = self.receive()
            assert answer is not None, "the daemon closed the connection"
            if answer.get("id") == self.ids:
                return answer

    def close(self) -> None:
        self.file.close()
        self.socket.close()


def processes_with(text: str) -> list[str]:
    """Command lines, other than ours, that name text."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(f"{entry.name}: {line}")
    return found


def git(repo: pathlib.Path, *args) -> str:
    env = {**CLEAN_ENV, "HOME": "/nonexistent", "GIT_CONFIG_GLOBAL": "/dev/null",
           "GIT_CONFIG_NOSYSTEM": "1",
           **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER")
              for what, value in (("NAME", "t"), ("EMAIL", "t@example.org"),
                                  ("DATE", "2026-01-01T00:00:00Z"))}}
    return subprocess.run(["git", "-C", str(repo), *args], check=True, text=True,
                          capture_output=True, env=env).stdout.strip()


def make_repo(folder: pathlib.Path, revisions: dict[str, dict[str, str]]) -> dict[str, str]:
    """A repository with one commit and tag for each revision; tag -> commit id."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    ids = {}
    for tag, files in revisions.items():
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if text.startswith("#!") else 0o644)
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "--allow-empty", "-m", tag)
        git(folder, "tag", tag)
        ids[tag] = git(folder, "rev-parse", "HEAD")
    return ids


# A protocol lane small enough that a test's attempt takes a second or two: it sums numbers.
LANE = """#!/usr/bin/python3 -IS
import sys
loops = {loops}
print("READY tiny", flush=True)
assert sys.stdin.readline() == "GO tiny\\n"
total = 0
for i in range(loops):
    total += i
print("DONE tiny 42", flush=True)
sys.stdin.read()
"""


def lane_program(loops: int) -> str:
    return LANE.format(loops=loops)


def tiny_suite(folder: pathlib.Path, **changes) -> pathlib.Path:
    """A suite of one protocol workload: the subject is run.py of the source, the control the suite's
    own. changes replace members of the document; `lanes` and `workload` of the workload."""
    workload = {"name": "tiny", "measure": "protocol", "ready": "READY tiny", "go": "GO tiny",
                "done": "DONE tiny 42",
                "lanes": {"subject": {"command": ["{source}/run.py"], "cpus": 1},
                          "control": {"control": True, "command": ["{suite}/control.py"], "cpus": 1}}}
    workload["lanes"].update(changes.pop("lanes", {}))
    workload.update(changes.pop("workload", {}))
    document = {"schema": "aurabench.suite.v1", "name": "tiny", "workloads": [workload], **changes}
    folder.mkdir()
    (folder / "suite.json").write_text(json.dumps(document))
    control = folder / "control.py"
    control.write_text(lane_program(20000))
    control.chmod(0o755)
    return folder


def make_suite(folder: pathlib.Path, workloads: list[dict], files: dict[str, str] = {},
               **members) -> pathlib.Path:
    """A suite folder of these workloads; files that begin with #! are programs."""
    folder.mkdir()
    document = {"schema": "aurabench.suite.v1", "name": folder.name, "workloads": workloads,
                **members}
    (folder / "suite.json").write_text(json.dumps(document))
    for name, text in files.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755 if text.startswith("#!") else 0o644)
    return folder


def job_file(path: pathlib.Path, **members) -> pathlib.Path:
    """A job of one repetition without warmups, unless members say otherwise."""
    document = {"schema": "aurabench.job.v1", "repetitions": 1, "warmups": 0, **members}
    path.write_text(json.dumps(document))
    return path


def wait_for(condition, what: str):
    """What condition() returns once that is true."""
    deadline = time.monotonic() + PATIENCE_S
    while not (result := condition()):
        assert time.monotonic() < deadline, f"waited too long for {what}"
        time.sleep(0.02)
    return result


class Gate:
    """Holds a lane or a build step that calls it at chosen runs, so that a test can look around or
    act at that point however slow the machine is. The program is GATE_SH, its variable GATE."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        folder.mkdir()

    def env(self) -> dict:
        return {"GATE": str(self.folder)}

    def shut(self, run: int) -> None:
        (self.folder / f"shut-{run}").touch()

    def open(self, run: int) -> None:
        (self.folder / f"shut-{run}").unlink()

    def await_run(self, run: int) -> None:
        wait_for((self.folder / f"at-{run}").exists, f"run {run} at the gate")

    def runs(self) -> int:
        count = self.folder / "count"
        return int(count.read_text()) if count.exists() else 0


GATE_SH = """#!/bin/sh
n=0
test -e "$GATE/count" && read n <"$GATE/count"
n=$((n + 1))
echo $n >"$GATE/count"
test -e "$GATE/shut-$n" && : >"$GATE/at-$n"
while test -e "$GATE/shut-$n"; do sleep 0.02; done
"""
# The same as a protocol lane of make_suite's usual records.
GATE_LANE = GATE_SH + """echo "READY tiny"
read go
echo "DONE tiny 42"
cat >/dev/null
"""
LANE_SH = """#!/bin/sh
echo "READY tiny"
read go
echo "DONE tiny 42"
cat >/dev/null
"""


def protocol(lanes: dict, **members) -> dict:
    """A protocol workload of the records that LANE, LANE_SH and GATE_LANE speak."""
    return {"name": "tiny", "measure": "protocol", "ready": "READY tiny", "go": "GO tiny",
            "done": "DONE tiny 42", "lanes": lanes, **members}


def check_next_job_runs(daemon: Daemon, policy: pathlib.Path) -> None:
    """Whatever happened to the jobs before: a plain one is measured, and nothing is left."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="next-", dir=daemon.folder))
    suite = make_suite(folder / "next", [protocol({"lane": {"command": ["{suite}/lane"]}})],
                       {"lane": LANE_SH})
    job = job_file(folder / "job.json", suite={"path": str(suite)})
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    assert shown["job"]["state"] == "done", shown["job"]
    assert list((daemon.state / "work").iterdir()) == []
    assert processes_with(str(daemon.state / "work")) == []


def begin(daemon: Daemon, *args) -> subprocess.Popen:
    """aurabench ARGS in the background; see end()."""
    env = {**CLEAN_ENV, "HOME": str(daemon.folder), "AURABENCH_SOCKET": str(daemon.socket)}
    return subprocess.Popen([str(CLIENT), *map(str, args)], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, cwd=daemon.folder)


def end(process: subprocess.Popen) -> tuple[int, str]:
    """Exit status and stdout of a client that has nothing to complain of."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert err == "", err
    return process.returncode, out


def link_of(path: pathlib.Path) -> str:
    """Where a link points; empty when it is gone, as descriptors of a running process may be."""
    try:
        return os.readlink(path)
    except FileNotFoundError:
        return ""


def is_asleep_with_a_connection(pid: int) -> bool:
    fds = pathlib.Path(f"/proc/{pid}/fd")
    sockets = [fd for fd in fds.iterdir() if link_of(fd).startswith("socket:")]
    return bool(sockets) and pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


def begin_connected(daemon: Daemon, *args) -> subprocess.Popen:
    """The same, once the daemon has answered: what comes afterwards comes while it waits."""
    process = begin(daemon, *args)
    wait_for(lambda: is_asleep_with_a_connection(process.pid), "the client to connect")
    for _ in range(3):
        daemon.json("status")  # whoever came before has been answered by now
    return process
