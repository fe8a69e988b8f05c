"""One figure through many reports: what `aurabench history` says is what the reports say, in each of its forms."""

import csv
import io
import re
import shutil
import sqlite3
import subprocess
import xml.etree.ElementTree

import pytest

import harness
from test_values import COUNTERS_SH, counters

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Two reports of one suite, with a workload of times and one of values; the second is of another label."""
    tmp_path = tmp_path_factory.mktemp("history")
    fake = harness.FakeHost(tmp_path / "host")
    daemon = harness.Daemon(tmp_path, fake).start()
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"x": "#!/bin/sh\necho done\n", "count": COUNTERS_SH.replace("$1", "1200")},
                             "two": {"x": "#!/bin/sh\necho done\n", "count": COUNTERS_SH.replace("$1", "900")}})
    suite = harness.make_suite(tmp_path / "suite", [
        {"name": "start", "measure": "process", "stdout": "done\n",
         "lanes": {"subject": {"command": ["{source}/x"]},
                   "sh": {"command": ["sh", "-c", "echo done"], "control": True}}},
        counters({"subject": {"command": ["{source}/count"], "cpus": 1},
                  "control": {"command": ["{suite}/counters", "50"], "control": True}})],
        {"counters": COUNTERS_SH})
    policy = tmp_path / "policy.json"
    policy.write_text(harness.json.dumps(harness.quick_policy()))
    jobs = []
    for label in ("first, \"quoted\"", "=second <b>"):
        job = daemon.json("compare", "--repo", repo, "--before", "one", "--after", "two", "--suite", suite, "--policy",
                          policy, "--repetitions", "6", "--warmups", "1", "--label", label)["id"]
        assert daemon.finish(job)["job"]["state"] == "done"
        jobs.append(job)
    yield daemon, jobs
    daemon.close()


def rows(measured, *args) -> list[dict]:
    shown = measured[0].json("history", *args)
    assert not shown["more"]
    return next(shown[key] for key in ("names", "figures", "ratios") if key in shown)


def test_what_there_is_is_listed(measured):
    names = {(n["workload"], n["value"], n["lane"]): n for n in rows(measured)}
    assert set(names) == {("start", None, "subject"), ("start", None, "sh"), ("heap", "allocations", "subject"),
                          ("heap", "allocations", "control"), ("heap", "retains", "subject"),
                          ("heap", "retains", "control")}
    subject = names["start", None, "subject"]
    assert (subject["measure"], subject["unit"], subject["control"]) == ("process", "ns", False)
    assert subject["against"] == ["sh", "subject"] and subject["first"] <= subject["latest"]
    text = measured[0].run("history").stdout
    assert re.search(r"start +time +subject +process .* sh, its other sides", text)


def test_figures_are_those_of_the_reports_the_latest_first(measured):
    daemon, jobs = measured
    found = rows(measured, "start", "--lane", "subject")
    assert [f["job"] for f in found] == [jobs[1], jobs[1], jobs[0], jobs[0]]
    for f in found:
        summary, raw = daemon.summary(f["job"]), daemon.raw(f["job"])
        row = next(r for w in summary["workloads"] for r in w["rows"]
                   if (w["name"], r["lane"], r["side"]) == ("start", "subject", f["side"]))
        assert (f["n"], f["median"], f["mad"], f["low"], f["high"], f["cpu_median"]) == (
            row["wall"]["n"], row["wall"]["median_ns"], row["wall"]["mad_ns"], row["wall"]["best_ns"],
            row["wall"]["p95_ns"], row["cpu"]["median_ns"])
        assert f["commit"] == next(s["commit"] for s in raw["sources"] if s["side"] == f["side"])
        assert (f["attempt"], f["boot"], f["host"]) == (raw["id"], raw["boot"]["id"], raw["host"]["name"])
        assert f["suite_sha256"] == raw["suite_sha256"] and f["grade"] == "diagnostic"


def test_ratios_are_those_of_the_reports(measured):
    daemon, jobs = measured
    for args, subject, reference in ((["--changes"], ("subject", "after"), ("subject", "before")),
                                     (["--against", "sh"], ("subject", "after"), ("sh", "after"))):
        found = [r for r in rows(measured, "start", "--lane", "subject", *args) if r["side"] == "after"]
        assert [r["job"] for r in found] == [jobs[1], jobs[0]]
        for r in found:
            said = next(c for c in daemon.summary(r["job"])["comparisons"]
                        if c["workload"] == "start" and (c["subject"]["lane"], c["subject"]["side"]) == subject
                        and (c["reference"]["lane"], c["reference"]["side"]) == reference)
            assert (r["against"], r["against_side"]) == reference
            assert (r["ratio_of_medians"], r["ratio"], r["verdict"]) == (
                said["wall"]["ratio_of_medians"], said["wall"]["paired_median_ratio"], said["wall"]["verdict"])
            assert (r["low"], r["high"]) == (said["wall"]["interval"]["low"], said["wall"]["interval"]["high"])


def test_lanes_against_one_leave_that_one_out(measured):
    found = rows(measured, "start", "--against", "sh")
    assert len(found) == 4 and {r["lane"] for r in found} == {"subject"}


def test_values_have_their_verdicts(measured):
    assert rows(measured, "start", "--value", "time") == rows(measured, "start")
    found = rows(measured, "heap", "--value", "allocations", "--lane", "subject", "--changes")
    assert [(r["median"], r["against_median"], r["verdict"]) for r in found] == [(900, 1200, "LESS")] * 2
    text = measured[0].run("history", "heap", "--value", "allocations", "--lane", "subject").stdout
    assert re.search(r"after +1 +\S+ +6 +900 +900 +900 ", text) and re.search(r"before +1 +\S+ +6 +1,200 ", text)


def test_only_what_is_asked_for_comes(measured):
    _, jobs = measured
    assert len(rows(measured, "start")) == 8
    assert {f["side"] for f in rows(measured, "start", "--side", "before")} == {"before"}
    assert rows(measured, "start", "--contractual") == []
    assert rows(measured, "start", "--suite", "another") == []
    assert len(rows(measured, "start", "--since", "1d")) == 8
    assert rows(measured, "start", "--until", "1d") == []
    assert rows(measured, "start", "--since", "2999-01-01") == []
    latest = measured[0].json("history", "start", "--lane", "subject", "--limit", "2")
    assert latest["more"] and [f["job"] for f in latest["figures"]] == [jobs[1]] * 2
    assert "raise --limit" in measured[0].run("history", "start", "--lane", "subject", "--limit", "2").stdout
    assert "no report of these days" in measured[0].run("history", "start", "--contractual").stdout


@pytest.mark.parametrize("args, words", [
    (["nope"], "no report here has a workload nope"),
    (["start", "--lane", "rust"], "there is: sh time (against its other sides); subject time"),
    (["start", "--lane", "sh", "--against", "sh"], "no report has that of workload start"),
    (["start", "--against", "rust"], "no report has that of workload start"),
    (["heap", "--value", "releases"], "control allocations"),
])
def test_what_there_is_not_is_told_by_name(measured, args, words):
    refused = measured[0].run("history", *args, check=4)
    assert words in refused.stderr and refused.stderr.count("\n") == 1 and refused.stdout == ""


def test_csv_has_the_same_rows_and_quotes(measured):
    for args in (["start"], ["start", "--changes"], ["heap"], []):
        text = measured[0].run("history", *args, "--format", "csv").stdout
        table = list(csv.DictReader(io.StringIO(text), strict=True))
        found = rows(measured, *args)
        assert len(table) == len(found)
        for line, row in zip(table, found):
            for key, cell in line.items():
                value = row[key]
                said = "" if value is None else str(value).lower() if isinstance(value, bool) else value
                said = f"'{said}" if str(said).startswith("=") else said  # no formula for a spreadsheet
                assert float(cell) == said if isinstance(said, (int, float)) else cell == said, key
    assert 'first, \"quoted\"' in {f["label"] for f in rows(measured, "start")}


def test_markdown_says_the_same(measured):
    markdown = measured[0].run("history", "start", "--format", "markdown").stdout
    assert markdown.count("| subject | ") + markdown.count("| sh | ") == 8
    assert "family 1: host" in markdown


def page(measured, tmp_path, *args) -> str:
    path = tmp_path / "page.html"
    measured[0].run("history", *args, "--format", "html", "--output", path)
    return path.read_text()


def test_the_page_has_a_point_for_each_row_and_loads_nothing(measured, tmp_path):
    for args in (["start"], ["start", "--changes"], ["heap", "--value", "allocations"]):
        text = page(measured, tmp_path, *args)
        assert not re.search(r"(src|href)=|@import|url\(|<script", text)
        plots = [xml.etree.ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", text, re.S)]
        found = rows(measured, *args)
        assert len(plots) == len({row["lane"] for row in found})
        assert len(found) == text.count("<title>") - 1
        for circles in (plot.findall(".//circle") for plot in plots):
            assert circles and all(c.get("class") == "hollow" for c in circles)  # diagnostic
            assert all(0 <= float(c.get("cx")) <= 960 and 0 <= float(c.get("cy")) <= 280 for c in circles)


def test_the_page_is_a_table_where_nothing_is_asked(measured, tmp_path):
    text = page(measured, tmp_path)
    assert "<svg" not in text and text.count("<tr>") == 7


@pytest.mark.skipif(not CHROMIUM, reason="there is no chromium")
def test_a_browser_shows_the_page(measured, tmp_path):
    page(measured, tmp_path, "start")
    dom = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                          f"--user-data-dir={tmp_path}/profile", f"file://{tmp_path}/page.html"],
                         capture_output=True, text=True, timeout=120, check=True).stdout
    assert dom.count("<circle") == 8 and "<h1>start</h1>" in dom


@pytest.mark.parametrize("params, field", [
    ({"lane": "c"}, "workload"), ({"contractual": True}, "workload"), ({"changes": True}, "workload"),
    ({"workload": "start", "changes": True, "against": "sh"}, "changes"),
    ({"workload": "start", "limit": 1001}, "limit"), ({"workload": "start", "since_ms": -1}, "since_ms"),
    ({"workload": "start", "width": 1}, "width"), ({"workload": "start", "format": "pdf"}, "format"),
])
def test_the_wire_refuses_what_the_command_line_would(measured, params, field):
    refused = measured[0].connect().call("history.get", **{"format": "text"} | params)["error"]
    assert refused["data"]["field"] == field, refused


def test_what_is_read_for_one_answer_has_a_bound(daemon, tmp_path, policy):
    """More series than one answer has: all the same each is found by its name. And more rows than are looked at."""
    names = [f"c{i}" for i in range(60)]
    program = "#!/bin/sh\n" + "".join(f"echo COUNTER {n} 7\n" for n in names)
    suite = harness.make_suite(tmp_path / "many", [counters({f"l{i}": {"command": ["{suite}/p"]} for i in range(5)}, names)],
                               {"p": program})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=1, warmups=0)
    assert daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])["job"]["state"] == "done"
    all_of_it = daemon.json("history", "heap")
    assert all_of_it["more"] and len(all_of_it["figures"]) == 256
    assert "name one by --lane or --value" in daemon.run("history", "heap").stdout
    one = daemon.json("history", "heap", "--lane", "l4", "--value", "c9")
    assert not one["more"] and len(one["figures"]) == 1
    daemon.stop()
    with sqlite3.connect(daemon.state / "aurabench.db") as db:
        columns = ("attempt, started_ms, workload, value, lane, side, commit_id, measure, unit, operations, control, n, median,"
                   " mad, low, high, cpu_median, grade")
        db.execute("WITH RECURSIVE i(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM i WHERE k < 12000)"
                   f" INSERT INTO figures ({columns}) SELECT {columns.replace('started_ms', 'started_ms + k')} FROM figures, i"
                   " WHERE value = 'c9' AND lane = 'l4'")
    db.close()
    daemon.start()
    rare = daemon.json("history", "heap", "--lane", "l4", "--value", "c9", "--side", "nowhere")
    assert rare == rare | {"figures": [], "more": True}
    assert len(daemon.json("history", "heap", "--lane", "l4", "--value", "c9", "--limit", "1000")["figures"]) == 1000


def test_json_is_not_mixed_with_other_forms(measured):
    refused = measured[0].run("history", "start", "--format", "csv", "--json", check=2)
    assert "write csv to a file with --output" in refused.stderr
