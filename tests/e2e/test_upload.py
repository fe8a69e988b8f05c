"""What a client sends before its job: arrives whole and as announced, or leaves no trace."""

import base64
import hashlib
import json
import resource
import threading

import pytest

import harness
from wiretools import code_of

CHUNK = 256 * 1024


def pack_of(*files: tuple[bytes, bytes, bytes]) -> bytes:
    """A packed suite of (path, mode, content)."""
    return b"aurabench-suite-pack 1\n" + b"".join(
        path + b"\0" + mode + b"\0" + b"%d\0" % len(data) + data for path, mode, data in files)


def plain(path: bytes, data: bytes = b"x") -> tuple[bytes, bytes, bytes]:
    return (path, b"100644", data)


SUITE = plain(b"suite.json", json.dumps({
    "schema": "aurabench.suite.v1", "name": "sent", "workloads": [
        {"name": "true", "measure": "process", "stdout": "",
         "lanes": {"only": {"command": ["/bin/true"]}}}]}).encode())


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def begin(wire, data: bytes, kind="suite", **changes) -> dict:
    return wire.call("upload.begin",
                     **{"kind": kind, "bytes": len(data), "sha256": sha(data), **changes})


def chunk(wire, data: bytes, offset=0) -> dict:
    return wire.call("upload.chunk", offset=offset, data=base64.b64encode(data).decode())


def send(wire, data: bytes, kind="suite", **changes) -> dict:
    """The whole of it; the answer to the end."""
    begun = begin(wire, data, kind, **changes)
    assert begun["result"] == {"upload": True}, begun
    for at in range(0, len(data), CHUNK):
        piece = data[at:at + CHUNK]
        assert chunk(wire, piece, at)["result"] == {"received": at + len(piece)}
    return wire.call("upload.end")


def kept(daemon) -> set[str]:
    """What stands in the places that uploads reach."""
    return {f"{place}/{entry.name}" for place in ("uploads", "suites")
            for entry in (daemon.state / place).iterdir()}


@pytest.fixture
def wire(daemon):
    w = daemon.connect()
    yield w
    w.close()


def test_a_suite_is_taken_and_not_wanted_twice(daemon, wire):
    data = pack_of(SUITE)
    assert send(wire, data)["result"] == {"sha256": sha(data)}
    assert kept(daemon) == {f"suites/{sha(data)}"}
    assert begin(wire, data)["result"] == {"upload": False}
    # Not wanted means: nothing has begun.
    assert code_of(wire.call("upload.end")) == "upload.none"


def test_a_large_suite_moves_in_chunks_of_256_kib(daemon, wire):
    data = pack_of(plain(b"big", bytes(range(256)) * 4097), SUITE)
    assert send(wire, data)["result"] == {"sha256": sha(data)}


def test_a_chunk_over_256_kib_is_refused(daemon, wire):
    data = pack_of(plain(b"big", b"z" * (2 * CHUNK)), SUITE)
    begin(wire, data)
    assert code_of(chunk(wire, data[:CHUNK + 1])) == "upload.too_much"
    # Nothing of it was taken: the right chunk still fits.
    assert chunk(wire, data[:CHUNK])["result"] == {"received": CHUNK}


def test_bytes_with_another_hash_are_refused(daemon, wire):
    data = pack_of(SUITE)
    begin(wire, data, sha256=sha(b"something else"))
    chunk(wire, data)
    answer = wire.call("upload.end")
    assert code_of(answer) == "upload.hash" and answer["error"]["data"]["field"] == "sha256"
    assert kept(daemon) == set()


def test_fewer_bytes_than_announced_are_refused(daemon, wire):
    data = pack_of(SUITE)
    begin(wire, data, bytes=len(data) + 1)
    chunk(wire, data)
    answer = wire.call("upload.end")
    assert code_of(answer) == "upload.short"
    assert f"{len(data)} of {len(data) + 1} bytes" in answer["error"]["message"]
    assert kept(daemon) == set()


def test_more_bytes_than_announced_are_refused(daemon, wire):
    data = pack_of(SUITE)
    begin(wire, data, bytes=len(data) - 1)
    assert code_of(chunk(wire, data)) == "upload.too_much"


@pytest.mark.parametrize("offset", [1, 0, 5, 2**40])
def test_a_chunk_begins_where_the_last_one_ended(daemon, wire, offset):
    data = pack_of(SUITE)
    begin(wire, data)
    if offset != 1:
        chunk(wire, data[:2])
    answer = chunk(wire, data[2:], offset)
    assert code_of(answer) in ("upload.offset", "json.range")
    assert answer["error"]["data"]["field"] == "offset"


@pytest.mark.parametrize("text", ["QUI", "QUJD=", "QU JD", "QUJDRB==", "QUJD\n", "!!!!", "QUJDRA"])
def test_a_chunk_is_base_64_without_stray_bits(daemon, wire, text):
    begin(wire, pack_of(SUITE))
    answer = wire.call("upload.chunk", offset=0, data=text)
    assert code_of(answer) == "upload.data"


def test_chunk_and_end_need_a_begin(daemon, wire):
    assert code_of(chunk(wire, b"abc")) == "upload.none"
    assert code_of(wire.call("upload.end")) == "upload.none"


def test_a_second_begin_drops_the_first(daemon, wire):
    first, second = pack_of(plain(b"a"), SUITE), pack_of(plain(b"b"), SUITE)
    begin(wire, first)
    chunk(wire, first[:10])
    assert send(wire, second)["result"] == {"sha256": sha(second)}
    assert kept(daemon) == {f"suites/{sha(second)}"}


def test_an_upload_belongs_to_its_connection(daemon, wire):
    data = pack_of(SUITE)
    begin(wire, data)
    other = daemon.connect()
    assert code_of(chunk(other, data)) == "upload.none"
    other.close()
    assert chunk(wire, data)["result"]


def test_a_connection_that_breaks_leaves_no_file(daemon, wire):
    data = pack_of(SUITE)
    doomed = daemon.connect()
    begin(doomed, data)
    chunk(doomed, data[:100])
    assert len(kept(daemon)) == 1
    doomed.close()
    harness.wait_for(lambda: kept(daemon) == set(), "the half upload to go")
    assert "result" in wire.call("daemon.status")


def test_what_a_killed_daemon_left_of_an_upload_is_cleared(daemon):
    doomed = daemon.connect()
    begin(doomed, pack_of(SUITE))
    daemon.kill()
    assert len(kept(daemon)) == 1
    daemon.start()
    assert kept(daemon) == set()
    doomed.close()


@pytest.mark.parametrize("changes,code,field", [
    ({"kind": "tar"}, "upload.kind", "kind"),
    ({"bytes": 0}, "json.range", "bytes"),
    ({"bytes": -5}, "json.range", "bytes"),
    ({"bytes": 64 * 1024 * 1024 + 1}, "suite.too_large", "bytes"),
    ({"kind": "bundle", "bytes": 2**50}, "json.range", "bytes"),
    ({"sha256": "0" * 63}, "json.value", "sha256"),
    ({"sha256": "G" * 64}, "json.value", "sha256"),
    ({"sha256": "A" * 64}, "json.value", "sha256"),
    ({"sha256": "../../../../../../../etc/passwd"}, "json.value", "sha256"),
    ({"kind": "bundle", "commits": ["main"]}, "source.unresolved", "commits"),
    ({"kind": "bundle", "commits": ["--all"]}, "source.unresolved", "commits"),
    ({"kind": "bundle", "commits": ["0" * 40] * 65}, "json.too_long", "commits"),
])
def test_a_bad_announcement_is_refused(daemon, wire, changes, code, field):
    answer = begin(wire, b"x", **changes)
    assert code_of(answer) == code and answer["error"]["data"]["field"] == field, answer
    assert kept(daemon) == set()


HOSTILE = {
    "no pack": b"PK\x03\x04" + b"\0" * 100,
    "another version": b"aurabench-suite-pack 2\n",
    "a path that leads out": pack_of(plain(b"../../escaped"), SUITE),
    "a path that leads out below": pack_of(plain(b"a/../../../escaped"), SUITE),
    "an absolute path": pack_of(plain(b"/tmp/escaped"), SUITE),
    "an empty path": pack_of(plain(b""), SUITE),
    "a folder of git": pack_of(plain(b".git/config"), SUITE),
    "a point": pack_of(plain(b"./a"), SUITE),
    "two slashes": pack_of(plain(b"a//b"), SUITE),
    "a control character": pack_of(plain(b"a\nb"), SUITE),
    "no UTF-8": pack_of(plain(b"a\xff"), SUITE),
    "a long path": pack_of(plain(b"a" * 1025), SUITE),
    "a link": pack_of((b"link", b"120000", b"/etc/passwd"), SUITE),
    "a set-uid program": pack_of((b"prog", b"104755", b"x"), SUITE),
    "the same path twice": pack_of(SUITE, SUITE),
    "a file that is a folder": pack_of(plain(b"a"), plain(b"a/b"), SUITE),
    "not sorted": pack_of(SUITE, plain(b"a")),
    "a size that is too large": b"aurabench-suite-pack 1\na\x00100644\x00999999999\x00x",
    "a size with zeros": b"aurabench-suite-pack 1\na\x00100644\x0001\x00x",
    "a negative size": b"aurabench-suite-pack 1\na\x00100644\x00-1\x00x",
    "bytes behind the end": pack_of(SUITE) + b"x",
    "a cut pack": pack_of(SUITE)[:-1],
}


def test_a_hostile_pack_is_refused_and_nothing_of_it_is_kept(daemon, wire):
    for name, data in HOSTILE.items():
        assert code_of(send(wire, data)) == "suite.pack_bad", name
        assert kept(daemon) == set(), name
    assert not list(daemon.folder.rglob("escaped*"))


def test_a_pack_without_suite_json_is_no_suite(daemon, wire):
    assert code_of(send(wire, pack_of(plain(b"readme")))) == "suite.not_found"
    assert kept(daemon) == set()


def job_of(suite: bytes, **changes) -> dict:
    return {"schema": "aurabench.job.v1", "id": "01HZZZZZZZZZZZZZZZZZZZZZZZ",
            "suite": {"name": "sent", "sha256": sha(suite)}, "policy": "standard", "run": False,
            **changes}


@pytest.mark.parametrize("text,code", [
    (b"", "json.bad"),
    (b"[]", "json.type"),
    (b"[" * 100000, "json.bad"),
    (b'{"schema":"aurabench.suite.v1"}', "json.missing"),
    (b'{"schema":"aurabench.suite.v9","name":"sent"}', "json.schema"),
])
def test_a_suite_whose_json_is_bad_is_refused_with_the_job(daemon, wire, text, code):
    data = pack_of(plain(b"suite.json", text))
    send(wire, data)
    assert code_of(wire.call("job.submit", job=job_of(data))) == code
    assert daemon.json("list")["jobs"] == []


def test_a_job_needs_its_suite_and_its_commits(daemon, wire):
    data = pack_of(SUITE)
    assert code_of(wire.call("job.submit", job=job_of(data))) == "suite.not_here"
    send(wire, data)
    side = {"repo": "/r", "rev": "main", "commit": "1" * 40}
    answer = wire.call("job.submit", job=job_of(data, sources={"before": side, "after": side}))
    assert code_of(answer) == "source.missing_commit"
    assert answer["error"]["data"]["field"] == "sources.before.commit"
    assert daemon.json("list")["jobs"] == []


# ---- bundles


def bundle_of(repo, *revs) -> bytes:
    path = repo.parent / "sent.bundle"
    harness.git(repo, "bundle", "create", "-q", "--version=2", str(path), *revs)
    return path.read_bytes()


def commit_of(repo, rev) -> str:
    return harness.git(repo, "rev-parse", rev)


def test_a_bundle_is_taken_and_its_commits_are_then_here(daemon, wire, repo):
    ids = [commit_of(repo, "slow"), commit_of(repo, "fast")]
    assert wire.call("source.missing", commits=ids)["result"] == {"missing": ids, "tips": []}
    data = bundle_of(repo, "main")
    assert send(wire, data, "bundle", commits=ids)["result"] == {"sha256": sha(data)}
    here = wire.call("source.missing", commits=ids)["result"]
    assert here["missing"] == [] and set(here["tips"]) == set(ids)
    assert begin(wire, data, "bundle", commits=ids)["result"] == {"upload": False}
    assert kept(daemon) == set()


def test_a_bundle_that_is_bad_is_refused_and_nothing_of_it_is_kept(daemon, wire, repo):
    good, head = bundle_of(repo, "main"), commit_of(repo, "main")
    damaged = bytearray(good)
    damaged[-40] ^= 0xFF
    bad = {
        "noise": bytes(range(256)) * 64,
        "a text": b"# v2 git bundle\n",
        "no end": good[:-20],
        "a flipped bit": bytes(damaged),
        "another commit": good,
    }
    for name, data in bad.items():
        commit = "1" * 40 if name == "another commit" else head
        assert code_of(send(wire, data, "bundle", commits=[commit])) == "source.bundle_bad", name
        assert wire.call("source.missing", commits=[head])["result"] == {
            "missing": [head], "tips": []}, name
    assert send(wire, good, "bundle", commits=[head])["result"]


def test_a_bundle_that_lacks_its_base_is_refused(daemon, wire, repo):
    part = bundle_of(repo, "slow..main")
    answer = send(wire, part, "bundle", commits=[commit_of(repo, "main")])
    assert code_of(answer) == "source.bundle_bad"


def test_many_connections_may_send_at_the_same_time(daemon, repo, tmp_path):
    packs = [pack_of(plain(b"a%d" % i, b"y" * 200_000), SUITE) for i in range(8)]
    repos = [harness.make_repo(tmp_path / f"r{i}", {"one": {"f": f"{i}\n" * 1000}})
             for i in range(4)]
    errors = []

    def try_to(what):
        def run():
            wire = daemon.connect()
            answer = what(wire)
            if "result" not in answer:
                errors.append(answer)
            wire.close()
        return run

    jobs = [try_to(lambda w, p=p: send(w, p)) for p in packs]
    for i, ids in enumerate(repos):
        folder = tmp_path / f"r{i}"
        folder_bundle = folder / "b"
        harness.git(folder, "bundle", "create", "-q", "--version=2", str(folder_bundle), "main")
        data = folder_bundle.read_bytes()
        jobs.append(try_to(lambda w, d=data, c=ids["one"]: send(w, d, "bundle", commits=[c])))
    threads = [threading.Thread(target=job) for job in jobs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert errors == []
    assert kept(daemon) == {f"suites/{sha(p)}" for p in packs}


def check_half_a_chunk(daemon) -> None:
    wire = daemon.connect()
    data = pack_of(plain(b"large", b"x" * (8 * CHUNK)), SUITE)
    before = resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE)
    assert begin(wire, data)["result"] == {"upload": True}
    for at in range(0, 7 * CHUNK, CHUNK):
        chunk(wire, data[at:at + CHUNK], at)
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (8 * CHUNK - 1000, before[1]))
    answer = chunk(wire, data[7 * CHUNK:8 * CHUNK], 7 * CHUNK)
    assert code_of(answer) == "system.write" and "File too large" in answer["error"]["message"]
    resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, before)
    assert code_of(chunk(wire, data[7 * CHUNK:8 * CHUNK], 7 * CHUNK)) == "upload.none"
    assert kept(daemon) == set()
    assert send(wire, data)["result"] == {"sha256": sha(data)}
    wire.close()


def test_after_a_chunk_that_the_disk_took_in_part_all_is_sent_again(tmp_path, fake_host, monkeypatch):
    daemon_program = tmp_path / "aurabenchd"  # the limit is an error to it, not its end
    daemon_program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec {harness.DAEMON} --runner"
                              f" {harness.BUILD}/aurabench-runner \"$@\"\n")
    daemon_program.chmod(0o755)
    monkeypatch.setattr(harness, "DAEMON", daemon_program)
    daemon = harness.Daemon(tmp_path, fake_host).start()
    try:
        check_half_a_chunk(daemon)
    finally:
        daemon.close()
