"""What suites and jobs may ask for: whole processes, startup lanes, declared waits, builds, absent
and excluded lanes, sequential sides, jobs without sources."""

import hashlib

import harness

EXACT = "#!/bin/sh\necho 10000000\n"
START = "#!/bin/sh\n"


def submit(daemon, tmp_path, policy, suite, **members) -> str:
    """A job from a file; the job's id once it is done."""
    members.setdefault("suite", {"path": str(suite)})
    job = harness.job_file(tmp_path / "job.json", **members)
    id = daemon.json("submit", job, "--policy", policy)["id"]
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done", shown["job"]["error"]
    return id


def process(lanes: dict, **members) -> dict:
    return {"name": "loop", "measure": "process", "lanes": lanes, **members}


def predicate(daemon, job: str, name: str) -> dict:
    return next(p for p in daemon.summary(job)["grade"]["predicates"] if p["name"] == name)


def rows_of(summary: dict) -> dict:
    return {(r["lane"], r["side"]): r for r in summary["workloads"][0]["rows"]}


def test_a_job_without_sources_measures_the_suite_as_it_stands(daemon, tmp_path, policy):
    suite = harness.make_suite(tmp_path / "suite", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": harness.LANE_SH})
    id = submit(daemon, tmp_path, policy, suite, repetitions=2)
    raw = daemon.raw(id)
    assert raw["sides"] == ["suite"] and raw["sources"] == []
    assert [o["side"] for o in raw["observations"]] == ["suite", "suite"]
    statuses = {p["name"]: p["status"] for p in daemon.summary(id)["grade"]["predicates"]}
    # What stands on a disk is no pinned commit; there is nothing to drift between.
    assert statuses["commits_pinned"] != "PASS" and statuses["sources_clean_detached"] != "PASS"
    assert statuses["controls_within_drift"] == "NOT_APPLICABLE"
    assert not (daemon.evidence(id) / "commits.bundle").exists()


def test_one_side_alone_is_measured_without_a_comparison_of_sides(daemon, repo, suite, tmp_path, policy):
    id = submit(daemon, tmp_path, policy, suite,
                sources={"after": {"repo": str(repo), "rev": "fast"}})
    assert daemon.raw(id)["sides"] == ["after"]
    assert {c["kind"] for c in daemon.summary(id)["comparisons"]} == {"lanes"}
    assert predicate(daemon, id, "controls_within_drift")["status"] == "NOT_APPLICABLE"


def test_a_whole_process_is_timed_from_spawn_to_exit_with_its_startup_apart(daemon, tmp_path, policy):
    suite = harness.make_suite(
        tmp_path / "suite",
        [process({"work": {"command": ["{suite}/work"], "startup": "empty"},
                  "empty": {"command": ["{suite}/empty"], "stdout": ""}}, stdout="10000000\n")],
        {"work": "#!/bin/sh\nsleep 0.05\necho 10000000\n", "empty": START})
    id = submit(daemon, tmp_path, policy, suite, repetitions=3, warmups=1)
    raw, rows = daemon.raw(id), rows_of(daemon.summary(id))
    for o in raw["observations"]:
        assert o["elapsed_ns"] == o["process_ns"] == o["exit_ns"] - o["start_ns"]
        assert o["go_ns"] is None and o["done_ns"] is None and o["ready"] is None
    adjusted = rows["work", "suite"]["startup_adjusted"]
    assert adjusted["pairs"] == 3 and 1 <= adjusted["valid_pairs"] <= 3
    timed = {(o["lane"], o["repetition"]): o["elapsed_ns"] for o in raw["observations"]
             if o["kind"] == "timed"}
    differences = sorted(timed["work", r] - timed["empty", r] for r in range(3))
    assert adjusted["median_of_all_ns"] == differences[1]
    assert rows["empty", "suite"]["startup_adjusted"] is None


def test_a_declared_wait_gives_the_excess_over_it(daemon, repo, tmp_path, policy):
    suite = harness.make_suite(
        tmp_path / "suite",
        [harness.protocol({"c": {"command": ["{suite}/lane"], "control": True}},
                          declared_wait_ns=100000000)],
        {"lane": harness.LANE_SH.replace("read go", "read go\nsleep 0.1")})
    id = submit(daemon, tmp_path, policy, suite, repetitions=3,
                sources={side: {"repo": str(repo), "rev": "fast"} for side in ("before", "after")})
    summary = daemon.summary(id)
    row = rows_of(summary)["c", "before"]
    assert row["excess_ns"] == row["wall"]["median_ns"] - 100000000
    assert row["excess_ns"] > 0
    assert summary["comparisons"][0]["excess_ratio"] is not None


def test_operations_divide_the_time_from_go_to_done(daemon, repo, tmp_path, policy):
    suite = harness.make_suite(
        tmp_path / "suite",
        [{**harness.protocol({"c": {"command": ["{suite}/lane"]},
                              "again": {"command": ["{suite}/lane"], "control": True}}),
          "measure": "operation", "operations": 250, "resolution_ns": 1000000000}],
        {"lane": harness.LANE_SH})
    id = submit(daemon, tmp_path, policy, suite, repetitions=3,
                sources={side: {"repo": str(repo), "rev": "fast"} for side in ("before", "after")})
    raw, summary = daemon.raw(id), daemon.summary(id)
    workload = raw["workloads"][0]
    assert (workload["measure"], workload["operations"], workload["resolution_ns"]) == (
        "operation", 250, 1000000000)
    for o in raw["observations"]:
        assert o["elapsed_ns"] == o["done_ns"] - o["go_ns"] and o["done"] == "DONE tiny 42"
    for row in summary["workloads"][0]["rows"]:
        one, whole = row["per_operation"], row["wall"]
        for name in ("median_ns", "mad_ns", "p95_ns", "best_ns"):
            assert one[name] == whole[name] / 250
        assert one["coarse"] and one["timer_step_ns"] == 1000000000
    report = daemon.run("report", id).stdout
    assert "/op  coarse" in report and "tiny again, before: coarse" in report
    assert predicate(daemon, id, "protocol_exact")["status"] == "PASS"


def test_builds_run_once_per_side_and_once_for_the_suite_and_their_products_are_hashed(
        daemon, tmp_path, policy):
    repo, gate = tmp_path / "repo", harness.Gate(tmp_path / "gate")
    harness.make_repo(repo, {"one": {"text": "1"}, "two": {"text": "2"}})
    copy = "#!/bin/sh\nset -e\ncp \"$1\" \"$2/lane\"\nchmod +x \"$2/lane\"\necho built $2\n"
    suite = harness.make_suite(
        tmp_path / "suite",
        [harness.protocol({"subject": {"command": ["{build}/lane"]},
                           "control": {"command": ["{build}/lane"], "control": True}})],
        {"copy": copy, "lane": harness.LANE_SH, "count": harness.GATE_SH},
        build=[["{suite}/copy", "{suite}/lane", "{build}"], ["cp", "{source}/text", "{build}/text"]],
        suite_build=[["{suite}/count"], ["{suite}/copy", "{suite}/lane", "{build}"]], env=gate.env())
    id = submit(daemon, tmp_path, policy, suite, sources={
        "before": {"repo": str(repo), "rev": "one"}, "after": {"repo": str(repo), "rev": "two"}})
    raw = daemon.raw(id)
    assert gate.runs() == 1
    assert [(b["side"], b["step"], b["exit_status"]) for b in raw["builds"]] == [
        ("suite", 0, 0), ("suite", 1, 0), ("before", 0, 0), ("before", 1, 0), ("after", 0, 0),
        ("after", 1, 0)]
    sha256 = {text: hashlib.sha256(text.encode()).hexdigest() for text in ("1", "2", harness.LANE_SH)}
    assert sorted((a["side"], a["path"], a["sha256"]) for a in raw["artifacts"]) == sorted([
        ("before", "lane", sha256[harness.LANE_SH]), ("before", "text", sha256["1"]),
        ("after", "lane", sha256[harness.LANE_SH]), ("after", "text", sha256["2"]),
        ("suite", "lane", sha256[harness.LANE_SH])])
    assert [t["name"] for t in raw["tools"]] == ["cp", "cc"]
    assert {r["kind"] for r in raw["rechecks"]} == {"source", "suite", "artifact", "tool"}
    for name in ("fresh_build", "binaries_unchanged", "inputs_unchanged"):
        assert predicate(daemon, id, name)["status"] == "PASS"
    logs = daemon.evidence(id) / "logs"
    assert sorted(p.name for p in logs.iterdir()) == [
        *(f"build-{side}-{step}.txt" for side in ("after", "before", "suite") for step in (0, 1)), "job.txt"]
    assert (logs / "build-suite-1.txt").read_text().startswith("built /")
    assert "built /" in daemon.log_of(id)


def test_sequential_sides_run_one_after_the_other(daemon, repo, suite, policy, compare):
    id = compare("--repetitions", "2", "--warmups", "1", "--order", "sequential")
    daemon.finish(id)
    raw = daemon.raw(id)
    assert [o["side"] for o in raw["observations"]] == ["before"] * 6 + ["after"] * 6
    assert [o["kind"] for o in raw["observations"]] == (["warmup"] * 2 + ["timed"] * 4) * 2
    sides = [c for c in daemon.summary(id)["comparisons"] if c["kind"] == "sides"]
    assert [c["wall"]["paired_median_ratio"] for c in sides] == [None, None]


def test_repetitions_and_warmups_are_the_jobs(daemon, compare):
    id = compare("--repetitions", "13", "--warmups", "2")
    daemon.finish(id)
    summary = daemon.summary(id)
    assert {r["wall"]["n"] for r in summary["workloads"][0]["rows"]} == {13}
    assert len(daemon.raw(id)["observations"]) == 4 * 15
    assert predicate(daemon, id, "repetitions_enough")["status"] == "PASS"


def test_fewer_repetitions_than_the_policy_asks_are_diagnostic(daemon, compare):
    id = compare("--repetitions", "2", "--warmups", "0")
    daemon.finish(id)
    assert predicate(daemon, id, "repetitions_enough")["status"] == "FAIL"
    wall = daemon.summary(id)["comparisons"][0]["wall"]
    assert wall["verdict"] == "UNRESOLVED" and wall["interval"] is None


def test_an_excluded_lane_is_left_out_and_the_report_says_so(daemon, compare):
    id = compare("--repetitions", "1", "--exclude", "tiny/control")
    daemon.finish(id)
    assert {o["lane"] for o in daemon.raw(id)["observations"]} == {"subject"}
    assert daemon.raw(id)["overrides"]["excluded"] == [{"workload": "tiny", "lane": "control"}]
    assert predicate(daemon, id, "no_lane_excluded") == {
        "name": "no_lane_excluded", "status": "FAIL", "fact": "the job leaves out control of tiny"}
    assert "no_lane_excluded" in daemon.run("report", id).stdout


def test_an_optional_lane_without_its_tool_is_absent_by_name(daemon, tmp_path, policy):
    suite = harness.make_suite(tmp_path / "suite", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]},
         "rare": {"command": ["no-such-compiler-9", "x"], "optional": True}})],
        {"lane": harness.LANE_SH})
    id = submit(daemon, tmp_path, policy, suite)
    lanes = {lane["name"]: lane for lane in daemon.raw(id)["workloads"][0]["lanes"]}
    assert lanes["rare"]["absent"] == "no-such-compiler-9 is not on this host"
    assert lanes["lane"]["absent"] is None
    assert {o["lane"] for o in daemon.raw(id)["observations"]} == {"lane"}
    assert predicate(daemon, id, "no_lane_excluded")["status"] == "PASS"
    assert "no-such-compiler-9" in daemon.run("report", id).stdout


MAKER = """#!/bin/sh
set -e
cp lane "$1/made"
chmod +x "$1/made"
echo "no compiler for it here" >"$1/told.absent"
echo >"$1/proof"
"""


def test_an_optional_lane_that_the_build_left_out_is_absent_with_the_builds_reason(
        daemon, repo, tmp_path, policy):
    made = {"command": ["{build}/made"], "control": True, "optional": True}
    suite = harness.make_suite(tmp_path / "suite", [harness.protocol({
        "lane": {"command": ["{suite}/lane"]},
        "made": {**made, "needs": ["sh", "{build}/proof"]},
        "told": {**made, "command": ["{build}/told"]},
        "silent": {**made, "command": ["{build}/silent"]},
        "proofless": {**made, "needs": ["{build}/told"]},
        "toolless": {**made, "needs": ["no-such-compiler-9"]},
        "subject": {"command": ["{build}/made"], "optional": True}})],
        {"lane": harness.LANE_SH, "make": MAKER}, suite_build=[["{suite}/make", "{build}"]])
    id = submit(daemon, tmp_path, policy, suite,
                sources={side: {"repo": str(repo), "rev": "fast"} for side in ("before", "after")})
    lanes = {lane["name"]: lane["absent"] for lane in daemon.raw(id)["workloads"][0]["lanes"]}
    assert lanes == {"lane": None, "made": None, "told": "no compiler for it here",
                     "silent": "the build made no {build}/silent",
                     "proofless": "no compiler for it here",
                     "toolless": "no-such-compiler-9 is not on this host",
                     "subject": "the build made no {build}/made"}
    assert {o["lane"] for o in daemon.raw(id)["observations"]} == {"lane", "made"}
    assert [t["name"] for t in daemon.raw(id)["tools"]] == ["sh", "cc"]  # one is needed by made
    assert predicate(daemon, id, "protocol_exact")["status"] == "PASS"
    assert "told, before: no figures, absent: no compiler" in daemon.run("report", id).stdout


def test_workloads_and_lanes_rotate_from_round_to_round(daemon, tmp_path, policy):
    lanes = {name: {"command": ["{suite}/lane"]} for name in ("a", "b", "c")}
    suite = harness.make_suite(tmp_path / "suite", [
        {**harness.protocol(lanes), "name": "w0"}, {**harness.protocol(lanes), "name": "w1"}],
        {"lane": harness.LANE_SH})
    id = submit(daemon, tmp_path, policy, suite, repetitions=3)
    order = [(o["repetition"], o["workload"], o["lane"]) for o in daemon.raw(id)["observations"]]
    assert [w for r, w, lane in order if lane == "a"] == ["w0", "w1", "w1", "w0", "w0", "w1"]
    assert [lane for r, w, lane in order if w == "w0"] == list("abc" "bca" "cab")
