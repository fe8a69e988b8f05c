"""A host that is not quiet, or does not meet the policy: the job waits and says why, starts by itself
when the host is good again, and no duration is taken before that. The host is scripted, but for the
last tests, which look at this very machine."""

import json
import os
import signal
import subprocess

import pytest

import harness

ARGS = ("--repetitions", "1", "--warmups", "0", "--retry-every", "100ms")


@pytest.fixture
def gate(tmp_path):
    return harness.Gate(tmp_path / "gate")


@pytest.fixture
def tiny(tmp_path):
    """A suite that needs no sources, quick to measure."""
    return harness.make_suite(tmp_path / "tiny", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": harness.LANE_SH})


@pytest.fixture
def submit(daemon, tmp_path, policy):
    def submit(suite, **members) -> str:
        members.setdefault("retry", {"every": "100ms"})
        job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, **members)
        return daemon.json("submit", job, "--policy", policy)["id"]

    return submit


def durations(daemon) -> int:
    return daemon.sql("SELECT count(*) FROM observations")[0][0]


def predicate(summary: dict, name: str) -> str:
    return next(p["status"] for p in summary["grade"]["predicates"] if p["name"] == name)


# ---- before the build

def test_a_burner_makes_the_job_wait_and_is_named_until_it_ends(daemon, fake_host, tiny, submit):
    fake_host.burner(4711, 98, "burner")
    id = submit(tiny, retry={"every": "1h"})
    shown = daemon.until(id, "waiting")
    assert "burner (pid 4711)" in shown["refusal"]["reason"]
    assert shown["refusal"]["phase"] == "before_build"
    assert shown["job"]["refusals"] == 1 and shown["job"]["next_try_ms"] > shown["refusal"]["wall_ms"]
    inventory = shown["phases"][0]["inventory"]
    assert inventory["state"] == "busy"
    seen = inventory["competitors"][0]
    assert (seen["pid"], seen["command"], seen["uid"]) == (4711, "burner", 1000)
    assert "sustained" in seen["reasons"] and seen["share_pct"][0] > 50
    text = daemon.run("show", id).stdout
    assert "burner" in text and "4711" in text and "waiting" in text
    rows = daemon.sql("SELECT c.* FROM competitors c JOIN attempts a ON a.id = c.attempt "
                      "WHERE a.job = ? AND c.kind = 'competitor'", id)
    assert [(r["pid"], r["command"], r["phase"]) for r in rows] == [(4711, "burner", "before_build")]
    assert "pid 4711" in daemon.log_of(id)
    assert list((daemon.state / "work").iterdir()) == [], "a refused job keeps nothing that it lacks"
    assert durations(daemon) == 0


def test_the_job_starts_by_itself_when_the_burner_ends(daemon, fake_host, tiny, submit):
    fake_host.burner()
    id = submit(tiny)
    harness.wait_for(lambda: daemon.show(id)["job"]["refusals"] >= 2, "a second refusal")
    assert durations(daemon) == 0
    fake_host.quiet()
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done"
    outcomes = [a["outcome"] for a in shown["attempts"]]
    assert outcomes == ["refused"] * (len(outcomes) - 1) + ["done"] and len(outcomes) >= 3
    refusals = daemon.raw(id)["refusals"]
    assert [r["attempt"] for r in refusals] == [a["id"] for a in shown["attempts"][:-1]]
    evidence = daemon.evidence(id)
    lines = [json.loads(line) for line in (evidence / "refusals.jsonl").read_text().splitlines()]
    assert lines == refusals
    assert "burner (pid 4711)" in (evidence / "report.md").read_text()
    # Each phase of the attempt that ran was quiet.
    assert [predicate(daemon.summary(id), f"inventory_{p}")
            for p in ("before_build", "before_timing", "after_timing")] == ["PASS"] * 3


def test_wait_follows_a_job_through_its_refusals(daemon, fake_host, tiny, submit):
    fake_host.burner()
    id = submit(tiny)
    waiting = subprocess.Popen(
        [str(harness.CLIENT), "wait", id], env={**harness.CLEAN_ENV, "AURABENCH_SOCKET": str(daemon.socket)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    daemon.until(id, "waiting")
    fake_host.quiet()
    out, err = waiting.communicate(timeout=harness.PATIENCE_S)
    assert waiting.returncode == 0, out + err


@pytest.mark.parametrize(
    ("line", "command"),
    [("busy_pct 80", "(unattributed)"), ("forks_per_second 500", "(forks)")],
)
def test_noise_that_no_process_explains_is_a_competitor_too(daemon, fake_host, tiny, submit, line, command):
    fake_host.write("processes", line + "\n")
    id = submit(tiny)
    shown = daemon.until(id, "waiting")
    assert [c["command"] for c in shown["phases"][0]["inventory"]["competitors"]] == [command]
    fake_host.quiet()
    assert daemon.finish(id)["job"]["state"] == "done"


def test_a_compiler_inside_the_measured_repository_is_a_competitor_at_any_share(
        daemon, fake_host, repo, compare):
    fake_host.write("processes", f"77 1 1000 1 0 cc1 {repo}/src -O2\n")
    id = compare(*ARGS)
    shown = daemon.until(id, "waiting")
    assert [(c["command"], c["reasons"]) for c in shown["phases"][0]["inventory"]["competitors"]] == \
        [("cc1", ["forbidden"])]
    fake_host.write("processes", "77 1 1000 1 0 cc1 /elsewhere -O2\n")
    assert daemon.finish(id)["job"]["state"] == "done"


@pytest.mark.parametrize("line", ["hidden", "partial /proc/7 could not be read", "88 1 0 1 ? secret /"])
def test_an_inventory_that_is_not_complete_is_not_quiet(daemon, fake_host, tiny, submit, line):
    fake_host.write("processes", line + "\n")
    id = submit(tiny)
    shown = daemon.until(id, "waiting")
    assert shown["phases"][0]["inventory"]["state"] == "partial"
    fake_host.quiet()
    assert daemon.finish(id)["job"]["state"] == "done"


# ---- between build and timing

def test_a_burner_after_the_build_is_refused_and_the_retry_goes_on_with_the_build(
        daemon, fake_host, tmp_path, policy, gate, repo):
    suite = harness.make_suite(
        tmp_path / "built",
        [harness.protocol({"lane": {"command": ["{build}/lane"]}})],
        {"lane": harness.LANE_SH, "count": harness.GATE_SH},
        build=[["{suite}/count"], ["cp", "{suite}/lane", "{build}/lane"]], env=gate.env())
    gate.shut(2)
    id = daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast", "--suite", suite,
                     "--policy", policy, *ARGS)["id"]
    gate.await_run(2)
    fake_host.burner()
    gate.open(2)
    shown = daemon.until(id, "waiting")
    assert shown["refusal"]["phase"] == "before_timing"
    assert [p["inventory"]["state"] for p in shown["phases"]] == ["quiet", "busy"]
    assert durations(daemon) == 0
    work = [p.name for p in (daemon.state / "work").iterdir()]
    assert work == [shown["attempts"][0]["id"]]
    harness.wait_for(lambda: daemon.show(id)["job"]["refusals"] >= 2, "a second refusal")
    fake_host.quiet()
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done"
    first, last = shown["attempts"][0], shown["attempts"][-1]
    assert first["reused_from"] is None and len(shown["attempts"]) >= 3
    assert {a["reused_from"] for a in shown["attempts"][1:]} == {first["id"]}
    assert gate.runs() == 2, "each side was built once"
    raw, summary = daemon.raw(id), daemon.summary(id)
    assert raw["id"] == last["id"] != first["id"]
    assert {b["attempt"] for b in raw["builds"]} == {first["id"]} and len(raw["builds"]) == 4
    assert predicate(summary, "fresh_build") == "PASS"
    assert predicate(summary, "inventory_before_build") == "PASS"
    assert [r["phase"] for r in raw["refusals"]] == ["before_timing"] * (len(shown["attempts"]) - 1)
    assert "before timing" in daemon.run("report", id).stdout
    assert sorted(p.name for p in (daemon.evidence(id) / "logs").iterdir()) == [
        *(f"build-{side}-{step}.txt" for side in ("after", "before") for step in (0, 1)), "job.txt"]
    # Each attempt is whole in the database.
    for attempt in shown["attempts"]:
        assert daemon.sql("SELECT count(*) FROM builds WHERE attempt = ?", attempt["id"])[0][0] == 4
        assert daemon.sql("SELECT count(*) FROM sources WHERE attempt = ?", attempt["id"])[0][0] == 2
    assert list((daemon.state / "work").iterdir()) == []


# ---- after timing

NOISY_ONCE = harness.LANE_SH.replace("read go", """read go
if mkdir "$HOST/once" 2>/dev/null; then
    echo "4711 1 1000 1 98 burner / burner" >"$HOST/processes"
fi""")


def test_a_burner_after_timing_is_reported_and_the_job_gets_one_more_attempt(
        daemon, fake_host, tmp_path, submit):
    suite = harness.make_suite(tmp_path / "noisy", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": NOISY_ONCE},
        env={"HOST": str(fake_host.folder)})
    id = submit(suite)
    shown = harness.wait_for(
        lambda: (s := daemon.show(id))["attempts"] and s["attempts"][0]["outcome"] and s, "its end")
    first = shown["attempts"][0]
    assert first["outcome"] == "disturbed" and first["report"]["grade"] == "diagnostic"
    assert "inventory_after_timing" in first["report"]["line"]
    # The observations stay, and so does the report, until there is a better one.
    assert shown["job"]["report"]["attempt"] == first["id"]
    assert durations(daemon) == 1
    assert predicate(daemon.summary(id), "inventory_after_timing") == "FAIL"
    fake_host.quiet()
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done"
    assert shown["attempts"][-1]["outcome"] == "done"
    assert shown["attempts"][-1]["reused_from"] is None
    assert predicate(daemon.summary(id), "inventory_after_timing") == "PASS"
    assert len(list((daemon.state / "evidence").iterdir())) == 2


def test_noise_after_timing_asks_for_one_more_attempt_and_no_third(daemon, fake_host, tmp_path, submit):
    lane = harness.LANE_SH.replace("read go", 'read go\necho "busy_pct 90" >"$HOST/processes"')
    suite = harness.make_suite(tmp_path / "noisy", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": lane}, env={"HOST": str(fake_host.folder)})
    id = submit(suite)
    harness.wait_for(lambda: daemon.show(id)["attempts"] and
                     daemon.show(id)["attempts"][0]["outcome"] == "disturbed", "the first attempt")
    fake_host.quiet()
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done"
    outcomes = [a["outcome"] for a in shown["attempts"] if a["outcome"] != "refused"]
    assert outcomes == ["disturbed", "done"]
    assert predicate(daemon.summary(id), "inventory_after_timing") == "FAIL"


# ---- limits and overrides

@pytest.mark.parametrize("when", ["before-build", "before-timing"])
def test_the_retry_limit_ends_the_job_as_unqualified(daemon, fake_host, tmp_path, submit, gate, when):
    suite = harness.make_suite(tmp_path / "gated", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})],
        {"lane": harness.LANE_SH, "count": harness.GATE_SH}, suite_build=[["{suite}/count"]],
        env=gate.env())
    if when == "before-timing":
        gate.shut(1)
    else:
        fake_host.burner()
    id = submit(suite, retry={"every": "50ms", "limit": 3})
    if when == "before-timing":
        gate.await_run(1)
        fake_host.burner()
        gate.open(1)
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "unqualified"
    assert [a["outcome"] for a in shown["attempts"]] == ["refused"] * 3
    assert shown["job"]["error"]["code"] == "host.not_qualified"
    assert "in 3 tries" in shown["job"]["error"]["text"] and "burner" in shown["job"]["error"]["text"]
    daemon.run("wait", id, check=6)
    assert daemon.refused("report", id)["code"] == "report.not_ready"
    assert list((daemon.state / "work").iterdir()) == []
    assert durations(daemon) == 0


def test_an_override_measures_in_the_noise_and_never_contractually(daemon, fake_host, tiny, submit):
    fake_host.burner()
    id = submit(tiny, allow_competing=True)
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done" and len(shown["attempts"]) == 1
    summary = daemon.summary(id)
    assert summary["grade"]["value"] == "diagnostic"
    failed = {p["name"] for p in summary["grade"]["predicates"] if p["status"] == "FAIL"}
    assert failed == {"no_override", "inventory_before_build", "inventory_before_timing",
                      "inventory_after_timing", "repetitions_enough"}
    assert daemon.raw(id)["overrides"]["allow_competing"] is True
    assert daemon.raw(id)["inventories"]["before_timing"]["competitors"][0]["pid"] == 4711


def test_an_override_asked_for_on_a_quiet_host_is_an_override(daemon, compare):
    id = compare(*ARGS, "--allow-competing")
    daemon.finish(id)
    assert predicate(daemon.summary(id), "no_override") == "FAIL"


# ---- conditions

FAILING = {
    "mains": "mains known 0 on battery",
    "low_power": "low_power known 1 on",
    "memory": "memory_available known 1 -",
    "uptime": "uptime known 5000 -",
    "pid_namespace": "pid_namespace known 0 container",
}


@pytest.mark.parametrize("condition", FAILING)
def test_a_required_condition_that_fails_makes_the_job_wait(daemon, fake_host, tiny, submit, condition):
    fake_host.write("facts", FAILING[condition] + "\n")
    id = submit(tiny)
    shown = daemon.until(id, "waiting")
    status = {c["condition"]: c["status"] for c in shown["phases"][0]["conditions"]}
    assert [name for name, s in status.items() if s == "FAIL"] == [condition]
    assert "the host does not meet the policy" in shown["refusal"]["reason"]
    fake_host.write("facts", "")
    assert daemon.finish(id)["job"]["state"] == "done"


def test_a_condition_that_cannot_be_known_does_not_refuse_and_is_never_a_pass(
        daemon, fake_host, tiny, submit):
    fake_host.write("facts", "mains unknown - no power supply is readable\n"
                             "governor unknown - no cpufreq here\n")
    id = submit(tiny)
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done" and shown["job"]["refusals"] == 0
    summary = daemon.summary(id)
    assert predicate(summary, "conditions_met") == "UNKNOWN"
    assert "conditions_met" in summary["grade"]["line"]
    assert "no cpufreq here" in daemon.run("report", id).stdout


def test_a_condition_that_changes_between_the_phases_fails(daemon, fake_host, tmp_path, submit):
    lane = harness.LANE_SH.replace(
        "read go", 'read go\necho "governor known 0 powersave" >"$HOST/facts"')
    suite = harness.make_suite(tmp_path / "governed", [harness.protocol(
        {"lane": {"command": ["{suite}/lane"]}})], {"lane": lane}, env={"HOST": str(fake_host.folder)})
    id = submit(suite)
    daemon.finish(id)
    assert predicate(daemon.summary(id), "conditions_met") == "FAIL"
    assert "changed from performance to powersave" in daemon.run("report", id).stdout


def test_a_host_that_the_policy_does_not_name_is_refused(daemon, fake_host, tmp_path, tiny, policy, submit):
    policy.write_text(json.dumps(harness.quick_policy(host={"model": "Other Host", "cores": 2})))
    id = submit(tiny)
    assert "host contract" in daemon.until(id, "waiting")["refusal"]["reason"]
    fake_host.write("identity", "model Other Host\n")
    assert daemon.finish(id)["job"]["state"] == "done"
    assert predicate(daemon.summary(id), "host_contract") == "PASS"


# ---- quiet

def test_quiet_says_whether_the_host_is_and_who_is_not(daemon, fake_host, policy):
    quiet = daemon.run("quiet", "--policy", policy)
    assert "quiet" in quiet.stdout
    fake_host.burner(4711, 98, "burner")
    noisy = daemon.run("quiet", "--policy", policy, check=6)
    assert "burner" in noisy.stdout and "4711" in noisy.stdout
    document = json.loads(daemon.run("quiet", "--policy", policy, "--json", check=6).stdout)
    assert document["state"] == "busy" and document["inventory"]["competitors"][0]["pid"] == 4711
    fake_host.quiet()
    fake_host.write("facts", "mains known 0 on battery\n")
    assert "on battery" in daemon.run("quiet", "--policy", policy, check=6).stdout


# ---- this very machine

@pytest.fixture
def burner():
    process = subprocess.Popen(["/usr/bin/python3", "-ISc", "while True: pass"], start_new_session=True)
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_real_burner_makes_the_job_wait_and_is_named_by_pid(real_daemon, burner, tmp_path, tiny):
    # The real gap, as at 20 ms one tick is half a window. A fifth of a core is enough: others may use
    # this machine too.
    inventory = {"sustained_pct": 20}
    policy = tmp_path / "real.json"
    policy.write_text(json.dumps({"schema": "aurabench.policy.v1", "name": "real", "settle": "0ms",
                                  "retry": {"every": "200ms"}, "inventory": inventory}))
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(tiny)})
    id = real_daemon.json("submit", job, "--policy", policy)["id"]

    def named():
        rows = real_daemon.sql("SELECT c.* FROM competitors c JOIN attempts a ON a.id = c.attempt "
                               "WHERE a.job = ? AND c.pid = ?", id, burner.pid)
        return [r for r in rows if r["kind"] == "competitor"]

    seen = harness.wait_for(named, "the burner in an inventory")[0]
    assert seen["command"].startswith("python3") and "while True: pass" in seen["args"]
    assert seen["phase"] == "before_build" and seen["uid"] == os.getuid()
    assert str(burner.pid) in real_daemon.run("quiet", "--policy", policy, check=6).stdout
    real_daemon.run("cancel", id, check=None)
    assert real_daemon.finish(id)["job"]["state"] == "cancelled"
    assert durations(real_daemon) == 0
