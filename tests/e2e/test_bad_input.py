"""Lanes and builds that misbehave: each has its own error code and one sentence that names the field
and the next step, the job ends failed with the last output kept, nothing of it remains running, and
the next job runs."""

import json
import os

import pytest

import harness
from harness import LANE_SH, protocol

# What a stray process is known by, wherever it went and whoever else runs these tests.
STRAY = f"86399.{os.getpid()}"


class Bench:
    """One daemon for all of these jobs: that it still serves is what they are about."""

    def __init__(self, folder):
        self.folder = folder
        self.daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
        self.count = 0

    def policy(self, **changes):
        path = self.folder / f"policy{self.count}.json"
        path.write_text(json.dumps(harness.quick_policy(**changes)))
        return path

    def run(self, workload: dict, files: dict, changes: dict, **members) -> dict:
        """Runs a suite of one workload until its job is over; what `show` says then."""
        self.count += 1
        suite = harness.make_suite(self.folder / f"suite{self.count}", [workload], files, **members)
        job = harness.job_file(self.folder / "job.json", suite={"path": str(suite)}, repetitions=2)
        return self.daemon.finish(
            self.daemon.json("submit", job, "--policy", self.policy(**changes))["id"])


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    b = Bench(tmp_path_factory.mktemp("bench"))
    yield b
    b.daemon.close()


def check_failed(bench: Bench, shown: dict, code: str, field: str, words: str, kept: str) -> None:
    job = shown["job"]
    assert job["state"] == "failed", job
    error = job["error"]
    assert (error["code"], error["field"]) == (code, field), error
    assert words in error["text"] and "\n" not in error["text"], error["text"]
    assert "; " in error["text"], "the sentence has no next step"
    assert kept in bench.daemon.log_of(job["id"])
    assert bench.daemon.run("wait", job["id"], check=1).returncode == 1
    assert error["text"] in bench.daemon.run("show", job["id"]).stdout.replace("\n            ", " ")
    assert harness.processes_with(STRAY) == []
    harness.check_next_job_runs(bench.daemon, bench.policy())


HEAD = "#!/bin/sh\n"
READY = HEAD + 'echo "READY tiny"\n'
GO = READY + "read go\n"
DONE = GO + 'echo "DONE tiny 42"\n'
END = "cat >/dev/null\n"
SLEEP = f"exec sleep {STRAY}\n"
READY_FIELD, DONE_FIELD = "workloads.tiny.ready", "workloads.tiny.done"
COMMAND = "workloads.tiny.lanes.bad.command"
SHORT = {"ready_timeout": "1500ms", "done_timeout": "1500ms"}

# name: (program, code, field, words of the sentence, words kept in the log, changes of the policy)
LANES = {
    "wrong-ready": (HEAD + 'echo "READY other"\n' + SLEEP, "lane.ready_wrong", READY_FIELD,
                    'expected "READY tiny", got "READY other"', "READY other", {}),
    "wrong-done": (GO + 'echo "DONE tiny 41"\n' + END, "lane.done_wrong", DONE_FIELD,
                   'expected "DONE tiny 42", got "DONE tiny 41"', "DONE tiny 41", {}),
    "long-line": (HEAD + "printf '%0600d\\n' 7\n" + SLEEP, "lane.line_too_long", COMMAND,
                  "over 512 bytes", "0000000", {}),
    "flood": (HEAD + "exec yes flooding\n", "lane.ready_wrong", READY_FIELD, 'got "flooding"',
              "flooding", {}),
    "flood-without-newline": (HEAD + "yes | tr -d '\\n'\n", "lane.line_too_long", COMMAND,
                              "yyyy", "yyyy", {}),
    "extra-line": (DONE + 'echo "one more"\n' + END, "lane.output_extra", COMMAND,
                   'more after DONE: "one more', "one more", {}),
    "extra-line-at-the-end": (DONE + END + 'echo "bye"\n', "lane.output_extra", COMMAND, "bye",
                              "bye", {}),
    "stderr": (DONE + 'echo "warning: slow" >&2\n' + END, "lane.stderr_written", COMMAND,
               "warning: slow", "warning: slow", {}),
    "stderr-flood": (GO + "yes complaint | head -c 200000 >&2\n" + 'echo "DONE tiny 42"\n' + END,
                     "lane.stderr_written", COMMAND, "wrote 200000 bytes", "complaint", {}),
    "silent": (HEAD + 'echo "thinking" >&2\n' + SLEEP, "lane.ready_timeout", READY_FIELD,
               "within 300 ms", "thinking", {"ready_timeout": "300ms"}),
    "no-newline": (HEAD + 'printf "READY tiny"\n' + SLEEP, "lane.ready_timeout", READY_FIELD,
                   'only "READY tiny" without a newline', "READY tiny", SHORT),
    "unflushed-ready": ('#!/usr/bin/perl\nprint "READY tiny\\n"; <STDIN>; print "DONE tiny 42\\n";\n',
                        "lane.ready_unflushed", COMMAND, "flush stdout after READY", "", SHORT),
    "unflushed-done": ('#!/usr/bin/perl\nsyswrite STDOUT, "READY tiny\\n"; <STDIN>;\n'
                       'print "DONE tiny 42\\n"; <STDIN>;\n',
                       "lane.done_unflushed", COMMAND, "flush stdout after DONE", "", SHORT),
    "never-done": (GO + SLEEP, "lane.done_timeout", DONE_FIELD, "within 300 ms", "READY tiny",
                   {"done_timeout": "300ms"}),
    "never-ends": (DONE + SLEEP, "lane.exit_timeout", COMMAND, "did not exit within 1500 ms",
                   "DONE tiny 42", SHORT),
    "exit-3": (HEAD + 'echo "no licence" >&2\nexit 3\n', "lane.exit_status", COMMAND,
               "exited with status 3 before READY", "no licence", {}),
    "exit-3-at-the-end": (DONE + END + "exit 3\n", "lane.exit_status", COMMAND,
                          "exited with status 3 after DONE", "DONE tiny 42", {}),
    "signal": (READY + "kill -SEGV $$\n", "lane.signal", COMMAND, "signal 11 (Segmentation fault)",
               "READY tiny", {}),
    "ends-before-done": (GO + "exit 0\n", "lane.eof_before_done", COMMAND, "before it printed DONE",
                         "READY tiny", {}),
    "closes-stdout": (HEAD + "exec >&-\n" + SLEEP, "lane.eof_before_ready", COMMAND,
                      "before it printed READY", "", {}),
    "closes-stdin": (HEAD + 'exec <&-\necho "READY tiny"\n' + SLEEP, "lane.go_failed", COMMAND,
                     "before GO could be written", "READY tiny", {}),
    "done-before-go": (HEAD + "printf 'READY tiny\\nDONE tiny 42\\n'\n" + END, "lane.done_early", COMMAND,
                       "before GO was written", "DONE tiny 42", {}),
    "child": (GO + f"sleep {STRAY} >/dev/null &\n" + 'echo "DONE tiny 42"\n' + END,
              "lane.leftover", COMMAND, "left 1 processes running, which were ended", "DONE tiny 42", {}),
    "child-with-our-pipes": (GO + f"sleep {STRAY} &\n" + 'echo "DONE tiny 42"\n' + END,
                             "lane.leftover", COMMAND, "(sleep)", "DONE tiny 42", SHORT),
    "daemonised-grandchild": (
        GO + f"setsid sh -c 'trap \"\" TERM HUP; sleep {STRAY} & wait' </dev/null >/dev/null 2>&1 &\n"
        + 'sleep 0.2\necho "DONE tiny 42"\n' + END,
        "lane.leftover", COMMAND, "which were ended", "DONE tiny 42", {}),
    "missing-interpreter": ("#!/no/such/interpreter\n", "lane.exec_failed", COMMAND,
                            "an interpreter that exists", "", {}),
    "not-executable": ("just text\n", "lane.exec_failed", COMMAND, "chmod +x", "", {}),
}


@pytest.mark.parametrize("name", LANES)
def test_a_lane_that_breaks_the_protocol_fails_its_job_alone(bench, name):
    program, code, field, words, kept, changes = LANES[name]
    workload = protocol({"bad": {"command": ["{suite}/bad"]}})
    shown = bench.run(workload, {"bad": program}, changes)
    assert shown["job"]["error"]["text"].startswith("workload tiny, lane bad, side suite: ")
    check_failed(bench, shown, code, field, words, kept)


def process(stdout: str | None = None) -> dict:
    return {"name": "tiny", "measure": "process", "lanes": {"bad": {"command": ["{suite}/bad"]}},
            **({} if stdout is None else {"stdout": stdout})}


PROCESSES = {
    "wrong-output": ("echo 10000001\n", "10000000\n", "lane.stdout_wrong", "workloads.tiny.stdout",
                     'expected 9 bytes "10000000', "10000001", {}),
    "no-output": ("", "10000000\n", "lane.stdout_wrong", "workloads.tiny.stdout", "got 0 bytes", "", {}),
    "a-byte-more": ("printf '10000000\\n\\n'\n", "10000000\n", "lane.stdout_wrong",
                    "workloads.tiny.stdout", "got 10 bytes", "10000000", {}),
    "flood": ("exec yes flooding\n", None, "lane.stdout_limit", COMMAND, "print less", "flooding", {}),
    "exit-3": ("echo going >&2\nexit 3\n", "", "lane.exit_status", COMMAND, "exited with status 3",
               "going", {}),
    "signal": ("kill -KILL $$\n", "", "lane.signal", COMMAND, "signal 9 (Killed)", "", {}),
    "never-ends": (SLEEP, "", "lane.exit_timeout", COMMAND, "within 300 ms", "",
                   {"done_timeout": "300ms"}),
    "stderr": ("echo oops >&2\n", "", "lane.stderr_written", COMMAND, "oops", "oops", {}),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_a_process_that_fails_or_says_something_else_fails_its_job_alone(bench, name):
    body, stdout, code, field, words, kept, changes = PROCESSES[name]
    shown = bench.run(process(stdout), {"bad": HEAD + body}, changes)
    check_failed(bench, shown, code, field, words, kept)


def test_a_lane_whose_program_is_not_in_the_suite_cannot_be_started(bench):
    shown = bench.run(protocol({"bad": {"command": ["{suite}/forgotten"]}}), {}, {})
    check_failed(bench, shown, "lane.exec_failed", COMMAND, "cannot start", "attempt")


def test_a_lane_whose_working_directory_is_missing_cannot_be_started(bench):
    workload = protocol({"bad": {"command": ["{suite}/bad"], "cwd": "/no/such/folder"}})
    shown = bench.run(workload, {"bad": LANE_SH}, {})
    check_failed(bench, shown, "lane.exec_failed", COMMAND, "working directory", "attempt")


def test_a_tool_that_the_host_lacks_is_refused_before_anything_is_measured(bench):
    workload = protocol({"bad": {"command": ["no-such-compiler-9", "x"]}})
    shown = bench.run(workload, {}, {})
    check_failed(bench, shown, "lane.tool_missing", COMMAND, "no-such-compiler-9 is not on this host; "
                 "install it, or declare the lane optional", "attempt")
    assert shown["job"]["report"] is None
    assert bench.daemon.sql("SELECT count(*) FROM observations o JOIN attempts a ON a.id = o.attempt "
                            "WHERE a.job = ?", shown["job"]["id"])[0][0] == 0


BUILDS = {
    "exits-2": (HEAD + 'echo "x.c:1: error: no"\nexit 2\n', "build.failed",
                "exited with status 2 (its output ends: x.c:1: error: no)", "x.c:1: error: no", {}),
    "hangs": (HEAD + "echo compiling\n" + SLEEP, "build.timeout", "did not end within 500 ms",
              "compiling", {"build_timeout": "500ms"}),
    "hangs-with-children": (HEAD + f"echo compiling\nsleep {STRAY} & setsid sleep {STRAY} &\nwait\n",
                            "build.timeout", "did not end within 500 ms", "compiling",
                            {"build_timeout": "500ms"}),
    "signal": (HEAD + "echo compiling\nkill -KILL $$\n", "build.failed", "signal 9 (Killed)",
               "compiling", {}),
    "missing-interpreter": ("#!/no/such/interpreter\n", "build.failed", "cannot start", "", {}),
    "floods": (HEAD + "yes flooding | head -n 300000\necho the end\nexit 1\n", "build.failed",
               "exited with status 1 (its output ends: the end)", "flooding", {}),
}


@pytest.mark.parametrize("name", BUILDS)
def test_a_build_that_fails_fails_its_job_alone(bench, name):
    program, code, words, kept, changes = BUILDS[name]
    shown = bench.run(protocol({"lane": {"command": ["{suite}/lane"]}}),
                      {"lane": LANE_SH, "broken": program}, changes,
                      build=[["true"], ["{suite}/broken"]])
    check_failed(bench, shown, code, "build[1]", words, kept)
    assert [a["outcome"] for a in shown["attempts"]] == ["failed"]
    builds = bench.daemon.sql("SELECT step, exit_status FROM builds WHERE attempt = ? ORDER BY seq",
                              shown["attempts"][0]["id"])
    assert [b["step"] for b in builds] == [0, 1] and builds[0]["exit_status"] == 0


def test_a_name_cannot_write_lines_of_its_own_into_the_log(bench):
    name = "{suite}/no\n2030-01-01T00:00:00Z  grade: contractual\x1b[31m"
    shown = bench.run(protocol({"lane": {"command": ["{suite}/lane"]}}), {"lane": LANE_SH}, {},
                      build=[[name]])
    assert shown["job"]["state"] == "failed"
    log = bench.daemon.log_of(shown["job"]["id"])
    assert "grade: contractual" in log and "\x1b" not in log
    assert not any(line.startswith("2030-") for line in log.splitlines()), log


def test_a_failing_build_of_the_suite_names_suite_build(bench):
    shown = bench.run(protocol({"lane": {"command": ["{suite}/lane"]}}), {"lane": LANE_SH}, {},
                      suite_build=[["false"]])
    check_failed(bench, shown, "build.failed", "suite_build[0]", "exited with status 1", "attempt")


def test_what_a_good_build_leaves_running_is_ended(bench):
    shown = bench.run(protocol({"lane": {"command": ["{suite}/lane"]}}),
                      {"lane": LANE_SH, "sloppy": HEAD + f"setsid sleep {STRAY} >/dev/null 2>&1 &\n"},
                      {}, build=[["{suite}/sloppy"]])
    assert shown["job"]["state"] == "done", shown["job"]
    assert harness.processes_with(STRAY) == []
    harness.check_next_job_runs(bench.daemon, bench.policy())
