"""What installs and what service managers run: units, socket activation, plist, the installed tree."""

import contextlib
import os
import pathlib
import plistlib
import re
import shutil
import signal
import socket
import subprocess

import pytest

import harness

UNITS = ("aurabenchd.service", "aurabenchd.socket")
needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"),
                                   reason="systemd is not installed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> pathlib.Path:
    """The prefix of `meson install`."""
    root = tmp_path_factory.mktemp("installed")
    subprocess.run(["meson", "install", "-C", str(harness.BUILD), "--no-rebuild", "--quiet",
                    "--destdir", str(root)], check=True, capture_output=True)
    return root / "usr/local"


# ---- units


def verify_units(folder: pathlib.Path, installed: pathlib.Path, change=lambda text: text):
    """What systemd-analyze says of the installed units, changed; the programs are those installed."""
    for name in UNITS:
        text = (installed / "lib/systemd/system" / name).read_text()
        (folder / name).write_text(change(text.replace("/usr/local/bin", str(installed / "bin"))))
    return subprocess.run(["systemd-analyze", "verify", "--man=no",
                           *(str(folder / name) for name in UNITS)],
                          capture_output=True, text=True, timeout=harness.PATIENCE_S)


@needs_systemd
def test_the_units_verify_without_a_word(installed, tmp_path):
    done = verify_units(tmp_path, installed)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@needs_systemd
def test_a_unit_with_an_unknown_key_does_not_verify(installed, tmp_path):
    done = verify_units(tmp_path, installed,
                        lambda text: text.replace("[Service]", "[Service]\nKillMood=mixed"))
    assert "KillMood" in done.stderr
    done = verify_units(tmp_path, installed,
                        lambda text: text.replace("/aurabenchd\n", "/aurabench-not-there\n"))
    assert "aurabench-not-there" in done.stderr


def lines_of(installed, name) -> list[str]:
    return (installed / "lib/systemd/system" / name).read_text().splitlines()


def test_the_service_does_not_harden_what_it_measures(installed):
    service = lines_of(installed, "aurabenchd.service")
    for key in ("SystemCallFilter", "MemoryDenyWriteExecute", "ProtectSystem", "PrivateTmp",
                "CPUQuota", "MemoryMax", "Nice", "CPUAffinity", "NoNewPrivileges", "TasksMax"):
        assert not any(line.startswith(key + "=") for line in service), key
    for line in ("Type=notify", "User=aurabench", "StateDirectory=aurabench",
                 "RuntimeDirectory=aurabench", "ExecStart=/usr/local/bin/aurabenchd"):
        assert line in service


def test_service_socket_and_client_mean_the_same_socket(installed):
    assert "ListenStream=/run/aurabench/sock" in lines_of(installed, "aurabenchd.socket")
    assert "SocketMode=0660" in lines_of(installed, "aurabenchd.socket")
    assert ("Environment=AURABENCH_SOCKET=/run/aurabench/sock"
            in lines_of(installed, "aurabenchd.service"))
    assert '#define SYSTEM_SOCKET "/run/aurabench/sock"' in (
        harness.ROOT / "client/link/address.c").read_text()


@pytest.mark.skipif(not shutil.which("systemd-sysusers"), reason="systemd is not installed")
def test_the_user_and_group_are_made(installed, tmp_path):
    conf = installed / "lib/sysusers.d/aurabench.conf"
    (tmp_path / "etc").mkdir()
    done = subprocess.run(["systemd-sysusers", f"--root={tmp_path}", str(conf)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "aurabench:" in (tmp_path / "etc/passwd").read_text()
    assert "aurabench:" in (tmp_path / "etc/group").read_text()


def test_the_plist_asks_for_an_unthrottled_process():
    plist = plistlib.loads((harness.BUILD / "packaging/dev.aurabench.aurabenchd.plist").read_bytes())
    assert plist["ProcessType"] == "Interactive"
    assert plist["Label"] == "dev.aurabench.aurabenchd"
    assert plist["ProgramArguments"][0] == "/usr/local/bin/aurabenchd"
    assert plist["RunAtLoad"] is True


# ---- what is installed


def test_programs_suite_manuals_and_units_are_installed(installed):
    for name in ("aurabenchd", "aurabench", "aurabench-runner", "aurabench-floor", "aurabench-kernel",
                 "aurabench-signature"):
        assert os.access(installed / "bin" / name, os.X_OK), name
    suite = installed / "share/aurabench/workloads/release-performance"
    assert (suite / "suite.json").is_file() and (suite / "cpython/fib30.py").is_file()
    for name in ("attribution", "build-times", "collections", "document-db", "executable-size", "instructions",
                 "numeric-arrays", "portable-kernel", "representation", "scalable-runtime"):
        assert (suite.parent / name / "suite.json").is_file(), name
    assert (installed / "share/man/man1/aurabench.1").is_file()
    assert (installed / "share/man/man8/aurabenchd.8").is_file()
    assert not list(installed.rglob("__pycache__"))
    assert not list(installed.rglob("*.o"))


@pytest.mark.skipif(b"__asan_" in harness.CLIENT.read_bytes(), reason="instrumented programs load libraries")
def test_the_client_is_one_file_that_loads_nothing():
    shown = subprocess.run(["readelf", "-W", "-h", "-l", "-d", str(harness.CLIENT)], capture_output=True, text=True,
                           check=True).stdout
    assert re.search(r"Type: +DYN", shown)  # at another address each time
    assert "INTERP" not in shown and "NEEDED" not in shown


def test_the_installed_programs_work_together(installed, tmp_path, fake_host, repo, policy,
                                              monkeypatch):
    monkeypatch.setattr(harness, "DAEMON", installed / "bin/aurabenchd")
    monkeypatch.setattr(harness, "CLIENT", installed / "bin/aurabench")
    daemon = harness.Daemon(tmp_path, fake_host).start()
    try:
        done = daemon.run("run", "--repetitions", 1, "--policy", policy, "--", "true",
                          env={"AURABENCH_WORKLOADS": ""})
        assert "diagnostic" in done.stdout
        fake_host.burner()
        job = daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast",
                          "--suite", "release-performance", "--retry-every", "1h",
                          env={"AURABENCH_WORKLOADS": ""})["id"]
        assert daemon.show(job)["job"]["suite"] == "release-performance"
    finally:
        daemon.close()


# ---- the service manager's protocols


@contextlib.contextmanager
def manager(address: str):
    """Whoever listens on NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(address)
        s.settimeout(harness.PATIENCE_S)
        yield s


@pytest.mark.parametrize("abstract", [False, True])
def test_the_manager_is_told_ready_and_stopping(tmp_path, fake_host, abstract):
    daemon = harness.Daemon(tmp_path, fake_host)
    path = str(daemon.short / "notify")
    with manager("\0" + path if abstract else path) as told:
        daemon.env["NOTIFY_SOCKET"] = "@" + path if abstract else path
        daemon.start()
        assert told.recv(4096) == b"READY=1"
        # Ready means ready.
        assert "result" in daemon.connect().call("daemon.status")
        daemon.stop()
        assert told.recv(4096) == b"STOPPING=1"
    daemon.close()


def test_a_manager_that_is_gone_is_no_reason_to_fail(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    daemon.env["NOTIFY_SOCKET"] = str(daemon.short / "nobody")
    daemon.start()
    assert "result" in daemon.connect().call("daemon.status")
    daemon.close()


class Activated(harness.Daemon):
    """A daemon that systemd-socket-activate starts at the first connection."""

    def start(self, wait: bool = True) -> "Activated":
        command = ["systemd-socket-activate", "-l", str(self.socket), "--fdname=aurabench",
                   *(f"--setenv={k}={v}" for k, v in
                     {**harness.CLEAN_ENV, **self.env, "HOME": str(self.folder)}.items()),
                   str(harness.DAEMON), "--no-calibration", "--state", str(self.state), "--fake-host",
                   str(self.fake.folder), "--socket", "/nowhere/it/must/not/be/used"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log, env=harness.CLEAN_ENV)
        harness.wait_for(self.socket.exists, "systemd-socket-activate")
        return self

    def stop(self) -> None:
        """Its socket is the manager's, and stays."""
        process, self.process = self.process, None
        if process:
            process.send_signal(signal.SIGTERM)
            assert process.wait(harness.PATIENCE_S) == 0, self.log.read_text()


@pytest.fixture
def activated(tmp_path, fake_host):
    if not shutil.which("systemd-socket-activate"):
        pytest.skip("systemd is not installed")
    daemon = Activated(tmp_path, fake_host)
    yield daemon
    daemon.close()


def test_a_connection_starts_the_daemon_on_the_socket_handed_over(activated):
    path = str(activated.short / "notify")
    with manager(path) as told:
        activated.env["NOTIFY_SOCKET"] = path
        activated.start()
        assert "on fake" in activated.run("status").stdout
        assert told.recv(4096) == b"READY=1"
        activated.stop()
        assert told.recv(4096) == b"STOPPING=1"
    assert activated.socket.exists()


def test_nothing_of_the_manager_reaches_a_lane(activated, policy, tmp_path):
    with manager(str(activated.short / "notify")) as told:
        activated.env.update(NOTIFY_SOCKET=str(activated.short / "notify"), JOURNAL_STREAM="8:1",
                             INVOCATION_ID="0" * 32, STATE_DIRECTORY="/nowhere", GIT_DIR="/nowhere",
                             AURABENCH_SOCKET="/nowhere", LD_DEBUG_OUTPUT="/nowhere", SECRET="x")
        activated.start()
        seen = tmp_path / "seen"
        lane = f"env >{seen}; ls -l /proc/self/fd >>{seen}; cat /proc/$PPID/environ >{seen}.runner"
        activated.run("run", "--repetitions", 1, "--policy", policy, "--", "/bin/sh", "-c", lane)
        assert told.recv(4096) == b"READY=1"
    text = seen.read_text()
    assert "PATH=" in text
    names = {line.split("=")[0] for line in text.splitlines() if "=" in line}
    assert names <= {"PATH", "HOME", "LANG", "TZ", "PWD", "SHLVL", "_", "OLDPWD"}, names
    descriptors = [line for line in text.splitlines() if " -> " in line]
    assert len(descriptors) == 4, descriptors  # 0 to 2, and the folder that ls reads
    for name in ("NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES"):
        assert name not in pathlib.Path(f"{seen}.runner").read_text(), name


HANDED = 'LISTEN_PID=$$ LISTEN_FDS=%s exec "$@" %s'


@pytest.mark.parametrize("count,redirection", [
    ("1", "3</dev/null"), ("1", "3<&-"), ("2", "3</dev/null"), ("-1", "3</dev/null")])
def test_what_is_no_listening_socket_is_refused(tmp_path, fake_host, count, redirection):
    done = subprocess.run(["/bin/sh", "-c", HANDED % (count, redirection), "sh", str(harness.DAEMON),
                           "--state", str(tmp_path / "state"), "--fake-host", str(fake_host.folder)],
                          env=harness.CLEAN_ENV, capture_output=True, text=True,
                          timeout=harness.PATIENCE_S)
    assert done.returncode == 1
    assert "exactly one listening stream socket is expected" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "state").exists()


def test_what_was_handed_to_another_process_is_not_taken(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host)
    daemon.env.update(LISTEN_PID="1", LISTEN_FDS="1")
    daemon.start()
    assert "result" in daemon.connect().call("daemon.status")
    daemon.close()
