"""aurabench run: commands as they stand, timed whole; diagnostic by nature."""

import json
import os

import pytest

import harness

FEW = ("--repetitions", "7", "--warmups", "1")


@pytest.fixture
def scripts(tmp_path):
    folder = tmp_path / "scripts"
    folder.mkdir()
    for name, text in {"slow": "#!/bin/sh\nsleep 0.2\necho done\n", "fast": "#!/bin/sh\necho done\n",
                       "where": '#!/bin/sh\npwd >>"$1"\n', "noisy": "#!/bin/sh\necho note >&2\n",
                       "bad": "#!/bin/sh\necho 'bad input file' >&2\nexit 3\n"}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def only_job(daemon) -> str:
    jobs = daemon.json("list")["jobs"]
    assert len(jobs) == 1
    return jobs[0]["id"]


def test_two_commands_are_compared_and_the_report_is_printed(daemon, scripts, policy):
    done = daemon.run("run", "--policy", policy, *FEW, "--", scripts / "slow", "--vs", scripts / "fast")
    assert "FASTER" in done.stdout and "diagnostic" in done.stdout
    id = only_job(daemon)
    comparisons = daemon.summary(id)["comparisons"]
    # The second against the first.
    assert [(c["kind"], c["subject"]["lane"], c["reference"]["lane"]) for c in comparisons] == \
        [("lanes", "b", "a")]
    wall = comparisons[0]["wall"]
    assert wall["verdict"] == "FASTER" and wall["ratio_of_medians"] < 0.5 and wall["pairs"] == 7
    assert daemon.show(id)["job"]["label"] == "run slow against fast"
    raw = daemon.raw(id)
    assert raw["job"]["run"] is True and raw["sources"] == []
    assert [o["lane"] for o in raw["observations"][2:6]] == ["a", "b", "b", "a"]


def test_a_run_is_never_contractual(daemon, scripts, policy):
    daemon.run("run", "--policy", policy, "--repetitions", "11", "--", scripts / "fast", "--vs",
               scripts / "fast")
    grade = daemon.summary(only_job(daemon))["grade"]
    assert grade["value"] == "diagnostic"
    failed = {p["name"] for p in grade["predicates"] if p["status"] == "FAIL"}
    assert failed, "something must fail: nothing is known of what the commands are built from"
    assert failed <= {"sources_clean_detached", "commits_pinned", "sources_frozen", "inputs_unchanged"}


def test_commands_run_in_the_callers_folder(daemon, scripts, policy, tmp_path):
    there, log = tmp_path / "there", tmp_path / "log"
    there.mkdir()
    daemon.run("run", "--policy", policy, "--repetitions", "1", "--warmups", "0", "--",
               scripts / "where", log, cwd=there)
    daemon.run("run", "--policy", policy, "--repetitions", "1", "--warmups", "0", "--cwd", scripts, "--",
               scripts / "where", log, cwd=there)
    assert log.read_text().split() == [str(there), str(scripts)]


def test_a_program_is_found_in_the_callers_path_and_named_whole(daemon, scripts, policy):
    daemon.run("run", "--policy", policy, "--repetitions", "1", "--warmups", "0", "--", "fast",
               env={"PATH": f"{scripts}:/usr/bin:/bin"})
    suite = json.loads((daemon.evidence(only_job(daemon)) / "suite/suite.json").read_text())
    assert suite["workloads"][0]["lanes"]["a"]["command"] == [str(scripts / "fast")]


def test_one_command_alone_is_measured_without_a_comparison(daemon, scripts, policy):
    daemon.run("run", "--policy", policy, *FEW, "--", scripts / "fast")
    summary = daemon.summary(only_job(daemon))
    assert summary["comparisons"] == []
    assert [(r["lane"], r["wall"]["n"]) for r in summary["workloads"][0]["rows"]] == [("a", 7)]


def test_what_a_command_says_on_stderr_is_its_own_business(daemon, scripts, policy):
    daemon.run("run", "--policy", policy, "--repetitions", "1", "--", scripts / "noisy")
    assert {o["stderr_bytes"] for o in daemon.raw(only_job(daemon))["observations"]} == {5}


def test_a_failing_command_fails_the_run_with_its_words(daemon, scripts, policy):
    done = daemon.run("run", "--policy", policy, "--", scripts / "fast", "--vs", scripts / "bad", check=1)
    assert "exited with status 3" in done.stderr and "bad input file" in done.stderr
    id = only_job(daemon)
    assert daemon.show(id)["job"]["error"]["code"] == "lane.exit_status"
    assert "bad input file" in daemon.log_of(id)
    harness.check_next_job_runs(daemon, policy)


def test_a_command_that_floods_stderr_fails_the_run(daemon, scripts, policy):
    (scripts / "flood").write_text("#!/bin/sh\nexec yes complaint >&2\n")
    (scripts / "flood").chmod(0o755)
    daemon.run("run", "--policy", policy, "--", scripts / "flood", check=1)
    assert daemon.show(only_job(daemon))["job"]["error"]["code"] == "lane.stderr_limit"
    harness.check_next_job_runs(daemon, policy)


def test_a_program_that_is_nowhere_is_refused_before_a_job_exists(daemon, policy):
    error = daemon.refused("run", "--policy", policy, "--", "no-such-program-9")
    assert (error["code"], error["exit"]) == ("usage", 2) and "no-such-program-9" in error["message"]
    assert daemon.json("list")["jobs"] == []


def test_a_path_that_is_no_program_fails_the_run(daemon, policy, tmp_path):
    done = daemon.run("run", "--policy", policy, "--", tmp_path / "nothing", check=1)
    assert "cannot start" in done.stderr
    assert daemon.show(only_job(daemon))["job"]["error"]["code"] == "lane.exec_failed"


@pytest.mark.parametrize("args", [[], ["--"], ["--", "--vs", "b"], ["--", "a", "--vs"],
                                  ["--", "a", "--vs", "b", "--vs", "c"]])
def test_a_run_that_lacks_a_command_is_a_usage_error(daemon, args):
    assert daemon.refused("run", *args)["code"] == "usage"


def test_shell_operators_and_placeholders_are_refused(daemon):
    assert daemon.refused("run", "--", "cat", "x", "|", "sort")["code"] == "suite.shell_operator"
    assert daemon.refused("run", "--", "echo", "{x}")["code"] == "suite.unknown_placeholder"


def test_a_run_that_is_only_submitted_prints_its_id(daemon, scripts, policy):
    id = daemon.json("run", "--no-wait", "--policy", policy, "--repetitions", "1", "--",
                     scripts / "fast")["id"]
    assert daemon.finish(id)["job"]["state"] == "done"
    assert os.path.isdir(daemon.evidence(id))


def test_a_very_long_name_does_not_break_what_watchers_are_told(daemon, policy):
    done = daemon.run("run", "--policy", policy, "--", "/" + "ä/" * 6000 + "x", check=1)
    assert "cannot start" in done.stderr
