"""A backup taken while the daemon serves, a daemon started on it, and `aurabenchd --check`: what it finds,
and that it changes nothing."""

import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess

import pytest

import harness


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A state folder with a finished job and a closed session, its daemon stopped; and the job's id."""
    folder = tmp_path_factory.mktemp("kept")
    fake = harness.FakeHost(folder / "host")
    daemon = harness.Daemon(folder, fake).start()
    try:
        job = daemon.begin_short_run()
        assert daemon.finish(job)["job"]["state"] == "done"
        suite = harness.make_suite(folder / "tiny", [harness.protocol(
            {"lane": {"command": ["{suite}/lane"]}})], {"lane": harness.LANE_SH})
        session = folder / "session.json"
        harness.job_file(session, suite={"path": str(suite)})
        session.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "night",
                                       "jobs": [json.loads(session.read_text())]}))
        policy = folder / "quick.json"
        policy.write_text(json.dumps(harness.quick_policy()))
        opened = daemon.json("session", "open", session, "--policy", policy)
        daemon.finish(opened["jobs"][0])
        daemon.run("session", "close", "night")
        daemon.run("backup", folder / "kept.db")
        fake.burner()
        late = daemon.json("submit", harness.job_file(folder / "late.json", suite={"path": str(suite)}))
        daemon.until(late["id"], "waiting")
    finally:
        daemon.close()
    return daemon.state, job


@pytest.fixture
def state(kept, tmp_path):
    """A copy to tamper with."""
    shutil.copytree(kept[0], tmp_path / "state", symlinks=True)
    return tmp_path / "state"


def check(state: pathlib.Path, **kwargs) -> tuple[int, list[str]]:
    done = subprocess.run([str(harness.DAEMON), "--check", "--state", str(state)], text=True,
                          capture_output=True, env={**harness.CLEAN_ENV, "HOME": "/nonexistent"}, **kwargs)
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.returncode, (done.stdout + done.stderr).splitlines()


def picture(folder: pathlib.Path) -> dict:
    """Every file below with its bytes and mode; SQLite may make a -shm where a log lies."""
    return {str(p.relative_to(folder)): (p.stat().st_mode, p.read_bytes() if p.is_file() else None)
            for p in sorted(folder.rglob("*")) if not p.name.endswith("-shm") and p != folder}


def failed(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("FAIL")]


def noted(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("NOTE")]


# ---- backup

def test_a_backup_is_whole_private_and_says_its_hash(daemon, tmp_path):
    daemon.json("run", "--no-wait", "--repetitions", "1", "--", "true")
    target = tmp_path / "copy.db"
    old = os.umask(0)
    try:
        said = daemon.json("backup", target)
    finally:
        os.umask(old)
    assert target.stat().st_mode & 0o777 == 0o600
    assert said["sha256"] == hashlib.sha256(target.read_bytes()).hexdigest()
    assert said["bytes"] == target.stat().st_size
    db = sqlite3.connect(target)
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("SELECT count(*) FROM jobs").fetchall() == [(1,)]
    db.close()
    assert list((daemon.state / "uploads").iterdir()) == []
    assert not list(tmp_path.glob("copy.db.*"))


def test_a_backup_never_overwrites(daemon, tmp_path):
    target = tmp_path / "there.db"
    target.write_text("precious")
    error = daemon.refused("backup", target)
    assert error["code"] == "client.exists" and error["exit"] == 2
    assert target.read_text() == "precious"
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "elsewhere")
    assert daemon.refused("backup", link)["code"] == "client.exists"
    assert not (tmp_path / "elsewhere").exists()


def test_a_backup_into_a_missing_folder_is_refused_before_the_daemon_is_asked(daemon, tmp_path):
    assert daemon.refused("backup", tmp_path / "none/copy.db")["code"] == "system.create"


def test_a_client_names_no_path_of_the_daemons(daemon, tmp_path):
    wire = daemon.connect()
    answer = wire.call("daemon.backup", file=str(tmp_path / "x"))
    assert answer["error"]["data"]["code"] == "json.unknown_key"
    assert wire.call("daemon.chunk", offset=0)["error"]["data"]["code"] == "daemon.no_backup"
    wire.close()


def test_one_backup_at_a_time_and_it_goes_with_its_connection(daemon):
    first, second = daemon.connect(), daemon.connect()
    assert "result" in first.call("daemon.backup")
    assert second.call("daemon.backup")["error"]["data"]["code"] == "daemon.backup_busy"
    assert "result" in first.call("daemon.backup")  # one's own is replaced
    first.close()
    deadline = harness.time.monotonic() + harness.PATIENCE_S
    while "error" in second.call("daemon.backup"):
        assert harness.time.monotonic() < deadline
        harness.time.sleep(0.02)
    assert second.call("daemon.chunk", offset=0)["result"]["total"] > 0
    second.close()


def test_no_backup_while_the_host_measures(tmp_path, fake_host, policy):
    daemon = harness.Daemon(tmp_path, fake_host, ["--listen-every", "50ms"]).start()
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(tmp_path / "gated", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"], "env": gate.env()}})], {"lane": harness.GATE_LANE})
    gate.shut(1)
    job = daemon.json("submit", harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}),
                      "--policy", policy)["id"]
    gate.await_run(1)
    error = daemon.refused("backup", tmp_path / "copy.db")
    gate.open(1)
    assert error["code"] == "host.measuring" and error["exit"] == 6
    assert not list(tmp_path.glob("copy.db*"))
    assert daemon.finish(job)["job"]["state"] == "done"
    daemon.run("backup", tmp_path / "copy.db")
    daemon.close()


def test_a_daemon_started_on_a_backup_goes_on(kept, tmp_path, fake_host):
    """As operations.md tells: the copy in the place of aurabench.db, evidence and key beside it."""
    source, job = kept
    daemon = harness.Daemon(tmp_path, fake_host)
    daemon.state.mkdir(mode=0o700)
    shutil.copy(source.parent / "kept.db", daemon.state / "aurabench.db")
    os.chmod(daemon.state / "aurabench.db", 0o600)
    shutil.copytree(source / "evidence", daemon.state / "evidence")
    for name in ("host.key", "host.pub"):
        shutil.copy(source / name, daemon.state / name)
    hidden = source.with_name("hidden")
    source.rename(hidden)  # nothing is read from where it was
    try:
        daemon.start()
        assert daemon.state_of(job) == "done"
        assert daemon.show(job)["job"]["report"]["evidence"].startswith(str(daemon.state))
        assert "Grade" in daemon.run("report", job).stdout or daemon.run("report", job).stdout
        assert daemon.json("session", "show", "night")["session"]["state"] == "closed"
        assert daemon.run("session", "report", "night").stdout.startswith("#")
        again = daemon.begin_short_run()
        assert daemon.finish(again)["job"]["state"] == "done"
        daemon.close()
        assert check(daemon.state)[0] == 0
    finally:
        hidden.rename(source)


# ---- --check

def test_a_good_folder_passes_and_is_not_changed(state):
    before = picture(state)
    code, lines = check(state)
    assert code == 0 and failed(lines) == [], lines
    assert any("2 sealed folders" in line or "3 sealed folders" in line for line in lines), lines
    assert picture(state) == before


def test_a_folder_that_a_daemon_uses_is_not_checked(daemon):
    code, lines = check(daemon.state)
    assert code == 1 and len(lines) == 1 and "stop it first" in lines[0]


@pytest.mark.parametrize("what", ["missing", "file"])
def test_what_is_no_folder_is_refused(tmp_path, what):
    if what == "file":
        (tmp_path / "state").write_text("")
    code, lines = check(tmp_path / "state")
    assert code == 1 and len(lines) == 1 and "name the state folder" in lines[0]


def evidence_of(state, job) -> pathlib.Path:
    db = sqlite3.connect(state / "aurabench.db")
    (name,) = db.execute("SELECT report FROM jobs WHERE id = ?", (job,)).fetchone()
    db.close()
    return state / "evidence" / name


DAMAGE = {
    "changed": lambda e: (e / "raw.json").write_text("{}"),
    "missing": lambda e: (e / "report.md").unlink(),
    "added": lambda e: (e / "more.txt").write_text("x"),
    "gone": shutil.rmtree,
    "sums": lambda e: (e / "SHA256SUMS").unlink(),
    "link": lambda e: ((e / "report.md").unlink(), (e / "report.md").symlink_to("/etc/passwd")),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damaged_evidence_is_named(kept, state, how):
    folder = evidence_of(state, kept[1])
    DAMAGE[how](folder)
    if how == "gone":  # nor is it where it was sealed
        (kept[0] / "evidence" / folder.name).rename(kept[0] / folder.name)
    try:
        code, lines = check(state)
    finally:
        if how == "gone":
            (kept[0] / folder.name).rename(kept[0] / "evidence" / folder.name)
    assert code == 1 and len(failed(lines)) == 1, lines
    assert folder.name in failed(lines)[0]


def test_another_report_in_the_place_of_the_sealed_one_is_named(kept, state):
    """Sums that fit their files, but not what the database keeps."""
    folder = evidence_of(state, kept[1])
    raw = folder / "raw.json"
    old = hashlib.sha256(raw.read_bytes()).hexdigest()
    raw.write_text(raw.read_text().replace('"label":', '"label" :'))
    sums = (folder / "SHA256SUMS").read_text()
    (folder / "SHA256SUMS").write_text(sums.replace(old, hashlib.sha256(raw.read_bytes()).hexdigest()))
    code, lines = check(state)
    assert code == 1 and "raw.json is not the one that the database names" in failed(lines)[0], lines


def test_leftovers_are_named_and_do_not_fail(state):
    left = {"evidence/.partial-X": "next start removes", "evidence/01UNKNOWN": "no report",
            "uploads/half": "next start", "work/gone": "next start", "suites/.new": "next start",
            "repos/store.git.new": "next start"}
    for name in left:
        (state / name).mkdir(parents=True)
    (state / "host.pub.tmp.12").write_text("")
    code, lines = check(state)
    assert code == 0, lines
    for name, text in {**left, "host.pub.tmp.12": "may remove"}.items():
        assert any(name in line and text in line for line in noted(lines)), (name, lines)


def test_a_damaged_page_is_named(state):
    db = state / "aurabench.db"
    data = bytearray(db.read_bytes())
    data[8 * 4096:9 * 4096] = b"\xff" * 4096
    db.write_bytes(data)
    before = picture(state)
    code, lines = check(state)
    assert code == 1 and failed(lines), lines
    assert picture(state) == before


def tamper(state, *statements):
    db = sqlite3.connect(state / "aurabench.db")
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(("statements", "text"), [
    (["DROP TRIGGER IF EXISTS schema_migrations_no_update", "PRAGMA writable_schema=1",
      "INSERT INTO schema_migrations VALUES (999, 'future', 'x', 1)"], "newer version"),
    (["UPDATE job_counts SET jobs = jobs + 1 WHERE state = 'done'"], "are counted"),
    (["PRAGMA foreign_keys=0",
      "INSERT INTO report_counts VALUES ('nobody', 0, 0, 0, 0, 0, 0)"], "that is not there"),
])
def test_what_the_database_says_wrong_is_named(state, statements, text):
    tamper(state, *statements)
    code, lines = check(state)
    assert code == 1 and any(text in line for line in failed(lines)), lines


def test_a_suite_that_a_waiting_job_needs_is_missed(state):
    for suite in (state / "suites").iterdir():
        suite.rename(suite.with_name("." + suite.name))
    code, lines = check(state)
    assert code == 1 and ["suites" in line and "not there" in line for line in failed(lines)] == [True], lines


def test_another_programs_database_is_named(state):
    (state / "aurabench.db").unlink()
    tamper(state, "CREATE TABLE mail (a)")
    code, lines = check(state)
    assert code == 1 and "another program" in failed(lines)[0]


def test_an_exposed_key_and_an_open_folder_are_named(state):
    (state / "host.key").chmod(0o644)
    state.chmod(0o777)
    code, lines = check(state)
    assert code == 1 and {line.split()[1] for line in failed(lines)} == {"folder", "key"}


def test_a_log_beside_the_database_is_read_too(kept, tmp_path, fake_host):
    """As a killed daemon leaves it."""
    daemon = harness.Daemon(tmp_path, fake_host).start()
    job = daemon.begin_short_run()
    daemon.finish(job)
    daemon.kill()
    assert (daemon.state / "aurabench.db-wal").stat().st_size > 0
    before = picture(daemon.state)
    code, lines = check(daemon.state)
    assert code == 0 and any("1 sealed folder" in line for line in lines), lines
    assert picture(daemon.state) == before
    daemon.start().close()
