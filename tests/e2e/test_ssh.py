"""The daemon of another machine: a real sshd on the loopback, the client's -H, and dial-stdio."""

import contextlib
import getpass
import json
import os
import pathlib
import shutil
import socket
import subprocess
import time

import pytest

import harness
from test_client import check_sentence
from wiretools import request

SSHD = "/usr/sbin/sshd"
pytestmark = pytest.mark.skipif(not os.access(SSHD, os.X_OK), reason="sshd is not installed")


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def make_key(path: pathlib.Path) -> pathlib.Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path


class Sshd:
    """An sshd that lets this user in with its own key; far is the environment of what it starts."""

    def __init__(self, folder: pathlib.Path, **far: str):
        self.folder = folder
        folder.mkdir()
        self.port = free_port()
        host, user = make_key(folder / "host"), make_key(folder / "user")
        (folder / "authorized").write_text((folder / "user.pub").read_text())
        self.trust(host)
        variables = " ".join(f"{name}={value}" for name, value in far.items())
        (folder / "sshd_config").write_text(f"""ListenAddress 127.0.0.1:{self.port}
HostKey {host}
AuthorizedKeysFile {folder / "authorized"}
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
SetEnv {variables}
""")
        (folder / "ssh_config").write_text(f"""Host bench
    HostName 127.0.0.1
    Port {self.port}
    User {getpass.getuser()}
Host *
    IdentityFile {user}
    IdentitiesOnly yes
    UserKnownHostsFile {folder / "known"}
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    LogLevel ERROR
""")
        self.process = None

    def trust(self, key: pathlib.Path) -> None:
        public = key.with_suffix(".pub").read_text()
        (self.folder / "known").write_text(f"[127.0.0.1]:{self.port} {public}")

    def start(self) -> "Sshd":
        if os.getuid() == 0:  # where sshd itself insists on it
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [SSHD, "-D", "-e", "-f", str(self.folder / "sshd_config")], stdout=log, stderr=log,
                stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + harness.PATIENCE_S
        while socket.socket().connect_ex(("127.0.0.1", self.port)) != 0:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()

    @property
    def command(self) -> str:
        return f"ssh -F {self.folder / 'ssh_config'}"

    @property
    def url(self) -> str:
        return f"ssh://{getpass.getuser()}@127.0.0.1:{self.port}"


def far_environment(daemon) -> dict[str, str]:
    return {"PATH": f"{harness.BUILD}:/usr/bin:/bin", "AURABENCH_SOCKET": str(daemon.socket),
            **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}


@pytest.fixture
def sshd(daemon, tmp_path):
    server = Sshd(tmp_path / "sshd", **far_environment(daemon)).start()
    yield server
    server.stop()


@pytest.fixture
def remote(daemon, sshd):
    """aurabench -H ssh://... ARGS, with no way to the daemon but that one."""

    def run(*args, url=sshd.url, env=None, **kwargs):
        env = {"AURABENCH_SSH": sshd.command, "AURABENCH_SOCKET": "/nowhere/sock", **(env or {})}
        return daemon.run("-H", url, *args, env=env, **kwargs)

    return run


def children_of(pid: int) -> list[str]:
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_a_comparison_over_ssh_is_the_one_made_here(daemon, remote, compare, repo, suite, policy):
    here = compare("--repetitions", 2)
    daemon.finish(here)
    there = json.loads(remote("compare", "--repo", repo, "--before", "slow", "--after", "fast",
                              "--suite", suite, "--policy", policy, "--repetitions", 2,
                              "--json").stdout)["id"]
    assert daemon.finish(there)["job"]["state"] == "done"
    documents = [daemon.show(job)["document"] for job in (here, there)]
    for document in documents:
        del document["id"]
    assert documents[0] == documents[1]
    raws = [daemon.raw(job) for job in (here, there)]
    for part in ("sides", "workloads", "sources", "plan", "policy", "suite_sha256", "host"):
        for raw in raws:
            for source in raw["sources"] if part == "sources" else []:
                source.pop("path", None)
        assert raws[0][part] == raws[1][part], part
    assert [len(raw["observations"]) for raw in raws] == [12, 12]
    verdicts = [[(c["workload"], c["subject"], c["reference"], c["wall"]["pairs"])
                 for c in daemon.summary(job)["comparisons"]] for job in (here, there)]
    assert verdicts[0] == verdicts[1]


def test_waiting_over_ssh_shows_progress_and_the_report(daemon, remote, repo, suite, policy):
    done = remote("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite,
                  "--policy", policy, "--repetitions", 1, "--wait")
    assert "measuring" in done.stderr and "VERDICTS" in done.stdout


def test_every_way_of_looking_works_over_ssh(daemon, remote, compare, fake_host):
    job = compare("--repetitions", 1)
    daemon.finish(job)
    for command in (["show", job], ["log", job], ["report", job], ["wait", job],
                    ["report", job, "-f", "raw"]):
        there, here = remote(*command).stdout, daemon.run(*command).stdout
        assert there == here and there, command
    assert job[-8:] in remote("list").stdout
    assert "aurabenchd 0.1.0 on fake" in remote("status").stdout
    fake_host.burner()
    assert "burner" in remote("quiet", check=6).stdout
    waiting = compare("--retry-every", "1h")
    daemon.until(waiting, "waiting")
    remote("wait", waiting, "--timeout", "500ms", check=124)
    assert json.loads(remote("cancel", waiting, "--json").stdout)["state"] == "cancelled"
    remote("wait", waiting, check=5)
    assert "there is no job 01ZZZZ" in check_sentence(remote("show", "01ZZZZ", check=None), 4)


def test_a_name_of_the_ssh_configuration_is_enough(remote):
    assert "on fake" in remote("status", url="ssh://bench").stdout
    assert "on fake" in remote("status", url="ssh://bench/").stdout


def last_line(done: subprocess.CompletedProcess) -> str:
    """Ssh says its own first; ours is the last line."""
    assert done.stdout == ""
    line = done.stderr.splitlines()[-1]
    assert line.startswith("aurabench: "), done.stderr
    return line


def test_a_host_that_does_not_answer_is_status_3(remote):
    done = remote("status", url=f"ssh://127.0.0.1:{free_port()}", check=3)
    assert "ended with status 255" in last_line(done) and "Connection refused" in done.stderr


def test_a_host_with_another_key_is_status_3(sshd, remote, tmp_path):
    sshd.trust(make_key(tmp_path / "other"))
    done = remote("status", check=3)
    assert "ended with status 255" in last_line(done)
    assert "verification failed" in done.stderr


def test_a_host_without_aurabench_says_so(daemon, remote, tmp_path):
    bare = Sshd(tmp_path / "bare", PATH="/usr/bin:/bin").start()
    try:
        if shutil.which("aurabench", path="/usr/bin:/bin"):
            pytest.skip("aurabench is installed on this machine")
        done = remote("status", url=bare.url, env={"AURABENCH_SSH": bare.command}, check=3)
        assert "has no program aurabench" in last_line(done)
    finally:
        bare.stop()


def test_a_host_without_a_daemon_says_so_in_its_own_words(daemon, remote, tmp_path):
    idle = Sshd(tmp_path / "idle", PATH=f"{harness.BUILD}:/usr/bin:/bin",
                AURABENCH_SOCKET="/nowhere/sock").start()
    try:
        done = remote("status", url=idle.url, env={"AURABENCH_SSH": idle.command}, check=3)
        assert "ended with status 3" in last_line(done)
        assert "no aurabenchd answers at /nowhere/sock" in done.stderr
    finally:
        idle.stop()


def test_without_ssh_the_sentence_says_what_to_install(daemon):
    done = daemon.run("-H", "ssh://bench", "status", env={"AURABENCH_SSH": "/no/such/ssh"}, check=3)
    assert "could not run /no/such/ssh" in check_sentence(done, 3)


@pytest.mark.parametrize("url", [
    "ssh://-oProxyCommand=touch%20x", "ssh://-V", "ssh://user@-oProxyCommand=x", "ssh://-l@host",
    "ssh://", "ssh://@host", "ssh://user@", "ssh://host:0", "ssh://host:65536", "ssh://host:22x",
    "ssh://host:-1", "ssh://host;id", "ssh://host$(id)", "ssh://host name", "ssh://host/path",
    "ssh://ho\nst", "ssh://[::1", "https://host", "host",
])
def test_what_is_no_host_never_reaches_ssh(daemon, tmp_path, url):
    trap = tmp_path / "ssh"
    trap.write_text("#!/bin/sh\n: >\"$0.called\"\n")
    trap.chmod(0o755)
    done = daemon.run("-H", url, "status", env={"AURABENCH_SSH": str(trap)}, check=2)
    check_sentence(done, 2)
    assert not (tmp_path / "ssh.called").exists()


def test_ssh_is_called_with_the_host_behind_the_options(daemon, tmp_path):
    trap = tmp_path / "ssh"
    trap.write_text("#!/bin/sh\nfor a; do echo \"$a\"; done >\"$0.args\"\n")
    trap.chmod(0o755)
    for url, words in [("ssh://u.x@h-1.example:2222", ["-p", "2222", "--", "u.x@h-1.example"]),
                       ("ssh://[::1]:22", ["-p", "22", "--", "::1"]), ("ssh://h", ["--", "h"])]:
        daemon.run("-H", url, "status", env={"AURABENCH_SSH": f"{trap} -F none"}, check=3)
        called = (tmp_path / "ssh.args").read_text().splitlines()
        assert called == ["-F", "none", "-T", *words, "aurabench", "dial-stdio"]


# ---- dial-stdio


def dial_commands(daemon, sshd) -> list[list[str]]:
    return [[str(harness.CLIENT), "dial-stdio", "--socket", str(daemon.socket)],
            [*sshd.command.split(), "-T", "bench", "aurabench", "dial-stdio"]]


@contextlib.contextmanager
def dialled(command):
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=harness.CLEAN_ENV) as p:
        try:
            yield p
        finally:
            p.kill()


def test_dial_stdio_passes_an_end_on_and_the_answers_back(daemon, sshd):
    for command in dial_commands(daemon, sshd):
        with dialled(command) as p:
            out, _ = p.communicate(request(ident=1) + request("host.quiet", 2) +
                                   request("host.show", 3), timeout=harness.PATIENCE_S)
            assert p.returncode == 0
        lines = [json.loads(line) for line in out.splitlines()]
        assert "aurabench" in lines[0] and [line["id"] for line in lines[1:]] == [1, 2, 3]


def test_dial_stdio_moves_much_in_both_directions(daemon, sshd):
    for command in dial_commands(daemon, sshd):
        with dialled(command) as p:
            n = 400
            out, _ = p.communicate(b"".join(request("host.show", i) + b" " * 20000 + b"\n"
                                            for i in range(n)), timeout=harness.PATIENCE_S)
        answers = [json.loads(line) for line in out.splitlines()[1:]]
        assert [a["id"] for a in answers if "result" in a] == list(range(n))
        assert len(answers) == 2 * n  # a line of blanks is answered too


def test_dial_stdio_ends_with_the_daemon(daemon):
    with dialled([str(harness.CLIENT), "dial-stdio", "--socket", str(daemon.socket)]) as p:
        assert b"aurabench" in p.stdout.readline()
        daemon.stop()
        assert p.stdout.readline() == b""
        assert p.wait(harness.PATIENCE_S) == 0
    daemon.start()


def test_dial_stdio_ends_when_nobody_reads_it_any_more(daemon, fake_host, compare):
    fake_host.burner()
    job = compare("--retry-every", "1h")
    daemon.until(job, "waiting")
    command = [str(harness.CLIENT), "dial-stdio", "--socket", str(daemon.socket)]
    with dialled(command) as p:
        p.stdin.write(request("job.watch", id=job))
        p.stdin.flush()
        assert p.stdout.readline() and p.stdout.readline()
        p.stdin.close()
        p.stdout.close()
        assert p.wait(harness.PATIENCE_S) == 0


def test_dial_stdio_says_where_it_looked(daemon):
    done = daemon.run("dial-stdio", "--socket", "/nowhere/sock", check=None)
    assert "no aurabenchd answers at /nowhere/sock" in check_sentence(done, 3)
    done = daemon.run("dial-stdio", "-H", "ssh://bench", check=None)
    assert "leave out --host" in check_sentence(done, 2)
