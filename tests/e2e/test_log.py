"""A job's log: in pieces from where one asks, and as it grows."""

import base64
import json
import os
import subprocess

import pytest

import harness
from harness import GATE_SH, LANE_SH, begin_connected, end, protocol


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


@pytest.fixture
def submit(daemon, tmp_path, policy, gate):
    def one(*builds: str, **members) -> str:
        """A job with these build steps."""
        suite = harness.make_suite(
            tmp_path / "suite", [protocol({"lane": {"command": ["{suite}/lane"]}})],
            {"lane": LANE_SH, **{f"build{i}": text for i, text in enumerate(builds)}}, env=gate.env(),
            build=[["{suite}/build" + str(i)] for i in range(len(builds))])
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
        return daemon.json("submit", job, "--policy", policy)["id"]

    return one


SAYS = "#!/bin/sh\necho {}\n"


def log_file(daemon, job) -> bytes:
    return (daemon.state / "logs" / f"{job}.log").read_bytes()


# ---- pieces


def test_a_piece_is_what_stands_there_and_never_more_than_was_asked_for(daemon, submit):
    id = submit(SAYS.format("a loud build"))
    daemon.finish(id)
    whole = log_file(daemon, id)
    assert b"a loud build" in whole
    wire = daemon.connect()
    for offset, limit in [(0, 1), (0, 1 << 18), (7, 20), (len(whole) - 1, 5), (len(whole), 5), (10 ** 9, 5)]:
        piece = wire.call("job.log", id=id, offset=offset, limit=limit)["result"]
        data = base64.b64decode(piece["data"])
        assert data == whole[offset:offset + limit]
        assert (piece["next"], piece["total"], piece["ended"]) == (offset + len(data), len(whole), True)
    for params in ({"offset": -1}, {"limit": 0}, {"limit": (1 << 18) + 1}):
        assert wire.call("job.log", id=id, **params)["error"]["data"]["code"] == "json.range"
    wire.close()


def test_a_large_log_comes_whole(daemon, submit):
    id = submit("#!/bin/sh\nyes 0123456789abcdef | head -c 900000\n")
    daemon.finish(id)
    assert len(log_file(daemon, id)) > 900000
    assert daemon.log_of(id).encode() == log_file(daemon, id)


def test_an_offset_begins_there(daemon, submit):
    id = submit()
    daemon.finish(id)
    whole = log_file(daemon, id)
    assert daemon.run("log", id, "--offset", 30).stdout.encode() == whole[30:]
    assert daemon.run("log", id, "--offset", len(whole)).stdout == ""
    assert daemon.run("log", id, "--offset", 10 ** 6).stdout == ""
    document = daemon.json("log", id, "--offset", 30)
    assert (document["text"].encode(), document["next"], document["ended"]) == (whole[30:], len(whole), True)
    daemon.run("log", id, "--offset", "-1", check=2)


def test_a_job_that_has_not_begun_has_an_empty_log(daemon, submit, fake_host, tmp_path):
    wire = daemon.connect()
    fake_host.burner()
    id = submit()
    daemon.until(id, "waiting")
    (daemon.state / "logs" / f"{id}.log").unlink()
    piece = wire.call("job.log", id=id)["result"]
    assert piece == {"data": "", "next": 0, "total": 0, "ended": False}
    wire.close()
    assert daemon.run("log", id).stdout == ""
    daemon.run("cancel", id)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_what_is_no_file_in_the_place_of_a_log_is_not_read(daemon, submit, kind, tmp_path):
    id = submit()
    daemon.finish(id)
    path = daemon.state / "logs" / f"{id}.log"
    path.unlink()
    if kind == "link":
        (tmp_path / "secret").write_text("secret")
        path.symlink_to(tmp_path / "secret")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    done = daemon.run("log", id, check=1)
    assert "secret" not in done.stdout and done.stderr.startswith("aurabench: could not ")


def test_bytes_that_are_no_text_become_text_in_a_document_only(daemon, submit):
    id = submit("#!/bin/sh\nprintf 'a\\000b\\377c\\342\\202\\254d\\n'\n")
    daemon.finish(id)
    done = subprocess.run([str(harness.CLIENT), "log", id], capture_output=True,
                          env={**harness.CLEAN_ENV, "AURABENCH_SOCKET": str(daemon.socket)})
    assert b"a\0b\377c\xe2\x82\xacd\n" in done.stdout
    assert "a\ufffdb\ufffdc\u20acd\n" in daemon.json("log", id)["text"]


# ---- following


def follow(daemon, *args) -> subprocess.Popen:
    return begin_connected(daemon, "log", "--follow", *args)


def test_a_follower_sees_what_each_step_printed_when_it_ends_and_stops_with_the_job(daemon, submit, gate):
    gate.shut(1)
    gate.shut(2)
    id = submit(SAYS.format("first output"), GATE_SH, SAYS.format("second output"), GATE_SH)
    gate.await_run(1)
    following = follow(daemon, id)
    seen = ""
    while "first output" not in seen:
        seen += following.stdout.readline()
    assert "second output" not in seen
    gate.open(1)
    gate.await_run(2)
    while "second output" not in seen:
        seen += following.stdout.readline()
    gate.open(2)
    rest = following.stdout.read()
    assert (following.wait(harness.PATIENCE_S), following.stderr.read()) == (0, "")
    assert (seen + rest).encode() == log_file(daemon, id)
    assert "evidence: " in rest


def test_a_follower_asks_only_when_it_was_told_of_more(daemon, submit, gate, tmp_path):
    """Nothing is asked while nothing happens: the client sleeps in one wait."""
    gate.shut(1)
    id = submit(GATE_SH)
    gate.await_run(1)
    trace = tmp_path / "trace"
    env = {**harness.CLEAN_ENV, "AURABENCH_SOCKET": str(daemon.socket)}
    following = subprocess.Popen(["strace", "-s", "300", "-o", str(trace), "-e", "trace=write,poll",
                                  str(harness.CLIENT), "log", "--follow", id], env=env,
                                 stdout=subprocess.PIPE)
    harness.wait_for(lambda: trace.exists() and trace.read_text().count("job.log") >= 1, "the first question")
    for _ in range(20):
        daemon.json("status")
    asked = trace.read_text().count("job.log")
    gate.open(1)
    following.communicate(timeout=harness.PATIENCE_S)
    text = trace.read_text()
    assert asked == 1, text
    # Once the daemon has greeted, no wait of the client has an end of its own.
    waits = [line for line in text.splitlines() if line.startswith("poll(")][1:]
    assert waits and all(", -1)" in line for line in waits), waits


def test_a_follower_goes_on_over_attempts(daemon, submit, gate, fake_host):
    fake_host.burner()
    id = submit(SAYS.format("built"), retry={"every": "1s"})
    daemon.until(id, "waiting")
    following = follow(daemon, id)
    fake_host.quiet()
    status, out = end(following)
    attempts = [a["id"] for a in daemon.show(id)["attempts"]]
    assert status == 0 and len(attempts) >= 2
    assert [out.count(f"attempt {a} begins") for a in attempts] == [1] * len(attempts)
    assert out.encode() == log_file(daemon, id)


def test_a_follower_goes_on_over_a_restart_without_a_gap_or_a_double(daemon, submit, gate):
    gate.shut(1)
    id = submit(SAYS.format("built"), GATE_SH)
    gate.await_run(1)
    following = follow(daemon, id)
    daemon.stop()
    gate.open(1)
    daemon.start()
    status, out = end(following)
    assert status == 0 and out.count(" begins\n") == 2
    assert out.encode() == log_file(daemon, id)


def test_a_follower_of_a_cancelled_job_reads_its_last_line(daemon, submit, gate):
    gate.shut(1)
    id = submit(GATE_SH)
    gate.await_run(1)
    following = follow(daemon, id)
    daemon.run("cancel", id)
    status, out = end(following)
    assert status == 0 and out.encode() == log_file(daemon, id)
    assert "exec.cancelled" in out
    gate.open(1)


def test_following_what_is_over_prints_it_and_ends(daemon, submit):
    id = submit()
    daemon.finish(id)
    assert daemon.run("log", "-f", id, "--offset", 10).stdout.encode() == log_file(daemon, id)[10:]


def test_a_follower_may_have_had_enough(daemon, submit, gate):
    gate.shut(1)
    id = submit(GATE_SH)
    gate.await_run(1)
    daemon.run("log", "--follow", id, "--timeout", "300ms", check=124)
    gate.open(1)
    daemon.finish(id)


def test_as_documents_the_pieces_make_up_the_log(daemon, submit, gate):
    gate.shut(1)
    id = submit(SAYS.format("one"), GATE_SH, SAYS.format("two"))
    gate.await_run(1)
    following = follow(daemon, "--json", id)
    gate.open(1)
    status, out = end(following)
    pieces = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and len(pieces) > 1
    assert "".join(p["text"] for p in pieces).encode() == log_file(daemon, id)
    assert pieces[-1]["ended"] and [p["next"] for p in pieces] == sorted(p["next"] for p in pieces)
