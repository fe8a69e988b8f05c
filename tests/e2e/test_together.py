"""Submits that arrive together are stored by one commit; each is answered as if it had come alone."""

import json
import os

import pytest

import harness

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def ulid(n: int) -> str:
    digits = ""
    for _ in range(10):
        digits, n = ALPHABET[n % 32] + digits, n // 32
    return "01K0000000000000" + digits


@pytest.fixture
def document(daemon, suite, tmp_path):
    """A job's document as the daemon has it, behind a burner, so that nothing begins."""
    daemon.fake.burner()
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(harness.tiny_suite(tmp_path / "own", lanes={
        "subject": {"command": ["{suite}/control.py"], "cpus": 1}}))})
    return daemon.show(daemon.json("submit", job)["id"])["document"]


def submit(n: int, document: dict, **changes) -> bytes:
    return request(n, "job.submit", job={**document, "id": ulid(n), **changes})


def request(n: int, method: str, **params) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode() + b"\n"


def answers(wire, n: int) -> list[dict]:
    return [wire.receive() for _ in range(n)]


def stored(daemon) -> set[str]:
    return {row["id"] for row in daemon.sql("SELECT id FROM jobs WHERE id LIKE '01K0000000000000%'")}


def test_five_hundred_submits_in_one_write_are_answered_in_order_and_stored_once(daemon, document):
    wire = daemon.connect()
    wire.send(b"".join(submit(n, document) for n in range(500)))
    got = answers(wire, 500)
    assert [a["id"] for a in got] == list(range(500))
    assert [a["result"]["id"] for a in got] == [ulid(n) for n in range(500)]
    assert stored(daemon) == {ulid(n) for n in range(500)}
    # Sent again in the same way, each is the same job.
    wire.send(b"".join(submit(n, document) for n in range(500)))
    assert all(a["result"]["duplicate"] for a in answers(wire, 500))
    assert len(stored(daemon)) == 500


def test_a_bad_one_among_them_fails_alone(daemon, document):
    wire = daemon.connect()
    wire.send(submit(1, document) + submit(2, document, priority=1000) + b"no json\n" +
              submit(3, document, policy="none-such") + submit(1, document, label="another") + submit(4, document))
    got = answers(wire, 6)
    codes = [a.get("error", {}).get("data", {}).get("code") for a in got]
    assert codes[0] is None and codes[5] is None
    assert codes[2] is not None and codes[2].startswith(("json.", "rpc.")), codes
    assert codes[3:5] == ["policy.not_found", "job.exists_differs"], codes
    assert codes[1] is not None
    assert stored(daemon) == {ulid(1), ulid(4)}


def test_what_is_asked_between_them_sees_those_before_it_and_none_behind(daemon, document):
    wire = daemon.connect()
    wire.send(submit(1, document) + request(90, "job.list", limit=5) + submit(2, document) +
              request(91, "job.list", limit=5))
    got = answers(wire, 4)
    assert [a["id"] for a in got] == [1, 90, 2, 91]
    first, second = ([job["id"] for job in got[i]["result"]["jobs"]] for i in (1, 3))
    assert first[0] == ulid(1) and ulid(2) not in first
    assert second[:2] == [ulid(2), ulid(1)]


def test_two_connections_do_not_wait_for_each_others_lines(daemon, document):
    one, two = daemon.connect(), daemon.connect()
    half = submit(2, document)
    one.send(submit(1, document) + half[:20])
    assert answers(one, 1)[0]["id"] == 1
    two.send(submit(3, document))
    assert answers(two, 1)[0]["id"] == 3
    one.send(half[20:])
    assert answers(one, 1)[0]["id"] == 2


def test_a_connection_that_closes_at_once_loses_nothing_that_it_sent_whole(daemon, document):
    wire = daemon.connect()
    wire.send(b"".join(submit(n, document) for n in range(50)))
    wire.close()
    harness.wait_for(lambda: len(stored(daemon)) == 50, "50 jobs of a connection that is gone")


def test_what_was_answered_is_there_after_a_kill(daemon, document):
    wire = daemon.connect()
    wire.send(b"".join(submit(n, document) for n in range(400)))
    answered = {a["result"]["id"] for a in answers(wire, 150)}
    daemon.kill()
    assert answered <= stored(daemon)
    daemon.start()
    assert answered <= stored(daemon)


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="needs a limit on the size of files")
def test_a_disk_that_fails_fails_all_that_came_together_and_later_ones_are_stored(daemon, document):
    resource = pytest.importorskip("resource")
    wire = daemon.connect()
    big = "x" * 60  # labels: so that the log of the database has to grow
    limit = (daemon.state / "aurabench.db-wal").stat().st_size + 3 * 4096
    before = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    wire.send(b"".join(submit(n, document, label=big) for n in range(120)))
    got = answers(wire, 120)
    assert [a["id"] for a in got] == list(range(120))
    failed = {a["id"] for a in got if "error" in a}
    assert failed, "the limit was not met"
    assert all(a["error"]["data"]["code"] in ("store.full", "store.io") for a in got if "error" in a)
    assert stored(daemon) == {ulid(n) for n in range(120) if n not in failed}
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, before)
    wire.send(b"".join(submit(n, document, label=big) for n in range(120)))
    assert all("result" in a for a in answers(wire, 120))
    assert len(stored(daemon)) == 120
