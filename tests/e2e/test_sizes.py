"""The measure "size": bytes of built files, what may grow, and what may and must be inside."""

import json

import pytest

import harness

HELLO = """#include <stdio.h>
static const char more[{more}] = {{1}};
int main(void) {{ puts("hello"); return more[sizeof more - 1]; }}
"""
BUILD = [["cc", "-O0", "-o", "{build}/hello", "{source}/hello.c"]]


def size(lane: dict, **members) -> dict:
    return {"name": "binary", "measure": "size",
            "lanes": {"c": {"files": {"program": "{build}/hello"}, **lane}}, **members}


def compare(daemon, tmp_path, policy, workloads, build=BUILD, before=64, after=64) -> dict:
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"hello.c": HELLO.format(more=before)},
                             "two": {"hello.c": HELLO.format(more=after)}})
    suite = harness.make_suite(tmp_path / "sizes", workloads, {"data": "12345\n"}, build=build)
    job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite,
                      "--policy", policy, "--repetitions", "3", "--warmups", "1")["id"]
    return daemon.finish(job)


def failed(shown: dict) -> tuple[str, str]:
    assert shown["job"]["state"] == "failed", shown["job"]
    return shown["job"]["error"]["code"], shown["job"]["error"]["text"]


def test_bytes_are_taken_once_and_nothing_is_run(daemon, tmp_path, policy):
    shown = compare(daemon, tmp_path, policy, [
        size({"must_link": ["libc.so.6", "puts"], "must_not_link": ["libssl.so.3"]}),
        {**size({"files": {"program": "{build}/hello", "data": "{suite}/data"}}), "name": "data"}], after=200064)
    assert shown["job"]["state"] == "done", shown["job"]
    job = shown["job"]["id"]
    raw, summary = daemon.raw(job), daemon.summary(job)
    assert sorted((o["workload"], o["kind"], o["repetition"], o["side"]) for o in raw["observations"]) == \
        [(w, "timed", 0, side) for w in ("binary", "data") for side in ("after", "before")]
    hashed = {(a["side"], a["path"]): a["bytes"] for a in raw["artifacts"]}
    for o in raw["observations"]:
        assert o["process_ns"] is None and o["exit_status"] is None and o["start_ns"] is None
        values = {v["name"]: v["value"] for v in o["values"]}
        assert values["program"] == hashed[o["side"], "hello"]
        assert o["workload"] == "binary" or list(values.items())[1] == ("data", 6)
    grown = hashed["after", "hello"] - hashed["before", "hello"]
    assert grown > 190000
    comparisons = {c["name"]: (c["value_verdict"], c["difference"]) for c in summary["value_comparisons"]}
    assert comparisons == {"program": ("MORE", grown), "data": ("EQUAL", 0)}
    assert summary["workloads"][0]["unit"] == "bytes"
    rows = {r["side"]: {p["name"]: p["status"] for p in r["predicates"]} for r in summary["grade"]["rows"]}
    assert rows["after"] == {"pairs_complete": "PASS", "growth_within": "NOT_APPLICABLE"}
    assert f"+{grown:,}" in daemon.run("report", job).stdout


def test_growth_beyond_the_gate_fails_its_row(daemon, tmp_path, policy):
    shown = compare(daemon, tmp_path, policy, [size({"baselines": {"program": 16000}}, growth_pct=20)],
                    after=200064)
    assert shown["job"]["state"] == "done", shown["job"]
    summary = daemon.summary(shown["job"]["id"])
    after = next(r for r in summary["grade"]["rows"] if r["side"] == "after")
    growth = next(p for p in after["predicates"] if p["name"] == "growth_within")
    assert (after["value"], growth["status"]) == ("diagnostic", "FAIL")
    assert "recorded are 16000, which may grow by 20 %" in growth["fact"]
    before = next(r for r in summary["grade"]["rows"] if r["side"] == "before")
    assert before["value"] == "contractual"
    text = daemon.run("report", shown["job"]["id"]).stdout
    assert "growth_within" in text and "16000" in text
    targets = tmp_path / "targets.json"
    targets.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [
        {"workload": "binary", "lane": "c", "value": "program", "max_slowdown_pct": 1e6}]}))
    gate = daemon.json("gate", targets, "--job", shown["job"]["id"], check=1)
    assert gate["targets"][0]["status"] == "diagnostic"


@pytest.mark.parametrize(("lane", "build", "code", "words"), [
    ({}, [*BUILD, ["mv", "{build}/hello", "{build}/real"], ["ln", "-s", "real", "{build}/hello"]],
     "lane.file_link", "has a link where its file program ({build}/hello) should be"),
    ({"files": {"program": "{build}/other"}}, BUILD, "lane.file_missing", "{build}/other"),
    ({}, [["mkdir", "{build}/hello"], ["cp", "{source}/hello.c", "{build}/hello"]], "lane.file_special",
     "no regular file"),
    ({"must_not_link": ["libc.so.6"]}, BUILD, "lane.link_forbidden",
     "has libc.so.6 in program ({build}/hello), which \"must_not_link\" forbids"),
    ({"must_not_link": ["puts"]}, BUILD, "lane.link_forbidden", "has puts"),
    ({"must_link": ["libssl.so.3"]}, BUILD, "lane.link_missing", "lacks libssl.so.3"),
    ({"must_not_link": ["libssl.so.3"]}, [["cp", "{source}/hello.c", "{build}/hello"]], "lane.link_unknown",
     "cannot be read in program"),
])
def test_what_cannot_be_weighed_makes_the_attempt_void(daemon, tmp_path, policy, lane, build, code, words):
    found, text = failed(compare(daemon, tmp_path, policy, [size(lane)], build=build))
    assert found == code and words in text and "workload binary, lane c" in text


def test_sizes_stand_beside_times_and_a_control(daemon, tmp_path, policy):
    shown = compare(daemon, tmp_path, policy, [
        harness.protocol({"lane": {"command": ["/bin/sh", "-c", harness.LANE_SH], "control": True}}),
        size({}, lanes={"c": {"files": {"program": "{build}/hello"}},
                        "data": {"files": {"program": "{suite}/data"}, "control": True}})])
    assert shown["job"]["state"] == "done", shown["job"]
    raw, summary = daemon.raw(shown["job"]["id"]), daemon.summary(shown["job"]["id"])
    assert sum(o["workload"] == "binary" for o in raw["observations"]) == 4
    assert sum(o["workload"] == "tiny" for o in raw["observations"]) == 8
    lanes = [c for c in summary["value_comparisons"] if c["kind"] == "lanes"]
    assert [c["subject"]["side"] for c in lanes] == ["before", "after"]
    assert all(c["reference"]["lane"] == "data" and c["value_verdict"] == "MORE" for c in lanes)


@pytest.mark.parametrize(("change", "field"), [
    ({"ready": "R"}, "workloads[0].ready"),
    ({"counters": ["a"]}, "workloads[0].counters"),
    ({"lanes": {"c": {"command": ["true"], "files": {"a": "{build}/x"}}}}, "workloads[0].lanes.c.command"),
    ({"lanes": {"c": {"files": {"a": "/etc/passwd"}}}}, "workloads[0].lanes.c.files.a"),
    ({"lanes": {"c": {"files": {"a": "{build}/x"}, "startup": "s"}}}, "workloads[0].lanes.c.startup"),
])
def test_a_suite_that_mixes_sizes_with_runs_is_refused_by_field(daemon, tmp_path, policy, change, field):
    suite = harness.make_suite(tmp_path / "mixed", [{**size({}), **change}])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2
