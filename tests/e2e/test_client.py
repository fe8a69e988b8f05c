"""The command line as scripts meet it: statuses, streams, JSON, where the daemon is sought."""

import contextlib
import json
import os
import shutil
import socket
import subprocess

import pytest

import harness

# Each with the words it needs at least.
COMMANDS = {
    "compare": ["--before", "slow", "--suite", "{suite}", "--repo", "{repo}"],
    "run": ["--", "true"], "submit": ["{job}"], "list": [], "show": ["01ZZZZ"], "watch": ["01ZZZZ"],
    "wait": ["01ZZZZ"], "log": ["01ZZZZ"], "cancel": ["01ZZZZ"], "report": ["01ZZZZ"],
    "session": ["list"], "page": ["--reports", "01ZZZZ"], "gate": ["{targets}", "--job", "01ZZZZ"], "host": [],
    "kernel": ["--list"], "quiet": [], "status": [], "drain": [], "dial-stdio": [],
}
LATER = ["diff",
         "export", "import", "metrics"]


def client(*args, env=None, cwd="/", **kwargs) -> subprocess.CompletedProcess:
    """aurabench without any daemon's address."""
    full = {**harness.CLEAN_ENV, "HOME": "/nonexistent", **(env or {})}
    kwargs.setdefault("capture_output", True)
    return subprocess.run([str(harness.CLIENT), *map(str, args)], env=full, cwd=cwd, text=True,
                          stdin=subprocess.DEVNULL, timeout=harness.PATIENCE_S, **kwargs)


def check_sentence(done: subprocess.CompletedProcess, status: int) -> str:
    """One sentence on stderr, nothing on stdout, this status."""
    assert done.returncode == status, (done.args, done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("aurabench: ") and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.endswith("\n")
    return done.stderr


@pytest.fixture
def words(repo, suite, tmp_path):
    """The words of a command with real paths in them."""
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, sources={
        "before": {"repo": str(repo), "rev": "slow"}, "after": {"repo": str(repo), "rev": "fast"}})
    targets = tmp_path / "targets.json"
    targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
        {"workload": "tiny", "lane": "subject", "reference": "control", "max_ratio": 1e6,
         "diagnostic": True}]}))
    places = {"{suite}": suite, "{repo}": repo, "{job}": job, "{targets}": targets}
    return {name: [places.get(w, w) for w in given] for name, given in COMMANDS.items()}


# ---- help and usage


def test_every_command_explains_itself():
    overview = client("--help")
    assert overview.returncode == 0 and overview.stderr == ""
    assert client("help").stdout == overview.stdout
    for name in [*COMMANDS, "help", "completion"]:
        assert f"\n  {name} " in overview.stdout
        done = client(name, "--help")
        assert done.returncode == 0 and done.stderr == ""
        assert f"usage: aurabench {name} " in done.stdout
        for option in ("--host URL", "--json", "--timeout DURATION", "--help"):
            assert option in done.stdout, name
        assert client("help", name).stdout == done.stdout
        assert client(name, "-h").stdout == done.stdout


def test_the_version_is_that_of_the_build():
    assert client("--version").stdout == "aurabench 0.1.0\n"
    document = json.loads(client("list", "--version", "--json").stdout)
    assert document == {"aurabench": 1, "command": "list", "version": "0.1.0"}


@pytest.mark.parametrize("args,says", [
    ([], "name a command"),
    (["frobnicate"], "there is no command frobnicate"),
    (["list", "--frob"], "there is no option --frob"),
    (["list", "-q"], "there is no option -q"),
    (["list", "extra"], "extra is too much"),
    (["list", "--limit", "0"], "from 1 to 1000000, not 0"),
    (["list", "--limit", "ten"], "not ten"),
    (["list", "--limit"], "--limit needs a value"),
    (["list", "--all=yes"], "--all takes no value"),
    (["list", "--state", "finished"], "states are held, queued"),
    (["list", "--timeout", "soon"], "a duration like"),
    (["show"], "something is missing: aurabench show ID"),
    (["show", "a", "b"], "b is too much"),
    (["show", "01ZZZZ", "--", "true"], "takes nothing behind --"),
    (["run"], "command"),
    (["run", "--", "true", "--vs"], "--vs"),
    (["compare", "--suite", "x"], "--before REV"),
    (["compare", "--before", "x"], "--suite NAME"),
    (["compare", "--before", "x", "--suite", "y", "--order", "random"], "--order takes"),
    (["compare", "--before", "x", "--suite", "y", "--report", "pdf"], "--report takes"),
    (["report", "01ZZZZ", "--format", "pdf"], "pdf"),
    (["quiet", "--every", "-1s"], "--every"),
    (["help", "frobnicate"], "there is no command frobnicate"),
    (["status", "-H", "bench"], "only ssh:// is known"),
    (["status", "-H", "ssh://host", "--socket", "/x"], "leave it out with --host"),
])
def test_what_is_not_understood_is_a_usage_error(args, says):
    assert says in check_sentence(client(*args), 2)


@pytest.mark.parametrize("name", LATER)
def test_a_command_of_a_later_version_is_named_as_such(name):
    assert f"has no `{name}` yet" in check_sentence(client(name), 2)


# ---- no daemon


def test_without_a_daemon_every_command_says_so_with_status_3(tmp_path, words):
    for name, given in words.items():
        done = client(name, "--socket", tmp_path / "none", *given, cwd=tmp_path)
        sentence = check_sentence(done, 3)
        assert str(tmp_path / "none") in sentence and "no such socket" in sentence, sentence


def test_with_json_an_error_is_a_document_too(tmp_path):
    done = client("list", "--json", "--socket", tmp_path / "none")
    assert done.returncode == 3
    document = json.loads(done.stdout)
    assert set(document) == {"aurabench", "command", "error"}
    assert document["error"]["code"] == "daemon.unreachable"
    assert done.stderr == f"aurabench: {document['error']['message']}\n"


def listener(path) -> socket.socket:
    s = socket.socket(socket.AF_UNIX)
    s.bind(str(path))
    s.listen()
    return s


def answer_once(server: socket.socket, data: bytes, command: list) -> subprocess.CompletedProcess:
    """What the client makes of a server that says data and hangs up."""
    with subprocess.Popen([str(harness.CLIENT), *command], env=harness.CLEAN_ENV, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as p:
        peer, _ = server.accept()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            peer.sendall(data)  # the client may have heard enough
        peer.close()
        out, err = p.communicate(timeout=harness.PATIENCE_S)
    return subprocess.CompletedProcess(command, p.returncode, out, err)


HELLO = b'{"aurabench":1,"version":"9","host":"h","boot":"b"}\n'
FULL = (b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"the daemon is full",'
        b'"data":{"code":"daemon.busy","field":""}}}\n')
STRANGERS = {
    "silent": (b"", "hung up without a word"),
    "sshd": (b"SSH-2.0-OpenSSH_9.2\r\n", "is no aurabenchd"),
    "newer": (HELLO.replace(b"1", b"2", 1), "speaks protocol 2"),
    "without a boot": (b'{"aurabench":1,"version":"9","host":"h"}\n', "is no aurabenchd"),
    "endless": (b"x" * (2 << 20), "its first line has no end"),
    "leaving": (HELLO, "the connection to the daemon broke"),
    "full": (HELLO + FULL, "the daemon is full"),
}


@pytest.mark.parametrize("who", STRANGERS)
def test_whoever_else_answers_on_the_socket_is_status_3(tmp_path, who):
    data, says = STRANGERS[who]
    short = harness.Daemon(tmp_path).short  # a folder with a short path
    with listener(short / "s") as server:
        done = answer_once(server, data, ["status", "--socket", str(short / "s")])
    shutil.rmtree(short)
    assert says in check_sentence(done, 3)


def test_a_socket_that_may_not_be_used_names_the_group(daemon):
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
    daemon.short.chmod(0o755)
    # A place that the other user may reach, wherever the build folder lies.
    copy = daemon.short / "aurabench"
    copy.write_bytes(harness.CLIENT.read_bytes())
    copy.chmod(0o755)
    done = subprocess.run([str(copy), "status", "--socket", str(daemon.socket)], text=True, cwd="/",
                          capture_output=True, env=harness.CLEAN_ENV, user=1, group=1,
                          extra_groups=[])
    assert "ask to be put into that group" in check_sentence(done, 3)


# ---- where the daemon is sought


def test_the_socket_is_sought_by_option_variable_and_runtime_folder(daemon):
    runtime = daemon.short / "run"
    (runtime / "aurabench").mkdir(parents=True)
    (runtime / "aurabench" / "sock").symlink_to(daemon.socket)
    wrong = {"AURABENCH_SOCKET": "/nowhere/sock", "XDG_RUNTIME_DIR": "/nowhere"}
    assert client("status", "--socket", daemon.socket, env=wrong).returncode == 0
    assert client("status", env={**wrong, "AURABENCH_SOCKET": str(daemon.socket)}).returncode == 0
    assert "/nowhere/sock" in check_sentence(client("status", env=wrong), 3)
    by_runtime = {"AURABENCH_SOCKET": "", "XDG_RUNTIME_DIR": str(runtime)}
    assert client("status", env=by_runtime).returncode == 0
    if not os.path.exists("/run/aurabench/sock"):
        assert "/run/aurabench/sock" in check_sentence(client("status"), 3)
        lost = {"XDG_RUNTIME_DIR": "/nowhere"}
        assert "/nowhere/aurabench/sock" in check_sentence(client("status", env=lost), 3)


@pytest.mark.parametrize("option", [True, False])
def test_a_socket_path_over_103_bytes_is_refused_by_name(option):
    path = "/tmp/" + "s" * 99
    done = (client("status", "--socket", path) if option
            else client("status", env={"AURABENCH_SOCKET": path}))
    sentence = check_sentence(done, 2)
    assert "104 bytes" in sentence and "at most 103" in sentence
    assert ("--socket" if option else "AURABENCH_SOCKET") in sentence
    assert "no such socket" in check_sentence(client("status", "--socket", path[:-1]), 3)


# ---- statuses of jobs


def test_a_job_that_does_not_exist_is_status_4(daemon):
    for name in ("show", "watch", "wait", "log", "cancel", "report"):
        assert "there is no job 01ZZZZ" in check_sentence(daemon.run(name, "01ZZZZ", check=None), 4)


def test_what_cannot_be_an_id_is_status_2(daemon):
    for ident in ("abc", "nope", "01'; --", "0" * 27):
        assert "job's id" in check_sentence(daemon.run("show", ident, check=None), 2)


def test_wait_and_watch_end_with_the_status_of_the_job(daemon, fake_host, compare, repo, policy,
                                                       tmp_path):
    bad = harness.make_suite(tmp_path / "bad", [harness.protocol(
        {"subject": {"command": ["{source}/run.py"]}}, done="DONE tiny 43")])
    done, failed = compare("--repetitions", 1), daemon.json(
        "compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", bad,
        "--policy", policy)["id"]
    daemon.finish(failed)
    fake_host.burner()
    cancelled = compare("--retry-every", "1h")
    daemon.until(cancelled, "waiting")
    slow = daemon.run("wait", cancelled, "--timeout", "50ms", check=124)
    assert "the time of --timeout is over" in check_sentence(slow, 124)
    assert daemon.state_of(cancelled) == "waiting"  # the timeout is the client's alone
    daemon.run("cancel", cancelled)
    unqualified = compare("--retry-every", "1s", "--retry-limit", "1")
    daemon.until(unqualified, "unqualified")
    for job, state, status in [(done, "done", 0), (failed, "failed", 1),
                               (cancelled, "cancelled", 5), (unqualified, "unqualified", 6)]:
        for name in ("wait", "watch"):
            said = daemon.run(name, job, check=status)
            assert f"job {job[-8:]} {state}" in said.stdout and said.stderr == ""
            told = [json.loads(line) for line in
                    daemon.run(name, job, "--json", check=status).stdout.splitlines()]
            assert told[-1]["job"]["state"] == state
    again = daemon.run("cancel", done, check=1)
    assert "is done" in check_sentence(again, 1)


def test_quiet_ends_with_6_on_a_noisy_host_and_0_on_a_quiet_one(daemon, fake_host):
    daemon.run("quiet", check=0)
    fake_host.burner()
    assert "burner" in daemon.run("quiet", check=6).stdout
    assert daemon.json("quiet", check=6)["state"] == "busy"
    fake_host.quiet()
    fake_host.write("facts", "mains known 0\n")
    assert "FAIL" in daemon.run("quiet", check=6).stdout


def test_a_watch_of_the_host_ends_with_124(daemon, fake_host):
    done = daemon.run("quiet", "--watch", "--every", "100ms", "--timeout", "3s", check=124)
    assert len(done.stdout.splitlines()) >= 1
    assert all("quiet" in line for line in done.stdout.splitlines())
    assert done.stderr.count("\n") == 1


# ---- JSON


def test_every_command_has_a_json_document_with_the_same_head(daemon, words, policy):
    job = daemon.json("compare", *words["compare"], "--after", "fast", "--repetitions", 1,
                      "--policy", policy)["id"]
    daemon.finish(job)
    for name in COMMANDS:
        if name in ("run", "dial-stdio"):
            continue
        given = [job if w == "01ZZZZ" else w for w in words[name]]
        check = 1 if name == "cancel" else 0
        done = daemon.run(name, *given, "--json", check=check)
        for line in done.stdout.splitlines():
            document = json.loads(line)
            assert (document["aurabench"], document["command"]) == (1, name)
            assert ("error" in document) == (name == "cancel")


def test_json_of_run_is_one_document(daemon, policy):
    done = daemon.run("run", "--json", "--repetitions", 1, "--policy", policy, "--", "true", "--vs",
                      "/bin/true")
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["command"] == "run"


# ---- streams


def closed_pipe() -> int:
    """The writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


def test_a_closed_stdout_ends_quietly(daemon, compare):
    job = compare("--repetitions", 1)
    daemon.finish(job)
    env = {"AURABENCH_SOCKET": str(daemon.socket)}
    for command in (["list"], ["list", "--json"], ["show", job], ["report", job], ["log", job],
                    ["status"], ["host"], ["quiet"], ["watch", job], ["--help"]):
        pipe = closed_pipe()
        done = client(*command, env=env, capture_output=False, stdout=pipe, stderr=subprocess.PIPE)
        os.close(pipe)
        assert (done.returncode, done.stderr) == (0, ""), command


def test_a_full_disk_behind_stdout_is_an_error(daemon):
    with open("/dev/full", "w") as full:
        done = client("status", env={"AURABENCH_SOCKET": str(daemon.socket)}, capture_output=False,
                      stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1 and "could not write to stdout" in done.stderr


def test_closed_standard_streams_harm_nobody(daemon):
    command = ["/bin/sh", "-c", f"exec '{harness.CLIENT}' status <&- >&- 2>&-"]
    done = subprocess.run(command, env={**harness.CLEAN_ENV, "AURABENCH_SOCKET": str(daemon.socket)})
    assert done.returncode in (0, 1)
    assert "result" in daemon.connect().call("daemon.status")


# ---- ids


def test_an_id_may_be_given_by_its_beginning_or_its_end(daemon, fake_host, compare):
    fake_host.burner()
    first, second = compare("--label", "first"), compare("--label", "second")
    for part in (second, second.lower(), second[:20], second[-4:], second[-12:].lower()):
        assert daemon.json("show", part)["job"]["id"] == second, part
    common = os.path.commonprefix([first, second])
    assert len(common) >= 4
    ambiguous = daemon.run("show", common, check=2)
    assert "several jobs" in check_sentence(ambiguous, 2) or common in ambiguous.stderr
    assert daemon.refused("show", common)["code"] == "job.ambiguous"
    for job in (first, second):
        daemon.run("cancel", job[-8:])


def test_the_same_id_with_another_document_is_refused(daemon, compare):
    job = compare("--repetitions", 1)
    document = daemon.show(job)["document"]
    wire = daemon.connect()
    policy = harness.quick_policy()
    assert wire.call("job.submit", job=document, policy=policy)["result"]["duplicate"] is True
    other = wire.call("job.submit", job={**document, "label": "another"}, policy=policy)
    assert other["error"]["data"]["code"] == "job.exists_differs"
    assert len(daemon.json("list")["jobs"]) == 1
    wire.close()
