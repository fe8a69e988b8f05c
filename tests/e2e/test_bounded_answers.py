"""What is larger than a message: a session of many large jobs, sent in several and sent again when the
connection breaks; a job whose document does not fit into the answer; pages and pieces as the client
puts them together."""

import json
import socket
import threading

import pytest

import harness
from wiretools import MIB, code_of, request

LATER = "2099-01-01T00:00:00Z"


@pytest.fixture
def large(tmp_path, repo, suite):
    """A job file of `sides` sides, each with 128 KiB of environment for its build; it never begins."""

    def write(name: str, sides: int = 2) -> str:
        variants = {"env": {f"V{i}": "\"" * 2000 + "v" * 2096 for i in range(32)}}
        sources = {f"side{i}": {"repo": str(repo), "rev": "slow", "variant": variants}
                   for i in range(sides)}
        path = harness.job_file(tmp_path / name, suite={"path": str(suite)}, sources=sources,
                                not_before=LATER)
        return str(path)

    return write


@pytest.fixture
def session_file(tmp_path, large):
    """A session of 6 jobs that need over 2 MiB together."""
    path = tmp_path / "session.json"
    job = large("large.json")
    path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "many",
                                "jobs": [{"path": job}] * 6}))
    return path


@pytest.fixture
def small(tmp_path):
    """A job file of a suite that needs no sources; it never begins."""
    suite = harness.make_suite(tmp_path / "small", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": harness.LANE_SH})
    return str(harness.job_file(tmp_path / "small.json", suite={"path": str(suite)}, not_before=LATER))


def queued(daemon) -> list[str]:
    return [row["id"] for row in daemon.sql("SELECT id FROM jobs ORDER BY number")]


def test_a_session_larger_than_a_message_is_opened_in_several(daemon, session_file):
    opened = daemon.json("session", "open", session_file)
    assert queued(daemon) == opened["jobs"] and len(opened["jobs"]) == 6
    size = daemon.sql("SELECT sum(length(document)) AS n FROM jobs")[0]["n"]
    print(f"{size / MIB:.1f} MiB of documents, in messages of at most 1 MiB")
    assert size > 2 * MIB
    shown = json.loads(daemon.run("session", "show", "many", "--json").stdout)
    assert [j["id"] for j in shown["jobs"]] == opened["jobs"] and shown["more"] is False
    daemon.run("session", "close", "many")


class Breaking:
    """Stands between client and daemon and breaks the first connection where it is told to: when the
    answer to the nth request of a method has come, and before the client has it."""

    def __init__(self, daemon, method: str, n: int):
        self.daemon, self.method, self.left, self.broken = daemon, f'"{method}"'.encode(), n, 0
        self.path = str(daemon.short / "between")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self) -> None:
        while True:
            client, _ = self.listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(str(self.daemon.socket))
            with client, server, client.makefile("rb") as asked, server.makefile("rb") as said:
                client.sendall(said.readline())
                while question := asked.readline():
                    if question == b"stop\n":
                        return
                    server.sendall(question)
                    answer = said.readline()
                    self.left -= self.method in question
                    if self.left == 0:
                        self.left, self.broken = -1, self.broken + 1
                        break
                    client.sendall(answer)

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.path)
            s.sendall(b"stop\n")
            self.thread.join()
        self.listener.close()


@pytest.mark.parametrize("method,n", [("session.open", 1), ("session.add", 3)])
def test_a_session_whose_connection_breaks_is_sent_again_and_is_one(daemon, session_file, method, n):
    between = Breaking(daemon, method, n)
    done = daemon.run("session", "open", "--json", session_file, env={"AURABENCH_SOCKET": between.path})
    between.close()
    assert between.broken == 1
    assert queued(daemon) == json.loads(done.stdout)["jobs"]
    assert len(queued(daemon)) == 6 and len(daemon.sql("SELECT id FROM sessions")) == 1
    daemon.run("session", "close", "many")


def test_a_job_that_is_refused_behind_the_first_message_is_named_and_the_others_stay(
        daemon, session_file, tmp_path, large):
    document = json.loads(session_file.read_text())
    bad = json.loads((tmp_path / "large.json").read_text())
    del bad["not_before"]
    bad["deadline"] = "2001-01-01T00:00:00Z"  # the daemon's clock is asked, not the client's
    (tmp_path / "bad.json").write_text(json.dumps(bad))
    document["jobs"][4] = {"path": str(tmp_path / "bad.json")}
    session_file.write_text(json.dumps(document))
    error = daemon.refused("session", "open", session_file)
    assert error["field"].startswith("jobs[4].") and error["code"] == "job.bad"
    assert "job 5 of the session" in error["message"]
    assert "session many is open with the jobs before that one" in error["message"]
    assert len(queued(daemon)) == 4
    daemon.run("session", "close", "many")


def test_a_job_with_a_document_of_almost_a_message_is_shown_whole(daemon, large):
    id = daemon.json("submit", large("huge.json", sides=4))["id"]
    wire = daemon.connect()
    wire.send(request("job.show", id=id))
    line = wire.file.readline()
    assert len(line) <= MIB and json.loads(line)["result"]["document"] is None
    wire.close()
    document = daemon.sql("SELECT document FROM jobs")[0]["document"]
    shown = daemon.show(id)
    print(f"a document of {len(document) >> 10} KiB; the answer without it has {len(line) >> 10} KiB")
    assert len(document) > 512 << 10
    assert shown["document"] == json.loads(document)
    assert "side3" in daemon.run("show", id).stdout
    daemon.run("cancel", id)


def test_sessions_are_listed_in_pages(daemon, tmp_path, small):
    for i in range(5):
        path = tmp_path / f"session{i}.json"
        path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": f"s{i}",
                                    "jobs": [{"path": small}] * 2}))
        daemon.json("session", "open", path)
    wire = daemon.connect()
    labels, before = [], {}
    while True:
        page = wire.call("session.list", limit=2, **before)["result"]
        labels += [s["label"] for s in page["sessions"]]
        assert set(page) == {"sessions", "more"} and len(page["sessions"]) <= 2
        assert all(s["jobs"] == 2 and s["over"] == 0 for s in page["sessions"])
        if not page["more"]:
            break
        before = {"before": page["sessions"][-1]["id"]}
    assert labels == ["s4", "s3", "s2", "s1", "s0"]
    listed = daemon.run("session", "list").stdout
    assert [line.split()[1] for line in listed.splitlines()[1:]] == labels
    first = wire.call("session.show", id="s0", limit=1)["result"]
    assert first["more"] is True and len(first["jobs"]) == 1
    rest = wire.call("session.show", id="s0", after=first["jobs"][0]["id"])["result"]
    assert rest["more"] is False and len(rest["jobs"]) == 1
    assert rest["jobs"][0]["id"] != first["jobs"][0]["id"]
    wire.close()
    for i in range(5):
        daemon.run("session", "close", f"s{i}")


def test_a_report_comes_in_pieces_of_one_text(daemon, compare):
    id = compare("--repetitions", 1)
    daemon.finish(id)
    wire = daemon.connect()
    for form in ("text", "markdown", "raw", "summary"):
        whole = wire.call("report.get", id=id, format=form)["result"]
        part = wire.call("report.get", id=id, format=form, offset=10)["result"]
        assert part["sha256"] == whole["sha256"] and part["total"] == whole["total"]
        beyond = wire.call("report.get", id=id, format=form, offset=10**9)["result"]
        assert beyond["data"] == "" and beyond["next"] == beyond["total"] == whole["total"]
    (daemon.evidence(id) / "raw.json").chmod(0o644)
    with (daemon.evidence(id) / "raw.json").open("r+") as raw:
        raw.write(" ")  # somebody is at it
    try:
        error = daemon.refused("report", id, "--format", "raw")
        assert error["code"] == "report.changed" and "aurabench verify" in error["message"]
    finally:
        with (daemon.evidence(id) / "raw.json").open("r+") as raw:
            raw.write("{")
    wire.close()


def test_a_session_has_200_jobs_at_most(daemon, tmp_path, small):
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "full",
                                "jobs": [{"path": small}] * 200}))
    ids = daemon.json("session", "open", path)["jobs"]
    assert len(queued(daemon)) == len(ids) == 200
    wire = daemon.connect()
    document = dict(daemon.show(ids[0])["document"], id="01HZZZZZZZZZZZZZZZZZZZZZZZ")
    assert code_of(wire.call("session.add", id="full", job=document)) == "session.full"
    wire.close()
    daemon.run("session", "close", "full")
