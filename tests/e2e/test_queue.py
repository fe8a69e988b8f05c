"""Holds, priorities, edits, further runs, and jobs that come after others, by the commands that people
use, on a daemon that runs."""

import json
import os
import re
import signal
import subprocess
import threading

import pytest

import harness
from harness import GATE_SH, LANE_SH, protocol
from test_sessions import DAY, NIGHT, Clock

UID = os.getuid()


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


class Queue:
    """Jobs of one lane, whose label is their name."""

    def __init__(self, daemon, folder, policy, gate):
        self.daemon, self.folder, self.policy, self.gate = daemon, folder, policy, gate
        lanes = [protocol({"lane": {"command": ["{suite}/lane"]}})]
        self.suites = {
            "good": harness.make_suite(folder / "good", lanes, {"lane": LANE_SH}),
            "bad": harness.make_suite(folder / "bad", lanes, {"lane": "#!/bin/sh\nexit 3\n"}),
            "gated": harness.make_suite(folder / "gated", lanes, {"lane": LANE_SH, "build": GATE_SH},
                                        env=gate.env(), build=[["{suite}/build"]])}
        self.count = 0

    def file(self, suite="good", **members):
        self.count += 1
        return harness.job_file(self.folder / f"job{self.count}.json",
                                suite={"path": str(self.suites[suite])}, **members)

    def submit(self, *args, suite="good", **members) -> str:
        return self.daemon.json("submit", self.file(suite, **members), "--policy", self.policy,
                                *args)["id"]

    def busy(self) -> str:
        """A job that is built until it may go on."""
        self.gate.shut(1)
        id = self.submit(suite="gated", label="busy")
        self.gate.await_run(1)
        return id

    def go_on(self, busy: str) -> None:
        self.gate.open(1)
        job = self.daemon.finish(busy)["job"]
        assert job["state"] == "done", job

    def order_of(self, *ids: str) -> list[str]:
        """The ids in the order in which their attempts began."""
        shown = [self.daemon.finish(id) for id in ids]
        return [s["job"]["id"] for s in sorted(shown, key=lambda s: s["attempts"][0]["started_ms"])]


@pytest.fixture
def queue(daemon, tmp_path, policy, gate):
    return Queue(daemon, tmp_path, policy, gate)


@pytest.fixture
def clock(fake_host):
    clock = Clock(fake_host)
    clock.at(f"{DAY}T12:00:00")
    return clock


def job_of(daemon, id: str) -> dict:
    return daemon.show(id)["job"]


def why(daemon, id: str) -> str | None:
    return job_of(daemon, id)["why"]


# ---- hold, release


def test_a_job_on_hold_waits_for_its_release_and_says_who_holds_it(daemon, queue):
    held = queue.submit("--hold")
    other = queue.submit()
    assert daemon.finish(other)["job"]["state"] == "done"  # goes past it
    shown = daemon.show(held)
    assert (shown["job"]["state"], shown["job"]["held_by"]) == ("held", UID)
    assert shown["job"]["why"] == f"held by user {UID}"
    assert f"held by user {UID}" in daemon.run("list", "--state", "held").stdout
    assert f"hold by user {UID}" in daemon.run("show", held).stdout
    assert daemon.run("release", held[-8:]).stdout == f"job {held[-8:]} queued\n"
    ended = daemon.finish(held)
    assert (ended["job"]["state"], ended["job"]["held_by"]) == ("done", None)
    assert [(h["event"], h["peer_uid"]) for h in ended["history"]][:3] == [
        ("hold", UID), ("release", UID), ("claim", None)]


@pytest.mark.parametrize("command", ["compare", "run"])
def test_every_way_to_submit_knows_hold_and_priority(daemon, queue, repo, suite, command):
    words = {"compare": ["--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite],
             "run": ["--no-wait", "--policy", queue.policy, "--", "true"]}[command]
    made = daemon.json(command, "--hold", "--priority", 7, "--deadline", "+2h", "--label", "mine",
                       *words)
    shown = daemon.show(made["id"])
    assert made["state"] == shown["job"]["state"] == "held"
    assert (shown["job"]["priority"], shown["job"]["label"]) == (7, "mine")
    assert (shown["document"]["priority"], shown["document"]["label"]) == (7, "mine")
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT[\d:]{8}Z", shown["document"]["deadline"])


def test_jobs_that_wait_are_held_and_several_at_once(daemon, queue):
    busy = queue.busy()
    a, b = queue.submit(), queue.submit()
    assert daemon.json("hold", a, b)["jobs"] == [{"id": id, "state": "held", "changed": True}
                                                 for id in (a, b)]
    done = daemon.run("hold", a, "ZZZZZZZZ", b, check=4)
    assert done.stdout == f"job {a[-8:]} held already\njob {b[-8:]} held already\n"
    assert "there is no job ZZZZZZZZ" in done.stderr
    partly = json.loads(daemon.run("release", "--json", b, "ZZZZZZZZ", check=4).stdout)["jobs"]
    assert partly[0] == {"id": b, "state": "queued", "changed": True}
    assert partly[1]["id"] == "ZZZZZZZZ" and partly[1]["error"]["code"] == "job.not_found"
    assert daemon.json("release", b)["jobs"] == [{"id": b, "state": "queued", "changed": False}]
    assert why(daemon, b) == f"job {busy[-8:]} runs"
    queue.go_on(busy)
    assert daemon.finish(b)["job"]["state"] == "done"
    assert job_of(daemon, a)["state"] == "held"


def test_what_runs_or_is_over_is_not_held_edited_or_rerun(daemon, queue):
    busy, wire = queue.busy(), daemon.connect()
    for method, params in [("hold", {}), ("release", {}), ("edit", {"changes": {"priority": 1}})]:
        error = wire.call(f"job.{method}", id=busy, **params)["error"]
        assert error["data"] == {"code": "job.bad_state", "field": "id"}
        assert "is preparing" in error["message"] and "cancel" in error["message"]
    error = wire.call("job.rerun", id=busy)["error"]
    assert error["data"]["code"] == "job.bad_state" and "before it is over" in error["message"]
    queue.go_on(busy)
    for method, params in [("hold", {}), ("release", {}), ("edit", {"changes": {"priority": 1}})]:
        error = wire.call(f"job.{method}", id=busy, **params)["error"]
        assert error["data"] == {"code": "job.bad_state", "field": "id"}
        assert "is over (done)" in error["message"] and "rerun" in error["message"]
    wire.close()
    assert [h["event"] for h in daemon.show(busy)["history"]] == [
        "submit", "claim", "timing_begins", "timing_ends", "finish"]


def test_holds_and_blocked_jobs_outlive_a_daemon_that_is_killed(daemon, queue):
    first = queue.submit("--hold")
    second = queue.submit("--after-ok", first)
    daemon.process.send_signal(signal.SIGKILL)
    daemon.process.wait()
    daemon.start()
    assert (job_of(daemon, first)["state"], why(daemon, second)) == (
        "held", f"after job {first[-8:]}, which is held")
    daemon.run("release", first)
    assert daemon.finish(second)["job"]["state"] == "done"


# ---- priority and edits


def test_a_changed_priority_changes_the_order(daemon, queue):
    busy = queue.busy()
    a, b, c = queue.submit("--priority", 1), queue.submit(), queue.submit()
    assert daemon.run("edit", c, "--priority", 5).stdout == f"job {c[-8:]} queued, changed\n"
    assert [int(line.split()[2]) for line in daemon.run("list").stdout.splitlines()[1:]] == [5, 0, 1, 0]
    queue.go_on(busy)
    assert queue.order_of(a, b, c) == [c, a, b]


def test_the_edited_document_is_the_one_that_is_measured_and_sealed(daemon, queue):
    id = queue.submit("--hold", "--label", "first", "--priority", 3)
    daemon.run("edit", id, "--label", "second", "--priority", 4, "--retry-limit", 9)
    edited = daemon.show(id)
    assert edited["history"][-1] | {"wall_ms": 0} == {
        "seq": 2, "wall_ms": 0, "from": "held", "event": "edit", "to": "held", "attempt": None,
        "text": 'priority from 3 to 4; label from "first" to "second"; retry limit from the policy\'s to 9',
        "peer_uid": UID}
    assert f"edit by user {UID}: priority from 3 to 4" in daemon.run("show", id).stdout
    daemon.run("release", id)
    assert daemon.finish(id)["job"]["state"] == "done"
    sealed = json.loads((daemon.evidence(id) / "job.json").read_text())
    assert sealed == edited["document"]
    assert (sealed["label"], sealed["priority"], sealed["retry"]) == ("second", 4, {"limit": 9})
    assert daemon.raw(id)["label"] == "second"


def test_an_edit_that_changes_nothing_leaves_no_trace(daemon, queue):
    id = queue.submit("--hold", "--priority", 3)
    assert daemon.run("edit", id, "--priority", 3).stdout == (
        f"job {id[-8:]} held, as it was: nothing to change\n")
    assert daemon.json("edit", id, "--priority", 3)["changed"] is False
    assert len(daemon.show(id)["history"]) == 1


@pytest.mark.parametrize("words, field, text", [
    ([], "edit", "name what is to change"),
    (["--priority", "101"], "--priority", "-100 to 100"),
    (["--not-before", "tomorrow"], "--not-before", "2026-12-01T01:00Z"),
    (["--deadline", "2020-01-01T00:00Z"], "deadline", "has passed already"),
    (["--deadline", "2030-01-01T00:00Z", "--not-before", "2030-01-02T00:00Z"], "deadline", "not after"),
    (["--window", "mon-fri"], "--window", "days, times and a zone"),
    (["--window", "mon-fri 25:00-05:00 UTC"], "--window.from", "25:00"),
    (["--window", "01:00-05:00 Europe/Nowhere"], "window.zone", "Nowhere"),
    (["--label", "a\nb"], "changes.label", "control"),
    (["--after-none", "--after-ok", "AAAAAAAA"], "--after-none", "leave one out"),
    (["--after-ok", "AAAAAAAA"], "ids[0]", "there is no job AAAAAAAA"),
])
def test_a_bad_edit_is_refused_and_changes_nothing(daemon, queue, words, field, text):
    id = queue.submit("--hold")
    before = daemon.show(id)
    error = daemon.refused("edit", id, *words)
    assert error["field"] == field and text in error["message"], error
    assert daemon.show(id) == before


def test_a_waiting_jobs_builds_are_made_anew_after_an_edit(daemon, queue, fake_host):
    fake_host.burner()
    id = queue.submit(retry={"every": "1h"})
    daemon.until(id, "waiting")
    daemon.run("edit", id, "--label", "later")
    assert daemon.state_of(id) == "waiting"  # its name says nothing of when it may run
    fake_host.quiet()
    daemon.run("edit", id, "--retry-every", "100ms")  # which does: it is asked again at once
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done"
    assert [a["outcome"] for a in shown["attempts"]] == ["refused", "done"]
    assert shown["attempts"][1]["reused_from"] is None
    assert json.loads((daemon.evidence(id) / "job.json").read_text())["label"] == "later"


# ---- times


def test_a_held_job_whose_deadline_passes_expires(daemon, queue, clock):
    held = queue.submit("--hold", deadline=f"{DAY}T13:00:00Z")
    after = queue.submit("--after-ok", held)
    clock.at(f"{DAY}T13:00:01")
    assert daemon.finish(held)["job"]["error"]["code"] == "job.expired"
    gone = daemon.finish(after)["job"]
    assert (gone["state"], gone["error"]["code"]) == ("cancelled", "job.after_failed")


def test_a_release_after_the_deadline_begins_nothing(daemon, queue, clock):
    held = queue.submit("--hold", deadline=f"{DAY}T13:00:00Z")
    clock.at(f"{DAY}T13:00:01")
    daemon.run("release", held, check=None)  # or it has expired by itself already
    shown = daemon.finish(held)
    assert shown["job"]["state"] == "expired" and shown["attempts"] == []


def test_an_edited_not_before_holds_a_job_back_and_lets_it_go(daemon, queue, clock):
    id = queue.submit(not_before=f"{DAY}T13:00:00Z")
    waiting = daemon.until(id, "waiting")["job"]
    assert waiting["why"] == f"waiting: it may not run before {DAY}T13:00Z"
    daemon.run("edit", id, "--not-before", f"{DAY}T14:00Z")
    harness.wait_for(lambda: why(daemon, id) == f"waiting: it may not run before {DAY}T14:00Z",
                     "the later time")
    assert f"not before  {DAY}T14:00:00Z" in daemon.run("show", id).stdout
    daemon.run("edit", id, "--not-before", "none")
    assert daemon.finish(id)["job"]["state"] == "done"
    assert "not_before" not in daemon.show(id)["document"]


def test_an_edited_window_is_the_one_that_counts(daemon, queue, clock):
    id = queue.submit(window=NIGHT)
    assert "01:00Z" in daemon.until(id, "waiting")["job"]["why"]
    daemon.run("hold", id)
    daemon.run("edit", id, "--window", "mon 11:00-13:00 UTC")
    assert daemon.show(id)["document"]["window"] == {"days": "mon", "from": "11:00", "to": "13:00",
                                                     "zone": "UTC"}
    daemon.run("release", id)
    assert daemon.finish(id)["job"]["state"] == "done"


# ---- jobs that come after others


def test_a_job_begins_once_those_before_it_are_over(daemon, queue):
    busy = queue.busy()
    bad = queue.submit(suite="bad")
    after = queue.submit("--after-ok", busy[-8:], "--after-any", bad, "--priority", 100)
    shown = daemon.show(after)
    assert (shown["job"]["state"], shown["job"]["blocked"]) == ("queued", 2)
    assert shown["job"]["why"] == f"after job {busy[-8:]}, which is preparing; and 1 more"
    assert shown["document"]["after"] == [{"job": busy, "on": "ok"}, {"job": bad, "on": "any"}]
    assert [(a["job"], a["on"], a["open"], a["state"]) for a in shown["after"]] == [
        (busy, "ok", True, "preparing"), (bad, "any", True, "queued")]
    assert [f["job"] for f in daemon.show(busy)["followers"]] == [after]
    listed = daemon.run("list", "--blocked").stdout
    assert after[-8:] in listed and busy[-8:] in listed and bad[-8:] not in listed.split()
    assert f"after       {busy}  preparing  (ok, waited for)" in daemon.run("show", after).stdout
    queue.go_on(busy)
    assert daemon.finish(after)["job"]["state"] == "done"
    assert queue.order_of(busy, bad, after) == [busy, bad, after]
    assert daemon.json("list", "--blocked")["jobs"] == []


def test_whom_an_end_frees_goes_first_by_priority(daemon, queue):
    busy = queue.busy()
    plain = queue.submit()
    after = queue.submit("--after-ok", busy, "--priority", 1)
    queue.go_on(busy)
    assert queue.order_of(plain, after) == [after, plain]


def test_jobs_that_can_never_run_are_cancelled_and_their_waiters_told(daemon, queue):
    busy = queue.busy()
    bad = queue.submit(suite="bad")
    second = queue.submit("--after-ok", bad)
    third = queue.submit("--after-ok", second, "--hold")
    whatever = queue.submit("--after-any", third)
    statuses = {}

    def wait(id):
        statuses[id] = daemon.run("wait", id, check=None).returncode

    threads = [threading.Thread(target=wait, args=(id,)) for id in (second, third)]
    for thread in threads:
        thread.start()
    queue.go_on(busy)
    for thread in threads:
        thread.join()
    assert statuses == {second: 5, third: 5}
    for id, before, how in ((second, bad, "failed"), (third, second, "cancelled")):
        gone = daemon.show(id)
        assert gone["job"]["state"] == "cancelled"
        assert gone["job"]["error"] == {
            "code": "job.after_failed", "field": "after",
            "text": f"job {before}, after which it was to run, ended as {how}"}
        assert gone["history"][-1]["text"] == gone["job"]["error"]["text"]
        assert gone["attempts"] == []
        assert before in daemon.run("list").stdout
    assert daemon.finish(whatever)["job"]["state"] == "done"


def test_a_cancel_by_a_person_is_an_end_too(daemon, queue):
    first = queue.submit("--hold")
    second = queue.submit("--after-ok", first)
    daemon.run("cancel", first)
    assert daemon.finish(second)["job"]["error"]["code"] == "job.after_failed"


def test_a_job_is_not_submitted_after_one_that_ended_badly(daemon, queue):
    bad = queue.submit(suite="bad")
    daemon.finish(bad)
    error = daemon.refused("submit", queue.file(), "--policy", queue.policy, "--after-ok", bad)
    assert (error["code"], error["field"]) == ("job.after_failed", "after[0].job")
    assert "rerun" in error["message"]
    after = queue.submit("--after-any", bad)
    assert daemon.finish(after)["job"]["state"] == "done"
    assert len(daemon.json("list")["jobs"]) == 2


def test_circles_are_refused(daemon, queue):
    a = queue.submit("--hold")
    b = queue.submit("--after-ok", a, "--hold")
    c = queue.submit("--after-any", b, "--hold")
    error = daemon.refused("edit", a, "--after-ok", c)
    assert (error["code"], error["field"]) == ("job.after_circle", "after")
    wire = daemon.connect()
    error = wire.call("job.edit", id=a, changes={"after": [{"job": a}]})["error"]
    assert error["data"] == {"code": "job.bad", "field": "after[0].job"}
    wire.close()
    assert daemon.show(a)["after"] == []
    daemon.run("edit", c, "--after-none")
    daemon.run("edit", a, "--after-ok", c)
    assert why(daemon, a) == f"held by user {UID}"
    daemon.run("release", a, b, c)
    assert queue.order_of(a, b, c) == [c, a, b]


def test_a_lost_attempt_that_is_tried_again_is_waited_for(daemon, queue, gate):
    first = queue.busy()
    second = queue.submit("--after-ok", first)
    daemon.kill()
    gate.open(1)
    daemon.start()
    assert daemon.finish(second)["job"]["state"] == "done"
    assert [a["outcome"] for a in daemon.show(first)["attempts"]] == ["lost", "done"]


# ---- further runs


def test_a_rerun_is_a_new_attempt_and_both_reports_can_be_read(daemon, queue):
    id = queue.submit()
    first = daemon.finish(id)["job"]["report"]
    assert "queued again" in daemon.run("rerun", id, "--hold").stdout.replace("held", "queued")
    shown = daemon.show(id)
    assert (shown["job"]["state"], shown["job"]["report"], shown["job"]["attempts"]) == ("held", None, 1)
    error = daemon.refused("report", id)
    assert error["code"] == "report.not_ready" and "--attempt N" in error["message"]
    assert json.loads(daemon.run("report", id, "--attempt", 1, "--format", "raw").stdout)["id"] == \
        first["attempt"]
    daemon.run("release", id)
    second = daemon.finish(id)["job"]["report"]
    assert second["attempt"] != first["attempt"] and second["evidence"] != first["evidence"]
    for number, report in ((1, first), (2, second), (None, second)):
        words = ["--attempt", number] if number else []
        raw = json.loads(daemon.run("report", id, *words, "--format", "raw").stdout)
        assert raw["id"] == report["attempt"] and "repeats" not in raw
    shown = daemon.show(id)
    assert [(a["number"], a["outcome"]) for a in shown["attempts"]] == [(1, "done"), (2, "done")]
    assert [h["event"] for h in shown["history"]][5:8] == ["rerun", "hold", "release"]
    assert f"aurabench report {id[-8:]} --attempt N" in daemon.run("show", id).stdout
    assert daemon.refused("report", id, "--attempt", 3)["code"] == "attempt.not_found"


def test_a_failed_job_is_rerun_with_changes(daemon, queue):
    bad = queue.submit(suite="bad")
    assert daemon.finish(bad)["job"]["state"] == "failed"
    assert daemon.json("rerun", bad, "--label", "again", "--priority", 2)["state"] == "queued"
    shown = daemon.finish(bad)
    assert shown["job"]["state"] == "failed" and shown["job"]["attempts"] == 2
    assert (shown["job"]["label"], shown["document"]["label"]) == ("again", "again")


def test_an_expired_job_is_rerun_with_a_later_deadline(daemon, queue, clock):
    id = queue.submit("--hold", deadline=f"{DAY}T13:00:00Z")
    clock.at(f"{DAY}T13:00:01")
    assert daemon.finish(id)["job"]["state"] == "expired"
    error = daemon.refused("rerun", id)
    assert error["field"] == "deadline" and "give a later one" in error["message"]
    daemon.run("rerun", id, "--deadline", f"{DAY}T15:00:00Z")
    assert daemon.finish(id)["job"]["state"] == "done"


def test_a_job_that_was_never_qualified_has_its_refusals_anew(daemon, queue, fake_host):
    fake_host.burner()
    id = queue.submit(retry={"every": "10ms", "limit": 2})
    assert daemon.finish(id)["job"]["state"] == "unqualified"
    daemon.run("rerun", id)
    shown = daemon.finish(id)
    # The refusal that ends a run is not counted: the error says how many there were.
    assert (shown["job"]["state"], shown["job"]["refusals"], shown["job"]["attempts"]) == (
        "unqualified", 1, 4)
    assert "in 2 tries" in shown["job"]["error"]["text"]
    fake_host.quiet()
    daemon.run("rerun", id)
    assert daemon.finish(id)["job"]["state"] == "done"


def test_followers_that_were_cancelled_are_rerun_after_their_job(daemon, queue):
    first = queue.submit("--hold")
    second = queue.submit("--after-ok", first)
    daemon.run("cancel", first)
    daemon.finish(second)
    error = daemon.refused("rerun", second)
    assert error["code"] == "job.after_failed"
    assert daemon.state_of(second) == "cancelled"
    daemon.run("rerun", first, "--hold")
    daemon.run("rerun", second)
    assert why(daemon, second) == f"after job {first[-8:]}, which is held"
    daemon.run("release", first)
    assert daemon.finish(second)["job"]["state"] == "done"


def test_a_rerun_in_a_session_is_sealed_with_it_and_ends_with_it(daemon, queue, tmp_path):
    job = {"schema": "aurabench.job.v1", "repetitions": 1, "warmups": 0,
           "suite": {"path": str(queue.suites["good"])}}
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "night", "jobs": [job]}))
    id = daemon.json("session", "open", path, "--policy", queue.policy)["jobs"][0]
    daemon.finish(id)
    daemon.run("rerun", id)
    daemon.finish(id)
    closed = daemon.json("session", "close", "night")
    sealed = json.loads(daemon.run("session", "show", "night", "--json").stdout)["jobs"][0]
    assert len(sealed["sealed"]) == 2 and sealed["report"]["attempt"] == sealed["sealed"][1]["attempt"]
    assert closed["evidence"]
    assert daemon.refused("rerun", id)["code"] == "session.closed"
    assert daemon.state_of(id) == "done"


# ---- answers that are lost


class Cutter:
    """Between client and daemon: hands on whatever comes, and cuts the first connection whose client
    has said `method`, once the daemon has answered that and before the client hears of it."""

    def __init__(self, daemon, folder, method):
        self.daemon, self.method = daemon, method
        self.path = folder / "cut"
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-c", CUTTER, str(self.path), str(daemon.socket), method])
        harness.wait_for(self.path.exists, "the cutter")

    def run(self, *args, check=0):
        return self.daemon.run(*args, env={"AURABENCH_SOCKET": str(self.path)}, check=check)

    def close(self):
        self.process.kill()
        self.process.wait()


CUTTER = r"""
import os, socket, sys, threading
path, target, method = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path + "-")
listener.listen(16)
os.rename(path + "-", path)
cut = threading.Event()

def lines_up(client, daemon, asked):
    for line in client.makefile("rb"):
        if b'"' + method.encode() + b'"' in line and not cut.is_set():
            asked.set()
        daemon.sendall(line)
    try:
        daemon.shutdown(socket.SHUT_WR)
    except OSError:
        pass

def serve(client):
    daemon = socket.socket(socket.AF_UNIX)
    daemon.connect(target)
    asked = threading.Event()
    threading.Thread(target=lines_up, args=(client, daemon, asked), daemon=True).start()
    for line in daemon.makefile("rb"):
        if asked.is_set() and b'"result"' in line and not cut.is_set():
            cut.set()
            client.shutdown(socket.SHUT_RDWR)
            daemon.shutdown(socket.SHUT_RDWR)
            return
        try:
            client.sendall(line)
        except OSError:
            return
    client.close()

while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client,), daemon=True).start()
"""


@pytest.fixture
def cutter(daemon):
    cutters = []

    def make(method):
        cutters.append(Cutter(daemon, daemon.short, method))
        return cutters[-1]

    yield make
    for each in cutters:
        each.close()


def test_a_submit_whose_answer_is_lost_is_one_job(daemon, queue, cutter):
    first = queue.submit("--hold")
    sent = cutter("job.submit").run("submit", queue.file(label="once"), "--policy", queue.policy,
                                    "--hold", "--after-ok", first, "--json")
    answer = json.loads(sent.stdout)
    assert (answer["state"], answer["duplicate"]) == ("held", True)  # it came twice, and was once
    shown = daemon.show(answer["id"])
    assert [h["event"] for h in shown["history"]] == ["hold"]
    assert [(a["job"], a["open"]) for a in shown["after"]] == [(first, True)]
    assert len(daemon.json("list")["jobs"]) == 2


def test_an_order_whose_answer_is_lost_may_be_given_again(daemon, queue, cutter):
    id = queue.submit("--hold")
    for method, words in [("job.edit", ["edit", id, "--priority", 9]), ("job.release", ["release", id])]:
        link = cutter(method)
        given = link.run(*words, check=None)  # the client gives it again by itself; by then the job may have begun
        assert given.returncode == 0 or "can no longer be released" in given.stderr, given
        again = link.run(*words, check=None)  # by then the job may even be over
        assert "nothing to change" in again.stdout or again.stdout == "" or "already" in again.stdout
        link.close()
        link.path.unlink()
    shown = daemon.finish(id)
    assert [h["event"] for h in shown["history"]][:3] == ["hold", "edit", "release"]
    assert shown["job"]["state"] == "done" and shown["job"]["priority"] == 9
