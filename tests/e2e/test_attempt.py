"""One attempt from submit to sealed evidence, on a quiet scripted host: what is measured, what the
database and the evidence hold, and what makes an attempt void."""

import hashlib
import json
import pathlib
import shutil
import subprocess

import jsonschema
import pytest

import harness
from harness import ROOT

# A control that mostly waits: its drift stays small however busy the machine is.
CALM_CONTROL = harness.lane_program(1000).replace("total = 0", "__import__('time').sleep(0.03)\ntotal = 0")


class Measured:
    """One finished comparison, which many tests look at and none changes."""

    def __init__(self, folder: pathlib.Path):
        self.daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
        self.repo = folder / "repo"
        self.commits = harness.make_repo(
            self.repo, {"slow": {"run.py": harness.lane_program(400000)},
                        "fast": {"run.py": harness.lane_program(20000)}})
        suite = harness.tiny_suite(folder / "suite")
        (suite / "control.py").write_text(CALM_CONTROL)
        policy = folder / "quick.json"
        policy.write_text(json.dumps(harness.quick_policy(drift_limit_pct=10000)))
        self.repo_before = fingerprint(self.repo)
        self.id = self.daemon.json(
            "compare", "--repo", self.repo, "--before", "slow", "--after", "fast",
            "--suite", suite, "--policy", policy, "--label", "calm")["id"]
        self.shown = self.daemon.finish(self.id)
        self.suite = suite


def fingerprint(folder: pathlib.Path) -> dict:
    """Every file below folder with its bytes."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    m = Measured(tmp_path_factory.mktemp("measured"))
    yield m
    m.daemon.close()


def comparison(summary: dict, kind: str, lane: str) -> dict:
    return next(c for c in summary["comparisons"]
                if c["kind"] == kind and c["subject"]["lane"] == lane)


def predicates(summary: dict) -> dict:
    return {p["name"]: p["status"] for p in summary["grade"]["predicates"]}


# ---- what comes out

def test_a_comparison_runs_from_queued_to_done(measured):
    assert measured.shown["job"]["state"] == "done"
    assert [h["event"] for h in measured.shown["history"]] == \
        ["submit", "claim", "timing_begins", "timing_ends", "finish"]
    assert [a["outcome"] for a in measured.shown["attempts"]] == ["done"]
    assert measured.daemon.run("wait", measured.id).returncode == 0


def test_twentyfold_less_work_is_faster_and_the_control_is_not(measured):
    summary = measured.daemon.summary(measured.id)
    subject = comparison(summary, "sides", "subject")
    assert subject["wall"]["verdict"] == "FASTER"
    assert subject["wall"]["ratio_of_medians"] < 0.5
    assert subject["wall"]["interval"]["high"] < 1
    assert subject["wall"]["pairs"] == 11
    control = comparison(summary, "sides", "control")["wall"]["ratio_of_medians"]
    assert 0.5 < control < 2
    assert [c["within"] for c in summary["controls"]] == ["PASS"]


def test_only_what_this_version_cannot_know_keeps_the_report_from_being_contractual(measured):
    grade = measured.daemon.summary(measured.id)["grade"]
    assert grade["value"] == "diagnostic"
    assert predicates({"grade": grade}) == {
        **{name: "PASS" for name in (
            "sources_clean_detached", "commits_pinned", "sources_frozen", "inputs_unchanged",
            "protocol_exact", "warmups_excluded", "inventory_before_build",
            "inventory_before_timing", "inventory_after_timing", "inventories_complete",
            "conditions_met", "boot_unchanged", "no_suspend", "no_override", "no_lane_excluded",
            "controls_within_drift", "cleanup_verified", "repetitions_enough")},
        # The suite has no build steps, and the policy names no host.
        **{name: "NOT_APPLICABLE" for name in ("corrections_proven", "binaries_unchanged", "fresh_build",
                                             "host_contract", "no_profile")},
        "observer_silent": "UNKNOWN",
    }
    assert grade["line"] == "diagnostic, policy quick; unknown: observer_silent"
    rows = {p["name"]: p["status"] for row in grade["rows"] for p in row["predicates"]}
    assert rows == {"pairs_complete": "PASS", "disturbance_replaced": "UNKNOWN",
                    "above_resolution": "UNKNOWN"}


def test_each_form_of_the_report_is_served(measured):
    daemon, evidence = measured.daemon, measured.daemon.evidence(measured.id)
    text = daemon.run("report", measured.id).stdout
    assert "FASTER" in text and "diagnostic, policy quick" in text and "slow..fast" not in text
    assert daemon.run("report", measured.id, "--format", "markdown").stdout == \
        (evidence / "report.md").read_text()
    assert daemon.run("report", measured.id, "--format", "json").stdout == \
        (evidence / "summary.json").read_text()
    assert daemon.run("report", measured.id, "--format", "raw").stdout == \
        (evidence / "raw.json").read_text()


# ---- what the database holds

ORDERED = """
    SELECT o.*, a.boot AS attempt_boot, b.host AS boot_host, h.name AS host_name, s.commit_id,
           s.tree_sha256, j.suite_sha256, p.position AS planned_position, p.kind AS planned_kind,
           p.side AS planned_side, p.lane AS planned_lane
      FROM observations o
      JOIN plan_steps p ON p.attempt = o.attempt AND p.seq = o.seq
      JOIN attempts a ON a.id = o.attempt
      JOIN boots b ON b.id = a.boot
      JOIN hosts h ON h.number = a.host
      JOIN jobs j ON j.id = a.job
      JOIN sources s ON s.attempt = a.id AND s.side = o.side
     WHERE a.job = ? ORDER BY o.seq"""


def test_every_observation_is_stored_with_boot_hashes_and_order(measured):
    rows = measured.daemon.sql(ORDERED, measured.id)
    # 2 lanes x 2 sides x (1 warmup + 11 repetitions)
    assert [r["seq"] for r in rows] == list(range(48))
    assert {r["attempt_boot"] for r in rows} == {"00000000-0000-4000-8000-000000000001"}
    assert {r["host_name"] for r in rows} == {"fake"}
    assert {(r["side"], r["commit_id"]) for r in rows} == \
        {("before", measured.commits["slow"]), ("after", measured.commits["fast"])}
    assert all(len(r["tree_sha256"]) == 64 and len(r["suite_sha256"]) == 64 for r in rows)
    for r in rows:
        assert (r["position"], r["kind"], r["side"], r["lane"]) == \
            (r["planned_position"], r["planned_kind"], r["planned_side"], r["planned_lane"])
        assert r["outcome"] == "ok" and r["exit_status"] == 0
        assert r["elapsed_ns"] == r["done_ns"] - r["go_ns"] > 0
    starts = [r["start_ns"] for r in rows]
    assert starts == sorted(starts), "observations follow one another in the plan's order"


def test_warmups_are_kept_apart_and_never_counted(measured):
    rows = measured.daemon.sql(ORDERED, measured.id)
    assert [r["seq"] for r in rows if r["kind"] == "warmup"] == [0, 1, 2, 3]
    assert {r["kind"] for r in rows} == {"warmup", "timed"}
    workload = measured.daemon.summary(measured.id)["workloads"][0]
    assert {row["wall"]["n"] for row in workload["rows"]} == {11}


def test_sides_are_adjacent_and_take_turns_in_going_first(measured):
    rows = [r for r in measured.daemon.sql(ORDERED, measured.id) if r["kind"] == "timed"]
    for repetition in range(11):
        of = [r for r in rows if r["repetition"] == repetition]
        assert [r["position"] for r in of] == [0, 1, 2, 3]
        first, second = ("before", "after") if repetition % 2 == 0 else ("after", "before")
        assert [r["side"] for r in of] == [first, second, first, second]
        lanes = ["subject", "control"] if repetition % 2 == 0 else ["control", "subject"]
        assert [r["lane"] for r in of] == [lane for lane in lanes for _ in range(2)]


def test_the_view_for_people_names_host_boot_and_commit(measured):
    rows = measured.daemon.sql("SELECT * FROM measured WHERE job = ?", measured.id)
    assert len(rows) == 48
    assert {(r["label"], r["host"], r["grade"]) for r in rows} == {("calm", "fake", "diagnostic")}
    assert {r["commit_id"] for r in rows} == set(measured.commits.values())


def test_the_plan_is_stored_before_the_first_observation_and_a_repetition_in_one_piece(
        daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(tmp_path / "suite", [harness.protocol(
        {"first": {"command": ["{suite}/lane"]}, "gated": {"command": ["{suite}/gate"]}})],
        {"lane": harness.LANE_SH, "gate": harness.GATE_LANE}, env=gate.env())
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=3)
    gate.shut(1)
    gate.shut(3)
    id = daemon.json("submit", job, "--policy", policy)["id"]
    gate.await_run(1)
    assert daemon.sql("SELECT count(*) FROM plan_steps")[0][0] == 6
    assert daemon.sql("SELECT event FROM job_history ORDER BY seq DESC")[0][0] == "timing_begins"
    assert daemon.sql("SELECT count(*) FROM observations")[0][0] == 0
    gate.open(1)
    gate.await_run(3)
    # Inside the third repetition: two whole ones are stored, nothing of the third.
    assert daemon.sql("SELECT count(*) FROM observations")[0][0] == 4
    gate.open(3)
    assert daemon.finish(id)["job"]["state"] == "done"
    assert daemon.sql("SELECT count(*) FROM observations")[0][0] == 6


# ---- what the evidence holds

def test_the_evidence_folder_is_complete_and_its_sums_agree(measured):
    evidence = measured.daemon.evidence(measured.id)
    files = {str(p.relative_to(evidence)) for p in evidence.rglob("*") if p.is_file()}
    assert files == {"SHA256SUMS", "SHA256SUMS.sig", "initial-SHA256SUMS", "raw.json",
                     "summary.json", "report.md", "job.json", "policy.json", "host.json",
                     "refusals.jsonl", "commits.bundle", "suite/suite.json", "suite/control.py",
                     "logs/job.txt", "reproduce.sh"}
    listed = [line.split("  ", 1)[1] for line in (evidence / "SHA256SUMS").read_text().splitlines()]
    assert listed == sorted(files - {"SHA256SUMS", "SHA256SUMS.sig"})
    for tool in (["sha256sum", "-c"], ["shasum", "-a", "256", "-c"]):
        checked = subprocess.run([*tool, "SHA256SUMS"], cwd=evidence, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout + checked.stderr
    assert not list(evidence.parent.glob(".*")), "an unfinished folder was left"


def test_the_evidence_brings_the_suite_byte_for_byte(measured):
    assert fingerprint(measured.daemon.evidence(measured.id) / "suite") == fingerprint(measured.suite)


def test_raw_json_is_canonical(measured):
    text = (measured.daemon.evidence(measured.id) / "raw.json").read_text()
    again = json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert text == again + "\n"


def test_the_summary_names_the_raw_report_it_follows_from(measured):
    evidence = measured.daemon.evidence(measured.id)
    sha256 = hashlib.sha256((evidence / "raw.json").read_bytes()).hexdigest()
    assert measured.daemon.summary(measured.id)["raw_report"] == {"file": "raw.json", "sha256": sha256}
    row = measured.daemon.sql("SELECT * FROM reports")[0]
    assert row["raw_sha256"] == sha256
    assert row["summary_sha256"] == \
        hashlib.sha256((evidence / "summary.json").read_bytes()).hexdigest()


@pytest.mark.parametrize(("name", "schema"), [("raw", "raw"), ("summary", "summary"), ("job", "job"),
                                              ("host", "host"), ("suite/suite", "suite")])
def test_the_documents_of_the_evidence_fit_their_schemas(measured, name, schema):
    schemas = {s["$id"]: s for s in (json.loads(p.read_text())
                                     for p in (ROOT / "proto/schema").glob("*.json"))}
    top = json.loads((ROOT / f"proto/schema/{schema}.json").read_text())
    for s in schemas.values():
        jsonschema.Draft202012Validator.check_schema(s)
    resolver = jsonschema.RefResolver(top["$id"], top, store=schemas)
    document = json.loads((measured.daemon.evidence(measured.id) / f"{name}.json").read_text())
    jsonschema.Draft202012Validator(top, resolver=resolver).validate(document)
    # It does look: a member that nobody knows is refused.
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(top, resolver=resolver).validate({**document, "x": 1})


def test_the_bundle_holds_the_measured_commits(measured, tmp_path):
    bundle = measured.daemon.evidence(measured.id) / "commits.bundle"
    harness.git(tmp_path, "init", "-q")
    harness.git(tmp_path, "bundle", "verify", "-q", bundle)
    harness.git(tmp_path, "bundle", "unbundle", bundle)
    for tag, commit in measured.commits.items():
        assert harness.git(tmp_path, "show", f"{commit}:run.py") == \
            harness.git(measured.repo, "show", f"{tag}:run.py")


def test_nothing_is_left_of_the_work(measured):
    state = measured.daemon.state
    assert list((state / "work").iterdir()) == []
    assert harness.processes_with(str(state / "work")) == []


# ---- the user's repository

def test_the_users_repository_is_not_touched(measured):
    assert fingerprint(measured.repo) == measured.repo_before


def test_the_daemon_never_opens_the_users_repository(daemon, repo, suite, policy, compare, fake_host):
    fake_host.burner()
    id = compare("--repetitions", "1", "--retry-every", "100ms")
    daemon.until(id, "waiting")
    shutil.move(repo, repo.parent / "moved-away")
    shutil.rmtree(suite)
    fake_host.quiet()
    assert daemon.finish(id)["job"]["state"] == "done"


# ---- both sides are treated alike

PROBE = """#!/usr/bin/python3 -IS
import json, os, sys
argv = open("/proc/self/cmdline", "rb").read()
env = open("/proc/self/environ", "rb").read()
fds = [int(f) for f in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + f)]
with open(os.environ["PROBE"], "a") as log:
    print(json.dumps({"argv_bytes": len(argv), "env": env.decode(), "cwd": os.getcwd(),
                      "fds": sorted(fds), "side": sys.argv[1][-2:], "leader": os.getsid(0) == os.getpid()}),
          file=log)
"""


def test_both_sides_have_paths_of_one_length_and_the_same_environment(daemon, tmp_path, policy):
    repo, log = tmp_path / "repo", tmp_path / "probe.log"
    harness.make_repo(repo, {"one": {"probe": PROBE}, "a-much-longer-name": {"other": ""}})
    suite = harness.make_suite(tmp_path / "suite", [
        {"name": "probe", "measure": "process", "stdout": "",
         "lanes": {"subject": {"command": ["{source}/probe", "{source}", "{build}", "{suite}"],
                               "env": {"LANE": "here"}}}}], env={"PROBE": str(log)})
    daemon.run("compare", "--repo", repo, "--before", "one", "--after", "a-much-longer-name",
               "--suite", suite, "--policy", policy, "--repetitions", "1", "--wait",
               env={"GIT_DIR": "/nowhere", "SECRET": "x"})
    seen = [json.loads(line) for line in log.read_text().splitlines()]
    assert {s["side"] for s in seen} == {"s0", "s1"}
    assert len({(s["argv_bytes"], s["env"], s["cwd"]) for s in seen}) == 1
    names = [v.split("=")[0] for v in seen[0]["env"].split("\0") if v]
    assert names == ["PATH", "HOME", "LANG", "TZ", "PROBE", "LANE"]
    assert all(s["fds"] == [0, 1, 2] and s["leader"] for s in seen)
