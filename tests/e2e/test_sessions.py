"""Windows, deadlines and sessions, on a scripted host whose clock and boot a test moves: nobody waits
for a night. What is said of times is in UTC, or names its zone."""

import datetime
import json
import sqlite3
import subprocess
import time

import pytest

import harness

DAY = "2030-01-07"  # a Monday
NIGHT = {"days": "daily", "from": "01:00", "to": "05:00", "zone": "UTC"}


def ms(text: str) -> int:
    return int(datetime.datetime.fromisoformat(text + "+00:00").timestamp() * 1000)


class Clock:
    """The scripted host's wall clock and boot. It runs on from where it was put."""

    def __init__(self, host: harness.FakeHost):
        self.host, self.offset, self.booted = host, 0, 1_700_000_000_000
        self.boots = 1

    def write(self) -> None:
        boot = f"00000000-0000-4000-8000-{self.boots:012d}"
        self.host.write("identity", f"wall_offset_ms {self.offset}\nboot_id {boot}\n"
                                    f"boot_wall_ms {self.booted}\n")

    def at(self, text: str) -> None:
        self.offset = ms(text) - int(time.time() * 1000)
        self.write()

    def reboot(self, text: str) -> None:
        """The host comes up at that time, which is now."""
        self.boots += 1
        self.booted = ms(text)
        self.at(text)


@pytest.fixture
def clock(fake_host):
    clock = Clock(fake_host)
    clock.at(f"{DAY}T12:00:00")
    return clock


@pytest.fixture
def tiny(tmp_path):
    return harness.make_suite(tmp_path / "tiny", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": harness.LANE_SH})


@pytest.fixture
def submit(daemon, clock, tmp_path, tiny, policy):
    def submit(**members) -> str:
        members.setdefault("retry", {"every": "100ms"})
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(tiny)}, **members)
        return daemon.json("submit", job, "--policy", policy)["id"]

    return submit


def job(label: str, suite, **members) -> dict:
    return {"schema": "aurabench.job.v1", "label": label, "repetitions": 1, "warmups": 0,
            "suite": {"path": str(suite)}, **members}


@pytest.fixture
def write(tmp_path, tiny):
    """A session file of two jobs, a and b, unless members say otherwise."""

    def write(**members) -> str:
        members.setdefault("jobs", [job("a", tiny), job("b", tiny)])
        document = {"schema": "aurabench.session.v1", "label": "0.3.4",
                    "retry": {"every": "100ms"}, **members}
        path = tmp_path / "session.json"
        path.write_text(json.dumps(document))
        return path

    return write


@pytest.fixture
def open_session(daemon, clock, policy, write):
    def open_session(**members) -> list[str]:
        return daemon.json("session", "open", write(**members), "--policy", policy)["jobs"]

    return open_session


def session(daemon, id="0.3.4") -> dict:
    return json.loads(daemon.run("session", "show", id, "--json").stdout)


def states(daemon) -> list[str]:
    return [j["state"] for j in session(daemon)["jobs"]]


def until(daemon, *wanted) -> dict:
    harness.wait_for(lambda: states(daemon) == list(wanted), f"states {wanted}")
    return session(daemon)


def attempts(daemon, id) -> list[str]:
    return [a["outcome"] for a in daemon.show(id)["attempts"]]


# ---- windows of jobs

def test_a_job_waits_for_its_window_and_says_when_it_opens(daemon, clock, submit):
    id = submit(window={"days": "tue-sat", "from": "01:00", "to": "05:00", "zone": "Europe/London"})
    shown = daemon.until(id, "waiting")
    why = "waiting for its window: opens 2030-01-08T01:00Z (Europe/London)"
    assert shown["job"]["waits_for"] == why
    assert shown["job"]["next_try_ms"] == ms("2030-01-08T01:00:00")
    assert shown["job"]["refusals"] == 0 and shown["job"]["attempts"] == 0
    assert [(h["event"], h["to"]) for h in shown["history"]] == [("submit", "queued"), ("defer", "waiting")]
    assert why in daemon.run("list").stdout
    assert why in daemon.run("show", id).stdout
    clock.at("2030-01-08T00:59:50")
    time.sleep(0.5)
    assert daemon.state_of(id) == "waiting"
    clock.at("2030-01-08T01:00:00")
    assert daemon.finish(id)["job"]["state"] == "done"
    assert daemon.show(id)["job"]["waits_for"] is None
    assert daemon.raw(id)["job"]["window"] == {"days": "tue,wed,thu,fri,sat", "from": "01:00",
                                               "to": "05:00", "zone": "Europe/London"}


def test_a_job_inside_its_window_runs_at_once(daemon, clock, submit):
    clock.at("2030-01-08T02:00:00")
    assert daemon.finish(submit(window=NIGHT))["job"]["state"] == "done"


def test_a_job_that_may_not_run_yet_does_not_hold_up_others(daemon, clock, submit):
    waiting = submit(window=NIGHT, priority=10)
    assert daemon.finish(submit())["job"]["state"] == "done"
    assert daemon.state_of(waiting) == "waiting"


def test_not_before_is_kept(daemon, clock, submit):
    id = submit(not_before="2030-01-07T18:00:00Z")
    assert daemon.until(id, "waiting")["job"]["waits_for"] == "waiting: it may not run before 2030-01-07T18:00Z"
    clock.at("2030-01-07T18:00:00")
    assert daemon.finish(id)["job"]["state"] == "done"


def test_a_refusal_inside_the_window_is_retried_until_it_closes_then_the_next_night(
        daemon, clock, fake_host, submit):
    fake_host.burner()
    clock.at("2030-01-08T04:00:00")
    id = submit(window=NIGHT)
    harness.wait_for(lambda: daemon.show(id)["job"]["refusals"] >= 2, "a second refusal")
    clock.at("2030-01-08T05:00:00")
    closed = harness.wait_for(
        lambda: (s := daemon.show(id)["job"])["waits_for"] and s, "the window to close")
    assert closed["state"] == "waiting"
    assert closed["next_try_ms"] == ms("2030-01-09T01:00:00")
    refusals = closed["refusals"]
    fake_host.quiet()
    time.sleep(0.5)
    assert daemon.show(id)["job"]["refusals"] == refusals, "nothing is tried outside the window"
    clock.at("2030-01-09T01:30:00")
    assert daemon.finish(id)["job"]["state"] == "done"


def test_a_window_that_closes_during_the_build_defers_the_job_and_keeps_the_build(
        daemon, clock, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(
        tmp_path / "built", [harness.protocol({"lane": {"command": ["{build}/lane"]}})],
        {"lane": harness.LANE_SH, "count": harness.GATE_SH},
        build=[["{suite}/count"], ["cp", "{suite}/lane", "{build}/lane"]], env=gate.env())
    gate.shut(1)
    clock.at("2030-01-08T04:59:00")
    file = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, window=NIGHT)
    id = daemon.json("submit", file, "--policy", policy)["id"]
    gate.await_run(1)
    clock.at("2030-01-08T05:00:00")
    gate.open(1)
    shown = daemon.until(id, "waiting")
    assert shown["job"]["next_try_ms"] == ms("2030-01-09T01:00:00") and shown["job"]["refusals"] == 0
    assert [a["outcome"] for a in shown["attempts"]] == ["deferred"]
    clock.at("2030-01-09T01:00:00")
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done" and gate.runs() == 1, "it was built once"
    assert shown["attempts"][1]["reused_from"] == shown["attempts"][0]["id"]


NOISY_ONCE = harness.LANE_SH.replace("read go", """read go
if mkdir "$HOST/once" 2>/dev/null; then
    echo "4711 1 1000 1 98 burner / burner" >"$HOST/processes"
fi""")


def test_a_job_begins_timing_once_a_night(daemon, clock, fake_host, tmp_path, policy):
    suite = harness.make_suite(tmp_path / "noisy", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": NOISY_ONCE}, env={"HOST": str(fake_host.folder)})
    file = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, window=NIGHT,
                            retry={"every": "100ms"})
    clock.at("2030-01-08T02:00:00")
    id = daemon.json("submit", file, "--policy", policy)["id"]
    shown = daemon.until(id, "waiting")
    assert [a["outcome"] for a in shown["attempts"]] == ["disturbed"]
    assert shown["job"]["waits_for"] == "waiting for the next night of its window: opens 2030-01-09T01:00Z (UTC)"
    fake_host.quiet()
    clock.at("2030-01-08T04:00:00")
    time.sleep(0.5)
    assert attempts(daemon, id) == ["disturbed"]
    clock.at("2030-01-09T01:00:00")
    assert daemon.finish(id)["job"]["state"] == "done"


def test_a_pair_that_drifted_is_repeated_in_the_same_night_and_both_reports_are_sealed(
        daemon, clock, tmp_path, repo, suite):
    policy = tmp_path / "strict.json"
    policy.write_text(json.dumps(harness.quick_policy(drift_limit_pct=0)))
    sides = {side: {"repo": str(repo), "rev": rev} for side, rev in (("before", "slow"), ("after", "fast"))}
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "drift", "window": NIGHT,
                                "jobs": [job("a", suite, sources=sides)]}))
    clock.at("2030-01-08T02:00:00")
    id = daemon.json("session", "open", path, "--policy", policy)["jobs"][0]
    assert daemon.finish(id)["job"]["state"] == "done"
    assert attempts(daemon, id) == ["drifted", "done"]
    shown = session(daemon, "drift")["jobs"][0]
    assert shown["tries"]["drifted"] == 1 and shown["controls"] == {"compared": 1, "drifted": 1}
    daemon.run("session", "close", "drift")
    folder = daemon.state / "evidence" / session(daemon, "drift")["session"]["id"]
    assert len(list((folder / "reports").iterdir())) == 2


# ---- deadlines

def test_a_deadline_that_passes_while_the_job_waits_expires_it(daemon, clock, fake_host, submit):
    fake_host.burner()
    id = submit(deadline="2030-01-07T13:00:00Z", retry={"every": "1d"})
    shown = daemon.until(id, "waiting")
    assert shown["job"]["next_try_ms"] == ms("2030-01-07T13:00:00"), "the deadline comes first"
    clock.at("2030-01-07T13:00:00")
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "expired"
    assert shown["job"]["error"]["code"] == "job.expired"
    assert "2030-01-07T13:00:00Z" in shown["job"]["error"]["text"]
    assert daemon.run("wait", id, check=None).returncode == 1


def test_a_deadline_is_kept_although_the_next_try_would_be_later(daemon, clock, fake_host, submit):
    fake_host.burner()
    id = submit(deadline="2030-01-07T13:00:00Z", retry={"every": "1d"})
    daemon.until(id, "waiting")
    db = sqlite3.connect(daemon.state / "aurabench.db")
    with db:
        db.execute("UPDATE jobs SET next_try_ms = next_try_ms + 86400000")
    db.close()
    clock.at("2030-01-07T13:00:00")
    assert daemon.finish(id)["job"]["state"] == "expired"


def test_a_deadline_that_passes_during_the_build_expires_the_job(daemon, clock, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(
        tmp_path / "built", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
        {"lane": harness.LANE_SH, "count": harness.GATE_SH}, build=[["{suite}/count"]], env=gate.env())
    gate.shut(1)
    file = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)},
                            deadline="2030-01-07T13:00:00Z")
    id = daemon.json("submit", file, "--policy", policy)["id"]
    gate.await_run(1)
    clock.at("2030-01-07T13:00:00")
    gate.open(1)
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "expired" and [a["outcome"] for a in shown["attempts"]] == ["expired"]
    assert daemon.sql("SELECT count(*) FROM observations")[0][0] == 0
    assert list((daemon.state / "work").iterdir()) == []


@pytest.mark.parametrize(("members", "code", "field"), [
    ({"window": {**NIGHT, "zone": "Europe/Atlantis"}}, "window.unknown_zone", "window.zone"),
    ({"deadline": "2030-01-07T11:59:59Z"}, "job.bad", "deadline"),
    ({"window": NIGHT, "deadline": "2030-01-08T01:00:00Z"}, "job.bad", "deadline"),
    ({"session": "nothing"}, "session.not_found", "id"),
])
def test_a_job_that_could_never_run_is_refused(daemon, clock, tmp_path, tiny, policy, members, code, field):
    file = harness.job_file(tmp_path / "job.json", suite={"path": str(tiny)}, **members)
    error = daemon.refused("submit", file, "--policy", policy)
    assert (error["code"], error["field"]) == (code, field)
    assert daemon.json("list")["jobs"] == []


# ---- sessions

def test_a_session_waits_for_its_window_and_is_measured_in_one_boot(daemon, clock, open_session):
    ids = open_session(window=NIGHT, boot="same")
    shown = until(daemon, "waiting", "waiting")
    assert shown["session"]["state"] == "open"
    assert {j["waits_for"] for j in shown["jobs"]} == {
        "waiting for its window: opens 2030-01-08T01:00Z (UTC)"}
    text = daemon.run("session", "show", "0.3.4").stdout
    assert "opens 2030-01-08T01:00Z (UTC)" in text and "daily 01:00 to 05:00 UTC" in text
    clock.at("2030-01-08T01:00:00")
    shown = until(daemon, "done", "done")
    assert shown["session"]["state"] == "over" and not shown["session"]["split"]
    assert [b["jobs"] for b in shown["boots"]] == [ids]
    assert {j["report"]["boot_label"] for j in shown["jobs"]} == {"quiet host, not post-reboot"}
    raw = daemon.raw(ids[0])
    assert raw["session"]["label"] == "0.3.4" and raw["session"]["post_reboot"] is False
    assert raw["session"]["id"] == raw["job"]["session"] == shown["session"]["id"]
    assert "2 of 2 jobs measured" in daemon.run("session", "show", "0.3.4").stdout


def test_a_job_says_its_own_window_and_takes_the_rest_from_its_session(daemon, clock, open_session, tiny):
    ids = open_session(window=NIGHT, deadline="2030-01-20T00:00:00Z",
                       jobs=[job("own", tiny, window={**NIGHT, "from": "03:00"}), job("not", tiny)])
    until(daemon, "waiting", "waiting")
    own, other = (daemon.show(id)["document"] for id in ids)
    assert own["window"]["from"] == "03:00" and other["window"]["from"] == "01:00"
    assert own["deadline"] == other["deadline"] == "2030-01-20T00:00:00Z"
    assert own["retry"] == {"every": "100ms"}


def test_a_fresh_session_waits_for_the_boot_and_until_it_has_settled(daemon, clock, open_session):
    ids = open_session(boot="fresh", settle="10m")
    shown = until(daemon, "waiting", "waiting")
    assert "waiting for a reboot" in shown["jobs"][0]["waits_for"]
    assert "boot the host" in daemon.run("session", "show", "0.3.4").stdout
    daemon.stop()
    clock.reboot("2030-01-07T20:00:00")
    daemon.start()
    harness.wait_for(lambda: "settled" in (session(daemon)["jobs"][0]["waits_for"] or ""), "the boot")
    assert session(daemon)["jobs"][0]["next_try_ms"] == ms("2030-01-07T20:10:00")
    clock.at("2030-01-07T20:10:00")
    shown = until(daemon, "done", "done")
    assert {j["report"]["boot_label"] for j in shown["jobs"]} == {"post-reboot"}
    assert daemon.raw(ids[0])["session"]["post_reboot"] is True
    assert "fresh: post-reboot" in daemon.run("session", "show", "0.3.4").stdout


def test_a_session_that_a_reboot_splits_goes_on_and_says_where(daemon, clock, open_session, tiny):
    ids = open_session(boot="same", jobs=[job("a", tiny), job("b", tiny),
                                          job("c", tiny, not_before="2030-01-07T20:00:00Z")])
    until(daemon, "done", "done", "waiting")
    daemon.stop()
    clock.reboot("2030-01-07T20:00:00")
    daemon.start()
    shown = until(daemon, "done", "done", "done")
    assert shown["session"]["split"] is True
    assert [b["jobs"] for b in shown["boots"]] == [ids[:2], ids[2:]]
    text = " ".join(daemon.run("session", "show", "0.3.4").stdout.split())
    assert "split a, b in boot 00000000; c in boot 00000000" in text


def test_a_session_survives_a_restart_of_the_daemon(daemon, clock, open_session):
    open_session(window=NIGHT)
    until(daemon, "waiting", "waiting")
    daemon.kill()
    daemon.start()
    assert states(daemon) == ["waiting", "waiting"]
    clock.at("2030-01-08T01:00:00")
    until(daemon, "done", "done")


def test_a_closed_session_is_sealed_and_what_has_not_begun_is_cancelled(
        daemon, clock, open_session, tiny):
    ids = open_session(jobs=[job("a", tiny), job("later", tiny, window=NIGHT)])
    until(daemon, "done", "waiting")
    closed = json.loads(daemon.run("session", "close", "0.3.4", "--json").stdout)
    assert closed["cancelled"] == 1
    shown = session(daemon)
    assert shown["session"]["state"] == "closed" and states(daemon) == ["done", "cancelled"]
    folder = daemon.state / "evidence" / shown["session"]["id"]
    assert str(folder) == shown["session"]["evidence"] == closed["evidence"]
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=True)
    attempt = shown["jobs"][0]["report"]["attempt"]
    assert sorted(p.name for p in folder.iterdir()) == [
        "SHA256SUMS", "SHA256SUMS.sig", "page.md", "reports", "session.json"]
    copies = folder / "reports" / attempt
    assert sorted(p.name for p in copies.iterdir()) == ["raw.json", "report.md", "summary.json"]
    assert (copies / "raw.json").read_bytes() == (daemon.evidence(ids[0]) / "raw.json").read_bytes()
    record = json.loads((folder / "session.json").read_text())
    assert record["session"]["label"] == "0.3.4" and len(record["jobs"]) == 2
    page = daemon.run("session", "report", "0.3.4").stdout
    assert page == (folder / "page.md").read_text() and "0.3.4" in page
    # Closed again it says the same, and it takes no more jobs.
    assert json.loads(daemon.run("session", "close", "0.3.4", "--json").stdout)["evidence"] == str(folder)
    wire = daemon.connect()
    document = daemon.show(ids[0])["document"]
    document["id"] = document["id"][:-1] + ("0" if document["id"][-1] != "0" else "1")
    answer = wire.call("session.add", id=shown["session"]["id"], job={**document, "policy": "standard"})
    assert answer["error"]["data"]["code"] == "session.closed"
    wire.close()


def test_a_session_that_two_close_at_once_is_sealed_once(daemon, clock, open_session, tiny):
    jobs = open_session(jobs=[job(f"j{k}", tiny) for k in range(6)])
    for id in jobs:
        daemon.finish(id)
    wires = [daemon.connect() for _ in range(4)]
    for wire in wires:
        wire.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "session.close",
                              "params": {"id": "0.3.4"}}).encode() + b"\n")
    answers = [wire.receive() for wire in wires]
    for wire in wires:
        wire.close()
    closed = [a["result"] for a in answers if "result" in a]
    assert len(closed) >= 1
    assert {a["error"]["data"]["code"] for a in answers if "error" in a} <= {"session.busy"}, answers
    shown = session(daemon)["session"]
    assert {c["sums_sha256"] for c in closed} == {shown["sums_sha256"]}
    subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=shown["evidence"], check=True)


def test_a_session_is_not_closed_while_a_job_of_it_runs(daemon, clock, tmp_path, open_session):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(tmp_path / "gated", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": harness.LANE_SH, "wait": harness.GATE_SH},
        suite_build=[["{suite}/wait"]], env=gate.env())
    gate.shut(1)
    open_session(jobs=[job("a", suite), job("b", suite, window=NIGHT)])
    gate.await_run(1)
    error = daemon.refused("session", "close", "0.3.4")
    assert error["code"] == "session.busy"
    assert session(daemon)["session"]["closed_ms"] is None
    gate.open(1)
    until(daemon, "done", "waiting")


def test_one_open_session_has_a_label_and_show_finds_it_by_id_too(daemon, clock, open_session, write, policy):
    open_session(window=NIGHT)
    error = daemon.refused("session", "open", write(window=NIGHT), "--policy", policy)
    assert error["code"] == "session.exists" and "0.3.4" in error["message"]
    assert len(daemon.json("list")["jobs"]) == 2, "nothing of the second one was queued"
    id = session(daemon)["session"]["id"]
    assert session(daemon, id[-6:])["session"]["id"] == id
    until(daemon, "waiting", "waiting")
    daemon.run("session", "close", id)
    open_session(window=NIGHT)
    listed = json.loads(daemon.run("session", "list", "--json").stdout)["sessions"]
    assert [s["state"] for s in listed] == ["open", "closed"]
    assert session(daemon)["session"]["id"] == listed[0]["id"], "the latest of that label"
    assert "0.3.4" in daemon.run("session", "list").stdout


def test_a_job_file_can_name_an_open_session(daemon, clock, open_session, submit):
    open_session(window=NIGHT)
    id = submit(session="0.3.4")
    assert session(daemon)["jobs"][2]["id"] == id
    assert daemon.until(id, "waiting")["document"]["window"]["from"] == "01:00"
    assert daemon.show(id)["job"]["session"] == session(daemon)["session"]["id"]


def test_jobs_may_lie_in_files_of_their_own(daemon, clock, tmp_path, tiny, open_session):
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "tiny").symlink_to(tiny)
    (folder / "one.json").write_text(json.dumps(job("from a file", "tiny")))
    open_session(jobs=[{"path": "jobs/one.json"}])
    assert until(daemon, "done")["jobs"][0]["label"] == "from a file"


@pytest.mark.parametrize(("members", "code", "field"), [
    ({"jobs": []}, "session.bad", "jobs"),
    ({"jobs": [{"path": "session.json"}]}, "json.unknown_key", "jobs[0]."),
    ({"jobs": [{"path": "missing.json"}]}, "system.open", "jobs[0]"),
    ({"label": ""}, "json.missing", "label"),
    ({"boot": "maybe"}, "json.enum", "boot"),
    ({"window": {**NIGHT, "zone": "Mars/Base"}}, "window.unknown_zone", "window.zone"),
    ({"window": {**NIGHT, "days": "monday"}}, "window.bad", "window.days"),
    ({"window": NIGHT, "deadline": "2030-01-08T00:30:00Z"}, "job.bad", "jobs[0].deadline"),
    ({"after": []}, "json.unknown_key", "after"),
])
def test_a_session_that_is_wrong_is_refused_in_one_sentence_and_nothing_is_queued(
        daemon, clock, write, policy, members, code, field):
    error = daemon.refused("session", "open", write(**members), "--policy", policy)
    assert error["code"] == code or (code == "json.enum" and error["code"] == "json.value"), error
    assert error["field"].startswith(field), error
    assert "\n" not in error["message"]
    assert daemon.json("list")["jobs"] == []
    assert json.loads(daemon.run("session", "list", "--json").stdout)["sessions"] == []


def test_what_does_not_exist_or_is_not_ready_is_said(daemon, clock, open_session):
    assert daemon.refused("session", "show", "none")["exit"] == 4
    open_session(window=NIGHT)
    assert daemon.refused("session", "report", "0.3.4")["code"] == "report.not_ready"
    assert daemon.refused("session", "frobnicate")["exit"] == 2
    assert daemon.refused("session", "show")["exit"] == 2


# ---- a whole night, with nobody there

def test_an_unattended_night(daemon, clock, fake_host, tmp_path, repo, open_session):
    """Opened in the afternoon, booted in the evening, refused for a while, done in the morning."""
    compared = harness.tiny_suite(tmp_path / "compared")
    sides = {side: {"repo": str(repo), "rev": rev} for side, rev in (("before", "slow"), ("after", "fast"))}
    open_session(window={"days": "mon-fri", "from": "01:00", "to": "05:00", "zone": "Europe/London"},
                 boot="fresh", deadline="2030-01-12T00:00:00Z",
                 jobs=[job("foundations", compared, sources=sides, repetitions=6),
                       job("again", compared, sources=sides)])
    until(daemon, "waiting", "waiting")
    daemon.stop()
    clock.reboot("2030-01-07T22:00:00")
    daemon.start()
    harness.wait_for(lambda: {j["waits_for"] for j in session(daemon)["jobs"]} ==
                     {"waiting for its window: opens 2030-01-08T01:00Z (Europe/London)"}, "the evening")
    fake_host.burner(command="backup")
    clock.at("2030-01-08T01:00:00")
    harness.wait_for(lambda: all(j["tries"]["refused"] for j in session(daemon)["jobs"]), "refusals")
    fake_host.quiet()
    shown = until(daemon, "done", "done")
    first = shown["jobs"][0]
    assert first["verdicts"]["faster"] >= 1 and first["controls"]["compared"] == 1
    # As many as the report counts: the subject, not the control beside it.
    assert sum(first["verdicts"].values()) == 1
    assert {j["report"]["boot_label"] for j in shown["jobs"]} == {"post-reboot"}
    assert shown["noise"][0]["command"] == "backup" and shown["noise"][0]["refusals"] >= 2
    text = daemon.run("session", "show", "0.3.4").stdout
    for said in ("2 of 2 jobs measured", "mon,tue,wed,thu,fri 01:00 to 05:00 Europe/London",
                 "fresh: post-reboot", "backup", "foundations", "session close 0.3.4"):
        assert said in text, text
    assert len(text.splitlines()) < 25, "one screen"
    daemon.run("session", "close", "0.3.4")
    page = daemon.run("session", "report", "0.3.4").stdout
    assert "foundations" in page and "post-reboot" in page
