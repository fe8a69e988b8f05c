"""The other suites that ship, with short settings: every lane by its records, the whole of each
through the daemon with its demo repository, absent lanes by their reasons, and wrong answers."""

import json
import re
import shutil
import subprocess

import pytest

import harness

WORKLOADS = harness.ROOT / "workloads"
CHECK = WORKLOADS / "release-performance/check.py"
# What makes each short, and its lanes that may be absent.
SHORT = {
    "numeric-arrays": ["--elements", "1000", "--operations", "3"],
    "collections": ["--divide", "100"],
    "document-db": ["--divide", "100"],
    "representation": ["--divide", "1000"],
    "build-times": ["--functions", "2"],
    "scalable-runtime": ["--divide", "100", "--window-ms", "200"],
    "executable-size": [],
    "instructions": ["--divide", "100"],
    "attribution": ["--short"],
}
OPTIONAL = ("numpy", "rust", "perf")


def make_suite_json(suite: str, *arguments: str) -> str:
    return subprocess.run(["/usr/bin/python3", "-B", str(WORKLOADS / suite / "make_suite.py"),
                           *arguments], capture_output=True, text=True, check=True,
                          env=harness.CLEAN_ENV).stdout


def short_suite(suite: str, folder) -> dict:
    """A copy of the suite with short settings; its document."""
    shutil.copytree(WORKLOADS / suite, folder, ignore=shutil.ignore_patterns("__pycache__", "out"))
    text = make_suite_json(suite, *SHORT[suite])
    (folder / "suite.json").write_text(text)
    return json.loads(text)


def make_demo(suite: str, folder) -> None:
    subprocess.run([str(WORKLOADS / suite / "demo/make-repository.sh"), str(folder)], check=True,
                   capture_output=True, env={**harness.CLEAN_ENV, "HOME": "/nonexistent"})


def check(suite, source, out) -> subprocess.CompletedProcess:
    return subprocess.run(["/usr/bin/python3", "-B", str(CHECK), "--suite", str(suite), "--source",
                           str(source), "--build", str(out)],
                          capture_output=True, text=True, env=harness.CLEAN_ENV)


def lanes_of(document: dict) -> list[tuple[str, str]]:
    """By the names of reports, in which a build has one workload for each step."""
    return [(f"{w['name']}.{step}" if step else w["name"], lane) for w in document["workloads"]
            for step in w.get("steps", [""]) for lane in w["lanes"]]


@pytest.mark.parametrize("suite", SHORT)
def test_what_ships_is_what_the_suite_makes_of_itself(suite):
    assert (WORKLOADS / suite / "suite.json").read_text() == make_suite_json(suite)


def test_targets_and_gaps_that_ship_are_of_lanes_that_ship():
    document = json.loads((WORKLOADS / "targets/phase-1.json").read_text())
    for row in document["targets"] + document["gaps"]:
        suite = json.loads((WORKLOADS / row["suite"] / "suite.json").read_text())
        lanes = next(w["lanes"] for w in suite["workloads"] if w["name"] == row["workload"])
        assert {row["lane"], row["reference"]} <= lanes.keys(), row


@pytest.mark.parametrize("suite", SHORT)
def test_every_lane_does_its_work_by_its_records(suite, tmp_path):
    document = short_suite(suite, tmp_path / "suite")
    make_demo(suite, tmp_path / "source")
    done = check(tmp_path / "suite", tmp_path / "source", tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    said = {tuple(line.split()[:2]) for line in done.stdout.splitlines()}
    for workload, lane in lanes_of(document):
        words = ("pass", "absent") if lane.startswith(OPTIONAL) else ("pass",)
        assert any((word, f"{workload}/{lane}") in said for word in words), done.stdout


def leave_out_rust(suite) -> None:
    """No Rust that could be built, which takes longer than all else: its lanes are absent."""
    for file in (suite / "rust").glob("*"):
        file.write_text("none\n")


WRONG = {
    "numeric-arrays": ("kernels.c", "result[i] = a[i] + b[i];", "result[i] = a[i] + b[i] + (i == 7);",
                       "int64_add/c "),
    "collections": ("set.c", "set->used[find(set, element)]", "!set->used[find(set, element)]",
                    "set_insert_contains/c "),
    "document-db": ("store.c", "sum += sqlite3_column_int64(statement, 0);",
                    "sum += sqlite3_column_int64(statement, 0) + (a == 3);", "get/c "),
    "representation": ("callable.c", "struct callable to = *from;",
                       "struct callable to = *from; to.captures[0]++;", "callable_move_time/c "),
    "build-times": ("compile.c", '(void)execvp("cc", arguments);',
                    'puts("cc"), fflush(stdout), (void)execvp("cc", arguments);', "hello.check/c "),
    "scalable-runtime": ("loop.c", "size_t tasks = count;", "size_t tasks = count + 1;", "sleepers/c "),
    "executable-size": ("print.c", "puts(text)", "puts(text + 1)", "hello_run/c "),
    "instructions": ("fib.c", "if (n < 2)", "if (n < 1)", "fib20/c "),
    "attribution": ("calls.c", "value_subtract(&less, &n, 2)", "value_subtract(&less, &n, 3)", "fib_instructions/c "),
}


@pytest.mark.parametrize("suite", SHORT)
def test_a_wrong_answer_is_found(suite, tmp_path):
    name, right, wrong, lane = WRONG[suite]
    short_suite(suite, tmp_path / "suite")
    leave_out_rust(tmp_path / "suite")
    make_demo(suite, tmp_path / "source")
    path = tmp_path / "source" / name
    assert right in path.read_text()
    path.write_text(path.read_text().replace(right, wrong))
    done = check(tmp_path / "suite", tmp_path / "source", tmp_path / "out")
    assert done.returncode == 1, done.stdout
    assert re.search(rf"^FAIL +{lane}", done.stdout, re.M), done.stdout
    assert not re.search(r"^FAIL .*/(cpython|boxed|cc|own) ", done.stdout, re.M), done.stdout


# What a suite cannot be measured without.
MEASURED = [pytest.param(suite, marks=pytest.mark.skipif(
    suite == "instructions" and not harness.counts_instructions(),
    reason="neither valgrind nor a counter of the CPU is here")) for suite in SHORT]


@pytest.mark.parametrize("suite", MEASURED)
def test_the_whole_suite_is_measured_through_the_daemon(suite, daemon, tmp_path):
    document = short_suite(suite, tmp_path / "suite")
    make_demo(suite, tmp_path / "repo")
    policy = tmp_path / "patient.json"
    policy.write_text(json.dumps(harness.quick_policy(build_timeout=f"{harness.BUILD_PATIENCE_S}s")))
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "before", "--after",
                      "after", "--suite", tmp_path / "suite", "--repetitions", 2, "--warmups", 0,
                      "--policy", policy)["id"]
    daemon.run("wait", job, check=None, timeout=harness.BUILD_PATIENCE_S)
    shown = daemon.finish(job)["job"]
    assert shown["state"] == "done", shown["error"]
    raw, summary = daemon.raw(job), daemon.summary(job)
    absent = {(w["name"], lane["name"]): lane["absent"] for w in raw["workloads"]
              for lane in w["lanes"] if lane["absent"]}
    for (_, lane), reason in absent.items():
        assert lane.startswith(OPTIONAL)
        assert re.search("is not (on this host|installed|permitted)|could not build", reason), reason
    seen = {(o["workload"], o["lane"], o["side"]) for o in raw["observations"]}
    not_there = {(w["name"], side) for w in document["workloads"] for side in w.get("absent", [])}
    assert seen == {(*lane, side) for lane in lanes_of(document) if lane not in absent
                    for side in ("before", "after") if (lane[0], side) not in not_there}
    sizes = {w["name"] for w in document["workloads"] if w["measure"] == "size"}
    for o in raw["observations"]:
        assert o["outcome"] == "ok"
        assert o["workload"] in sizes or (o["exit_status"], o["stderr_bytes"], o["leftovers"]) == (
            0, 0, 0), o
    predicates = {p["name"]: p["status"] for p in summary["grade"]["predicates"]}
    for name in ("sources_clean_detached", "sources_frozen", "inputs_unchanged",
                 "binaries_unchanged", "fresh_build", "protocol_exact", "cleanup_verified",
                 "no_lane_excluded"):
        assert predicates[name] == "PASS", (name, summary["grade"])
    report = daemon.run("report", job).stdout
    measure = document["workloads"][0]["measure"]
    assert ("/op" in report and "OPERATIONS" in report) == (measure == "operation")
    for reason in absent.values():
        assert reason.split()[0] in report


@pytest.mark.parametrize("suite", SHORT)
def test_a_shipped_suite_is_found_by_its_name(suite, daemon, policy, tmp_path):
    make_demo(suite, tmp_path / "repo")
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "before", "--after",
                      "after", "--suite", suite, "--hold", "--policy", policy)["id"]
    assert daemon.show(job)["job"]["suite"] == suite


def bare_path(folder) -> str:
    """A PATH with what a script of the suites calls, and no compiler of Rust."""
    folder.mkdir()
    for name in ("sh", "cat", "cp", "dirname", "ls", "mkdir", "mktemp", "rm"):
        (folder / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
    return str(folder)


@pytest.mark.parametrize("suite", ["collections", "numeric-arrays", "release-performance",
                                   "scalable-runtime"])
def test_without_rust_a_suite_builds_and_says_so_for_each_of_its_lanes(suite, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    path = bare_path(tmp_path / "bin")
    done = subprocess.run(["sh", str(WORKLOADS / suite / "controls.sh"), str(out)], text=True,
                          capture_output=True, env={"PATH": path, "HOME": "/nonexistent"})
    assert done.returncode == 0, done.stderr
    document = json.loads((WORKLOADS / suite / "suite.json").read_text())
    programs = {lane["command"][0].removeprefix("{build}/") for w in document["workloads"]
                for name, lane in w["lanes"].items() if name.startswith("rust")}
    assert programs
    for program in programs:
        assert not (out / program).exists()
        assert (out / f"{program}.absent").read_text().endswith(" is not on this host\n")


def test_what_a_runtime_allocates_is_counted_exactly_on_each_side(daemon, policy, tmp_path):
    short_suite("representation", tmp_path / "suite")
    make_demo("representation", tmp_path / "repo")
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "before", "--after",
                      "after", "--suite", tmp_path / "suite", "--repetitions", 2, "--warmups", 0,
                      "--policy", policy)["id"]
    assert daemon.finish(job)["job"]["state"] == "done"
    counted = {}
    for o in daemon.raw(job)["observations"]:
        for value in o.get("values", []):
            if value["value"]:
                key = o["workload"], o["lane"], o["side"], value["name"]
                assert counted.setdefault(key, value["value"]) == value["value"]
    texts = {("retains", 50), ("releases", 50)}
    for workload, boxed, direct in (
            ("union_scalar_local", {("union_boxes", 1000)}, set()),
            ("union_class_field", {("union_boxes", 100)}, set()),
            ("union_text_local", {("union_boxes", 100)} | texts, texts),
            ("callable_pack_inline", {("environments", 100)}, set()),
            ("callable_pack_overflow", {("environments", 100)}, {("overflow_blocks", 100)}),
            ("callable_move", {("environments", 1)}, set())):
        for lane, side, expected in (("c", "before", boxed), ("c", "after", direct),
                                     ("boxed", "before", boxed), ("boxed", "after", boxed)):
            assert {(name, value) for (*key, name), value in counted.items()
                    if tuple(key) == (workload, lane, side)} == expected, (workload, lane, side)


@pytest.mark.skipif(not harness.counts_instructions(), reason="neither valgrind nor a counter of the CPU is here")
def test_instructions_differ_where_the_sources_of_the_demo_do(daemon, policy, tmp_path):
    short_suite("instructions", tmp_path / "suite")
    make_demo("instructions", tmp_path / "repo")
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "before", "--after",
                      "after", "--suite", tmp_path / "suite", "--repetitions", 1, "--warmups", 0,
                      "--policy", policy)["id"]
    assert daemon.finish(job)["job"]["state"] == "done"
    ratios = {c["workload"]: c["ratio_of_medians"]
              for c in daemon.summary(job)["value_comparisons"] if c["kind"] == "sides"}
    assert 0.5 < ratios["fib20"] < 0.95, ratios
    for same in ("set_insert_contains", "int_list_sum", "string_list_scan"):
        assert 0.99 < ratios[same] < 1.01, ratios
