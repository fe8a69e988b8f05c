"""Calibrations: once a boot when the host is quiet, with reasons when it is not; what they are measured from
stands in every report of the boot, and verdicts, rows and the policy `virtual` rest on it."""

import json
import shutil

import jsonschema
import pytest

import harness
from calibrations import ID, document, put
from harness import LANE_SH, begin_connected, protocol
from test_verify import failures, lie

# Within the widest margin that there is, two of these are the same however busy the machine is.
WIDE = 1.0
SLOW_SH = LANE_SH.replace("read go\n", "read go\nsleep 0.1\n")


def state(daemon) -> dict:
    return daemon.json("status")["state"]["calibration"]


def stored(daemon) -> list:
    return daemon.sql("SELECT * FROM calibrations ORDER BY number")


@pytest.fixture
def measure(daemon, tmp_path):
    """One job of a lane on two commits, by a policy; its raw report and its summary."""
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"lane": LANE_SH, "slow": SLOW_SH}, "two": {"more": "\n"}})

    def one(lane="lane", **policy) -> tuple[dict, dict]:
        one.count += 1
        path = tmp_path / f"policy{one.count}.json"
        path.write_text(json.dumps(harness.quick_policy(**{"margin": WIDE, **policy})))
        suite = harness.make_suite(tmp_path / f"suite{one.count}", [protocol(
            {"lane": {"command": ["{source}/" + lane]}})])
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=6, sources={
            side: {"repo": str(repo), "rev": rev} for side, rev in (("before", "one"), ("after", "two"))})
        id = daemon.json("submit", job, "--policy", path)["id"]
        shown = daemon.finish(id)
        assert shown["job"]["state"] == "done", shown["job"]
        one.id = id
        return daemon.raw(id), daemon.summary(id)

    one.count = 0
    return one


def verdicts(summary) -> set[str]:
    return {c["wall"]["verdict"] for c in summary["comparisons"]}


def resolution(summary) -> set[str]:
    return {p["status"] for row in summary["grade"]["rows"] for p in row["predicates"]
            if p["name"] == "above_resolution"}


# ---- making one

def test_a_quiet_host_is_calibrated_once_a_boot_by_the_daemon_itself(daemon, fake_host):
    daemon.stop()
    daemon.calibrates = True
    daemon.start()
    harness.wait_for(lambda: stored(daemon), "a calibration")
    harness.wait_for(lambda: daemon.json("status")["state"]["idle"], "its end")
    first, = stored(daemon)
    assert first["form"] == "quick" and state(daemon)["latest"] == first["id"]
    daemon.stop()
    daemon.start()
    assert daemon.json("status")["state"]["calibration"]["latest"] == first["id"]
    daemon.stop()
    fake_host.write("identity", "boot_id 00000000-0000-4000-8000-00000000000b\n")
    daemon.start()
    harness.wait_for(lambda: len(stored(daemon)) == 2, "one of the new boot")
    harness.wait_for(lambda: daemon.json("status")["state"]["idle"], "its end")
    assert [row["boot"][-1] for row in stored(daemon)] == ["1", "b"]


def test_a_host_that_was_just_started_is_not_calibrated_unless_asked(daemon, fake_host):
    fake_host.write("facts", "uptime known 5000\n")
    daemon.stop()
    daemon.calibrates = True
    daemon.start()
    harness.wait_for(lambda: state(daemon)["refused"], "a refusal")
    assert "time since boot: 5 s since boot" in state(daemon)["refused"] and stored(daemon) == []
    assert daemon.json("calibrate", "--quick")["found"]["form"] == "quick"


def test_what_is_stored_is_what_was_measured_and_what_follows_from_it(daemon):
    assert daemon.json("calibrate", "--show", check=6)["found"] is None
    answer = daemon.json("calibrate", "--quick")
    assert daemon.json("calibrate", "--show")["found"] == answer["found"]
    row, = stored(daemon)
    kept = json.loads(row["document"])
    schema = json.loads((harness.ROOT / "proto/schema/raw.json").read_text())
    jsonschema.Draft202012Validator({"$ref": "#/$defs/calibration", "$defs": schema["$defs"]}).validate(kept)
    assert (kept["id"], kept["boot"], kept["form"]) == (row["id"], row["boot"], "quick")
    for figures in daemon.sql("SELECT * FROM calibration_figures"):
        values = kept["measures"][figures["measure"]]
        assert len(values["pairs_ns"]) == len(values["pairs_cpu_ns"]) == 5 * 22
        ratios = [a / b for a, b in zip(values["pairs_ns"][::2], values["pairs_ns"][1::2])]
        medians = [sorted(ratios[g:g + 11])[5] for g in range(0, 55, 11)]
        assert figures["noise_floor"] == max(max(p, 1 / p) - 1 for p in medians)  # rank 5 of 5
        floors = sorted(values["floor_ns"])
        middle = floors[len(floors) // 2]
        assert len(floors) % 2 and figures["floor_median_ns"] == middle
        assert figures["floor_mad_ns"] == sorted(abs(v - middle) for v in floors)[len(floors) // 2]
        shown = answer["found"]["measures"][figures["measure"]]
        assert {k: figures[k] for k in ("noise_floor", "floor_median_ns", "floor_mad_ns")}.items() <= shown.items()
        found = [r["change"] for r in shown["resolvable"]]
        assert [r["repetitions"] for r in shown["resolvable"]] == [11, 21, 51]
        assert found == sorted(found, reverse=True) and found[-1] >= max(figures["noise_floor"], 0.01)
        del shown["resolvable"]
    schema = json.loads((harness.ROOT / "proto/schema/summary.json").read_text())
    rule = {"$ref": "#/$defs/calibration", "$defs": schema["$defs"]}
    jsonschema.Draft202012Validator(rule).validate(answer["found"])


def test_a_person_reads_what_can_be_found(daemon):
    assert "not calibrated in this boot" in daemon.run("calibrate", "--show", check=6).stdout
    put(daemon)
    text = daemon.run("calibrate", "--show").stdout
    assert text.startswith("calibrated 1970-01-01 00:00:00 (quick): CLOCK_MONOTONIC_RAW in steps of 1 ns, core 0\n")
    assert "protocol 0.00 % 0.00 % 10000.000 0.001 0.000".split() in [line.split() for line in text.splitlines()]
    assert "  process   11: 1.00 %, 21: 1.00 %, 51: 1.00 %\nSAME can be said" in text
    put(daemon, f=0.02, id=ID[:-1] + "0")
    assert "SAME cannot be said by process: its noise floor is over the margin of 1 %" in daemon.run(
        "calibrate", "--show").stdout


def test_a_busy_host_is_not_calibrated_and_says_why(daemon, fake_host):
    fake_host.burner(4242, command="stress-ng")
    waiting = begin_connected(daemon, "calibrate", "--quick")
    # the refusal is known before the runner that looked has ended
    harness.wait_for(lambda: state(daemon)["refused"] and not state(daemon)["running"], "a refusal")
    now = state(daemon)
    assert "stress-ng (pid 4242)" in now["refused"] and now["asked"] and now["next_try_ms"] > now["refused_ms"]
    assert stored(daemon) == []
    fake_host.quiet()
    fake_host.write("identity", "wall_offset_ms 3600000\n")  # the next try is due
    out, err = waiting.communicate(timeout=harness.PATIENCE_S)
    assert waiting.returncode == 0 and out.startswith("calibrated"), (out, err)
    assert "waiting: before timing, the host is not quiet: stress-ng (pid 4242)" in err


def test_noise_that_comes_meanwhile_throws_it_away(daemon, fake_host):
    waiting = begin_connected(daemon, "calibrate", "--quick")
    harness.wait_for(lambda: state(daemon)["total"] > 0, "the first parts")
    assert " (quick)" in daemon.run("status").stdout
    fake_host.burner(4343, command="cc1plus")
    harness.wait_for(lambda: state(daemon)["refused"], "a refusal")
    assert state(daemon)["refused"].startswith("after timing") and stored(daemon) == []
    daemon.run("calibrate", "--off")
    _, err = waiting.communicate(timeout=harness.PATIENCE_S)
    assert waiting.returncode == 5 and "took the calibration back" in err


def test_a_refused_calibration_does_not_hold_up_the_queue(daemon, fake_host, measure):
    fake_host.burner()
    daemon.run("calibrate", "--quick", "--timeout", "1s", check=124)
    harness.wait_for(lambda: state(daemon)["refused"], "a refusal")
    fake_host.quiet()
    measure()
    assert state(daemon)["asked"]
    daemon.run("calibrate", "--off")
    assert not state(daemon)["asked"] and state(daemon)["next_try_ms"] is None


def test_it_takes_its_turn_behind_what_runs(daemon, tmp_path, policy):
    gate = harness.Gate(tmp_path / "gate")
    suite = harness.make_suite(tmp_path / "suite", [protocol({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": LANE_SH, "build": harness.GATE_SH}, env=gate.env(), build=[["{suite}/build"]])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    gate.shut(1)
    id = daemon.json("submit", job, "--policy", policy)["id"]
    gate.await_run(1)
    waiting = begin_connected(daemon, "calibrate", "--quick")
    harness.wait_for(lambda: state(daemon)["asked"], "the request")
    assert not state(daemon)["running"]
    assert "asked for (quick)" in daemon.run("status").stdout
    gate.open(1)
    out, err = waiting.communicate(timeout=harness.PATIENCE_S)
    assert waiting.returncode == 0, err
    assert f"waiting: job {id[-8:]} goes to its end first" in err
    assert daemon.state_of(id) == "done" and daemon.raw(id)["calibration"] is None


def test_nothing_is_calibrated_while_drained(daemon):
    daemon.run("drain")
    daemon.run("calibrate", "--quick", "--timeout", "1s", check=124)
    assert state(daemon)["asked"] and not state(daemon)["running"]
    daemon.run("drain", "--off")
    harness.wait_for(lambda: stored(daemon), "the calibration")


def test_a_stop_in_its_midst_leaves_nothing(daemon):
    waiting = begin_connected(daemon, "calibrate")
    harness.wait_for(lambda: state(daemon)["running"] and state(daemon)["total"], "its beginning")
    daemon.stop()
    waiting.kill()
    waiting.communicate()
    assert stored(daemon) == []
    assert list((daemon.state / "work").iterdir()) == []
    daemon.start()


def test_a_kill_in_its_midst_leaves_nothing_running(daemon):
    waiting = begin_connected(daemon, "calibrate")
    harness.wait_for(lambda: state(daemon)["running"] and state(daemon)["total"], "its beginning")
    daemon.kill()
    waiting.kill()
    waiting.communicate()
    daemon.start()
    assert stored(daemon) == [] and not state(daemon)["asked"]
    assert daemon.json("calibrate", "--quick")["found"]["form"] == "quick"


def test_without_its_program_it_says_what_is_missing(tmp_path, fake_host):
    daemon = harness.Daemon(tmp_path, fake_host, ["--runner", str(tmp_path / "aurabench-runner")])
    (tmp_path / "aurabench-runner").symlink_to(harness.BUILD / "aurabench-runner")
    daemon.start()
    try:
        daemon.run("calibrate", "--timeout", "1s", check=124)
        assert "aurabench-floor is not beside aurabench-runner" in state(daemon)["refused"]
    finally:
        daemon.close()


def test_options_that_exclude_each_other_are_refused(daemon):
    assert daemon.refused("calibrate", "--quick", "--off")["exit"] == 2


# ---- what rests on it

def test_same_is_said_with_a_calibration_alone(daemon, measure):
    raw, summary = measure("slow")
    assert raw["calibration"] is None and summary["calibration"] is None
    assert verdicts(summary) == {"UNRESOLVED"} and resolution(summary) == {"UNKNOWN"}
    put(daemon)
    raw, summary = measure("slow")
    assert raw["calibration"] == document(raw["boot"]["id"])
    assert verdicts(summary) == {"SAME"}
    put(daemon, f=2 * WIDE, id=ID[:-1] + "0")
    raw, summary = measure("slow")
    assert summary["calibration"]["measures"]["protocol"]["noise_floor"] == 2 * WIDE
    assert verdicts(summary) == {"UNRESOLVED"}  # the host is noisier than the margin


def test_a_row_below_resolution_is_flagged(daemon, measure):
    put(daemon, mad_ns=1)
    _, summary = measure()
    assert resolution(summary) == {"PASS"}
    put(daemon, mad_ns=9_999_999, id=ID[:-1] + "0")  # so that less than a second is too little
    _, summary = measure()
    assert resolution(summary) == {"FAIL"}
    assert {row["value"] for row in summary["grade"]["rows"]} == {"diagnostic"}
    report = daemon.run("report", measure.id).stdout
    assert "below resolution: tiny lane, after: " in report and "(below resolution)" in report
    rows = summary["workloads"][0]["rows"]
    assert all(r["floor_share"] == 1e7 / r["wall"]["median_ns"] for r in rows)
    page = daemon.run("page", "--reports", measure.id).stdout
    assert "below resolution: tiny lane, after: " in page


def test_a_policy_may_require_a_calibration_of_the_boot(daemon, measure):
    conditions = harness.quick_policy()["conditions"]
    conditions["calibration"] = {"mode": "require"}

    def met(summary):
        return {p["name"]: p["status"] for p in summary["grade"]["predicates"]}["conditions_met"]

    _, summary = measure(conditions=conditions)
    assert met(summary) == "UNKNOWN"
    put(daemon)
    raw, summary = measure(conditions=conditions)
    assert met(summary) == "PASS"
    assert raw["facts"]["before_build"]["calibration"] == {
        "state": "known", "value": 1, "text": None, "source": "the daemon's store"}


def test_an_attempt_of_another_boot_has_none(daemon, fake_host, measure):
    put(daemon)
    fake_host.write("identity", "boot_id 00000000-0000-4000-8000-00000000000b\n")
    raw, summary = measure()
    assert raw["calibration"] is None and resolution(summary) == {"UNKNOWN"}
    assert raw["facts"]["before_build"]["calibration"]["state"] == "unknown"
    assert daemon.json("calibrate", "--show", check=6)["found"] is None


@pytest.mark.parametrize("forge", [
    lambda c: c["measures"]["protocol"]["pairs_ns"].__setitem__(3, 1_000_001),
    lambda c: c["measures"]["protocol"]["floor_ns"].__setitem__(0, 9_999_998),
    lambda c: c["measures"]["process"]["pairs_cpu_ns"].pop(),
    lambda c: c.__setitem__("boot", "another"),
    lambda c: c.__setitem__("form", "full"),
])
def test_verify_refuses_a_changed_calibration(daemon, measure, tmp_path, forge):
    put(daemon)
    measure()
    copy = shutil.copytree(daemon.evidence(measure.id), tmp_path / "copy")
    lie(copy, "raw.json", lambda raw: forge(raw["calibration"]))
    assert set(failures(copy)) - {"signature"}


# ---- doctor

def test_doctor_says_what_can_be_found_or_what_to_do(daemon, fake_host):
    def line(check):
        answer = daemon.json("doctor", check=check)
        return answer["contractual_possible"], next(c for c in answer["checks"] if c["name"] == "calibration")

    possible, seen = line(6)
    assert not possible and seen["status"] == "UNKNOWN" and seen["mend"].startswith("aurabench calibrate")
    put(daemon)
    possible, seen = line(0)
    assert possible and seen["status"] == "PASS" and seen["mend"] is None
    assert "noise floor" in seen["seen"] and "repetitions find 11: " in seen["seen"]
