"""Sides beyond before and after: named pairs, build variants, workloads that a side does not have,
sides measured one after the other."""

import json

import harness

BUILD_SH = "#!/bin/sh\nset -e\nprintf '%s' \"${FLAVOUR-plain}\" > \"$1/flavour\"\n"
# The variant is for builds: a lane that sees it answers wrongly and makes the attempt void.
LANE_SH = "#!/bin/sh\necho \"${FLAVOUR-unset}\"\n"


def process(name: str, **members) -> dict:
    return {"name": name, "measure": "process", "stdout": "unset\n", "lanes": {
        "work": {"command": ["{suite}/lane"]},
        "control": {"command": ["{suite}/lane"], "control": True}}, **members}


def make_suite(folder, *workloads):
    return harness.make_suite(folder, list(workloads), {"build": BUILD_SH, "lane": LANE_SH},
                              build=[["{suite}/build", "{build}"]])


def submit(daemon, tmp_path, policy, suite, **members) -> str:
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
    id = daemon.json("submit", job, "--policy", policy)["id"]
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done", shown["job"]["error"]
    return id


def sides(repo, *names, **variants) -> dict:
    return {name: {"repo": str(repo), "rev": "fast",
                   **({"variant": {"env": variants[name]}} if name in variants else {})}
            for name in names}


def statuses(summary: dict) -> dict:
    return {p["name"]: p["status"] for p in summary["grade"]["predicates"]}


def test_variants_of_one_commit_are_built_apart_and_compared_by_the_named_pairs(
        daemon, repo, tmp_path, policy):
    suite = make_suite(tmp_path / "suite", process("one"))
    pairs = [{"subject": "tuned", "reference": "small"}]
    id = submit(daemon, tmp_path, policy, suite, repetitions=2, pairs=pairs,
                sources=sides(repo, "plain", "small", "tuned", small={"FLAVOUR": "small"},
                              tuned={"FLAVOUR": "-O3 -g", "OTHER": ""}))
    raw, summary = daemon.raw(id), daemon.summary(id)
    assert raw["job"]["pairs"] == pairs
    assert {s["side"]: s["variant"] for s in raw["sources"]} == {
        "plain": [], "small": ["FLAVOUR=small"], "tuned": ["FLAVOUR=-O3 -g", "OTHER="]}
    assert len({a["sha256"] for a in raw["artifacts"] if a["path"] == "flavour"}) == 3
    compared = {(c["subject"]["side"], c["reference"]["side"]) for c in summary["comparisons"]
                if c["kind"] == "sides"}
    assert compared == {("tuned", "small")}
    assert {(r["lane"], r["side"]) for r in summary["workloads"][0]["rows"]} == {
        (lane, side) for lane in ("work", "control") for side in ("plain", "small", "tuned")}
    assert [(c["before_side"], c["after_side"]) for c in summary["controls"]] == [("small", "tuned")]
    assert statuses(summary)["fresh_build"] == "PASS"
    report = daemon.run("report", id).stdout
    assert "tuned is built with 'FLAVOUR=-O3 -g' OTHER=" in report
    assert "VERDICTS  tuned (" in report and "against small (" in report


def test_each_later_side_is_compared_with_the_first_where_no_pairs_are_named(
        daemon, repo, tmp_path, policy):
    id = submit(daemon, tmp_path, policy, make_suite(tmp_path / "suite", process("one")),
                repetitions=1, warmups=0, sources=sides(repo, "before", "after", "tuned"))
    compared = {(c["subject"]["side"], c["reference"]["side"])
                for c in daemon.summary(id)["comparisons"] if c["kind"] == "sides"}
    assert compared == {("after", "before"), ("tuned", "before")}


def test_a_pair_of_a_side_that_the_job_lacks_is_refused_before_anything_is_sent(
        daemon, repo, tmp_path, policy):
    suite = make_suite(tmp_path / "suite", process("one"))
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)},
                           sources=sides(repo, "before", "after"),
                           pairs=[{"subject": "tuned", "reference": "before"}])
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"].endswith("pairs[0].subject") and "tuned" in json.dumps(error)


def test_a_workload_absent_on_a_side_is_not_run_there_and_the_others_stand(
        daemon, repo, tmp_path, policy):
    suite = make_suite(tmp_path / "suite", process("old"), process("new", absent=["before"]))
    id = submit(daemon, tmp_path, policy, suite, repetitions=2,
                sources=sides(repo, "before", "after"))
    raw, summary = daemon.raw(id), daemon.summary(id)
    assert {w["name"]: w["absent_sides"] for w in raw["workloads"]} == {"old": [], "new": ["before"]}
    assert {(o["workload"], o["side"]) for o in raw["observations"]} == {
        ("old", "before"), ("old", "after"), ("new", "after")}
    new = next(w for w in summary["workloads"] if w["name"] == "new")
    assert {(r["side"], r["undefined"]) for r in new["rows"]} == {
        ("before", "absent on before"), ("after", None)}
    assert {c["workload"] for c in summary["comparisons"] if c["kind"] == "sides"} == {"old"}
    for name in ("protocol_exact", "warmups_excluded"):
        assert statuses(summary)[name] == "PASS"
    report = daemon.run("report", id).stdout
    assert "new: absent on before, as the suite declares" in report


def test_sequential_sides_get_a_verdict_without_pairs(daemon, repo, tmp_path, policy):
    id = submit(daemon, tmp_path, policy, make_suite(tmp_path / "suite", process("one")),
                repetitions=4, order="sequential", sources=sides(repo, "before", "after"))
    summary = daemon.summary(id)
    for c in summary["comparisons"]:
        for estimate in (c["wall"], c["cpu"]) if c["kind"] == "sides" else ():
            assert estimate["unpaired"] and estimate["pairs"] == 0
            assert estimate["interval"]["low"] <= estimate["shift_ratio"] <= estimate["interval"]["high"]
            assert round(estimate["interval"]["coverage"], 6) == 0.971429  # 4 and 4: 1 - 2 / 70
            assert estimate["margin"] >= summary["controls"][0]["bound_pct"] / 100 * 0.999999
    assert ", unpaired" in daemon.run("report", id).stdout
