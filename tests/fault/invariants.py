"""What must hold whatever died and when, read from the files alone."""

import collections
import json
import pathlib
import re

import harness

STATE_TABLE = (harness.ROOT / "core/job_state.def").read_text()
WORD = dict(re.findall(r'JOB_(?:STATE|EVENT)\((\w+), "(\w+)"\)', STATE_TABLE))
LEGAL = {(WORD[a], WORD[b]): WORD[c] for a, b, c in
         re.findall(r"^JOB_GOES\((\w+), (\w+), (\w+), \w+\)", STATE_TABLE, re.M)}
RUNNING = ("preparing", "measuring", "verifying")
FINAL = ("done", "failed", "cancelled", "expired", "unqualified", "lost")
ONCE_MORE = "tried once more: no duration had been taken"
LOST_WORDS = re.compile(r"the (daemon (went down|was stopped)|host was restarted|runner )")
# What may lie in the state folder.
PLACES = {"aurabench.db", "aurabench.db-wal", "aurabench.db-shm", "evidence", "host.key", "host.pub",
          "lock", "logs", "repos", "suites", "trash", "uploads", "work"}


def rows(world, query: str, *values) -> list:
    return world.daemon.sql(query, *values)


def check_dead(world) -> None:
    assert rows(world, "PRAGMA integrity_check")[0][0] == "ok"
    assert rows(world, "PRAGMA foreign_key_check") == []
    check_jobs(world)
    check_attempts(world)
    check_losses(world)
    check_observations(world)
    check_folders(world)


def check_jobs(world) -> None:
    """Accepted jobs are there once, no other is, and each has a whole and legal history."""
    jobs = {r["id"]: r["state"] for r in rows(world, "SELECT id, state FROM jobs")}
    missing = [id for id in world.accepted if id not in jobs]
    assert missing == [], f"accepted and lost: {missing}"
    assert set(jobs) <= set(world.accepted) | set(world.unsure), "a job that nobody sent"
    assert len(world.accepted) == len(set(world.accepted))
    histories = collections.defaultdict(list)
    for r in rows(world, "SELECT * FROM job_history ORDER BY job, seq"):
        histories[r["job"]].append(r)
    assert set(histories) == set(jobs)
    for id, history in histories.items():
        state = "new"
        for i, r in enumerate(history):
            assert r["seq"] == i + 1 and r["from_state"] == state, (id, [tuple(h) for h in history])
            assert LEGAL.get((state, r["event"])) == r["to_state"], (id, tuple(r))
            state = r["to_state"]
        assert state == jobs[id], (id, state, jobs[id])


def check_attempts(world) -> None:
    """Numbered without a gap; at most one is open, and its job says so."""
    open_attempts, numbers = [], collections.defaultdict(list)
    for r in rows(world, "SELECT a.*, j.state FROM attempts a JOIN jobs j ON j.id = a.job"
                         " ORDER BY a.job, a.number"):
        numbers[r["job"]].append(r["number"])
        if r["ended_ms"] is None:
            open_attempts.append((r["job"], r["state"]))
    assert all(n == list(range(1, len(n) + 1)) for n in numbers.values()), dict(numbers)
    assert len(open_attempts) <= 1, open_attempts
    assert all(state in RUNNING or job in world.cancelled for job, state in open_attempts), open_attempts
    running = rows(world, "SELECT id FROM jobs WHERE state IN ('preparing', 'measuring', 'verifying')")
    assert {r["id"] for r in running} <= {job for job, _ in open_attempts}
    claims = rows(world, "SELECT count(*) FROM job_history WHERE event = 'claim'")[0][0]
    assert claims == sum(len(n) for n in numbers.values())


def check_losses(world) -> None:
    """Each loss is named, and followed by one more try exactly where the rule says so."""
    begun = {r["attempt"] for r in rows(world, "SELECT attempt FROM job_history WHERE event = 'timing_begins'")}
    observed = {r["attempt"] for r in rows(world, "SELECT DISTINCT attempt FROM observations")}
    assert observed <= begun
    outcomes = {r["id"]: r["outcome"] for r in rows(world, "SELECT id, outcome FROM attempts")}
    losses = collections.Counter()
    history = rows(world, "SELECT * FROM job_history ORDER BY job, seq")
    for r, following in zip(history, [*history[1:], None]):
        if r["event"] != "lose":
            continue
        assert LOST_WORDS.match(r["text"]), r["text"]
        assert outcomes[r["attempt"]] == "lost"
        again = following is not None and following["job"] == r["job"] and following["event"] == "requeue"
        assert again == (r["attempt"] not in begun and losses[r["job"]] == 0), tuple(r)
        assert not again or following["text"] == ONCE_MORE
        losses[r["job"]] += 1
    for r in rows(world, "SELECT * FROM jobs WHERE state = 'lost'"):
        assert r["error_code"] in ("daemon.lost", "runner.lost"), tuple(r)
        assert "submit the job again" in r["error_text"]
    lost = [id for id, outcome in outcomes.items() if outcome == "lost"]
    assert len(lost) == sum(losses.values())


# ---- observations: what the store has is what the runners said

COMPARED = ("outcome", "interval_cpu_ns", "user_us", "system_us", "max_rss_bytes", "minor_faults",
            "exit_status", "stdout_bytes", "stderr_bytes", "threads", "runner_cpu_ns")


def key_of(get) -> tuple:
    """An observation by all that was read of it; its stamps as distances: the store has offsets. A
    process that is timed as a whole has two of them."""
    stamps = [int(get(n)) for n in ("start_ns", "go_ns", "done_ns", "exit_ns") if int(get(n)) >= 0]
    return tuple(b - a for a, b in zip(stamps, stamps[1:])) + tuple(str(get(n)) for n in COMPARED)


def said(path: pathlib.Path) -> list[list[tuple]]:
    """One list for each runner. One whose daemon was killed may have its last word when the next daemon's
    has begun."""
    runs, run_of = [], {}
    for line in path.read_text().splitlines():
        pid, what, *words = line.split()
        if what == "hello":
            run_of[pid] = []
            runs.append(run_of[pid])
        elif what == "observation":
            fields = dict(word.split("=") for word in words)
            run_of[pid].append(key_of(fields.__getitem__))
    return runs


def check_observations(world) -> None:
    runs = [run for run in said(world.told) if run]
    attempts = collections.defaultdict(list)
    for r in rows(world, "SELECT * FROM observations ORDER BY attempt, seq"):
        assert r["seq"] == len(attempts[r["attempt"]]), "a gap"
        attempts[r["attempt"]].append(key_of(lambda n, r=r: -1 if r[n] is None else r[n]))
    where = {key: i for i, run in enumerate(runs) for key in run}
    assert sum(map(len, runs)) == len(where), "two observations that cannot be told apart"
    stored = 0
    for attempt, keys in attempts.items():
        assert keys[0] in where, f"{attempt} has an observation that no runner reported"
        run = runs[where[keys[0]]]
        assert keys == run[:len(keys)], f"{attempt} is not what its runner reported: {keys}, {run}"
        # A repetition that was not complete is not stored, and none else is missing.
        assert len(run) - len(keys) <= 4, f"{attempt}: {len(run)} reported, {len(keys)} stored"
        stored += len(keys)
    planned = {r[0]: r[1] for r in rows(world, "SELECT attempt, count(*) FROM plan_steps GROUP BY attempt")}
    for r in rows(world, "SELECT id FROM attempts WHERE outcome IN ('done', 'drifted', 'disturbed')"):
        assert len(attempts[r["id"]]) == planned[r["id"]], "a finished attempt without all observations"
    world.counts["observations"] = stored
    check_points(world)
    check_figures(world)


def check_points(world) -> None:
    """What stands in the lists of lanes is what was observed, once the attempt has ended."""
    columns = "workload, lane, attempt, seq, side, kind, outcome, elapsed_ns, interval_cpu_ns"
    ended = f"SELECT {columns} FROM observations WHERE attempt IN (SELECT id FROM attempts WHERE ended_ms IS NOT NULL)"
    points = [tuple(r) for r in rows(world, f"SELECT {columns} FROM lane_points ORDER BY 1, 2, 3, 4")]
    assert points == [tuple(r) for r in rows(world, f"{ended} ORDER BY 1, 2, 3, 4")]


def check_figures(world) -> None:
    """Each sealed report, also one that was taken over after a crash, adds each of its figures once."""
    columns = "attempt, workload, lane, side, value, n, median"
    stored = sorted(tuple(r) for r in rows(world, f"SELECT {columns} FROM figures"))
    said = []
    for report in rows(world, "SELECT attempt, evidence FROM reports WHERE summary_sha256 IS NOT NULL"):
        summary = json.loads((pathlib.Path(report["evidence"]) / "summary.json").read_text())
        for workload in summary["workloads"]:
            said += [(report["attempt"], workload["name"], r["lane"], r["side"], "", r["wall"]["n"], r["wall"]["median_ns"])
                     for r in workload["rows"] if r["undefined"] is None]
            said += [(report["attempt"], workload["name"], r["lane"], r["side"], v["name"], v["n"], v["median"])
                     for r in workload.get("value_rows", []) if r["undefined"] is None for v in r["values"]]
    assert stored == sorted(said)


# ---- files

def check_folders(world) -> None:
    """Only what is under way may be half there, and nothing lies where nothing belongs."""
    state = world.daemon.state
    open_attempts = {r["id"] for r in rows(world, "SELECT id FROM attempts WHERE ended_ms IS NULL")}
    reports = {r["attempt"] for r in rows(world, "SELECT attempt FROM reports")}
    evidence = {p.name for p in (state / "evidence").iterdir()}
    partial = {n.removeprefix(".partial-") for n in evidence if n.startswith(".")}
    whole = {n for n in evidence if not n.startswith(".")} - world.sessions
    assert partial <= open_attempts, f"half evidence {partial}"
    assert reports <= whole, "a report without its evidence"
    assert whole - reports <= open_attempts, f"evidence of nobody {whole - reports}"


def check_settled(world) -> None:
    """All is over: every job ended well or is lost by name, and the disk holds nothing but results."""
    check_dead(world)
    states = {r["id"]: r["state"] for r in rows(world, "SELECT id, state FROM jobs")}
    bad = [(id, s) for id, s in states.items()
           if s not in ("done", "lost") and not (s == "cancelled" and id in world.cancelled)
           and not (s == "failed" and id in world.excused)]
    errors = rows(world, "SELECT id, error_code, error_text FROM jobs WHERE state = 'failed'")
    assert bad == [], (bad, [tuple(r) for r in errors])
    assert rows(world, "SELECT count(*) FROM attempts WHERE ended_ms IS NULL")[0][0] == 0
    state = world.daemon.state
    left = [p.name for p in state.iterdir() if p.name not in PLACES]
    assert left == [], f"left in the state folder: {left}"
    for place in ("work", "trash", "uploads"):
        found = list((state / place).iterdir()) if (state / place).exists() else []
        assert found == [], f"left behind: {found}"
    locks = list((state / "repos").rglob("*.lock")) + list((state / "repos").rglob("incoming"))
    assert locks == [] and not (state / "suites/.new").exists()
    assert world.strays() == [], "processes left behind"
    evidence = [p for p in (state / "evidence").iterdir() if p.name not in world.sessions]
    assert {p.name for p in evidence} == {r[0] for r in rows(world, "SELECT attempt FROM reports")}
    world.daemon.verify_all()
    world.counts["jobs"] = len(world.accepted)
    world.counts["evidence"] = len(evidence)
