"""Shares of a profiler's samples: from the files that a lane leaves to report, page and verify, never contractual;
and `aurabench attribute` over profiles that are there already."""

import hashlib
import json
import re
import shutil
import subprocess

import pytest

import harness

PROFILES = harness.ROOT / "tests/fixtures/profiles"
CATEGORIES = [{"name": "unused", "symbols": ["nothing*"]}, {"name": "frames", "symbols": ["frame_*"]},
              {"name": "runtime", "symbols": ["frame_push", "value_*"], "libraries": ["librt.so*"]}]
# Frames, runtime, other, no symbol, kernel; $1 lines of frame_push.
SAMPLES = """#!/bin/sh
echo hello >.not-a-profile
event() { echo "fib 4711 1.00000$1: 1 cycles:u: $2"; }
n=$1
while [ "$n" -gt 0 ]; do event 1 "55d0 frame_push+0x12 (/bin/fib)"; n=$((n-1)); done >one
{ event 2 "55d0 value_add+0x1 (/bin/fib)"; event 3 "55d0 own (/lib/librt.so.1)"; event 4 "55d0 fib (/bin/fib)"; } >two
{ event 5 "55d0 [unknown] ([unknown])"; event 6 "ffffffff81000000 fault ([kernel.kallsyms])"; } >three
echo done
"""


def workload(lanes: dict, format: str = "perf-script", **profile) -> dict:
    return {"name": "calls", "measure": "attribution", "stdout": "done\n", "lanes": lanes,
            "profile": {"format": format, "categories": CATEGORIES, **profile}}


def lane(script: str, **members) -> dict:
    return {"left": {"command": ["/bin/sh", "-c", script], **members}}


@pytest.fixture
def compared(daemon, tmp_path, policy):
    """A job whose frames fall from 15 to 5 samples a run, of all with a symbol 18 and 8."""
    harness.make_repo(tmp_path / "repo", {"one": {"calls": SAMPLES.replace("$1\nwhile", "15\nwhile")},
                                          "two": {"calls": SAMPLES.replace("$1\nwhile", "5\nwhile")}})
    suite = harness.make_suite(tmp_path / "suite", [workload({"c": {"command": ["{source}/calls"]}})])
    job = daemon.json("compare", "--repo", tmp_path / "repo", "--before", "one", "--after", "two", "--suite",
                      suite, "--policy", policy, "--repetitions", "3", "--warmups", "1")["id"]
    shown = daemon.finish(job)["job"]
    assert shown["state"] == "done", shown
    return job


def shares(summary: dict, side: str) -> dict:
    row = next(r for r in summary["workloads"][0]["value_rows"] if r["side"] == side)
    return {v["name"]: (v["total"], v["share_pct"]) for v in row["values"]}


def test_categories_and_exclusions_are_counted_and_shares_make_a_hundred(daemon, compared):
    raw, summary = daemon.raw(compared), daemon.summary(compared)
    assert raw["workloads"][0]["profile"] == {"format": "perf-script", "categories": CATEGORIES}
    for o in raw["observations"]:
        values = {v["name"]: v["value"] for v in o["values"]}
        assert values["samples"] == sum(values.values()) - values["samples"]
        assert o["elapsed_ns"] is None
    before, after = shares(summary, "before"), shares(summary, "after")
    assert before["frames"] == (45, pytest.approx(100 * 15 / 18))  # declared before "runtime", which fits too
    assert after["frames"] == (15, 62.5)
    assert before["unused"] == (0, 0)
    assert after["runtime"] == (6, 25)
    assert after["other"] == (3, 12.5)
    for side in (before, after):
        assert sum(share or 0 for _, share in side.values()) == pytest.approx(100)
        assert side["excluded_no_symbol"] == side["excluded_kernel"] == (3, None)
    assert before["samples"] == (60, None)


def test_a_report_with_samples_is_never_contractual_and_says_why(daemon, compared):
    summary = daemon.summary(compared)
    predicate = next(p for p in summary["grade"]["predicates"] if p["name"] == "no_profile")
    assert predicate["status"] == "FAIL" and summary["grade"]["value"] == "diagnostic"
    report = daemon.run("report", compared).stdout
    assert "no_profile" in report
    page = daemon.run("page", "--reports", compared).stdout
    for text in (report, page):
        words = " ".join(text.replace("|", " ").split())
        assert "calls c frames 45 83.33% 15 62.50%" in words
        assert "24 of 30 samples were recovered; excluded: 3 in the kernel, 3 no symbol" in words
        assert "-20.83" in words


def test_a_share_that_was_changed_afterwards_does_not_verify(daemon, compared, tmp_path):
    evidence = tmp_path / "evidence"
    shutil.copytree(daemon.evidence(compared), evidence)
    raw = json.loads((evidence / "raw.json").read_text())
    raw["observations"][-1]["values"][1]["value"] += 1
    (evidence / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":")) + "\n")
    done = daemon.run("verify", evidence, check=None)
    assert done.returncode == 1 and "categories and exclusions that are not all its samples" in " ".join(
        done.stdout.split())


# ---- what was counted is kept


def tally(evidence, seq: int):
    return evidence / f"profiles/{seq}.tsv"


def test_what_was_counted_is_in_the_evidence_and_gives_the_counts_again(daemon, compared, tmp_path):
    evidence, raw = daemon.evidence(compared), daemon.raw(compared)
    assert sorted(p.name for p in (evidence / "profiles").iterdir()) == sorted(
        f"{o['seq']}.tsv" for o in raw["observations"])
    last = raw["observations"][-1]
    text = tally(evidence, last["seq"]).read_text()
    assert last["outputs"] == [{"name": f"profiles/{last['seq']}.tsv", "bytes": len(text),
                                "sha256": hashlib.sha256(text.encode()).hexdigest()}]
    frames = {v["name"]: v["value"] for v in last["values"]}["frames"]
    assert text.splitlines() == [
        "samples\tstate\tsymbol\tobject\tprocess\tthread", "1\t-\t\\-\t\\-\tfib\tfib",
        "1\t-\tfib\t/bin/fib\tfib\tfib", f"{frames}\t-\tframe_push\t/bin/fib\tfib\tfib",
        "1\t-\town\t/lib/librt.so.1\tfib\tfib", "1\t-\tvalue_add\t/bin/fib\tfib\tfib",
        "1\tkernel\tfault\t[kernel.kallsyms]\tfib\tfib"]
    for name in ("SHA256SUMS", "initial-SHA256SUMS"):
        assert f"{last['outputs'][0]['sha256']}  profiles/{last['seq']}.tsv\n" in (evidence / name).read_text()
    assert "rules applied again to 8 tallies, all equal" in " ".join(daemon.run("verify", evidence).stdout.split())
    path = rules(tmp_path, "perf-script", CATEGORIES)
    again = attributed("--categories", path, tally(evidence, last["seq"]), "--unmatched", "5")
    assert [c["samples"] for c in again["categories"]] == [v["value"] for v in last["values"]][:4]
    assert again["unmatched"] == [{"symbol": "fib", "samples": 1}]
    assert "profiles/" not in daemon.run("report", compared).stdout


def test_a_void_attempt_keeps_what_was_counted_before_it_failed(daemon, tmp_path, policy):
    script = (f'echo x >>{tmp_path}/runs; [ $(wc -l <{tmp_path}/runs) -lt 3 ] || exit 3; '
              'echo "a 1 1.5: e: 1 frame_a (/b)" >p; echo done')
    suite = harness.make_suite(tmp_path / "suite", [workload(lane(script))])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=5)
    id = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])["job"]["id"]
    assert daemon.raw(id)["void_code"] == "lane.exit_status"
    evidence = daemon.evidence(id)
    assert sorted(p.name for p in (evidence / "profiles").iterdir()) == ["0.tsv", "1.tsv"]
    assert "applied again to 2 tallies" in " ".join(daemon.run("verify", evidence).stdout.split())


def test_what_a_lane_wrote_into_the_tallies_is_not_sealed(daemon, tmp_path, policy):
    script = ('[ ! -e ../profiles/0.tsv ] || echo x >>../profiles/0.tsv; '
              'echo "a 1 1.5: e: 1 frame_a (/b)" >p; echo done')
    suite = harness.make_suite(tmp_path / "suite", [workload(lane(script))])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=3)
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])["job"]
    assert (shown["state"], shown["error"]["code"], shown["report"]) == ("failed", "evidence.tally", None)
    assert "profiles/0.tsv is not what was counted" in shown["error"]["text"]


def mend(folder) -> None:
    """SHA256SUMS, and those of when timing ended, as a liar without the key would write them again."""
    names = sorted(str(p.relative_to(folder)) for p in folder.rglob("*")
                   if p.is_file() and not p.name.startswith("SHA256SUMS"))
    for sums, which in (("initial-SHA256SUMS", lambda n: re.match("job|policy|logs/build|profiles/|suite/", n)),
                        ("SHA256SUMS", lambda n: True)):
        (folder / sums).write_text("".join(
            f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names if which(name)))


def lie(folder, change) -> None:
    raw = json.loads((folder / "raw.json").read_text())
    change(raw["observations"][2])
    (folder / "raw.json").write_text(json.dumps(raw, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n")


def rename(text: str) -> str:
    return text.replace("\tvalue_add\t", "\tvalue_bad\t")


def move(text: str) -> str:
    """The sum stays, a category gets one more."""
    return re.sub(r"\n1\t-\tfib\t[^\n]*", "", text).replace("\n1\t-\tvalue_add", "\n2\t-\tvalue_add")


def put_tally(folder, text: str) -> None:
    """Into the folder and as raw.json names it."""
    tally(folder, 2).write_text(text)
    lie(folder, lambda o: o["outputs"][0].update(bytes=len(text), sha256=hashlib.sha256(text.encode()).hexdigest()))


FAULTS = {
    "changed": (lambda f: tally(f, 2).write_text(rename(tally(f, 2).read_text())),
                "profiles", "profiles/2.tsv: it is not the one that raw.json names"),
    "missing": (lambda f: tally(f, 2).unlink(), "profiles", "profiles/2.tsv: it is missing"),
    "linked": (lambda f: (tally(f, 2).rename(f.parent / "elsewhere"), tally(f, 2).symlink_to(f.parent / "elsewhere")),
               "profiles", "profiles/2.tsv: it is missing"),
    "extra": (lambda f: tally(f, 99).write_text(tally(f, 2).read_text()),
              "files", "profiles/99.tsv is no part of an evidence folder"),
    "large": (lambda f: tally(f, 2).write_bytes(bytes(17 << 20)), "profiles", "profiles/2.tsv: it cannot be read"),
    "counted otherwise": (lambda f: put_tally(f, move(tally(f, 2).read_text())),
                          "profiles", "profiles/2.tsv: it gives another count of runtime than raw.json"),
    "none": (lambda f: put_tally(f, "nonsense\n"), "profiles", "profiles/2.tsv: line 1: no head of a tally"),
    "not canonical": (lambda f: put_tally(f, tally(f, 2).read_text().replace("1\t-\tfib", "01\t-\tfib")),
                      "profiles", "profiles/2.tsv: line 3: a count"),
    "not named": (lambda f: lie(f, lambda o: o.pop("outputs")), "profiles", "profiles/2.tsv: raw.json does not name it"),
    "named otherwise": (lambda f: lie(f, lambda o: o["outputs"][0].update(name="profiles/3.tsv")),
                        "observations", "has not the tally of its profile"),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The evidence of one report, for many lies."""
    folder = tmp_path_factory.mktemp("kept")
    daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
    harness.make_repo(folder / "repo", {"one": {"calls": SAMPLES.replace("$1\nwhile", "5\nwhile")}})
    suite = harness.make_suite(folder / "suite", [workload({"c": {"command": ["{source}/calls"]}})])
    job = harness.job_file(folder / "job.json", suite={"path": str(suite)}, repetitions=3,
                           sources={"here": {"repo": str(folder / "repo"), "rev": "one"}})
    policy = folder / "quick.json"
    policy.write_text(json.dumps(harness.quick_policy()))
    id = daemon.json("submit", job, "--policy", policy)["id"]
    assert daemon.finish(id)["job"]["state"] == "done"
    yield daemon.evidence(id)
    daemon.close()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_tally_that_does_not_hold_is_named(kept, tmp_path, fault):
    change, check, words = FAULTS[fault]
    folder = tmp_path / "copy"
    shutil.copytree(kept, folder)
    change(folder)
    mend(folder)
    done = subprocess.run([harness.CLIENT, "verify", "--json", "--ignore-signature", folder], capture_output=True,
                          text=True, env=harness.CLEAN_ENV)
    assert done.returncode == 1, done.stdout
    said = [c["text"] for c in json.loads(done.stdout)["checks"] if c["check"] == check and c["status"] == "FAIL"]
    assert any(words in text for text in said), done.stdout


def test_no_lie_about_what_was_counted_goes_unseen_without_the_key(kept):
    done = subprocess.run([harness.BUILD / "tests/unit/client/verify_mutations", kept], capture_output=True,
                          text=True, env=harness.CLEAN_ENV)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert not re.findall(r"^missed raw\.json (observations\[\]\.(?:outputs|values).*|workloads.*)$", done.stdout, re.M)


# ---- profiles that are none


@pytest.mark.parametrize(("script", "code", "word"), [
    ("echo done", "lane.profile_missing", "left no profile"),
    ("echo x >.hidden; mkdir folder; echo y >folder/z; echo done", "lane.profile_missing", "left no profile"),
    (": >p; echo done", "lane.profile_empty", "without a sample"),
    ("echo nonsense >p; echo done", "lane.profile_bad", "p: line 1: no event"),
    ("ln -s /etc/passwd p; echo done", "lane.profile_bad", "p: no file"),
    ("truncate -s 65M p; echo done", "lane.profile_large", "more than 64 MiB"),
    ("s=$(printf '%8000s' '' | tr ' ' s); i=0; while [ $i -lt 2200 ]; do i=$((i+1)); "
     "echo \"a 1 1.5: e: 1 $s$i (/b)\"; done >p; echo done", "lane.profile_varied", "16 MiB of names (p:"),
    ("echo nonsense >p; echo wrong", "lane.stdout_wrong", ""),
])
def test_a_profile_that_is_none_makes_the_attempt_void_by_name(daemon, tmp_path, policy, script, code, word):
    suite = harness.make_suite(tmp_path / "suite", [workload(lane(script))])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    assert (shown["job"]["state"], shown["job"]["error"]["code"]) == ("failed", code)
    assert word in shown["job"]["error"]["text"]
    assert daemon.raw(shown["job"]["id"])["void_code"] == code


def test_a_run_finds_nothing_of_the_one_before_it(daemon, tmp_path, policy):
    script = ('[ -z "$(ls -A)" ] || exit 3; echo x >.data; mkdir -p deep/er; echo "a 1 1.5: e: 1 frame_a (/b)" >p; '
              "echo done")
    suite = harness.make_suite(tmp_path / "suite", [workload(lane(script))])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, repetitions=3)
    shown = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])["job"]
    assert shown["state"] == "done", shown["error"]
    for o in daemon.raw(shown["id"])["observations"]:
        assert o["values"][-1] == {"name": "samples", "value": 1}


@pytest.mark.parametrize(("change", "field"), [
    ({"profile": None}, "workloads[0].profile"),
    ({"ready": "R"}, "workloads[0].ready"),
    ({"declared_wait_ns": 5}, "workloads[0].declared_wait_ns"),
    ({"measure": "process"}, "workloads[0].profile"),
    ({"lanes": lane("true", cwd="/tmp")}, "workloads[0].lanes.left.cwd"),
    ({"profile": {"format": "callgrind", "categories": CATEGORIES, "thread": "x"}}, "workloads[0].profile.thread"),
    ({"profile": {"format": "perf-script", "categories": []}}, "workloads[0].profile.categories"),
    ({"profile": {"format": "perf-script", "categories": [{"name": "samples", "symbols": ["a"]}]}},
     "workloads[0].profile.categories[0].name"),
    ({"profile": {"schema": "x", "format": "perf-script", "categories": CATEGORIES}}, "workloads[0].profile.schema"),
])
def test_rules_that_cannot_hold_are_refused_by_field(daemon, tmp_path, policy, change, field):
    suite = harness.make_suite(tmp_path / "suite", [{**workload(lane("true")), **change}])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    error = daemon.refused("submit", job, "--policy", policy)
    assert error["field"] == field and error["exit"] == 2


# ---- without a daemon


def client(*args, status: int = 0, **kwargs) -> subprocess.CompletedProcess:
    done = subprocess.run([harness.CLIENT, "attribute", *map(str, args)], capture_output=True, text=True,
                          env=harness.CLEAN_ENV, **kwargs)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def rules(folder, format: str, categories: list[dict], **members):
    path = folder / "categories.json"
    path.write_text(json.dumps({"schema": "aurabench.attribution.v1", "format": format, "categories": categories,
                                **members}))
    return path


def attributed(*args) -> dict:
    return json.loads(client("--json", *args).stdout)


MIX = {"name": "mix", "symbols": ["mix"]}


@pytest.mark.parametrize(("format", "file", "mix", "samples"), [
    ("callgrind", "work.callgrind", 80250, 1087917),
    ("perf-script", "work.perf-script", 62, 93),
])
def test_profiles_that_are_here_are_attributed(tmp_path, format, file, mix, samples):
    path = rules(tmp_path, format, [MIX, {"name": "memory", "symbols": ["*memset*"]}])
    once = attributed("--categories", path, PROFILES / file)
    twice = attributed("--categories", path, PROFILES / file, PROFILES / file, "--unmatched", "2")
    assert (once["grade"], once["samples"], once["categories"][0]["samples"]) == ("diagnostic", samples, mix)
    assert (twice["samples"], twice["categories"][0]["samples"]) == (2 * samples, 2 * mix)
    assert once["recovered"] + sum(once["excluded"].values()) == samples
    assert sum(c["samples"] for c in once["categories"]) == once["recovered"]
    assert sum(c["share_pct"] for c in once["categories"]) == pytest.approx(100)
    other = next(c["samples"] for c in twice["categories"] if c["name"] == "other")
    listed = [f["samples"] for f in twice["unmatched"]]
    assert listed == sorted(listed, reverse=True) and sum(listed) <= other and len(listed) <= 2
    assert once["unmatched"] == []


def test_an_exported_table_of_xctrace_is_attributed_with_its_exclusions(tmp_path):
    path = rules(tmp_path, "xctrace", [{"name": "frames", "symbols": ["frame_*"]},
                                       {"name": "cpp", "libraries": ["libc++*"]}],
                 process="fib", thread="Main Thread*")
    text = client("--categories", path, PROFILES / "time-profile.xml").stdout
    assert "4 of 10 samples were recovered; excluded: 1 not running, 1 another process, 1 another thread, " \
           "1 in the kernel, 2 no symbol" in text
    assert [line.split() for line in text.splitlines()[1:4]] == [
        ["frames", "2", "50.00%"], ["cpp", "1", "25.00%"], ["other", "1", "25.00%"]]


@pytest.mark.parametrize(("arguments", "code", "status"), [
    (["FILE"], "usage", 2),
    (["--categories", "missing.json", "FILE"], "system.open", 1),
    (["--categories", "RULES"], "usage", 2),
    (["--categories", "RULES", "missing"], "system.open", 1),
    (["--categories", "FILE", "FILE"], "json.bad", 2),
    (["--categories", "RULES", "README.md"], "profile.bad", 1),
    (["--categories", "RULES", "large"], "profile.too_large", 1),
])
def test_what_cannot_be_attributed_is_refused_by_name(tmp_path, arguments, code, status):
    path = rules(tmp_path, "callgrind", [MIX])
    with (tmp_path / "large").open("wb") as large:
        large.truncate(65 << 20)
    names = {"FILE": PROFILES / "work.callgrind", "RULES": path, "README.md": PROFILES / "README.md",
             "large": tmp_path / "large"}
    done = client("--json", *(names.get(a, a) for a in arguments), status=status, cwd=tmp_path)
    assert json.loads(done.stdout)["error"]["code"] == code
