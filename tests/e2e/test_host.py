"""What the daemon says of this very machine, and of the four captured ones."""

import contextlib
import json
import os
import pathlib
import platform
import shutil
import subprocess

import pytest

import harness

HOSTS = harness.ROOT / "tests/fixtures/hosts"
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")


def own_memory_bytes() -> int:
    line = pathlib.Path("/proc/meminfo").read_text().splitlines()[0]
    return int(line.split()[1]) * 1024


@contextlib.contextmanager
def running(command: list[str], **kwargs):
    """The pid of a process that ends with the block."""
    process = subprocess.Popen(command, **kwargs)
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_this_machine_is_told_as_it_is(real_daemon):
    shown = real_daemon.json("host")
    host, facts = shown["host"], shown["facts"]
    assert shown["boot"]["id"] == BOOT_ID.read_text().strip()
    assert (host["name"], host["arch"]) == (platform.node(), platform.machine())
    assert host["kernel"] == f"Linux {platform.release()}"
    assert host["cores"] >= os.cpu_count() or host["cores"] == len(os.sched_getaffinity(0))
    assert host["memory_bytes"] == own_memory_bytes()
    assert host["tick_ns"] == 10**9 // os.sysconf("SC_CLK_TCK")
    assert len(host["id"]) == 64
    assert facts["memory_total"]["value"] == own_memory_bytes()
    up_s = float(pathlib.Path("/proc/uptime").read_text().split()[0])
    assert 0 < facts["uptime"]["value"] <= up_s * 1000
    # What is known has a value, what is not says why.
    for name, fact in facts.items():
        if name == "wall_ms":
            continue
        assert fact["state"] in ("known", "unknown", "absent")
        assert (fact["value"] is not None) == (fact["state"] == "known"), name
        assert fact["state"] == "known" or fact["text"], name


def test_the_text_about_this_machine_names_it(real_daemon):
    text = real_daemon.run("host").stdout
    for part in (platform.node(), platform.release(), BOOT_ID.read_text().strip(), "standard",
                 "memory available"):
        assert part in text, part


def test_the_hello_names_this_machine_and_its_boot(real_daemon):
    wire = real_daemon.connect()
    assert wire.hello["host"] == platform.node()
    assert wire.hello["boot"] == BOOT_ID.read_text().strip()
    wire.close()


def test_a_real_burner_is_found_by_pid_command_and_arguments(real_daemon, tmp_path):
    policy = harness.quick_policy()
    policy["inventory"]["sustained_pct"] = 1  # however many others want the same cores
    policy["inventory"]["snapshot_gap"] = "250ms"
    path = tmp_path / "low.json"
    path.write_text(json.dumps(policy))
    with running(["/usr/bin/python3", "-c", "while True: pass  # the-burner"]) as burner:
        def found():
            competitors = real_daemon.json("quiet", "--policy", path,
                                           check=6)["inventory"]["competitors"]
            return next((c for c in competitors if c["pid"] == burner), None)

        competitor = harness.wait_for(found, "the inventory to find the burner")
        assert competitor["command"].startswith("python3")
        assert "the-burner" in str(competitor["args"])
        assert competitor["ppid"] == os.getpid() and competitor["uid"] == os.getuid()
    seen = real_daemon.json("quiet", check=None)
    assert burner not in [c["pid"] for c in seen["inventory"]["competitors"]]


def test_the_daemon_does_not_count_itself(real_daemon):
    for _ in range(3):
        seen = real_daemon.json("quiet", check=None)
        pids = [c["pid"] for c in seen["inventory"]["competitors"] + seen["inventory"]["hints"]]
        assert real_daemon.process.pid not in pids
        assert seen["inventory"]["n_procs"] > 3


def test_a_job_waits_for_a_compiler_in_its_repository_and_starts_when_that_ends(real_daemon, repo,
                                                                                suite, tmp_path):
    policy = tmp_path / "forbidden.json"
    policy.write_text(json.dumps(only_forbidden_programs_count()))
    compiler = tmp_path / "cc1"
    shutil.copy("/bin/sleep", compiler)
    with running([str(compiler), "1000"], cwd=repo) as pid:
        job = real_daemon.json("compare", "--repo", repo, "--before", "slow", "--after", "fast",
                               "--suite", suite, "--policy", policy, "--repetitions", 1)["id"]
        real_daemon.until(job, "waiting")
        phase = harness.wait_for(lambda: real_daemon.show(job)["phases"], "an inventory")[0]
        assert (pid, "cc1", str(repo)) in [(c["pid"], c["command"], c["cwd"])
                                           for c in phase["inventory"]["competitors"]]
        assert f"cc1 (pid {pid})" in real_daemon.run("show", job).stdout
    assert real_daemon.finish(job)["job"]["state"] == "done"
    refusals = real_daemon.raw(job)["refusals"]
    assert any(f"cc1 (pid {pid})" in r["reason"] for r in refusals), refusals


def only_forbidden_programs_count() -> dict:
    """A policy by which a shared and noisy machine is quiet whatever it does."""
    policy = harness.quick_policy(retry={"every": "1s", "limit": 0})
    policy["conditions"] = {name: {"mode": "record"} for name in policy["conditions"]}
    policy["inventory"].update(sustained_pct=1e6, aggregate_pct=1e6, lane_cpu_pct=1e6,
                               forks_per_second=1e6)
    return policy


# ---- the captured hosts


@pytest.fixture
def captured(tmp_path):
    """A daemon on a copy of a captured host; changes: file -> text, None takes it away."""
    started = []

    def start(name: str, changes: dict[str, str | None] = {}) -> harness.Daemon:
        folder = tmp_path / f"{name}-{len(started)}"
        folder.mkdir()
        root = folder / "root"
        shutil.copytree(HOSTS / name, root, symlinks=True)
        for path, text in changes.items():
            (root / path).unlink()
            if text is not None:
                (root / path).write_text(text)
        daemon = harness.Daemon(folder, args=["--host-root", str(root)]).start()
        started.append(daemon)
        return daemon

    yield start
    for daemon in started:
        daemon.close()


def met(daemon) -> dict[str, str]:
    return {p["name"]: p["met"] for p in daemon.json("host")["policies"]}


def condition(daemon, name: str, policy: str = "standard") -> dict:
    policies = {p["name"]: p["conditions"] for p in daemon.json("host")["policies"]}
    return next(c for c in policies[policy] if c["condition"] == name)


@pytest.mark.parametrize("name,model,cores,fits", [
    ("laptop", "LENOVO 20NX001TGE", 4, {"standard"}),
    ("desktop", "Dell Inc. OptiPlex 7070", 6, {"standard"}),
    ("server-64", "Supermicro SYS-220P-C9R", 64, {"standard", "strict"}),
])
def test_a_captured_host_meets_the_policies_that_fit_it(captured, name, model, cores, fits):
    daemon = captured(name)
    host = daemon.json("host")["host"]
    assert host["model"] == model
    assert host["cores"] == cores
    assert {policy for policy, is_met in met(daemon).items() if is_met == "PASS"} == fits
    for policy in ("standard", "strict"):
        status = 0 if policy in fits else 6
        text = daemon.run("quiet", "--policy", policy, check=status).stdout
        assert "quiet: no competitor" in text


def test_a_captured_guest_lacks_only_what_a_still_copy_cannot_have(captured):
    daemon = captured("guest-2core")
    policies = {p["name"]: p["conditions"] for p in daemon.json("host")["policies"]}
    open_ones = {c["condition"]: c["status"] for c in policies["virtual"]
                 if c["mode"] == "require" and c["status"] not in ("PASS", "NOT_APPLICABLE")}
    # No calibration yet; and counters that stand still say nothing of stolen time.
    assert open_ones == {"calibration": "UNKNOWN", "steal": "UNKNOWN"}
    assert met(daemon)["standard"] != "PASS"  # never by itself


@pytest.mark.parametrize("name,changes,bad", [
    ("laptop", {"sys/class/power_supply/AC/online": "0\n",
                "sys/class/power_supply/ucsi-source-psy-USBC000:001/online": "0\n"}, "mains"),
    ("desktop", {"proc/uptime": "60.00 100.00\n"}, "uptime"),
])
def test_one_bad_fact_is_enough(captured, name, changes, bad):
    daemon = captured(name, changes)
    assert condition(daemon, bad)["status"] == "FAIL"
    assert met(daemon)["standard"] == "FAIL"
    text = daemon.run("quiet", check=6).stdout
    assert "conditions of policy standard: FAIL" in text
    assert condition(daemon, bad)["seen"] in text


def test_a_host_root_without_proc_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    daemon = harness.Daemon(tmp_path, args=["--host-root", str(tmp_path / "empty")])
    daemon.start(wait=False)
    assert daemon.process.wait(harness.PATIENCE_S) == 1
    assert daemon.log.read_text().count("\n") == 1
    daemon.process = None
    daemon.close()
