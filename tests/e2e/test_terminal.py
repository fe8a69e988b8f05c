"""The command line as people meet it: what the texts hold, and how they look on a terminal."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

import harness

ESC = "\x1b"


def on_terminal(daemon, *args, columns=100, env=None) -> str:
    """What aurabench ARGS writes to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    full = {**harness.CLEAN_ENV, "TERM": "xterm", "AURABENCH_SOCKET": str(daemon.socket),
            "HOME": str(daemon.folder), **(env or {})}
    with subprocess.Popen([str(harness.CLIENT), *map(str, args)], env=full, stdin=theirs,
                          stdout=theirs, stderr=theirs, cwd=daemon.folder) as p:
        os.close(theirs)
        data = b""
        while piece := read_some(ours):
            data += piece
        p.wait(harness.PATIENCE_S)
    os.close(ours)
    return data.decode()


def read_some(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:  # the other end is closed
        return b""


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text).replace("\r\n", "\n")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A daemon for tests that only look: with a job that is done, and one that waits for a burner."""
    folder = tmp_path_factory.mktemp("shared")
    host = harness.FakeHost(folder / "host")
    d = harness.Daemon(folder, host).start()
    harness.make_repo(folder / "repo", {"slow": {"run.py": harness.lane_program(40000)},
                                        "fast": {"run.py": harness.lane_program(20000)}})
    quick = folder / "quick.json"
    quick.write_text(json.dumps(harness.quick_policy()))
    compare = ("compare", "--repo", folder / "repo", "--before", "slow", "--after", "fast",
               "--suite", harness.tiny_suite(folder / "suite"), "--policy", quick)
    done = d.json(*compare, "--label", "first try", "--repetitions", 2)["id"]
    d.finish(done)
    host.burner()
    waiting = d.json(*compare, "--label", "second", "--retry-every", "1h", "--priority", 3)["id"]
    d.until(waiting, "waiting")
    yield d, {"done": done, "waiting": waiting}
    d.close()


@pytest.fixture
def jobs(shared):
    return shared[1]


@pytest.fixture
def seen(shared):
    return shared[0]


def test_list_names_id_state_label_and_what_happens(seen, jobs):
    header, second, first = seen.run("list").stdout.splitlines()
    assert header.split() == ["ID", "STATE", "PRIO", "AGE", "LABEL", "WHAT"]
    assert second.startswith(jobs["waiting"][-8:]) and "waiting" in second
    assert "next try in" in second and "refused 1 time" in second
    assert first.startswith(jobs["done"][-8:]) and "first try" in first and "policy quick" in first
    assert [line[:17] for line in seen.run("list", "--state", "waiting").stdout.splitlines()] == [
        header[:17], second[:17]]
    assert len(seen.run("list", "-n", 1).stdout.splitlines()) == 2
    assert "no job is in that state" in seen.run("list", "-s", "held").stdout


def test_an_empty_list_says_what_to_do(daemon):
    assert "submit one with aurabench compare" in daemon.run("list").stdout


def test_show_tells_the_whole_story_of_a_job(seen, jobs):
    repo = seen.folder / "repo"
    text = seen.run("show", jobs["done"]).stdout
    commit = harness.git(repo, "rev-parse", "slow")
    for part in (jobs["done"], "first try", "tiny", f"slow  {commit[:12]}", str(repo),
                 "2 repetitions, 1 warmup, policy quick", "done since", "evidence", "ATTEMPT",
                 "queued", "timing begins", "before build: quiet", "after timing: quiet"):
        assert part in text, part
    text = seen.run("show", jobs["waiting"]).stdout
    for part in ("waiting since", "next try", "refused 1 time so far", "burner (pid 4711)",
                 "burner --hot", "sustained", "priority    3"):
        assert part in text, part


def test_status_tells_version_host_queue_and_what_is_due(seen, jobs):
    text = seen.run("status").stdout
    for part in ("aurabenchd 0.1.0 on fake", str(seen.state), "1 waiting, 1 done", "idle",
                 "next try"):
        assert part in text, part


def test_host_tells_who_it_is_its_facts_and_the_policies(seen):
    text = seen.run("host").stdout
    for part in ("fake", "Fake CPU", "8.0 GiB", "00000000-0000-4000-8000-000000000001", "mains",
                 "no battery", "standard", "virtual", "strict", "memory available", "PASS"):
        assert part in text, part


def test_quiet_names_who_makes_noise(daemon, fake_host):
    assert daemon.run("quiet").stdout.startswith("quiet")
    fake_host.burner(pid=4321, pct=77, command="miner")
    text = daemon.run("quiet", check=6).stdout
    assert text.startswith("not quiet: 1 competitor")
    assert re.search(r"4321 +miner +7\d\.\d %", text) and "sustained" in text
    fake_host.quiet()
    fake_host.write("facts", "uptime known 5000\n")
    text = daemon.run("quiet", check=6).stdout
    assert "time since boot" in text and "FAIL" in text


def test_log_is_what_happened_line_by_line(seen, jobs):
    lines = seen.run("log", jobs["done"]).stdout.splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  ", line) for line in lines)
    assert "begins" in lines[0] and "evidence: " in lines[-1]
    assert "burner" in seen.run("log", jobs["waiting"]).stdout


def test_each_part_of_a_report_stands_in_it_once(seen, jobs):
    text = seen.run("report", jobs["done"]).stdout
    titles = [line.split("  ")[0] for line in text.splitlines() if re.match(r"[A-Z]{3}[A-Z ]+", line)]
    for title in ("VERDICTS", "CONTROLS", "INVENTORIES", "CONDITIONS", "SOURCES AND TOOLS",
                  "HOST AND METHOD", "NOTES"):
        assert titles.count(title) == 1, title
    assert "tiny" in text and "subject" in text and "policy quick" in text


def test_a_report_goes_to_a_file_in_every_format(seen, jobs, tmp_path):
    evidence = seen.evidence(jobs["done"])
    for form, name in (("text", None), ("markdown", "report.md"), ("json", "summary.json"),
                       ("raw", "raw.json")):
        path = tmp_path / f"out.{form}"
        done = seen.run("report", jobs["done"], "--format", form, "--output", path)
        assert done.stdout == "" and path.stat().st_mode & 0o777 == 0o644
        if name:
            assert path.read_bytes() == (evidence / name).read_bytes(), form
    assert (tmp_path / "out.text").read_text() == seen.run("report", jobs["done"]).stdout
    missing = seen.run("report", jobs["done"], "-o", tmp_path / "no" / "x", check=1)
    assert missing.stderr.count("\n") == 1
    assert "has no report" in seen.run("report", jobs["waiting"], check=1).stderr


# ---- colour, width, redrawing


def texts(jobs) -> list[list[str]]:
    return [["list"], ["show", jobs["waiting"]], ["show", jobs["done"]], ["status"], ["host"],
            ["quiet"], ["report", jobs["done"]], ["wait", jobs["done"]], ["log", jobs["done"]]]


def test_nothing_but_text_goes_into_a_pipe(seen, jobs):
    for command in texts(jobs):
        done = seen.run(*command, check=None, env={"TERM": "xterm"})
        assert ESC not in done.stdout and "\r" not in done.stdout, command
        assert "\t" not in done.stdout and not re.search(r" \n", done.stdout), command


def test_a_terminal_has_colour_unless_it_is_not_wanted(seen, jobs):
    for command in texts(jobs)[:-1]:
        coloured = on_terminal(seen, *command)
        if command[0] != "status":
            assert ESC + "[" in coloured, command
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": ""}):
            assert ESC not in on_terminal(seen, *command, env=env), (command, env)


def test_colour_changes_nothing_but_colour(seen, jobs):
    for command in (["show", jobs["done"]], ["report", jobs["done"]], ["list", "-s", "done"]):
        with_colour = on_terminal(seen, *command)
        without = on_terminal(seen, *command, env={"NO_COLOR": "1"})
        # Ages and uptimes go on meanwhile.
        ages = r"\b\d+(ms|s|m)\b"
        assert re.sub(ages, "", plain(with_colour)) == re.sub(ages, "", plain(without)), command


@pytest.mark.parametrize("columns", [60, 80, 132])
def test_lines_fit_the_terminal(seen, jobs, columns):
    commands = [["list"], ["show", jobs["waiting"]], ["show", jobs["done"]], ["quiet"]]
    if columns >= 80:  # a report does not cut ids of commits
        commands.append(["report", jobs["done"]])
    for command in commands:
        for line in plain(on_terminal(seen, *command, columns=columns)).splitlines():
            assert len(line) <= columns, (command, line)


def test_watch_redraws_one_line_on_a_terminal_and_appends_elsewhere(daemon, compare):
    job = compare("--repetitions", 3)
    drawn = on_terminal(daemon, "watch", job)
    assert "\r" + ESC + "[K" in drawn
    assert plain(drawn).splitlines()[-2].lstrip("\r").startswith(f"job {job[-8:]} done")
    job = compare("--repetitions", 3)
    lines = daemon.run("watch", job).stdout.splitlines()
    assert any(re.match(r"\d\d:\d\d:\d\d  measuring ", line) for line in lines)
    assert lines[-2].startswith(f"job {job[-8:]} done") and lines[-1].startswith("  next: ")


def test_waiting_leaves_stdout_to_the_report(daemon, repo, suite, policy):
    done = daemon.run("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite",
                      suite, "--policy", policy, "--repetitions", 1, "--label", "waited", "--wait",
                      "--report", "markdown")
    assert done.stdout.startswith("# ") and "waited" in done.stdout
    assert "measuring" in done.stderr and "queued" in done.stderr
    job = daemon.json("list")["jobs"][0]["id"]
    assert done.stdout == daemon.run("report", job, "--format", "markdown").stdout


def test_what_others_wrote_cannot_steer_the_terminal(daemon, fake_host, compare):
    fake_host.write("processes", "66 1 1000 1 99 ev\x1b[31mil\x07 / ev\x1b]0;title\x07il --x\u202e\n")
    job = compare("--retry-every", "1h")
    daemon.until(job, "waiting")
    drawn = on_terminal(daemon, "watch", "--timeout", "2s", env={"NO_COLOR": "1"})
    assert "ev?[31mil?" in drawn
    assert not any(bad in drawn for bad in (ESC + "[31m", ESC + "]", "\x07", "\u202e"))
    for command in (["list"], ["show", job], ["quiet"]):
        for text in (on_terminal(daemon, *command, env={"NO_COLOR": "1"}),
                     daemon.run(*command, check=None).stdout):
            assert ESC not in text and "\x07" not in text and "\u202e" not in text, command
    log = on_terminal(daemon, "log", job)
    assert r"ev\x1b[31mil" in log and ESC not in log


# ---- the host, watched


def test_the_host_is_one_picture_drawn_again_in_place(seen, jobs):
    drawn = on_terminal(seen, "watch", "--timeout", "13s", columns=90)
    first, again, *_ = drawn.split(ESC + "[J")
    for part in ("waiting", "not quiet: 1 competitor", "burner (pid 4711)", "standard: PASS", "cpu 0 ",
                 "1 waiting", "next try", jobs["waiting"][-8:], "second, refused 1 time"):
        assert part in plain(first), part
    lines = plain(first).splitlines()
    assert again.startswith(f"{ESC}[{len(lines)}A\r")
    assert all(len(line) < 90 for line in lines)


def test_a_picture_is_no_wider_than_its_terminal(seen):
    first = on_terminal(seen, "quiet", "--watch", "--timeout", "2s", columns=40).split(ESC + "[J")[0]
    assert all(len(line) < 40 for line in plain(first).splitlines())


@pytest.mark.parametrize("columns", [65, 90, 91, 92, 119, 120])
def test_as_many_cores_stand_in_a_line_as_fit_whole(daemon, fake_host, columns):
    fake_host.write("identity", "cores 16\n")
    first = on_terminal(daemon, "quiet", "--watch", "--timeout", "2s", columns=columns).split(ESC + "[J")[0]
    lines = [line for line in plain(first).splitlines() if "cpu " in line]
    assert re.findall(r"cpu (\d+) +\[.{10}\] +\d+ %", "\n".join(lines)) == [str(n) for n in range(16)]
    assert all(len(line) < columns and "..." not in line[:10] + line[-4:] for line in lines)
    assert len(lines[0].rstrip()) + 27 >= columns, "one more would fit"


def test_without_a_terminal_the_host_is_lines_or_documents(seen):
    lines = seen.run("watch", "--timeout", "2s", check=124).stdout.splitlines()
    assert lines and all("NOISY" in line and ESC not in line for line in lines)
    text = seen.run("watch", "--json", "--timeout", "2s", check=124).stdout.splitlines()
    assert json.loads(text[0])["state"] == "busy" and json.loads(text[0])["cpus"][0]["cpu"] == 0


def test_a_host_that_measures_is_not_looked_at(daemon, repo, policy, tmp_path):
    job = daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite",
                      harness.tiny_suite(tmp_path / "suite"), "--policy", policy, "--repetitions", 200)["id"]
    daemon.until(job, "measuring")
    drawn = plain(on_terminal(daemon, "watch", "--timeout", "3s"))
    assert "not looked at while it measures" in drawn and "cpu 0 " not in drawn.split("not looked at")[0]
    assert f"measuring {job[-8:]}" in drawn
    daemon.run("cancel", job, check=None)
    assert daemon.finish(job)["job"]["state"] == "cancelled"
