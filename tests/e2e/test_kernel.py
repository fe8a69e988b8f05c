"""aurabench kernel: a receipt of the kernel that ships, and everything that a driver can do wrong."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import time

import harness
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "workloads/portable-kernel/example"
INPUT = EXAMPLE / "reducer-input.json"
REDUCER = ["--entry", "reduce", "--input", INPUT]


def kernel(*args, env=None, program=EXAMPLE / "reducer.pk", **kwargs) -> subprocess.CompletedProcess:
    full = {**harness.CLEAN_ENV, "HOME": "/nonexistent", **(env or {})}
    return subprocess.run([str(harness.CLIENT), "kernel", str(program), *map(str, args)], env=full, text=True,
                          capture_output=True, stdin=subprocess.DEVNULL, timeout=harness.PATIENCE_S, **kwargs)


def receipt(*args, **kwargs) -> dict:
    done = kernel("--json", *args, **kwargs)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["aurabench"] == 1 and document["command"] == "kernel"
    return document["receipt"]


def refused(status: int, code: str, *args, **kwargs) -> str:
    """One sentence, this status; with --json this code."""
    done = kernel("--json", *args, **kwargs)
    assert done.returncode == status, (done.stdout, done.stderr)
    assert done.stderr.startswith("aurabench: ") and done.stderr.count("\n") == 1, done.stderr
    assert json.loads(done.stdout)["error"]["code"] == code, done.stdout
    return done.stderr


# ---- the kernel that ships


def test_the_receipt_has_what_was_asked_for(tmp_path):
    out = tmp_path / "receipt.json"
    made = receipt(*REDUCER, "--entry-kind", "function", "--compile-iterations", 7, "--iterations", 51, "--threads", 4,
                   "--output", out)
    assert json.loads(out.read_text()) == made
    assert made["schemaVersion"] == "aurabench.kernel.v1" and made["target"] == "native"
    assert (made["iterations"], made["workers"]) == (51, 4)
    assert made["compile"]["repeated"]["iterations"] == made["decode"]["iterations"] == 7
    assert made["dispatch"]["repeated"]["iterations"] == 51
    assert made["initializationMs"] is None
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(json.loads((ROOT / "proto/schema/kernel.json").read_text())).validate(made)


def test_two_runs_agree_in_artifact_and_terminal_value():
    one, two = (receipt(*REDUCER, "--threads", n) for n in (1, 3))
    assert [one[k] for k in ("artifactDigest", "terminalDigest", "artifactBytes")] == \
        [two[k] for k in ("artifactDigest", "terminalDigest", "artifactBytes")]
    assert one["provenance"] == two["provenance"]


def test_a_pipeline_is_an_entry_of_its_kind():
    made = receipt("--entry", "twice", "--entry-kind", "pipeline", "--input", INPUT)
    assert made["entryKind"] == "pipeline"
    assert "no function twice" in refused(1, "kernel.failed", "--entry", "twice", "--input", INPUT)
    assert "no pipeline reduce" in refused(1, "kernel.failed", *REDUCER, "--entry-kind", "pipeline")


def test_there_are_at_most_as_many_workers_as_dispatches():
    assert receipt(*REDUCER, "--iterations", 3, "--threads", 256)["workers"] == 3


def test_people_get_text():
    done = kernel(*REDUCER, "--threads", 2)
    assert done.returncode == 0
    for words in ("function reduce, 2 workers", "compile", "decode", "dispatch", "a second", "terminal value"):
        assert words in done.stdout


@pytest.mark.parametrize("args", [
    ["--threads", 0], ["--threads", 257], ["--iterations", 0], ["--iterations", 1000001],
    ["--compile-iterations", 0], ["--compile-iterations", 100001], ["--entry-kind", "method"]])
def test_limits_are_held(args):
    refused(2, "usage", *REDUCER, *args)


@pytest.mark.parametrize("args", [[], ["--entry", "reduce"], ["--input", INPUT]])
def test_what_is_missing_is_named(args):
    assert "--entry NAME --input FILE" in refused(2, "usage", *args)


# ---- other boundaries


@pytest.mark.parametrize("flag", [["--profile"], ["--profile-json", "x"], ["--profile-json=x"]])
def test_flags_of_profilers_are_refused(flag):
    assert "another boundary" in refused(2, "kernel.profiler", *REDUCER, *flag)


@pytest.mark.parametrize("name", ["HARN_PROFILE", "HARN_PROFILE_JSON", "LD_PROFILE", "CPUPROFILE", "LLVM_PROFILE_FILE"])
@pytest.mark.parametrize("value", ["1", ""])
def test_variables_of_profilers_are_refused(name, value, tmp_path):
    assert name in refused(2, "kernel.profiler", *REDUCER, "--output", tmp_path / "r", env={name: value})
    assert list(tmp_path.iterdir()) == []


# ---- what goes in


@pytest.mark.parametrize("text", ["", "{} {}", "{'a': 1}", '{"a": 1', "[1,]", '{"a": 1, "a": 2}', "nonsense", "\xff"])
def test_the_input_is_one_json_value(text, tmp_path):
    path = tmp_path / "input.json"
    path.write_text(text, encoding="latin-1")
    assert "is not one JSON value" in refused(2, "kernel.input", "--entry", "reduce", "--input", path)


def test_the_input_must_be_what_the_entry_takes(tmp_path):
    path = tmp_path / "input.json"
    path.write_text('{"state": 1}')
    assert "the input has" in refused(1, "kernel.failed", "--entry", "reduce", "--input", path)


def test_a_source_with_a_fault_is_told_by_line_and_column(tmp_path):
    path = tmp_path / "bad.pk"
    path.write_text("fn main(x: int): int {\n  y\n}\n")
    assert "line 2, column 3: y is not known here" in refused(1, "kernel.failed", *REDUCER, program=path)


def test_files_that_are_not_there_are_named(tmp_path):
    assert "nothing.pk" in refused(4, "kernel.program", *REDUCER, program=tmp_path / "nothing.pk")
    assert "nothing.json" in kernel("--entry", "reduce", "--input", tmp_path / "nothing.json").stderr


# ---- what comes out


def test_the_output_is_whole_or_not_there(tmp_path):
    out = tmp_path / "receipt.json"
    out.write_text("old")
    refused(1, "kernel.failed", "--entry", "nothing", "--input", INPUT, "--output", out)
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]
    receipt(*REDUCER, "--output", out)
    assert json.loads(out.read_text())["entry"] == "reduce" and list(tmp_path.iterdir()) == [out]


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_timed(tmp_path):
    refused(1, "client.output", *REDUCER, "--output", tmp_path / "none/receipt.json")
    refused(1, "client.output", *REDUCER, "--output", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# ---- drivers that are no good

DRIVER = r"""
import json, os, sys, time
D, E = "d" * 64, "e" * 64
def say(**m): print(json.dumps(m), flush=True)
def hear(): return json.loads(sys.stdin.readline())
def hello(**more):
    say(**{"kernelDriver": 1, "name": "fake", "version": "1", "target": "native", "kernelVersion": "1",
           "artifactFormatVersion": 1, "semanticAbiFingerprint": D, "opcodeAbiFingerprint": D,
           "buildProfile": "release", "os": "linux", "arch": "x86_64", "initializationNs": None, **more})
def compile(digests=None, ns=1000):
    n = hear()["iterations"] + 1
    for i in range(n):
        say(samples="compile", ns=[ns], digest=(digests or {}).get(i, D))
    say(done="compile", artifactBytes=10)
def decode():
    n = hear()["iterations"]
    say(samples="decode", ns=[100] * n)
    say(done="decode")
def dispatch(values=None, ns=10, wall=None, finish=True):
    q = hear()
    n, w = q["iterations"], q["workers"]
    time.sleep(0.02)
    say(samples="firstDispatch", ns=[50], digest=D)
    for i in range(w):
        for k in range(n // w + (i < n % w)):
            say(samples="dispatch", worker=i, ns=[ns], digest=(values or {}).get((i, k), D))
    say(done="dispatch", batchWallNs=wall or ns * n + 1, workers=w)
def end():
    assert hear()["request"] == "end"
"""
SMALL = ["--entry", "reduce", "--input", INPUT, "--compile-iterations", 5, "--iterations", 8, "--threads", 3]


def driver(tmp_path: pathlib.Path, body: str) -> list:
    path = tmp_path / "driver.py"
    path.write_text(DRIVER + body)
    return ["--", sys.executable, "-S", str(path)]


def test_any_program_that_keeps_to_the_protocol_is_a_driver(tmp_path):
    made = receipt(*SMALL, *driver(tmp_path, "hello(initializationNs=2500000); compile(); decode(); dispatch(); end()"))
    assert made["provenance"]["driver"] == "fake" and made["initializationMs"] == 2.5
    assert made["dispatch"]["repeated"]["p50_ms"] == 1e-05 and made["terminalDigest"] == "d" * 64


def test_a_target_without_a_decode_of_its_own_says_so(tmp_path):
    made = receipt(*SMALL, *driver(tmp_path, "hello(target='browser'); compile(); hear()\n"
                                             "say(done='decode', measurable=False); dispatch(); end()"))
    assert made["decode"] is None and made["target"] == "browser"


@pytest.mark.parametrize(("body", "code", "words"), [
    # the two that matter most
    ("hello(); compile({3: E})", "kernel.artifact_differs", "compile 4 of 6"),
    ("hello(); compile(); decode(); dispatch({(2, 1): E})", "kernel.terminal_differs", "worker 2"),
    # lies about time
    ("hello(); compile(ns=10**12)", "kernel.implausible", "passed outside"),
    ("hello(); compile(); decode(); dispatch(ns=4000000, wall=5)", "kernel.implausible", "worker 0"),
    ("hello(); compile(); decode(); dispatch(ns=1, wall=10**13)", "kernel.implausible", "passed outside"),
    # against the protocol
    ("print('hi', flush=True); hear()", "kernel.driver", "no message"),
    ("hello(kernelDriver=2); hear()", "kernel.driver", "kernelDriver"),
    ("hello(); hello(); hear(); hear()", "kernel.driver", "first line"),
    ("hello(); hear(); say(samples='decode', ns=[1]); hear()", "kernel.driver", "another phase"),
    ("hello(); hear(); say(samples='compile', ns=[1] * 7, digest=D); hear()", "kernel.driver", "more samples"),
    ("hello(); hear(); say(done='compile', artifactBytes=1); hear()", "kernel.driver", "fewer samples"),
    ("hello(); compile(); decode(); dispatch(); say(error='late'); end()", "kernel.driver", "after the end"),
    ("import subprocess; hello(); compile(); decode(); dispatch(); end(); "
     "subprocess.Popen(['sleep', '600'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)", "kernel.driver", "left processes"),
    ("hello(); hear(); say(error='no such thing'); hear()", "kernel.failed", "no such thing"),
    # it dies
    ("sys.exit(3)", "kernel.driver_died", "status 3"),
    ("hello(); hear(); sys.stderr.write('out of luck'); sys.stderr.flush(); os.abort()", "kernel.driver_died",
     "out of luck"),
    ("hello(); compile(); os.kill(os.getpid(), 9)", "kernel.driver_died", "signal 9"),
    ("hello(); compile(); decode(); dispatch(); end(); sys.exit(5)", "kernel.driver_died", "status 5"),
    # it floods
    ("sys.stdout.write('x' * 3000000); sys.stdout.flush(); hear()", "kernel.driver", "longer than 1048576 bytes"),
    ("hello(); hear()\nwhile True: say(samples='compile', ns=[1], digest=D)", "kernel.driver", "more samples"),
    ("hello(); hear()\nwhile True: say(samples='compile', ns=[], digest=D)", "kernel.driver", "at least one"),
])
def test_a_driver_that_is_no_good_is_refused(body, code, words, tmp_path):
    out = tmp_path / "receipt.json"
    assert words in refused(1, code, *SMALL, "--output", out, *driver(tmp_path, body))
    assert not out.exists()


@pytest.mark.parametrize("body", ["time.sleep(600)", "hello(); hear(); time.sleep(600)",
                                  "hello(); hear()\nwhile True: sys.stderr.write('noise' * 1000)"])
def test_a_driver_that_says_nothing_is_ended(body, tmp_path):
    pid = tmp_path / "pid"
    body = f"open({str(pid)!r}, 'w').write(str(os.getpid())); " + body
    refused(1, "kernel.silent", *SMALL, "--silence", "700ms", *driver(tmp_path, body))
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_a_program_that_changes_while_it_is_measured_gets_no_receipt(tmp_path):
    program = tmp_path / "program.pk"
    program.write_text("fn main(x: int): int { x }")
    body = f"hello(); compile(); decode(); dispatch(); open({str(program)!r}, 'a').write(' '); end()"
    assert str(program) in refused(1, "kernel.changed", *SMALL, *driver(tmp_path, body), program=program)


def test_the_clients_own_time_limit_ends_the_driver(tmp_path):
    before = time.monotonic()
    done = kernel(*SMALL, "--timeout", "600ms", *driver(tmp_path, "hello(); hear(); time.sleep(600)"))
    assert done.returncode == 124 and "not through in time" in done.stderr
    assert time.monotonic() - before < 60


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_driver_ends_with_the_client(number, tmp_path):
    pid = tmp_path / "pid"
    body = f"open({str(pid)!r} + '.new', 'w').write(str(os.getpid())); os.rename({str(pid)!r} + '.new', {str(pid)!r}); " \
           "hello(); hear(); time.sleep(600)"
    command = [str(harness.CLIENT), "kernel", str(EXAMPLE / "reducer.pk"), *map(str, SMALL), *driver(tmp_path, body)]
    # Who runs the tests in the background has SIGINT ignored, which programs inherit and keep.
    client = subprocess.Popen(command, env={**harness.CLEAN_ENV, "HOME": "/nonexistent"}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    deadline = time.monotonic() + harness.PATIENCE_S
    while not pid.exists():
        assert time.monotonic() < deadline and client.poll() is None
        time.sleep(0.02)
    client.send_signal(number)
    assert client.wait(harness.PATIENCE_S) == -number
    while pathlib.Path(f"/proc/{pid.read_text()}/stat").exists():
        if pathlib.Path(f"/proc/{pid.read_text()}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
            break  # dead; whoever adopted it has not looked yet
        assert time.monotonic() < deadline, "the driver went on"
        time.sleep(0.02)


def test_a_driver_that_cannot_be_started_is_named():
    assert "/no/such/driver" in refused(1, "kernel.driver_start", *SMALL, "--", "/no/such/driver")


# ---- the driver that ships, spoken to by hand


def test_the_driver_refuses_what_is_no_request():
    program = harness.CLIENT.parent / "aurabench-kernel"
    for line in ("garbage", '{"request":"link"}', '{"request":"decode","iterations":0}',
                 '{"request":"dispatch","entry":"x","entryKind":"function","input":"1","iterations":1,"workers":1}'):
        done = subprocess.run([str(program)], input=line + "\n", capture_output=True, text=True, timeout=60)
        assert done.returncode == 1
        assert list(json.loads(done.stdout.splitlines()[-1])) == ["error"]
    assert subprocess.run([str(program), "frob"], capture_output=True, timeout=60).returncode == 2
