"""Where a benchmark plays: a folder of its own, the programs of the build, daemons that it starts.
Whatever was started is ended and the folder is removed, whichever way the benchmark goes."""

import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time

from tests.bench.figures import BenchError

PATIENCE_S = 120
POLICY = "standard"
# It stays in its build for the length of a benchmark: jobs behind it stay queued.
BLOCKER = "#!/bin/sh\necho >>'{mark}'\nexec sleep 100000\n"
SUITE = {"schema": "aurabench.suite.v1", "name": "release-performance", "build": [["{suite}/wait"]],
         "workloads": [{"name": "fib30", "measure": "protocol", "ready": "READY fib30", "go": "GO fib30",
                        "done": "DONE fib30 832040", "lanes": {"subject": {"command": ["{suite}/wait"]}}}]}


class Stage:
    def __init__(self, build: pathlib.Path, sizes: dict, peers: dict[str, str | None], parent: str | None):
        self.build = build
        self.sizes = sizes
        self.peers = peers  # versions; None: not here
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="aurabench-bench-", dir=parent))
        # Sockets need short paths, wherever the folder lies.
        self.short = pathlib.Path(tempfile.mkdtemp(prefix="abb-", dir="/tmp"))
        self.ends = []  # called at the end, the latest first
        self.blocker = self.folder / "blocker"
        make_blocker(self.blocker)

    def has(self, peer: str) -> bool:
        return self.peers.get(peer) is not None

    def program(self, name: str) -> pathlib.Path:
        for folder in (self.build, self.build / "tests/bench", *self.build.glob("tests/bench/*")):
            if (folder / name).is_file():
                return folder / name
        raise BenchError(f"{name} is not in {self.build}: say `ninja -C {self.build} bench`")

    def run(self, name: str, *args, env: dict | None = None, timeout: int = 1800) -> str:
        command = [str(self.program(name)), *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=env,
                              cwd=self.folder)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        return done.stdout

    def samples(self, name: str, *args, **kwargs) -> dict[str, list[float]]:
        """Of a program of tests/bench: the nanoseconds of each of its series."""
        series = {}
        for line in self.run(name, *args, **kwargs).splitlines():
            key, _, ns = line.rpartition(" ")
            series.setdefault(key, []).append(float(ns))
        return series

    def daemon(self, name: str) -> "Daemon":
        daemon = Daemon(self, name)
        self.ends.append(daemon.stop)
        return daemon.start()

    def close(self) -> None:
        try:
            while self.ends:
                self.ends.pop()()
        finally:
            for folder in (self.folder, self.short):
                make_removable(folder)
                shutil.rmtree(folder, ignore_errors=True)


def make_blocker(folder: pathlib.Path) -> None:
    """The suite of the job that occupies a daemon; all daemons share it, and so the documents of jobs."""
    suite, mark = folder / "suite", folder / "occupied"
    suite.mkdir(parents=True)
    mark.touch()
    (suite / "suite.json").write_text(json.dumps(SUITE))
    (suite / "wait").write_text(BLOCKER.format(mark=mark))
    (suite / "wait").chmod(0o755)


def make_removable(folder: pathlib.Path) -> None:
    """Suites in a daemon's folder are read-only. What a link points to is somebody else's."""
    for path, folders, _ in os.walk(folder):
        for name in folders:
            inner = os.path.join(path, name)
            if not os.path.islink(inner):
                os.chmod(inner, 0o700)


class Daemon:
    """A real one on a quiet scripted host, occupied by one job for as long as it runs."""

    def __init__(self, stage: Stage, name: str):
        self.stage = stage
        self.folder = stage.folder / name
        self.state = self.folder / "state"
        self.database = self.state / "aurabench.db"
        self.socket = stage.short / f"{name}.sock"
        self.job = self.folder / "job.json"
        self.process = None

    def start(self) -> "Daemon":
        host, log = self.folder / "host", self.folder / "daemon.log"
        host.mkdir(parents=True)
        (host / "processes").write_text("")
        with log.open("wb") as out:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        self.wait_for(self.answers, log)
        self.occupy(log)
        return self

    def command(self) -> list[str]:
        return [str(self.stage.program("aurabenchd")), "--no-calibration", "--state", str(self.state), "--socket",
                str(self.socket), "--fake-host", str(self.folder / "host")]

    def wait_for(self, condition, log: pathlib.Path) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise BenchError(f"the daemon did not begin: {log.read_text(errors='replace')}")
            time.sleep(0.02)

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect(str(self.socket))
            except OSError:
                return False
            return True

    def occupy(self, log: pathlib.Path) -> None:
        mark = self.stage.blocker / "occupied"
        before = mark.stat().st_size
        self.job.write_text(json.dumps({"schema": "aurabench.job.v1", "policy": POLICY,
                                        "suite": {"path": str(self.stage.blocker / "suite")}}))
        self.stage.run("aurabench", "submit", self.job, env=self.env())
        self.wait_for(lambda: mark.stat().st_size > before, log)

    def env(self) -> dict:
        return {**os.environ, "AURABENCH_SOCKET": str(self.socket)}

    def texts(self) -> tuple[pathlib.Path, pathlib.Path]:
        """Files with a job's document and its policy as this daemon stored them."""
        db = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        texts = db.execute("SELECT document, policy FROM jobs LIMIT 1").fetchone()
        db.close()
        paths = self.folder / "document.json", self.folder / "policy.json"
        for path, text in zip(paths, texts):
            path.write_text(text)
        return paths

    def rss_mib(self) -> float:
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def stop(self) -> None:
        if self.process is None:
            return
        process, self.process = self.process, None
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
