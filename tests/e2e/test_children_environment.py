"""Whatever the daemon was started with, what it runs gets none of it: lanes, builds, and git."""

import json
import os

import pytest

import harness

BURDEN = {
    "GIT_DIR": "/nonexistent", "GIT_WORK_TREE": "/nonexistent", "GIT_INDEX_FILE": "/nonexistent",
    "GIT_OBJECT_DIRECTORY": "/nonexistent", "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "maybe", "GIT_SSH": "/bin/false",
    "GIT_TRACE": "2", "GIT_EXEC_PATH_": "x", "GIT_ASKPASS": "/bin/false",
    "LISTEN_FDNAMES": "x", "NOTIFY_SOCKET": "@aurabench-nobody", "WATCHDOG_USEC": "1000000",
    "INVOCATION_ID": "1", "JOURNAL_STREAM": "1:2", "CREDENTIALS_DIRECTORY": "/x",
    "AURABENCH_SOCKET": "/x", "AURABENCH_SECRET": "x", "XDG_RUNTIME_DIR": "/x",
    "PYTHONPATH": "/x", "BASH_ENV": "/x", "ENV": "/x", "LC_ALL": "tr_TR.UTF-8", "TZ": "Asia/Tokyo",
    "TMPDIR": "/nonexistent", "DBUS_SESSION_BUS_ADDRESS": "x", "SSH_AUTH_SOCK": "/x",
    "MALLOC_CHECK_": "0", "GLIBC_TUNABLES": "glibc.malloc.check=0",
}

REPORT = """#!/usr/bin/python3 -IS
import os, sys
with open(sys.argv[1], "a") as f:
    f.write(repr((dict(os.environ), os.getcwd())) + "\\n")
"""
LANE = REPORT + """
print("READY tiny", flush=True)
assert sys.stdin.readline() == "GO tiny\\n"
print("DONE tiny 42", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def burdened(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    daemon.env = {**BURDEN, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "/nonexistent")}
    daemon.start()
    yield daemon
    daemon.close()


def reports(path):
    return [eval(line, {}) for line in path.read_text().splitlines()]


def test_no_variable_of_the_daemon_reaches_what_it_runs(burdened, tmp_path, policy):
    told = {kind: tmp_path / f"told-{kind}" for kind in ("lane", "process", "build", "suite")}
    harness.make_repo(tmp_path / "repo", {"v1": {"run.py": LANE, "build.py": REPORT}})
    suite = harness.make_suite(
        tmp_path / "suite",
        [harness.protocol({"lane": {"command": ["{source}/run.py", str(told["lane"])]}}),
         {"name": "whole", "measure": "process", "stdout": "",
          "lanes": {"lane": {"command": ["{suite}/report.py", str(told["process"])]}}}],
        {"report.py": REPORT},
        build=[["./build.py", str(told["build"])]],
        suite_build=[["./report.py", str(told["suite"])]], env={"SUITE": "1"})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)},
                           sources={"now": {"repo": str(tmp_path / "repo"), "rev": "v1"}})
    shown = burdened.finish(burdened.json("submit", job, "--policy", policy)["id"])
    assert shown["job"]["state"] == "done", shown["job"]["error"]["text"]
    for kind, path in told.items():
        for environment, cwd in reports(path):
            assert set(environment) - {"LC_CTYPE"} == {"PATH", "HOME", "LANG", "TZ", "SUITE"}, kind
            assert environment["PATH"] == json.loads(policy.read_text())["path"]
            assert (environment["LANG"], environment["TZ"]) == ("C.UTF-8", "UTC")
            assert cwd.startswith(str(burdened.state)), kind
