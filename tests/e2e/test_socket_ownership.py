"""One socket, one daemon: who may have the path, who removes what, who may come in, who it was."""

import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess

import pytest

import harness
from wiretools import request

ROOT_ONLY = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
OTHER_UID = 12345


def arguments(daemon, state, path) -> list[str]:
    return [str(harness.DAEMON), "--no-calibration", "--fake-host", str(daemon.fake.folder), "--state", str(state),
            "--socket", str(path)]


def environment(daemon, **more) -> dict:
    return {**harness.CLEAN_ENV, "HOME": str(daemon.folder), **more}


def second(daemon, path, state=None) -> str:
    """Starts one more; it must end by itself with status 1, one sentence and nothing changed."""
    done = subprocess.run(arguments(daemon, state or daemon.folder / "second", path), text=True,
                          env=environment(daemon), capture_output=True, timeout=harness.PATIENCE_S)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("aurabenchd: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


# ---- the path


def test_a_second_daemon_on_the_socket_is_refused(daemon):
    assert "another daemon answers" in second(daemon, daemon.socket)
    assert daemon.answers()


def test_a_stale_socket_is_replaced_and_a_file_is_not(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(daemon.socket))
    stale.close()
    daemon.start()
    assert "result" in daemon.connect().call("daemon.status")
    daemon.stop()
    daemon.socket.write_text("precious")
    assert "is no socket" in second(daemon, daemon.socket)
    assert daemon.socket.read_text() == "precious"
    daemon.socket.unlink()
    daemon.close()


@pytest.mark.parametrize("kind", ["file", "folder", "link", "link to a stale socket", "fifo"])
def test_what_is_no_socket_is_refused_and_stays(daemon, kind):
    path, other = daemon.short / "there", daemon.short / "stale"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "file":
        path.write_text("precious")
    else:
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(other))
        path.symlink_to(daemon.socket if kind == "link" else other)
    before = os.lstat(path)
    assert "is no socket; remove it or name another path" in second(daemon, path)
    assert os.lstat(path)[:7] == before[:7]
    assert daemon.answers()


def test_a_daemon_whose_queue_is_full_is_not_taken_for_a_dead_one(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(str(daemon.socket))
        busy.listen(0)
        queued = []
        while True:
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            queued.append(s)
            try:
                s.connect(str(daemon.socket))
            except BlockingIOError:
                break
        assert "another daemon answers" in second(daemon, daemon.socket)
        assert daemon.socket.is_socket()
        for s in queued:
            s.close()
    daemon.socket.unlink()
    daemon.close()


@ROOT_ONLY
def test_a_stale_socket_of_another_user_is_refused_and_stays(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(daemon.socket))
    os.chown(daemon.socket, OTHER_UID, OTHER_UID)
    assert f"it belongs to user {OTHER_UID}, who alone may remove it" in second(daemon, daemon.socket)
    assert daemon.socket.is_socket()
    daemon.socket.unlink()
    daemon.close()


@ROOT_ONLY
def test_a_socket_on_which_another_user_answers_is_refused(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(daemon.socket))
        s.listen()
        os.chown(daemon.socket, OTHER_UID, OTHER_UID)
        assert "another daemon answers" in second(daemon, daemon.socket)
        assert daemon.socket.is_socket()
    daemon.socket.unlink()
    daemon.close()


def test_a_socket_that_somebody_else_put_there_is_not_removed(daemon):
    daemon.socket.unlink()
    other = socket.socket(socket.AF_UNIX)
    other.bind(str(daemon.socket))
    process, daemon.process = daemon.process, None
    process.terminate()
    assert process.wait(harness.PATIENCE_S) == 0
    assert daemon.socket.is_socket()
    other.close()


def test_a_daemon_that_was_refused_leaves_the_socket_of_the_other(daemon):
    before = os.lstat(daemon.socket)
    for state in (daemon.state, daemon.folder / "second"):
        second(daemon, daemon.socket, state)
    assert os.lstat(daemon.socket)[:7] == before[:7]
    assert "result" in daemon.connect().call("daemon.status")


def test_after_a_kill_the_next_one_serves(daemon):
    for _ in range(3):
        daemon.kill()
        assert daemon.socket.is_socket() and not daemon.answers()
        daemon.start()
        assert "result" in daemon.connect().call("daemon.status")


@pytest.mark.parametrize("length,good", [(103, True), (104, False)])
def test_a_socket_path_has_at_most_103_bytes_on_both_sides(tmp_path, fake_host, length, good):
    daemon = harness.Daemon(tmp_path, fake_host)
    daemon.socket = daemon.short / ("s" * (length - len(str(daemon.short)) - 1))
    if good:
        daemon.start()
        assert daemon.json("status")["version"]
    else:
        assert f"the socket path has {length} bytes, at most 103 are possible" in second(
            daemon, daemon.socket)
        done = daemon.run("status", check=2)
        assert f"has {length} bytes and the system takes at most 103" in done.stderr
    daemon.close()


# ---- many at once


def start_many(daemon, states, path) -> list[subprocess.Popen]:
    return [subprocess.Popen(arguments(daemon, state, path), env=environment(daemon), text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE) for state in states]


@pytest.mark.parametrize("stale", [False, True], ids=["no socket there", "a stale socket there"])
@pytest.mark.parametrize("same_state", [True, False], ids=["one state", "a state each"])
def test_of_20_starts_at_once_exactly_one_serves(tmp_path, fake_host, same_state, stale):
    daemon = harness.Daemon(tmp_path, fake_host)
    if stale:
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(daemon.socket))
    states = [daemon.state if same_state else tmp_path / f"state{i}" for i in range(20)]
    started = start_many(daemon, states, daemon.socket)
    harness.wait_for(lambda: sum(p.poll() is not None for p in started) >= 19, "19 give up")
    harness.wait_for(daemon.answers, "one serves")
    serving = [p for p in started if p.poll() is None]
    assert len(serving) == 1
    pid = peer_pid(daemon.socket)
    assert pid == serving[0].pid
    for p in started:
        if p is serving[0]:
            continue
        sentence = p.stderr.read()
        assert p.returncode == 1
        assert "another aurabenchd uses" in sentence or "another daemon answers" in sentence, sentence
        assert sentence.splitlines()[-1].startswith("aurabenchd: ")
    assert "result" in daemon.connect().call("daemon.status")
    serving[0].send_signal(signal.SIGTERM)
    assert serving[0].wait(harness.PATIENCE_S) == 0
    assert not daemon.socket.exists()
    for p in started:
        p.stderr.close()
    daemon.close()


def peer_pid(path) -> int:
    """Who listens there, by the kernel."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(path))
        credentials = s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[:4], "little")


# ---- where it is when nobody says


def served_at(daemon, path: pathlib.Path, *args, **env) -> bool:
    """Whether a daemon with these arguments and variables serves at path."""
    command = [str(harness.DAEMON), "--fake-host", str(daemon.fake.folder), "--state",
               str(daemon.state), *args]
    with daemon.log.open("ab") as log:
        process = subprocess.Popen(command, env=environment(daemon, **env), stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, cwd=daemon.short)
    daemon.socket = path
    try:
        harness.wait_for(lambda: daemon.answers() or process.poll() is not None, "it serves")
        return daemon.answers()
    finally:
        process.terminate()
        process.wait(harness.PATIENCE_S)


def test_the_socket_is_that_of_option_variable_and_runtime_folder_in_this_order(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    runtime = daemon.short / "run"
    own, named, given = runtime / "aurabench/sock", daemon.short / "named", daemon.short / "given"
    env = {"AURABENCH_SOCKET": str(named), "XDG_RUNTIME_DIR": str(runtime)}
    assert served_at(daemon, given, "--socket", str(given), **env)
    assert served_at(daemon, given, "--socket", "given", **env)  # from where it was started
    assert served_at(daemon, named, **env)
    assert not runtime.exists()
    assert served_at(daemon, own, XDG_RUNTIME_DIR=str(runtime))
    assert stat.S_IMODE(os.stat(runtime / "aurabench").st_mode) == 0o750
    assert served_at(daemon, own, XDG_RUNTIME_DIR=str(runtime), AURABENCH_SOCKET="")
    assert not own.exists()
    daemon.close()


def test_a_runtime_folder_that_is_too_long_is_refused_by_both(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    runtime = str(daemon.short / ("r" * 90))
    command = [str(harness.DAEMON), "--fake-host", str(fake_host.folder), "--state", str(daemon.state)]
    done = subprocess.run(command, env=environment(daemon, XDG_RUNTIME_DIR=runtime), text=True,
                          capture_output=True, timeout=harness.PATIENCE_S)
    assert done.returncode == 1 and "at most 103 are possible" in done.stderr
    if os.path.exists("/run/aurabench/sock"):
        pytest.skip("the machine's own socket is used instead")
    done = daemon.run("status", env={"AURABENCH_SOCKET": "", "XDG_RUNTIME_DIR": runtime}, check=2)
    assert "of XDG_RUNTIME_DIR has" in done.stderr and "at most 103" in done.stderr
    daemon.close()


def test_a_socket_that_was_handed_over_is_served_and_stays(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(daemon.socket))
        listener.listen()
        # What systemd does: the socket as descriptor 3, and its variables of this very process.
        code = ("import os, sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True);"
                "os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1');"
                "os.execv(sys.argv[2], sys.argv[2:])")
        command = ["/usr/bin/python3", "-IS", "-c", code, str(listener.fileno()),
                   *arguments(daemon, daemon.state, "/nowhere/it/must/not/be/used")]
        with daemon.log.open("ab") as log:
            process = subprocess.Popen(command, env=environment(daemon), stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, pass_fds=[listener.fileno()])
        assert "result" in daemon.connect().call("daemon.status")
        process.terminate()
        assert process.wait(harness.PATIENCE_S) == 0
        assert "another daemon answers" in second(daemon, daemon.socket)  # the manager listens on
    daemon.socket.unlink()
    daemon.close()


# ---- who may come in, and who it was


def mode_of(path) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def test_socket_state_and_database_are_closed_to_others(daemon):
    daemon.json("status")
    assert mode_of(daemon.socket) == 0o660
    assert mode_of(daemon.state) == 0o700
    for name in ("aurabench.db", "aurabench.db-wal", "aurabench.db-shm", "lock"):
        assert mode_of(daemon.state / name) == 0o600, name


AS_ANOTHER = """
import json, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
f = s.makefile("rwb")
f.readline()
for line in sys.stdin.buffer:
    f.write(line)
    f.flush()
    sys.stdout.buffer.write(f.readline())
"""


def as_another(daemon, *requests: bytes, group=0) -> subprocess.CompletedProcess:
    """The requests of user 12345 in this group, one after the other."""
    daemon.short.chmod(0o755)
    return subprocess.run(["/usr/bin/python3", "-IS", "-c", AS_ANOTHER, str(daemon.socket)],
                          input=b"".join(requests), capture_output=True, cwd="/", user=OTHER_UID,
                          group=group, extra_groups=[])


def answers_of(done) -> list[dict]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_uid_of_the_peer_is_recorded_with_every_job(daemon, compare, fake_host):
    fake_host.burner()
    mine = compare()
    assert daemon.show(mine)["peer_uid"] == os.getuid()
    assert daemon.sql("SELECT peer_uid FROM jobs")[0]["peer_uid"] == os.getuid()


@ROOT_ONLY
def test_the_uid_is_that_of_the_kernel_whoever_submits(daemon, compare, fake_host):
    fake_host.burner()
    document = daemon.show(compare())["document"]
    theirs = [dict(document, id="01HZZZZZZZZZZZZZZZZZZZZZZ" + c) for c in "ABC"]
    session = {"schema": "aurabench.session.v1", "id": "01HZZZZZZZZZZZZZZZZZZZZZZS", "label": "s"}
    policy = harness.quick_policy()
    answers = answers_of(as_another(
        daemon, request("job.submit", job=theirs[0], policy=policy),
        request("session.open", session=session, jobs=[{"job": theirs[1], "policy": policy}]),
        request("session.add", id="s", job=theirs[2], policy=policy)))
    assert all("result" in a for a in answers), answers
    uids = {row["id"]: row["peer_uid"] for row in daemon.sql("SELECT id, peer_uid FROM jobs")}
    assert [uids[job["id"]] for job in theirs] == [OTHER_UID] * 3


@ROOT_ONLY
def test_who_is_in_the_group_may_cancel_the_job_of_another_and_history_says_who(daemon, compare,
                                                                               fake_host):
    fake_host.burner()
    mine = compare()
    answers_of(as_another(daemon, request("job.cancel", id=mine)))
    shown = daemon.show(mine)
    assert shown["job"]["state"] == "cancelled" and shown["peer_uid"] == os.getuid()
    assert shown["history"][-1]["text"] == f"cancelled by user {OTHER_UID}"


@ROOT_ONLY
def test_who_is_not_in_the_group_is_refused_by_the_kernel(daemon):
    done = as_another(daemon, request(), group=OTHER_UID)
    assert b"PermissionError" in done.stderr and done.stdout == b""


@ROOT_ONLY
@pytest.mark.parametrize("closed", ["socket", "folder"])
def test_who_is_not_in_the_group_is_told_which_group_it_is(daemon, closed):
    # A place that the other user may reach, wherever the build folder lies.
    copy = pathlib.Path(shutil.copy(harness.CLIENT, daemon.short / "aurabench"))
    place = daemon.short / "run"
    place.mkdir(mode=0o750 if closed == "folder" else 0o755)
    if closed == "socket":
        place.chmod(0o755)
    daemon.stop()
    daemon.socket = place / "sock"
    daemon.start()
    daemon.short.chmod(0o755)
    os.chown(place if closed == "folder" else daemon.socket, 0, 3)
    done = subprocess.run([str(copy), "status", "--socket", str(daemon.socket)], text=True, cwd="/",
                          capture_output=True, env=harness.CLEAN_ENV, user=OTHER_UID,
                          group=OTHER_UID, extra_groups=[])
    assert done.returncode == 3 and done.stderr.count("\n") == 1
    group = next(line.split(":")[0] for line in open("/etc/group") if line.split(":")[2] == "3")
    assert (f"may not use the socket {daemon.socket}: it is for the group {group}; ask to be put into "
            "that group, then log in again") in done.stderr
