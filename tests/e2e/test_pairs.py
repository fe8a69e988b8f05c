"""A control that drifts: the daemon measures the pair once more, and says so."""

import json

import pytest

import harness


@pytest.fixture
def strict_policy(tmp_path):
    """No drift at all is within a limit of 0 %: every pair counts as drifted."""
    path = tmp_path / "strict.json"
    path.write_text(json.dumps(harness.quick_policy(drift_limit_pct=0)))
    return path


def outcomes(daemon, job):
    return [attempt["outcome"] for attempt in daemon.show(job)["attempts"]]


def test_a_pair_in_which_a_control_drifted_is_measured_once_more(daemon, repo, suite, strict_policy):
    job = daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite,
                      "--policy", strict_policy, "--repetitions", "3")["id"]
    daemon.finish(job)
    assert outcomes(daemon, job) == ["drifted", "done"]
    first, second = daemon.show(job)["attempts"]
    raw = json.loads(daemon.run("report", job, "--format", "raw").stdout)
    assert raw["id"] == second["id"]
    assert raw["repeats"]["attempt"] == first["id"]
    assert raw["repeats"]["raw_sha256"] == first["report"]["raw_sha256"]
    rows = {(row["lane"], row["control"]) for row in raw["repeats"]["rows"]}
    assert rows == {("subject", False), ("control", True)}
    text = daemon.run("report", job).stdout
    assert f"repeats that of attempt {first['id']}" in " ".join(text.split())
    assert "first pair" in text and "this pair" in text
    # The second pair drifted too: it is the result, and its grade says so.
    assert "controls_within_drift" in second["report"]["line"]


def test_a_pair_within_the_limit_is_not_repeated(daemon, compare):
    job = compare("--repetitions", "3")
    daemon.finish(job)
    raw = json.loads(daemon.run("report", job, "--format", "raw").stdout)
    assert outcomes(daemon, job) == ["done"]
    assert "repeats" not in raw
    assert "No repeated pair was needed." in daemon.run("report", job).stdout


def test_a_job_that_goes_on_regardless_is_not_repeated(daemon, repo, suite, strict_policy):
    job = daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite,
                      "--policy", strict_policy, "--repetitions", "2", "--allow-competing")["id"]
    daemon.finish(job)
    assert outcomes(daemon, job) == ["done"]
