"""The ledger of a whole attempt: what is disturbed runs again, the observer is audited, and a machine
counts what it can. Counters are scripted but in the last tests."""

import json
import pathlib
import re

import harness
import pytest

SILENT = "near_foreign_ns 0\n"


@pytest.fixture
def measured(daemon, fake_host, compare):
    """Runs slow against fast under this script; the job as shown, and the raw report."""

    def run(script: str | None, *args):
        if script is not None:
            fake_host.write("ledger", script)
        shown = daemon.finish(compare("-r", 3, *args))
        return shown, daemon.raw(shown["job"]["id"])

    return run


def timed(raw) -> list[dict]:
    return [o for o in raw["observations"] if o["kind"] == "timed"]


def test_a_silent_host_disturbs_nothing(daemon, measured):
    shown, raw = measured(SILENT)
    assert raw["observer"]["busy"] == "fake" and raw["observer"]["busy_resolution_ns"] == 1
    assert all(o["disturbed"] == [] and o["ledger"]["near_foreign_ns"] == 0 for o in timed(raw))
    assert all(o["disturbed"] is None for o in raw["observations"] if o["kind"] == "warmup")
    assert "observer_silent" not in shown["job"]["report"]["line"]


def test_a_disturbed_repetition_runs_again_and_does_not_count(daemon, measured):
    _, raw = measured(SILENT)
    first = timed(raw)[0]["seq"]
    shown, raw = measured(SILENT + f"at {first} near_foreign_ns 900000000\n")
    hit = next(o for o in raw["observations"] if o["seq"] == first)
    assert hit["disturbed"] == ["near_foreign"]
    again = [o for o in raw["observations"] if o["replaces"] is not None]
    assert again and {o["replaces"] for o in again} == {hit["repetition"]}
    assert {o["workload"] for o in again} == {hit["workload"]}
    assert all(o["disturbed"] == [] for o in again)
    text = daemon.run("report", shown["job"]["id"]).stdout
    assert "near_foreign" in text and "DISTURBANCES" in text
    done = daemon.run("verify", shown["job"]["report"]["evidence"])
    assert "0 failed" in done.stdout


def test_who_still_runs_after_timing_is_named(daemon, fake_host, measured):
    _, raw = measured(SILENT)
    first = timed(raw)[0]["seq"]
    script = SILENT + f"at {first} far_foreign_ns 900000000\n"
    shown, _ = measured(script)
    text = " ".join(daemon.run("report", shown["job"]["id"]).stdout.split())
    assert "whoever it was did not run any more" in text
    fake_host.burner(4242, pct=20, command="indexer")
    shown, _ = measured(script, "--allow-competing")
    text = " ".join(daemon.run("report", shown["job"]["id"]).stdout.split())
    assert re.search(r"right after timing indexer \(pid 4242\) was running, at [12]\d\.\d%", text), text


def test_each_reason_is_named(daemon, measured):
    _, raw = measured(SILENT)
    seqs = [o["seq"] for o in timed(raw)]
    script = "".join(f"at {seq} {member} 900000000\n" for seq, member in zip(
        seqs, ["far_foreign_ns", "lane_delay_ns", "steal_ns", "throttles", "swapped_pages", "runner_cpu_ns"]))
    shown, raw = measured(SILENT + script)
    found = [o["disturbed"] for o in raw["observations"] if o["seq"] in seqs[:6]]
    assert found == [["far_foreign"], ["run_delay"], ["steal"], ["throttling"], ["swap"], ["observer"]]
    # What was replaced speaks no more against the observer.
    assert "observer_silent" not in shown["job"]["report"]["line"]


def test_when_all_is_disturbed_the_planned_ones_count_and_the_rows_are_diagnostic(daemon, measured):
    _, raw = measured(SILENT)
    warmups = "".join(f"at {o['seq']} near_foreign_ns 0\n" for o in raw["observations"] if o["kind"] == "warmup")
    shown, raw = measured("near_foreign_ns 900000000\n" + warmups)
    assert all(o["disturbed"] == ["near_foreign"] for o in timed(raw))
    asked = raw["job"]["repetitions"]
    workloads = {o["workload"] for o in timed(raw)}
    for workload in workloads:
        again = {o["repetition"] for o in timed(raw) if o["workload"] == workload and o["replaces"] is not None}
        assert len(again) == max(5, asked)
    text = daemon.run("report", shown["job"]["id"]).stdout
    assert "disturbance_replaced  FAIL" in text


def test_what_stands_beside_every_warmup_is_the_lanes_own_and_said(daemon, measured):
    _, raw = measured(SILENT)
    assert "every warmup had" not in daemon.run("report", raw["job"]["id"]).stdout
    first, seqs = timed(raw)[0], [o["seq"] for o in raw["observations"] if o["kind"] == "warmup"]
    same_lane = [o["seq"] for o in raw["observations"] if o["seq"] in seqs
                 and (o["workload"], o["lane"]) == (first["workload"], first["lane"])]
    assert len(same_lane) == 2  # one of each side
    always = "near_foreign_ns 900000000\n"
    shown, raw = measured(always + f"at {first['seq']} near_foreign_ns 1200000000\n")
    hit = {o["seq"]: o["disturbed"] for o in timed(raw)}
    assert hit.pop(first["seq"]) == ["near_foreign"] and set(map(tuple, hit.values())) == {()}
    text = " ".join(daemon.run("report", shown["job"]["id"]).stdout.split())
    assert "every warmup had 900.000000 ms of others' CPU time near the lane" in text
    assert "0 failed" in daemon.run("verify", shown["job"]["report"]["evidence"]).stdout
    # A burst in one warmup is not the lane's.
    _, raw = measured(SILENT + f"at {same_lane[0]} near_foreign_ns 900000000\n"
                      f"at {first['seq']} near_foreign_ns 800000000\n")
    assert {o["seq"]: o["disturbed"] for o in timed(raw)}[first["seq"]] == ["near_foreign"]


def test_without_counters_nothing_is_judged(daemon, measured):
    shown, raw = measured(None)
    assert raw["observer"] is None
    assert all(o["disturbed"] is None and o["ledger"] is None for o in raw["observations"])
    text = daemon.run("report", shown["job"]["id"]).stdout
    assert "observer_silent" in text and "UNKNOWN" in text


@pytest.mark.parametrize("script, words", [
    ("daemon_cpu_ns 9000\n", "the daemon ran for 9 us"),
    ("daemon_switches 2\n", "2 times, inside a timed interval"),
    ("runner_cpu_ns 800000000\n", "are allowed"),
])
def test_an_observer_that_is_not_silent_is_told(daemon, measured, script, words):
    shown, _ = measured(script)
    assert "observer_silent" in shown["job"]["report"]["line"]
    text = " ".join(daemon.run("report", shown["job"]["id"]).stdout.split())
    assert words in text


def test_a_ledger_that_was_changed_does_not_verify(daemon, measured):
    _, raw = measured(SILENT)
    first = timed(raw)[0]["seq"]
    shown, _ = measured(SILENT + f"at {first} near_foreign_ns 900000000\n")
    folder = pathlib.Path(shown["job"]["report"]["evidence"])
    raw = json.loads((folder / "raw.json").read_text())
    raw["observations"][first]["ledger"]["near_foreign_ns"] = 0
    (folder / "raw.json").chmod(0o644)
    text = json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
    original = (folder / "raw.json").read_text()
    (folder / "raw.json").write_text(text)
    done = daemon.run("verify", folder, check=1)
    assert f"observation {first} is called near_foreign, its ledger makes it clean" in done.stdout
    (folder / "raw.json").write_text(original)


# ---- the machine itself

@pytest.fixture
def real(tmp_path):
    d = harness.Daemon(tmp_path).start()
    yield d
    d.close()


def test_a_real_machine_counts_and_the_daemon_does_nothing_meanwhile(real, repo, suite, tmp_path):
    policy = harness.quick_policy()
    policy["conditions"] = {}
    path = tmp_path / "open.json"
    path.write_text(json.dumps(policy))
    shown = real.finish(real.json("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite,
                                  "--policy", path, "--allow-competing")["id"])
    raw = real.raw(shown["job"]["id"])
    assert raw["observer"]["busy"] in ("cpuacct", "schedstat", "stat")
    assert raw["observer"]["memory"] in ("locked", None)  # a system may forbid it
    text = " ".join(real.run("report", shown["job"]["id"]).stdout.split())
    locked = "was locked" if raw["observer"]["memory"] else "was not locked"
    assert f"the ledger counts foreign CPU time by {raw['observer']['busy']} " in text and locked in text
    for o in raw["observations"]:
        ledger = o["ledger"]
        assert ledger["span_ns"] >= o["elapsed_ns"] and ledger["lane_cpu_ns"] > 0, o
        assert ledger["near_foreign_ns"] >= 0 and ledger["far_foreign_ns"] >= 0
        assert o["daemon_switches"] == 0 and o["daemon_cpu_ns"] == 0, o
        assert o["runner_switches"] >= 1
    assert all(o["disturbed"] is not None for o in timed(raw))
