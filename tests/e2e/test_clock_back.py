"""A wall clock that is set back while jobs wait for their next try."""

import json

import harness

DAY_MS = 24 * 3600 * 1000


def set_clock(fake_host, offset_ms: int) -> None:
    fake_host.write("identity", f"wall_offset_ms {offset_ms}\n")


def refused(daemon, fake_host, compare, every: str) -> str:
    fake_host.burner()
    id = compare("--repetitions", "1", "--warmups", "0", "--retry-every", every)
    daemon.until(id, "waiting")
    fake_host.quiet()
    return id


def test_a_refused_job_is_tried_again_as_soon_as_ever_when_the_clock_is_set_back(daemon, fake_host, compare):
    set_clock(fake_host, DAY_MS)
    id = refused(daemon, fake_host, compare, "2s")
    set_clock(fake_host, 0)
    assert daemon.finish(id)["job"]["state"] == "done"
    assert "the clock was set back by 8" in daemon.log.read_text()  # 86,400 s, or a little less


def test_the_next_try_that_is_shown_follows_the_clock(daemon, fake_host, compare):
    set_clock(fake_host, DAY_MS)
    id = refused(daemon, fake_host, compare, "1h")
    before = daemon.show(id)["job"]["next_try_ms"]
    set_clock(fake_host, 0)
    harness.wait_for(lambda: daemon.show(id)["job"]["next_try_ms"] < before, "another time")
    assert abs(before - daemon.show(id)["job"]["next_try_ms"] - DAY_MS) < 60_000
    assert daemon.state_of(id) == "waiting"
    daemon.json("cancel", id)


def test_a_job_that_waits_for_a_time_of_its_own_goes_on_waiting_for_it(daemon, fake_host, tmp_path, policy):
    set_clock(fake_host, DAY_MS)
    suite = harness.make_suite(tmp_path / "s", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": harness.LANE_SH})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, not_before="2099-01-01T00:00:00Z")
    id = daemon.json("submit", job, "--policy", policy)["id"]
    daemon.until(id, "waiting")
    before = daemon.show(id)["job"]["next_try_ms"]
    set_clock(fake_host, 0)
    harness.wait_for(lambda: "the clock was set back" in daemon.log.read_text(), "the step")
    assert daemon.show(id)["job"]["next_try_ms"] == before
    daemon.json("cancel", id)


def test_a_program_that_is_to_be_told_again_is_told_as_soon_as_ever(daemon, fake_host, compare, tmp_path):
    set_clock(fake_host, DAY_MS)
    program = tmp_path / "fails"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    id = compare("--repetitions", "1", "--warmups", "0", "--notify", program)
    daemon.finish(id)
    hook = lambda: daemon.show(id)["hooks"][0]
    before = harness.wait_for(lambda: (hook()["last"] or {}).get("outcome") and hook()["next_try_ms"], "a try")
    set_clock(fake_host, 0)
    harness.wait_for(lambda: hook()["next_try_ms"] < before - DAY_MS // 2, "another time")
    assert daemon.state_of(id) == "done"


def test_a_clock_that_is_set_forward_or_kept_right_moves_nothing(daemon, fake_host, compare):
    id = refused(daemon, fake_host, compare, "24h")
    before = daemon.show(id)["job"]["next_try_ms"]
    for priority, offset in enumerate((-1000, 3000, 1000, DAY_MS // 2), 1):
        set_clock(fake_host, offset)
        # An edit makes the queue be looked at before the next answer, and so the clock.
        daemon.json("edit", id, "--priority", priority)
        assert daemon.show(id)["job"]["priority"] == priority
    assert daemon.show(id)["job"]["next_try_ms"] == before
    assert "the clock was set back" not in daemon.log.read_text()
    daemon.json("cancel", id)
