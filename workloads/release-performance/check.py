#!/usr/bin/python3
"""Runs every lane of a suite once by its records and says what passed.

    /usr/bin/python3 check.py --source subject --build /tmp/out

The suite is the one that this lies in, or --suite DIR. One line per lane: pass, FAIL or absent,
the time of one run, and for a failure its cause. Exit status 0: all passed or are absent; 1:
something failed; 2: wrong usage. The times are for orientation: nothing here keeps
the host quiet. This needs nothing but the standard library.
"""

import argparse
import json
import os
import pathlib
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

OWN_SUITE = pathlib.Path(__file__).resolve().parent
TIMEOUT_SECONDS = 120
LINE_LIMIT = 512
EXIT_WRONG_GO = 3
BASE_ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}


class CheckError(Exception):
    """What a lane did wrong, as a sentence without its full stop."""


def expand(arguments, places):
    def replace(match):
        name = match.group(1)
        if places.get(name) is None:
            raise CheckError(f"{{{name}}} is not allowed in {' '.join(arguments)}")
        return places[name]

    return [re.sub(r"\{([^}]*)\}", replace, argument) for argument in arguments]


class LaneAbsent(Exception):
    """An optional lane is not there, with the reason."""


class Child:
    """A lane's process in a session of its own, with pipes and a file for stderr."""

    def __init__(self, command, environment, cpus):
        self.errors = tempfile.TemporaryFile()
        self.output = b""
        pin = cpus == 1 and hasattr(os, "sched_setaffinity")
        cpu = min(os.sched_getaffinity(0)) if pin else None
        self.started = time.monotonic_ns()
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.errors,
                bufsize=0,
                env=environment,
                start_new_session=True,
                preexec_fn=(lambda: os.sched_setaffinity(0, {cpu})) if pin else None,
            )
        except OSError as error:
            self.errors.close()
            raise CheckError(f"cannot start {command[0]}: {error.strerror}") from None
        self.deadline = time.monotonic() + TIMEOUT_SECONDS

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def _read_some(self, what):
        left = max(0, self.deadline - time.monotonic())
        if not select.select([self.process.stdout], [], [], left)[0]:
            raise CheckError(f"no {what} within {TIMEOUT_SECONDS} s (is it flushed?)")
        return os.read(self.process.stdout.fileno(), 4096)

    def expect_line(self, line, what):
        """Reads exactly one line; returns the time at which it was complete."""
        while b"\n" not in self.output:
            part = self._read_some(what)
            if not part:
                raise CheckError(f"ended without {what}{self._said()}")
            self.output += part
            if len(self.output) > LINE_LIMIT:
                raise CheckError(f"printed more than {LINE_LIMIT} bytes instead of {what}")
        stamp = time.monotonic_ns()
        if self.output != line.encode("ascii") + b"\n":
            raise CheckError(f"printed {self.output!r} instead of {what}")
        self.output = b""
        return stamp

    def send_line(self, line):
        try:
            self.process.stdin.write(line.encode("ascii") + b"\n")
        except BrokenPipeError:
            raise CheckError(f"closed stdin before GO{self._said()}") from None

    def rest(self):
        """Closes stdin, reads stdout to its end, waits; returns the output and the end's time."""
        self.process.stdin.close()
        output = self.output
        while part := self._read_some("end of stdout"):
            output += part
        try:
            self.process.wait(max(0, self.deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise CheckError(f"did not exit within {TIMEOUT_SECONDS} s") from None
        return output, time.monotonic_ns()

    def _said(self):
        self.errors.seek(0)
        text = self.errors.read(LINE_LIMIT).decode("utf-8", "replace").strip()
        return f"; stderr: {text}" if text else ""

    def expect_clean_end(self):
        status = self.process.returncode
        if status != 0:
            raise CheckError(f"exit status {status}{self._said()}")
        if os.fstat(self.errors.fileno()).st_size > 0:
            raise CheckError(f"wrote to stderr{self._said()}")
        # Only a process that this lane left behind can still be in its group.
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return
        raise CheckError("left a process behind")


def check_samples(workload, output):
    """Each series by its indexes, as many as are declared."""
    found = {series["name"]: 0 for series in workload["samples"]}
    for line in output.decode("ascii", "replace").splitlines(keepends=True):
        match = re.fullmatch(r"SAMPLE (\S+) (0|[1-9][0-9]*) (0|[1-9][0-9]*)\n", line)
        if not match or found.get(match.group(1)) != int(match.group(2)):
            raise CheckError(f"printed {line!r} instead of its next sample")
        found[match.group(1)] += 1
    for series in workload["samples"]:
        if not series.get("min", series["max"]) <= found[series["name"]] <= series["max"]:
            raise CheckError(f"printed {found[series['name']]} samples of {series['name']}")


def after_done(child, workload):
    """The ack where there is one, and what may follow it."""
    if "ack" in workload:
        if child.output or select.select([child.process.stdout], [], [], 0.02)[0]:
            raise CheckError("did not wait for the ack")
        child.send_line(workload["ack"])
    output, _ = child.rest()
    if "samples" in workload:
        check_samples(workload, output)
    elif output:
        raise CheckError(f"printed {output!r} after DONE")


def begin_lane(child, workload):
    """To READY; where the workload has a baseline, by way of it."""
    if "baseline" in workload:
        child.expect_line(workload["baseline"], "the BASELINE line")
        child.send_line(workload["load"])
    child.expect_line(workload["ready"], "the READY line")


def run_protocol(workload, command, environment, cpus):
    with Child(command, environment, cpus) as child:
        begin_lane(child, workload)
        # A DONE that does not wait for GO would show here.
        if select.select([child.process.stdout], [], [], 0.02)[0]:
            raise CheckError("did not wait for GO")
        begin = time.monotonic_ns()
        child.send_line(workload["go"])
        end = child.expect_line(workload["done"], "the DONE line")
        after_done(child, workload)
        child.expect_clean_end()
    waited = workload.get("declared_wait_ns", 0)
    if end - begin < waited:
        raise CheckError(f"took {end - begin} ns, less than its declared wait of {waited} ns")
    return end - begin


def run_wrong_go(workload, command, environment, cpus):
    with Child(command, environment, cpus) as child:
        begin_lane(child, workload)
        child.send_line(workload["go"] + " ")
        output, _ = child.rest()
        if output:
            raise CheckError(f"printed {output!r} after a wrong GO line")
        if child.process.returncode != EXIT_WRONG_GO:
            raise CheckError(f"exit status {child.process.returncode} after a wrong GO line")


def run_process(workload, lane, command, environment):
    expected = lane.get("stdout", workload["stdout"])
    with Child(command, environment, lane.get("cpus")) as child:
        output, end = child.rest()
        elapsed = end - child.started
        child.expect_clean_end()
        if expected is not None and output != expected.encode("utf-8"):
            raise CheckError(f"printed {output!r} instead of {expected!r}")
    return elapsed


def run_profiled(workload, lane, command, environment):
    """As a process, in a folder of its own, where it must leave a profile."""
    with tempfile.TemporaryDirectory(prefix="profile-") as folder:
        os.chdir(folder)
        try:
            elapsed = run_process(workload, lane, command, environment)
        finally:
            os.chdir("/")
        profiles = [path for path in pathlib.Path(folder).iterdir() if path.name[0] != "."]
        if not any(path.stat().st_size for path in profiles):
            raise CheckError("left no profile")
    return elapsed


def why_absent(lane, command, places):
    """What an optional lane lacks; None: nothing."""
    needs = expand(lane.get("needs", []), places)
    for wanted in [command[0], *needs] if lane.get("optional") else []:
        if shutil.which(wanted, os.F_OK, path=BASE_ENVIRONMENT["PATH"]) is None:
            reason = pathlib.Path(wanted + ".absent")
            return reason.read_text().strip() if reason.exists() else f"there is no {wanted}"
    return None


def run_counters(workload, command, environment, cpus):
    with Child(command, environment, cpus) as child:
        output, end = child.rest()
        child.expect_clean_end()
    lines = output.decode("ascii", "replace").splitlines()
    names = [line.split()[1] for line in lines if re.fullmatch(r"COUNTER \S+ (0|[1-9][0-9]*)", line)]
    if len(names) != len(lines) or sorted(names) != sorted(workload["counters"]):
        raise CheckError(f"printed {output!r} instead of its counters")
    return end - child.started


def check_files(lane, places):
    for name in lane["files"].values():
        path = expand([name], places)[0]
        if not os.path.isfile(path) or os.path.islink(path):
            raise CheckError(f"{path} is no file")


def steps_of(workload):
    """A build as one workload for each of its steps, each a whole process; others as they are."""
    if workload["measure"] != "build":
        return [workload]
    lanes = workload["lanes"].items()
    return [
        {
            "name": f"{workload['name']}.{step}",
            "measure": "process",
            "stdout": workload.get("stdout"),
            "lanes": {
                name: {
                    **lane,
                    **lane["steps"][step],
                    "folder": f"{workload['name']}-{name}",
                    "prepare": lane.get("prepare", []) if step == workload["steps"][0] else [],
                }
                for name, lane in lanes
            },
        }
        for step in workload["steps"]
    ]


def check_step(suite, workload, lane, places, repeat):
    """One step of a build, in the folder that all steps of its lane run in."""
    home = os.getcwd()
    os.makedirs(lane["folder"], exist_ok=True)
    os.chdir(lane["folder"])
    try:
        build(lane["prepare"], places, os.getcwd())
        return run_lane(suite, workload, lane, places, repeat)
    finally:
        os.chdir(home)


def check_outputs(lane):
    for name in lane.get("outputs", []):
        if not os.path.isfile(name) or os.path.islink(name):
            raise CheckError(f"did not write its output {name}")


def check_lane(suite, workload, lane, places, repeat):
    if workload["measure"] == "size":
        check_files(lane, places)
        return []
    if "folder" in lane:
        return check_step(suite, workload, lane, places, repeat)
    return run_lane(suite, workload, lane, places, repeat)


def run_lane(suite, workload, lane, places, repeat):
    command = expand(lane["command"], places)
    absent = why_absent(lane, command, places)
    if absent:
        raise LaneAbsent(absent)
    environment = {**BASE_ENVIRONMENT, **suite.get("env", {}), **lane.get("env", {})}
    if workload["measure"] in ("process", "instructions"):
        times = [run_process(workload, lane, command, environment) for _ in range(repeat)]
        check_outputs(lane)
        return times
    if workload["measure"] == "attribution":
        return [run_profiled(workload, lane, command, environment) for _ in range(repeat)]
    cpus = lane.get("cpus")
    if workload["measure"] == "counters":
        return [run_counters(workload, command, environment, cpus) for _ in range(repeat)]
    run_wrong_go(workload, command, environment, cpus)
    return [run_protocol(workload, command, environment, cpus) for _ in range(repeat)]


def describe(times):
    if not times:
        return "its files are there"
    text = f"{statistics.median(times) / 1e6:11.6f} ms"
    if len(times) > 1:
        text += f"  ({min(times) / 1e6:.6f} to {max(times) / 1e6:.6f}, {len(times)} runs)"
    return text


def build(commands, places, cwd):
    for command in commands:
        arguments = expand(command, places)
        try:
            result = subprocess.run(
                arguments,
                cwd=cwd,
                env=BASE_ENVIRONMENT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise CheckError(f"cannot start {arguments[0]}: {error.strerror}") from None
        if result.returncode != 0:
            raise CheckError(
                f"{' '.join(arguments)}: exit status {result.returncode}\n{result.stdout}"
            )


def parse_arguments():
    parser = argparse.ArgumentParser(description="Runs every lane of a suite by its records.")
    parser.add_argument("--suite", default=OWN_SUITE, help="its folder (default: this one)")
    parser.add_argument("--source", required=True, help="the checkout that is measured")
    parser.add_argument("--build", required=True, help="where its programs are built")
    parser.add_argument("--suite-build", help="the suite's own build folder (default: temporary)")
    parser.add_argument("--no-build", action="store_true", help="the programs are there already")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each lane (default: 1)")
    parser.add_argument("--workload", action="append", help="only this workload; may be repeated")
    parser.add_argument("--lane", action="append", help="only this lane; may be repeated")
    arguments = parser.parse_args()
    if arguments.repeat < 1:
        parser.error("--repeat must be at least 1")
    if not os.path.isdir(arguments.source):
        parser.error(f"--source {arguments.source} is not a folder")
    return arguments


def check(arguments, suite, suite_build):
    source = os.path.realpath(arguments.source)
    folder = os.path.realpath(arguments.suite)
    side = {"source": source, "suite": folder, "build": os.path.realpath(arguments.build)}
    control = {"source": None, "suite": folder, "build": os.path.realpath(suite_build)}
    os.makedirs(side["build"], exist_ok=True)
    if not arguments.no_build:
        try:
            build(suite["build"], side, source)
            build(suite.get("suite_build", []), control, folder)
        except CheckError as error:
            print(f"FAIL  build: {error}")
            return 1

    with tempfile.TemporaryDirectory(prefix="home-") as home:
        os.chdir(home)
        try:
            return check_lanes(arguments, suite, side, control)
        finally:
            os.chdir("/")


def check_lanes(arguments, suite, side, control):
    failures = 0
    lanes = 0
    for workload in (step for written in suite["workloads"] for step in steps_of(written)):
        if arguments.workload and workload["name"] not in arguments.workload:
            continue
        for name, lane in workload["lanes"].items():
            if arguments.lane and name not in arguments.lane:
                continue
            lanes += 1
            label = f"{workload['name']}/{name}"
            places = control if lane.get("control", False) else side
            try:
                times = check_lane(suite, workload, lane, places, arguments.repeat)
            except LaneAbsent as reason:
                print(f"absent  {label:26} {reason}", flush=True)
            except CheckError as error:
                failures += 1
                print(f"FAIL  {label:28} {error}", flush=True)
            else:
                print(f"pass  {label:28} {describe(times)}", flush=True)
    if lanes == 0:
        print("FAIL  no lane has these names")
        return 1
    return 1 if failures else 0


def main():
    arguments = parse_arguments()
    suite = json.loads(pathlib.Path(arguments.suite, "suite.json").read_text(encoding="utf-8"))
    if arguments.suite_build:
        os.makedirs(arguments.suite_build, exist_ok=True)
        return check(arguments, suite, arguments.suite_build)
    with tempfile.TemporaryDirectory(prefix="suite-build-") as folder:
        return check(arguments, suite, folder)


if __name__ == "__main__":
    sys.exit(main())
