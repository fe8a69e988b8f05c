"""What the daemon answers is what proto/protocol.md says under "Results": these members and no others."""

import base64
import hashlib
import json
import pathlib
import re
import sqlite3

import jsonschema
import pytest

import harness
from test_upload import SUITE, begin, chunk, pack_of

PROTOCOL = (harness.ROOT / "proto/protocol.md").read_text()
SCHEMAS = harness.ROOT / "proto/schema"


def documented() -> dict[str, set[str]]:
    """Section -> paths of the members that its table names."""
    text = PROTOCOL.split("\n## Results\n")[1].split("\n## ")[0]
    sections = {}
    for section in text.split("\n### ")[1:]:
        title, body = section.split("\n", 1)
        rows = re.findall(r"^\| (`[^|]*) \|", body, re.M)
        sections[title] = {name for row in rows for name in re.findall(r"`([^`]+)`", row)}
    return sections


DOCUMENTED = documented()


class Seen:
    """The members seen of one section; members that the table does not open are taken as they are."""

    def __init__(self, title: str):
        self.title, self.members, self.seen = title, DOCUMENTED[title], set()

    def walk(self, value, path="") -> None:
        if isinstance(value, list):
            for item in value:
                self.walk(item, path + "[]")
        elif isinstance(value, dict) and self.is_open(path):
            expected = self.below(path)
            assert set(value) == expected, f"{self.title} {path}: {set(value) ^ expected}"
            for key, member in value.items():
                self.seen.add(self.join(path, key))
                self.walk(member, self.join(path, key))

    @staticmethod
    def join(path: str, key: str) -> str:
        return f"{path}.{key}" if path else key

    def below(self, path: str) -> set[str]:
        head = path + "." if path else ""
        return {re.split(r"[.\[]", name[len(head):])[0] for name in self.members
                if name.startswith(head)}

    def is_open(self, path: str) -> bool:
        return bool(self.below(path))

    def check_complete(self) -> None:
        assert self.seen == self.members, f"{self.title}: never seen {self.members - self.seen}"


class Answers:
    """Every answer of one connection, held against the document."""

    def __init__(self, wire):
        self.wire, self.sections = wire, {title: Seen(title) for title in DOCUMENTED}

    def call(self, method: str, **params) -> dict:
        answer = self.wire.call(method, **params)
        assert set(answer) == {"jsonrpc", "id", "result"}, answer
        self.take(method, answer["result"])
        return answer["result"]

    def take(self, title: str, value: dict) -> None:
        self.sections[title].walk(value)
        for job in value.get("jobs", []) if title == "job.list" else []:
            self.sections["A job"].walk(job)
        if title in ("job.show", "job.watch"):
            self.sections["A job"].walk(value["job"])

    def check_complete(self, *titles: str) -> None:
        for title in titles:
            self.sections[title].check_complete()


@pytest.fixture
def answers(daemon):
    wire = daemon.connect()
    yield Answers(wire)
    wire.close()


def check_against(schema: str, place: str | None, value) -> None:
    document = json.loads((SCHEMAS / f"{schema}.json").read_text())
    rule = {"$ref": f"#/$defs/{place}", "$defs": document["$defs"]} if place else document
    jsonschema.Draft202012Validator(rule).validate(value)


def check_phase(value) -> None:
    check_against("host", "inventory", value["inventory"])
    check_against("host", "conditions", value["conditions"])


def test_the_document_names_every_method_and_no_other():
    methods = set(re.findall(r"^`((?:\w+)\.(?:\w+)) \{", PROTOCOL, re.M))
    assert methods | {"job.event", "daemon.event", "A job"} == set(DOCUMENTED)
    source = (harness.ROOT / "daemon/api/api.c").read_text()
    assert methods == set(re.findall(r'^    \{"([\w.]+)", api_', source, re.M))


def test_the_document_names_the_parameters_of_every_method():
    source = (harness.ROOT / "daemon/api/api.c").read_text()
    table = dict(re.findall(r'\{"([\w.]+)", api_\w+, KEYS\(([^)]*)\)\}', source))
    written = dict(re.findall(r"^`((?:\w+)\.(?:\w+)) \{([^}]*)\}`", PROTOCOL, re.M))
    for method, keys in table.items():
        names = [name.strip().rstrip("?") for name in written[method].split(",") if name]
        assert names == re.findall(r'"(\w+)"', keys), method


def test_the_check_finds_a_member_too_many_and_one_too_few():
    answer = {"id": "x", "state": "done", "duplicate": False}
    Seen("job.submit").walk(answer)
    with pytest.raises(AssertionError):
        Seen("job.submit").walk({**answer, "more": 1})
    with pytest.raises(AssertionError):
        Seen("job.submit").walk({"id": "x", "state": "done"})
    job = {"jobs": [], "more": False}
    half = Seen("job.show")
    half.walk({key: None for key in half.below("")})
    with pytest.raises(AssertionError):
        half.check_complete()
    assert job


def test_host_and_daemon_answer_as_documented(answers, fake_host):
    shown = answers.call("host.show")
    check_against("host", "identity", shown["host"])
    check_against("host", "boot", shown["boot"])
    check_against("host", "facts", shown["facts"])
    assert {p["name"] for p in shown["policies"]} == {"standard", "virtual", "strict"}
    for policy in shown["policies"]:
        check_against("host", "conditions", policy["conditions"])
    fake_host.burner()
    quiet = answers.call("host.quiet", policy=harness.quick_policy())
    assert (quiet["policy"], quiet["state"], quiet["met"]) == ("quick", "busy", "PASS")
    check_phase(quiet)
    check_against("host", "facts", quiet["facts"])
    assert quiet["inventory"]["competitors"][0]["pid"] == 4711
    fake_host.quiet()
    assert answers.call("host.calibrate", quick=True)["calibration"]["asked"]
    harness.wait_for(lambda: answers.call("host.calibration")["found"], "a calibration")
    assert answers.call("daemon.watch")["calibration"]["latest"]
    answers.check_complete("host.show", "host.quiet", "host.calibrate", "host.calibration")


def test_uploads_answer_as_documented(answers, repo):
    data = pack_of(SUITE)
    answers.take("upload.begin", begin(answers.wire, data)["result"])
    answers.take("upload.chunk", chunk(answers.wire, data)["result"])
    answers.call("upload.end")
    missing = answers.call("source.missing", commits=["0" * 40])
    assert missing == {"missing": ["0" * 40], "tips": []}
    answers.check_complete("upload.begin", "upload.chunk", "upload.end", "source.missing")


def test_jobs_answer_as_documented(daemon, answers, fake_host, repo, policy, tmp_path):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(
        tmp_path / "gated", [harness.protocol({"subject": {"command": ["{source}/run.py"]},
                                               "only": {"command": ["{suite}/lane.sh"],
                                                        "control": True}})],
        {"gate.sh": harness.GATE_SH, "lane.sh": harness.LANE_SH}, env=gate.env(),
        suite_build=[["{suite}/gate.sh"]])
    bad = harness.make_suite(
        tmp_path / "bad", [harness.protocol({"subject": {"command": ["{source}/run.py"]}},
                                            done="DONE tiny 43")])
    common = ("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--policy", policy,
              "--repetitions", 1, "--suite")

    # A job that runs: stopped in its build.
    gate.shut(1)
    good = daemon.json(*common, suite)["id"]
    gate.await_run(1)
    status = answers.call("daemon.status")
    assert status["active"]["job"] == good and status["active"]["state"] == "preparing"
    assert answers.call("job.watch", id=good)["job"]["progress"]["step"]
    gate.open(1)
    while True:
        event = answers.wire.receive()
        assert event["method"] == "job.event"
        answers.take("job.event", event["params"])
        if event["params"]["final"]:
            break
    # One that failed, one that is refused.
    failed = daemon.json(*common, bad, "--notify", "/bin/false")["id"]
    daemon.finish(failed)
    harness.wait_for(lambda: (daemon.show(failed)["hooks"][0]["last"] or {}).get("ended_ms"), "the hook")
    fake_host.burner()
    refused = daemon.json(*common, bad)["id"]
    daemon.until(refused, "waiting")

    shown = answers.call("job.show", id=good)
    check_against("job", None, shown["document"])
    assert [p["phase"] for p in shown["phases"]] == ["before_build", "before_timing", "after_timing"]
    for phase in shown["phases"]:
        check_phase(phase)
    assert [h["to"] for h in shown["history"]] == ["queued", "preparing", "measuring", "verifying",
                                                   "done"]
    assert answers.call("job.show", id=failed)["job"]["error"]["code"] == "lane.done_wrong"
    assert answers.call("job.show", id=refused)["refusal"]["phase"] == "before_build"
    assert [j["id"] for j in answers.call("job.list")["jobs"]] == [refused, failed, good]
    assert answers.call("job.list", limit=1, before=refused) == {
        "jobs": [answers.call("job.show", id=failed)["job"]], "more": True}
    assert answers.call("job.list", states=["waiting", "held"])["jobs"][0]["id"] == refused
    again = answers.call("job.submit", job=shown["document"], policy=harness.quick_policy())
    assert again == {"id": good, "state": "done", "duplicate": True}
    # One on hold that comes after the one that is refused.
    ulid = "01J9Z3K4M5N6P7Q8R9S0T1V2W3"
    document = {**shown["document"], "id": ulid, "after": [{"job": refused, "on": "any"}]}
    held = answers.call("job.submit", job=document, policy=harness.quick_policy(), hold=True)
    assert held == {"id": ulid, "state": "held", "duplicate": False}
    assert answers.call("job.find", ids=[ulid[-6:].lower()]) == {"ids": [ulid]}
    assert answers.call("job.show", id=ulid)["after"][0]["open"] is True
    assert [f["job"] for f in answers.call("job.show", id=refused)["followers"]] == [ulid]
    assert answers.call("job.list", blocked=True)["jobs"][0]["id"] == ulid
    now = {"id": ulid, "state": "held", "changed": True}
    assert answers.call("job.hold", id=ulid) == {**now, "changed": False}
    assert answers.call("job.edit", id=ulid, changes={"priority": 3, "after": []}) == now
    check_against("job", None, answers.call("job.show", id=ulid)["document"])
    assert answers.call("job.cancel", id=ulid)["state"] == "cancelled"
    assert answers.call("job.rerun", id=ulid, hold=True, changes={"label": "again"}) == now
    assert answers.call("job.cancel", id=refused) == {"id": refused, "state": "cancelled"}
    fake_host.quiet()
    assert answers.call("job.release", id=ulid) == {**now, "state": "queued"}
    assert daemon.finish(ulid)["job"]["state"] == "done"

    whole = base64.b64decode(answers.call("job.log", id=good)["data"])
    part = answers.call("job.log", id=good, offset=10, limit=20)
    assert base64.b64decode(part["data"]) == whole[10:30]
    assert (part["next"], part["total"], part["ended"]) == (30, len(whole), True)
    behind = answers.call("job.log", id=good, offset=10**9)
    assert (behind["data"], behind["next"], behind["total"]) == ("", 10**9, len(whole))

    for form in ("text", "markdown", "summary", "raw"):
        assert answers.call("report.get", id=good, format=form)["attempt"]
    raw = answers.call("report.get", id=good, format="raw", offset=100)
    assert base64.b64decode(raw["data"]) == (daemon.evidence(good) / "raw.json").read_bytes()[100:]
    answers.check_complete("daemon.status", "job.submit", "job.list", "job.show", "job.cancel",
                           "job.find", "job.hold",
                           "job.watch", "job.event", "job.log", "report.get", "A job")


def test_sessions_answer_as_documented(daemon, answers, fake_host, compare):
    document = daemon.show(compare("--repetitions", 1))["document"]
    policy = harness.quick_policy(retry={"every": "1s", "limit": 1000})
    ids = ["01HZZZZZZZZZZZZZZZZZZZZZZ" + c for c in "AB"]
    jobs = [dict(document, id=id) for id in ids]
    fake_host.burner()
    opened = answers.call("session.open", jobs=[{"job": jobs[0], "policy": policy}], session={
        "schema": "aurabench.session.v1", "id": "01HZZZZZZZZZZZZZZZZZZZZZZS", "label": "s"})
    assert opened == {"id": "01HZZZZZZZZZZZZZZZZZZZZZZS", "duplicate": False, "jobs": ids[:1]}
    assert answers.call("session.add", id="s", job=jobs[1], policy=policy)["id"] == ids[1]
    for id in ids:
        daemon.until(id, "waiting")
    fake_host.quiet()
    for id in ids:
        assert daemon.finish(id)["job"]["state"] == "done"
    shown = answers.call("session.show", id="s")
    assert [j["id"] for j in shown["jobs"]] == ids and shown["more"] is False
    assert answers.call("session.list")["sessions"][0]["over"] == 2
    assert answers.call("report.page", session="s")["total"] > 0
    assert answers.call("session.close", id="s")["cancelled"] == 0
    page = answers.call("session.report", id="s")
    sealed = pathlib.Path(answers.call("session.show", id="s")["session"]["evidence"]) / "page.md"
    assert base64.b64decode(page["data"]) == sealed.read_bytes()
    assert page["sha256"] == hashlib.sha256(sealed.read_bytes()).hexdigest()
    text = base64.b64decode(answers.call("job.document", id=ids[0])["data"])
    assert json.loads(text) == daemon.show(ids[0])["document"]
    answers.check_complete("session.open", "session.show", "session.list", "session.close",
                           "session.report", "report.page", "job.document")


def test_job_methods_refuse_what_does_not_fit(daemon, answers, compare):
    job = compare("--repetitions", 1)
    daemon.finish(job)
    wire = answers.wire
    for method, params, code, field in [
        ("job.show", {"id": "0123456789"}, "job.not_found", "id"),
        ("job.show", {"id": "abc"}, "job.bad_id", "id"),
        ("job.show", {"id": "' OR 1=1 --"}, "job.bad_id", "id"),
        ("job.cancel", {"id": job}, "job.bad_state", "id"),
        ("job.find", {"ids": [job, "0123456789"]}, "job.not_found", "ids[1]"),
        ("job.find", {"ids": [job] * 65}, "json.too_long", "ids"),
        ("job.hold", {"id": job}, "job.bad_state", "id"),
        ("job.edit", {"id": job}, "json.missing", "changes"),
        ("job.edit", {"id": job, "changes": {}}, "job.bad", "changes"),
        ("job.edit", {"id": job, "changes": {"repetitions": 2}}, "json.unknown_key",
         "changes.repetitions"),
        ("job.rerun", {"id": job, "changes": {"after": [{"job": "0123456789ABCDEFGHJKMNPQRS"}]}},
         "job.not_found", "after[0].job"),
        ("report.get", {"id": job, "attempt": 7, "format": "text"}, "attempt.not_found", "attempt"),
        ("report.get", {"id": job, "attempt": 0, "format": "text"}, "json.range", "attempt"),
        ("job.list", {"limit": 0}, "json.range", "limit"),
        ("job.list", {"limit": 1000}, "json.range", "limit"),
        ("job.list", {"before": "nothing"}, "job.not_found", "before"),
        ("job.list", {"states": ["finished"]}, "job.unknown_state", "states"),
        ("job.log", {"id": job, "offset": -1}, "json.range", "offset"),
        ("job.log", {"id": job, "limit": 262145}, "json.range", "limit"),
        ("report.get", {"id": job, "format": "html"}, "json.value", "format"),
        ("report.get", {"id": job, "format": "text", "width": 5}, "json.range", "width"),
    ]:
        answer = wire.call(method, **params)
        data = answer["error"]["data"]
        assert (data["code"], data["field"]) == (code, field), (method, params, answer)


@pytest.mark.parametrize("daemon", [["--listen-every", "500ms"]], ids=["listens-often"], indirect=True)
def test_a_report_is_not_rendered_while_a_lane_is_timed(daemon, compare, tmp_path):
    policy = tmp_path / "patient.json"
    policy.write_text(json.dumps(harness.quick_policy(ready_timeout="100s")))
    done = compare("--repetitions", 1)
    daemon.finish(done)
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(
        tmp_path / "gated", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
        {"lane": harness.GATE_LANE}, env=gate.env())
    gate.shut(1)
    file = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    timed = daemon.json("submit", file, "--policy", policy)["id"]
    gate.await_run(1)
    asking = daemon.connect()
    asking.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "report.get",
                            "params": {"id": done, "format": "text"}}).encode() + b"\n")
    other = daemon.connect()  # which is answered: the loop has turned, and heard the question
    assert other.call("daemon.status")["result"]["active"]["job"] == timed
    other.close()
    asking.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        asking.socket.recv(1)
    asking.socket.settimeout(harness.PATIENCE_S)
    gate.open(1)
    assert asking.receive()["result"]["attempt"]
    asking.close()
    assert daemon.finish(timed)["job"]["state"] == "done"


def add_rows(daemon, job: str, history: int, attempts: int) -> None:
    """As if the job had waited for weeks: rows of refusals written beside the daemon."""
    db = sqlite3.connect(daemon.state / "aurabench.db")
    with db:
        first = db.execute("SELECT max(number) FROM attempts WHERE job = ?", (job,)).fetchone()[0]
        for k in range(attempts):
            db.execute("INSERT INTO attempts (id, job, number, boot, host, version, policy, started_ms,"
                       " ended_ms, outcome) SELECT ?, job, ?, boot, host, version, policy, started_ms,"
                       " ended_ms, outcome FROM attempts WHERE job = ? AND number = ?",
                       (f"01HZZZZZZZZZZZZZZZZZZZ{k:04d}", first + 1 + k, job, first))
        last = db.execute("SELECT max(seq) FROM job_history WHERE job = ?", (job,)).fetchone()[0]
        for k in range(history):
            db.execute("INSERT INTO job_history (job, seq, from_state, event, to_state, wall_ms, text)"
                       " SELECT job, ?, from_state, event, to_state, wall_ms, ? FROM job_history"
                       " WHERE job = ? AND seq = ?", (last + 1 + k, "x" * 2000, job, last))
    db.close()


def test_a_job_that_was_refused_for_weeks_can_still_be_shown(daemon, answers, fake_host, compare):
    fake_host.write("processes", "".join(f"{4000 + k} 1 1000 1 98 burner / burner --{'x' * 900}\n"
                                         for k in range(40)))
    job = compare("--policy", "standard")
    daemon.until(job, "waiting")
    add_rows(daemon, job, history=1200, attempts=400)
    shown = answers.call("job.show", id=job)
    assert [h["seq"] for h in shown["history"]] == list(range(1004, 1204))
    numbers = [a["number"] for a in shown["attempts"]]
    assert numbers == list(range(numbers[-1] - 49, numbers[-1] + 1)) and numbers[-1] == 401
    phase = shown["phases"][0]
    assert len(phase["inventory"]["competitors"]) == 32 and phase["competitors_left_out"] >= 8
    assert f"and {phase['competitors_left_out']} more competitors" in daemon.run("show", job).stdout
    looked = answers.call("host.quiet")
    assert len(looked["inventory"]["competitors"]) == 32 and looked["competitors_left_out"] >= 8
    daemon.run("cancel", job)
