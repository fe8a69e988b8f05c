"""The release page and the gate: figures as they follow from raw.json by the standard library alone, one
page of several jobs, targets met and missed, and everything that may not pass a gate."""

import base64
import json
import statistics

import jsonschema
import pytest

import harness


@pytest.fixture
def job(daemon, compare):
    """A finished comparison of three repetitions."""
    job = compare("--repetitions", 3, "--label", "tiny release")
    assert daemon.finish(job)["job"]["state"] == "done"
    return job


def median(raw: dict, workload: str, lane: str, side: str, member: str = "elapsed_ns") -> float:
    values = [o[member] for o in raw["observations"] if o["kind"] == "timed" and o["outcome"] == "ok"
              and (o["workload"], o["lane"], o["side"]) == (workload, lane, side)]
    assert len(values) == raw["job"]["repetitions"]
    return statistics.median(values)


def section(page: str, title: str) -> str:
    assert page.count(f"\n## {title}\n") == 1, page
    return page.split(f"\n## {title}\n")[1].split("\n## ")[0]


def rows(text: str, heading: str | None = None) -> list[dict]:
    """The rows of the first table below ### heading, by their titles."""
    if heading:
        text = text.split(f"\n### {heading}\n")[1].split("\n### ")[0]
    lines = [[c.strip() for c in line.strip("|").split(" | ")] for line in text.splitlines()
             if line.startswith("|")]
    assert len(lines) >= 3, text
    return [dict(zip(lines[0], cells, strict=True)) for cells in lines[2:]]


def ms(ns: float) -> str:
    return f"{ns / 1e6:.6f}"


def targets(tmp_path, *items) -> str:
    path = tmp_path / "targets.json"
    path.write_text(json.dumps({"schema": "aurabench.targets.v1", "name": "t", "targets": list(items)}))
    return path


RATIO = {"workload": "tiny", "lane": "subject", "reference": "control", "max_ratio": 1e6,
         "diagnostic": True}

SCHEMA = json.loads((harness.ROOT / "proto/schema/gate.json").read_text())

# ---- the page


def test_the_pages_figures_follow_from_the_raw_report(daemon, job):
    page, raw = daemon.run("page", "--reports", job).stdout, daemon.raw(job)
    text = section(page, "tiny release")
    medians = {(lane, side): median(raw, "tiny", lane, side)
               for lane in ("subject", "control") for side in ("before", "after")}
    for row in rows(text, "Results: GO to DONE"):
        subject, control = medians["subject", row["side"]], medians["control", row["side"]]
        assert row["subject ms"] == ms(subject) and row["control ms"] == ms(control)
        assert row["subject / control"] == f"{subject / control:.6f}"
    [change] = rows(text, "Change, before to after")
    before, after = medians["subject", "before"], medians["subject", "after"]
    assert (change["before ms"], change["after ms"]) == (ms(before), ms(after))
    assert change["change"] == f"{(after - before) / before * 100:+.4f}%"
    assert change["interval (coverage)"] == "none" and change["verdict"] == "UNRESOLVED"
    [control] = rows(text, "Controls")
    before, after = medians["control", "before"], medians["control", "after"]
    assert control["drift"] == f"{(after - before) / before * 100:+.4f}%"
    [gap] = rows(section(page, "Current gaps"))
    assert gap["ratio of medians"] == f"{medians['subject', 'after'] / medians['control', 'after']:.6f}"
    assert gap["grade"] == "diagnostic"


def test_the_page_says_where_from_what_and_how(daemon, job):
    page, raw, shown = daemon.run("page", "--reports", job).stdout, daemon.raw(job), daemon.show(job)
    [report] = rows(section(page, "Reports"))
    assert (report["report"], report["grade"], report["attempt"]) == ("tiny release", "diagnostic", raw["id"])
    items = {r["item"]: r["value"] for r in rows(section(page, "Hosts"), raw["host"]["name"])}
    assert items["Boot identity"].startswith(raw["boot"]["id"])
    assert items["Label"] == "quiet host, not post-reboot"
    assert raw["host"]["cpu"] in items["Machine"] and raw["host"]["arch"] in items["OS"]
    sources = {r["side"]: r for r in rows(section(page, "Source commits"))}
    assert {s: r["commit"] for s, r in sources.items()} == {s["side"]: s["commit"] for s in raw["sources"]}
    evidence = {r["file"]: r["SHA-256"] for r in rows(section(page, "Evidence"))}
    sums = dict(reversed(line.split("  ", 1)) for line in
                (daemon.evidence(job) / "SHA256SUMS").read_text().splitlines())
    for name in ("raw.json", "summary.json", "commits.bundle"):
        assert evidence[f"{raw['id']}/{name}"] == sums[name]
    assert evidence[f"{raw['id']}/raw.json"] == shown["job"]["report"]["raw_sha256"]
    commands = section(page, "Measure it again")
    assert f"sh {raw['id']}/reproduce.sh NEW_FOLDER" in commands
    assert f"git worktree add --detach after {sources['after']['commit']}" in commands


def test_two_jobs_make_one_page_in_their_order(daemon, job, policy):
    daemon.run("run", "--policy", policy, "--repetitions", 2, "--label", "second", "--", "true", "--vs",
               "true")
    run = daemon.json("list")["jobs"][0]["id"]
    page = daemon.run("page", "--reports", run, job).stdout
    assert [r["report"] for r in rows(section(page, "Reports"))] == ["second", "tiny release"]
    assert page.index("\n## second\n") < page.index("\n## tiny release\n")
    [lanes] = rows(section(page, "second"), "Lane against lane")
    assert lanes["lanes"] == "b / a" and lanes["timed"] == "whole process"


def test_the_page_goes_into_a_file_and_into_json(daemon, job, tmp_path):
    out = tmp_path / "page.md"
    page = daemon.run("page", "--reports", job).stdout
    assert daemon.run("page", "--reports", job, "--output", out).stdout == ""
    assert out.read_text() == page
    assert daemon.json("page", "--reports", job)["page"] == page


def test_the_page_shows_targets(daemon, job, tmp_path):
    path = targets(tmp_path, RATIO, {**RATIO, "side": "after", "max_ratio": 1e-9}, {**RATIO, "workload": "tiyn"})
    page = daemon.run("page", "--reports", job, "--targets", path).stdout
    shown = rows(section(page, "Targets"))
    assert [r["to go"] == "none" for r in shown] == [True, False, False] and shown[1]["to go"].endswith(" x")
    results = [r["result"].strip("*").split(":")[0] for r in shown]
    assert results == ["met", "missed", "undefined"]
    assert "t: not every target is met." in page


def test_a_job_without_a_report_makes_no_page(daemon, fake_host, compare):
    fake_host.burner()
    job = compare()
    daemon.until(job, "waiting")
    error = daemon.refused("page", "--reports", job)
    assert (error["code"], error["field"]) == ("report.not_ready", "jobs")
    assert error["exit"] == 1 and job in error["message"]
    daemon.run("cancel", job)
    daemon.finish(job)


@pytest.mark.parametrize(("words", "status"), [
    ([], 2), (["01ZZZZ", "01ZZZY"], 2), (["--reports", "01ZZZZ"], 4), (["no-such-session"], 4)])
def test_what_cannot_be_a_page_is_refused(daemon, words, status):
    assert daemon.refused("page", *words)["exit"] == status


def test_report_page_takes_a_session_or_jobs(daemon, job):
    wire = daemon.connect()
    for params in ({}, {"session": "x", "jobs": [job]}):
        assert wire.call("report.page", **params)["error"]["data"]["code"] == "rpc.params"
    assert wire.call("report.page", jobs=[])["error"]["data"]["code"] == "report.not_ready"
    bad = wire.call("report.page", jobs=[job], targets={"schema": "aurabench.targets.v1", "targets": []})
    assert bad["error"]["data"]["code"] == "target.bad"
    answer = wire.call("report.page", jobs=[job])["result"]
    assert set(answer) == {"data", "next", "total", "sha256"} and answer["next"] == answer["total"] > 0
    rest = wire.call("report.page", jobs=[job], offset=7)["result"]
    assert base64.b64decode(answer["data"])[7:] == base64.b64decode(rest["data"])
    wire.close()


# ---- sessions


@pytest.fixture
def session(daemon, suite, repo, tmp_path, policy):
    """Opens two comparisons under one label; the ids of its jobs."""
    jobs = [{"schema": "aurabench.job.v1", "label": label, "repetitions": 1, "warmups": 0,
             "suite": {"path": str(suite)}, "retry": {"every": "100ms"},
             "sources": {"before": {"repo": str(repo), "rev": "slow"},
                         "after": {"repo": str(repo), "rev": "fast"}}} for label in ("one", "two")]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "0.3.4",
                                "jobs": jobs}))

    def open_() -> list[str]:
        return daemon.json("session", "open", path, "--policy", policy)["jobs"]

    return open_


def test_a_session_makes_a_page_and_passes_a_gate(daemon, session, tmp_path):
    for job in session():
        assert daemon.finish(job)["job"]["state"] == "done"
    page = daemon.run("page", "0.3.4").stdout
    assert page.startswith("# 0.3.4\n\nSession ")
    assert [r["report"] for r in rows(section(page, "Reports"))] == ["one", "two"]
    assert "| Label | quiet host, not post-reboot |" in page
    result = gate(daemon, targets(tmp_path, RATIO), "--session", "0.3.4", status=0)
    assert len(result["targets"]) == 2 and result["met"] == 2


def test_a_session_names_its_jobs_without_a_report(daemon, session, tmp_path, fake_host):
    fake_host.burner()
    jobs = session()
    daemon.run("cancel", jobs[1])
    assert daemon.refused("page", "0.3.4")["code"] == "report.not_ready"
    fake_host.quiet()
    assert daemon.finish(jobs[0])["job"]["state"] == "done"
    page = daemon.run("page", "0.3.4").stdout
    assert [r["report"] for r in rows(section(page, "Reports"))] == ["one"]
    assert "\n- job two is cancelled and has no report" in page
    assert daemon.refused("gate", targets(tmp_path, RATIO), "--session", "0.3.4")["code"] == "report.not_ready"


# ---- the gate


def gate(daemon, path, *args, status: int) -> dict:
    return json.loads(daemon.run("gate", "--json", path, *args, check=status).stdout)


def test_a_gate_ends_with_0_when_every_target_is_met(daemon, job, tmp_path):
    path = targets(tmp_path, RATIO, {"workload": "tiny", "lane": "subject", "max_slowdown_pct": 1e6,
                                     "time": "cpu", "diagnostic": True})
    result = gate(daemon, path, "--job", job, status=0)
    raw = daemon.raw(job)
    ratio = median(raw, "tiny", "subject", "after") / median(raw, "tiny", "control", "after")
    cpu = [median(raw, "tiny", "subject", side, "interval_cpu_ns") for side in ("before", "after")]
    assert result["passed"] and result["met"] == 2 and result["missed"] == result["undefined"] == 0
    assert result["targets"][0]["figure"] == pytest.approx(ratio, rel=1e-12)
    assert result["targets"][1]["figure"] == pytest.approx((cpu[1] - cpu[0]) / cpu[0] * 100, rel=1e-9)
    text = daemon.run("gate", path, "--job", job).stdout
    assert text.splitlines()[-1].startswith("passed, t: 2 met")


def test_a_gate_ends_with_1_on_a_miss(daemon, job, tmp_path):
    raw = daemon.raw(job)
    ratio = median(raw, "tiny", "subject", "after") / median(raw, "tiny", "control", "after")
    path = targets(tmp_path, RATIO, {**RATIO, "side": "after", "max_ratio": ratio / 2})
    result = gate(daemon, path, "--job", job, status=1)
    assert [t["status"] for t in result["targets"]] == ["met", "missed"] and not result["passed"]
    assert result["targets"][1]["to_go"] == pytest.approx(2, rel=1e-9)
    text = daemon.run("gate", path, "--job", job, check=1).stdout
    assert text.splitlines()[-1].startswith("not passed, t: 1 met, 1 missed")


@pytest.mark.parametrize("change", [{"workload": "fib30"}, {"lane": "nobody"}, {"reference": "rust"},
                                    {"side": "later"}, {"suite": "other"}, {"host": "elsewhere"},
                                    {"arch": "vax"}, {"system": "VMS"}])
def test_what_the_report_does_not_have_is_a_miss_and_said(daemon, job, tmp_path, change):
    path = targets(tmp_path, {**RATIO, **change})
    [target] = gate(daemon, path, "--job", job, status=1)["targets"]
    assert target["status"] == "undefined" and target["figure"] is None and target["why"]
    assert "an undefined target is a miss" in daemon.run("gate", path, "--job", job, check=1).stdout


@pytest.mark.parametrize(("change", "words"), [
    ({"workload": "fib30"}, "no report of this host has the workload fib30; there is: tiny"),
    ({"lane": "nobody"}, "no lane nobody on that side; tiny has: subject, control")])
def test_an_unknown_name_is_told_with_those_that_there_are(daemon, job, tmp_path, change, words):
    [target] = gate(daemon, targets(tmp_path, {**RATIO, **change}), "--job", job, status=1)["targets"]
    assert words in target["why"]


def test_the_json_form_of_a_gate_has_a_schema(daemon, job, tmp_path):
    path = targets(tmp_path, RATIO, {**RATIO, "workload": "fib30"})
    document = json.loads(path.read_text())
    document["gaps"] = [{**{k: RATIO[k] for k in ("workload", "lane", "reference")}, "ratio": 2, "on": "x"},
                        {"workload": "fib30", "lane": "aura", "reference": "rust", "ratio": 14.5}]
    path.write_text(json.dumps(document))
    result = gate(daemon, path, "--job", job, status=1)
    assert [(g["recorded"], g["now"]) for g in result["gaps"]] == [(2, result["targets"][0]["figure"]), (14.5, None)]
    assert "not measured" in daemon.run("gate", path, "--job", job, check=1).stdout
    assert "### Recorded gaps" in daemon.run("page", "--reports", job, "--targets", path).stdout
    jsonschema.Draft202012Validator(SCHEMA).validate(result)
    assert result["schema"] == "aurabench.gate.v1"
    assert set(result["targets"][0]) == set(SCHEMA["$defs"]["row"]["properties"])


def test_a_gate_tells_the_interval_and_what_it_leaves_open(daemon, compare, tmp_path):
    job = compare("--repetitions", 8)
    assert daemon.finish(job)["job"]["state"] == "done"
    raw = daemon.raw(job)
    took = {lane: {o["repetition"]: o["elapsed_ns"] for o in raw["observations"] if o["kind"] == "timed" and
                   (o["workload"], o["lane"], o["side"]) == ("tiny", lane, "after")} for lane in ("subject", "control")}
    ratios = sorted(took["subject"][r] / took["control"][r] for r in took["subject"])
    interval = gate(daemon, targets(tmp_path, RATIO), "--job", job, status=0)["targets"][0]["interval"]
    # of 8 values the smallest and largest bound the median with 1 - 2 / 2 ** 8
    assert interval == pytest.approx({"low": ratios[0], "high": ratios[-1], "coverage": 1 - 2 / 2 ** 8}, rel=1e-12)
    inside = targets(tmp_path, {**RATIO, "max_ratio": (ratios[0] + ratios[-1]) / 2})
    result = gate(daemon, inside, "--job", job, status=1)
    assert result["unclear"] == 1 and "not on one side of the limit" in result["targets"][0]["why"]
    assert "an unclear target is not met" in daemon.run("gate", inside, "--job", job, check=1).stdout


def test_the_targets_may_be_named_by_an_option(daemon, job, tmp_path):
    path = targets(tmp_path, RATIO)
    folder = daemon.evidence(job)
    for words in (["--targets", path, "--job", job], ["--targets", path, "--raw", folder, folder]):
        assert json.loads(daemon.run("gate", "--json", *words).stdout)["passed"]
    error = daemon.refused("gate", "--job", job)
    assert error["exit"] == 2 and "--targets FILE" in error["message"]


def test_diagnostic_figures_do_not_pass_by_themselves(daemon, job, tmp_path):
    path = targets(tmp_path, {k: v for k, v in RATIO.items() if k != "diagnostic"})
    result = gate(daemon, path, "--job", job, status=1)
    assert result["targets"][0]["status"] == "diagnostic" and result["diagnostic"] == 1
    assert '"diagnostic": true' in daemon.run("gate", path, "--job", job, check=1).stdout


def test_sizes_of_built_files_are_held_to_a_tenth(daemon, tmp_path, policy):
    build = ["/bin/sh", "-c", 'mkdir -p "$1" && head -c "$(cat "$2/size")" /dev/zero >"$1/hello"', "sh",
             "{build}", "{source}"]
    repo = tmp_path / "sized"
    harness.make_repo(repo, {"v1": {"size": "1000", "run.py": harness.LANE_SH},
                             "v2": {"size": "1100", "run.py": harness.LANE_SH}})
    suite = harness.make_suite(tmp_path / "sizes", [harness.protocol(
        {"subject": {"command": ["{source}/run.py"]}})], build=[build])
    job = daemon.json("compare", "--repo", repo, "--before", "v1", "--after", "v2", "--suite", suite,
                      "--policy", policy, "--repetitions", 1)["id"]
    assert daemon.finish(job)["job"]["state"] == "done"
    files = {a["side"]: a for a in daemon.raw(job)["artifacts"]}
    assert {s: f["bytes"] for s, f in files.items()} == {"before": 1000, "after": 1100}
    name = files["after"]["path"]
    for bytes_, status in ((1000, 0), (999, 1)):
        path = targets(tmp_path, {"file": name, "bytes": bytes_, "diagnostic": True})
        [target] = gate(daemon, path, "--job", job, status=status)["targets"]
        assert target["figure"] == 1100
    gate(daemon, targets(tmp_path, {"file": "nothing", "bytes": 1}), "--job", job, status=1)


def test_evidence_is_judged_without_a_daemon(daemon, job, tmp_path):
    path = targets(tmp_path, RATIO)
    folder = daemon.evidence(job)
    none = ["--socket", tmp_path / "none"]
    for place in (folder, folder / "raw.json"):
        [target] = gate(daemon, path, *none, "--raw", place, status=0)["targets"]
        assert target["report"] == str(place)
    assert len(gate(daemon, path, "--raw", folder, folder, status=0)["targets"]) == 2


def test_what_is_no_gate_is_refused(daemon, job, tmp_path):
    good, bad = targets(tmp_path, RATIO), tmp_path / "bad.json"
    bad.write_text('{"schema":"aurabench.targets.v1","targets":[{"max_ratio":1,"bytes":2}]}')
    error = daemon.refused("gate", bad, "--job", job)
    assert (error["code"], error["field"], error["exit"]) == ("target.bad", "targets[0]", 2)
    bad.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [RATIO, {**RATIO, "max_ratio": 2}]}))
    error = daemon.refused("gate", bad, "--job", job)
    assert (error["code"], error["field"]) == ("target.bad", "targets[1]") and "same thing" in error["message"]
    for change, code in (({"max_ratio": 0}, "json.range"), ({"limit": 2}, "json.unknown_key")):
        bad.write_text(json.dumps({"schema": "aurabench.targets.v1", "targets": [{**RATIO, **change}]}))
        assert daemon.refused("gate", bad, "--job", job)["code"] == code
    for words in ([good], [good, "--job", job, "--raw", "x"], [good, "--session", "a", "b"]):
        assert daemon.refused("gate", *words)["exit"] == 2
    assert daemon.refused("gate", good, "--job", "01ZZZZ")["exit"] == 4
    assert daemon.refused("gate", good, "--raw", tmp_path / "nothing")["exit"] == 1
    (tmp_path / "raw.json").write_text("{}")
    assert str(tmp_path / "raw.json") in daemon.refused("gate", good, "--raw", tmp_path)["message"]
    assert daemon.refused("gate", tmp_path / "no.json", "--job", job)["exit"] == 1
