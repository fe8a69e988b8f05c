"""Checking evidence without a daemon: what is honest passes, every kind of damage and lie is named.
And the way back: reproduce.sh measures the same commits with the same suite again."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

import calibrations
import harness

MUTATIONS = harness.BUILD / "tests/unit/client/verify_mutations"

BUILD_STEPS = {"build": [["cp", "{source}/run.py", "{build}/lane"]],
               "lanes": {"subject": {"command": ["{build}/lane"], "cpus": 1}}}


class Sealed:
    """One sealed report with builds, and the key of the host that made it."""

    def __init__(self, folder: pathlib.Path):
        self.daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
        self.repo = folder / "repo"
        self.commits = harness.make_repo(
            self.repo, {"slow": {"run.py": harness.lane_program(40000)},
                        "fast": {"run.py": harness.lane_program(2000)},
                        "later": {"docs/new.txt": "words"}})
        self.suite = harness.tiny_suite(folder / "suite", **BUILD_STEPS)
        (self.suite / "odd").mkdir()
        for name in ("-dash", "back\\slash", " blank"):
            (self.suite / "odd" / name).write_text("odd")
        policy = folder / "quick.json"
        policy.write_text(json.dumps(harness.quick_policy(drift_limit_pct=10000)))
        calibrations.put(self.daemon, groups=1)
        self.id = self.daemon.json(
            "compare", "--repo", self.repo, "--before", "slow", "--after", "fast", "--suite",
            self.suite, "--policy", policy, "--repetitions", "3", "--label", "it's \"odd\"")["id"]
        self.shown = self.daemon.finish(self.id)
        self.evidence = self.daemon.evidence(self.id)
        self.key = (self.daemon.state / "host.pub").read_text().strip()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    s = Sealed(tmp_path_factory.mktemp("sealed"))
    yield s
    s.daemon.close()


@pytest.fixture
def copy(sealed, tmp_path):
    """The evidence on another machine, to be damaged."""
    return pathlib.Path(shutil.copytree(sealed.evidence, tmp_path / "copy"))


def client(*args) -> subprocess.CompletedProcess:
    env = {**harness.CLEAN_ENV, "HOME": "/nonexistent", "AURABENCH_SOCKET": "/nonexistent/sock"}
    done = subprocess.run([str(harness.CLIENT), *map(str, args)], cwd="/", env=env, text=True,
                          capture_output=True, timeout=harness.PATIENCE_S)
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done


def verify(folder, *args) -> dict:
    """check -> (status, text); of several lines of one check the first that is not PASS."""
    done = client("verify", folder, *args, "--json")
    answer = json.loads(done.stdout)
    lines = {}
    for line in answer["checks"]:
        if lines.get(line["check"], ("PASS",))[0] == "PASS":
            lines[line["check"]] = (line["status"], line["text"])
    failed = any(line["status"] == "FAIL" for line in answer["checks"])
    assert answer["verified"] != failed
    assert done.returncode == (1 if failed else 0)
    return lines


def failures(folder, *args) -> dict:
    return {check: text for check, (status, text) in verify(folder, *args).items() if status == "FAIL"}


def escape(name: str) -> tuple[str, str]:
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n")
    return ("\\" if escaped != name else ""), escaped


def mend_sums(folder: pathlib.Path) -> None:
    """What a liar without the key can do: write the checksums again."""
    lines = []
    for path in sorted((p for p in folder.rglob("*") if p.is_file()),
                       key=lambda p: os.fsencode(p.relative_to(folder))):
        name = str(path.relative_to(folder))
        if name not in ("SHA256SUMS", "SHA256SUMS.sig"):
            mark, escaped = escape(name)
            lines.append(f"{mark}{hashlib.sha256(path.read_bytes()).hexdigest()}  {escaped}\n")
    (folder / "SHA256SUMS").write_text("".join(lines))


def canonical(document) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"


def lie(folder: pathlib.Path, name: str, change) -> None:
    """Changes a document and mends the checksums and the summary's link."""
    document = json.loads((folder / name).read_text())
    change(document)
    (folder / name).write_text(canonical(document))
    summary = json.loads((folder / "summary.json").read_text())
    summary["raw_report"]["sha256"] = hashlib.sha256((folder / "raw.json").read_bytes()).hexdigest()
    (folder / "summary.json").write_text(canonical(summary))
    mend_sums(folder)


# ---- what is honest

def test_a_sealed_report_verifies_on_another_machine(sealed, copy):
    lines = verify(copy, "--key", sealed.key)
    assert {status for status, _ in lines.values()} == {"PASS"}
    assert set(lines) == {"sums", "files", "initial", "signature", "maker", "raw", "link", "summary",
                          "grade", "job", "policy", "host", "refusals", "reproduce", "names", "plan",
                          "observations", "ledgers", "sources", "inventories", "conditions", "suite", "bundle"}
    assert lines["grade"][1] == sealed.shown["job"]["report"]["line"]


def test_without_a_key_it_says_that_the_maker_is_not_shown(copy):
    lines = verify(copy)
    assert lines["signature"][0] == "PASS"
    assert lines["maker"][0] == "UNKNOWN" and "does not show whose key" in lines["maker"][1]


def test_the_key_may_be_a_file_or_digits_of_either_case(sealed, copy, tmp_path):
    printed = tmp_path / "key.txt"
    printed.write_text(sealed.daemon.run("host", "--key").stdout)
    for key in (sealed.daemon.state / "host.pub", printed, sealed.key.upper()):
        assert verify(copy, "--key", key)["maker"][0] == "PASS"


def test_host_key_prints_the_key_and_its_id(sealed):
    shown = sealed.daemon.json("host", "--key")
    assert shown["public"] == sealed.key
    assert shown["id"] == hashlib.sha256(bytes.fromhex(sealed.key)).hexdigest()[:16]
    assert sealed.daemon.json("host")["key"] == {"id": shown["id"], "public": sealed.key}
    assert sealed.daemon.raw(sealed.id)["host_key"] == sealed.key
    assert (sealed.daemon.state / "host.key").stat().st_mode & 0o777 == 0o600


def test_the_key_stays_over_a_restart(daemon):
    before = daemon.json("host", "--key")
    daemon.stop()
    daemon.start()
    assert daemon.json("host", "--key") == before


def test_a_key_that_others_can_read_keeps_the_daemon_from_starting(daemon):
    daemon.stop()
    (daemon.state / "host.key").chmod(0o644)
    daemon.start(wait=False)
    assert daemon.process.wait(harness.PATIENCE_S) == 1
    daemon.process = None
    assert "others could have read" in daemon.log.read_text()


def test_odd_file_names_survive_both_checksum_tools_and_verify(sealed, copy):
    assert {p.name for p in (copy / "suite/odd").iterdir()} == {"-dash", "back\\slash", " blank"}
    for tool in (["sha256sum", "--strict", "-c"], ["shasum", "-a", "256", "-c"]):
        for sums in ("SHA256SUMS", "initial-SHA256SUMS"):
            done = subprocess.run([*tool, sums], cwd=copy, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr


def test_a_name_with_a_newline_is_read_as_the_tools_read_it(copy):
    (copy / "logs/new\nline \\n").write_text("x")
    mend_sums(copy)
    for tool in (["sha256sum", "--strict", "-c"], ["shasum", "-a", "256", "-c"]):
        assert subprocess.run([*tool, "SHA256SUMS"], cwd=copy, capture_output=True).returncode == 0
    assert failures(copy, "--ignore-signature") == {}


def test_the_text_names_each_check_and_ends_with_a_count(sealed, copy):
    done = client("verify", copy, "--key", sealed.key)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-1] == "verified: 23 passed, 0 failed, 0 unknown"
    assert re.fullmatch(r"PASS +sums +SHA256SUMS lists \d+ files, in order", lines[0])


# ---- damage: one fault each, named

def test_a_missing_file(copy):
    (copy / "report.md").unlink()
    assert failures(copy) == {"files": "report.md is missing"}


def test_an_extra_file(copy):
    (copy / "suite/extra").write_text("x")
    assert failures(copy)["files"] == "suite/extra is not listed in SHA256SUMS"


def test_a_changed_file(copy):
    (copy / "report.md").write_text("better")
    assert failures(copy) == {"files": "report.md was changed since the sums were written"}


def test_a_linked_file(copy, tmp_path):
    (copy / "report.md").rename(tmp_path / "report.md")
    (copy / "report.md").symlink_to(tmp_path / "report.md")
    assert failures(copy) == {"files": "report.md is a link"}


def test_a_linked_folder(copy, tmp_path):
    (copy / "logs").rename(tmp_path / "logs")
    (copy / "logs").symlink_to(tmp_path / "logs")
    assert failures(copy)["files"] == "logs is a link"


def test_a_special_file(copy):
    (copy / "report.md").unlink()
    os.mkfifo(copy / "report.md")
    assert failures(copy) == {"files": "report.md is neither a file nor a folder"}


def test_a_line_that_leads_outside(copy):
    sums = copy / "SHA256SUMS"
    sums.write_text(f"{'0' * 64}  ../outside\n" + sums.read_text())
    assert failures(copy)["sums"] == \
        "line 1 of the checksums is not a checksum and the name of a file inside"


def test_lines_out_of_order(copy):
    sums = copy / "SHA256SUMS"
    sums.write_text("".join(reversed(sums.read_text().splitlines(True))))
    assert "line 2 of the checksums is out of order" in failures(copy)["sums"]


def test_no_checksums_at_all(copy):
    (copy / "SHA256SUMS").unlink()
    assert failures(copy)["sums"] == "SHA256SUMS is missing or cannot be read"


def test_half_copied_evidence(copy, tmp_path):
    half = tmp_path / "half"
    half.mkdir()
    shutil.copy(copy / "raw.json", half)
    shutil.copy(copy / "SHA256SUMS", half)
    found = failures(half)
    assert "is missing" in found["files"] and found["summary"] == "summary.json is missing"


def test_a_file_that_belongs_to_no_evidence_although_it_is_listed(copy):
    (copy / "notes.txt").write_text("x")
    mend_sums(copy)
    assert failures(copy, "--ignore-signature") == {"files": "notes.txt is no part of an evidence folder"}


def test_an_empty_folder_is_named_by_what_it_lacks(tmp_path):
    (tmp_path / "empty").mkdir()
    found = failures(tmp_path / "empty")
    assert found["sums"] and "raw.json is missing" in found["raw"]


# ---- the signature

def test_another_key_is_not_the_maker(copy):
    assert "signed by key" in failures(copy, "--key", "ab" * 32)["maker"]


def test_mended_sums_do_not_fit_the_signature(copy):
    (copy / "report.md").write_text("better")
    mend_sums(copy)
    assert "does not fit SHA256SUMS" in failures(copy)["signature"]
    assert failures(copy, "--ignore-signature") == {}


def test_a_signature_by_a_key_of_their_own_is_not_that_of_the_report(sealed, copy, tmp_path):
    other = harness.Daemon(tmp_path, harness.FakeHost(tmp_path / "other-host")).start()
    suite = harness.make_suite(tmp_path / "s", [harness.protocol({"lane": {"command": ["{suite}/lane"]}})],
                               {"lane": harness.LANE_SH})
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    policy = tmp_path / "p.json"
    policy.write_text(json.dumps(harness.quick_policy()))
    id = other.json("submit", job, "--policy", policy)["id"]
    other.finish(id)
    shutil.copy(other.evidence(id) / "SHA256SUMS.sig", copy)
    other.close()
    assert "does not fit" in failures(copy)["signature"]


@pytest.mark.parametrize("text", ["", "aurabench-ed25519 1 x y\n", "two\nlines\n", "z" * 5000],
                         ids=["empty", "short", "two lines", "long"])
def test_a_signature_that_is_none(copy, text):
    (copy / "SHA256SUMS.sig").write_text(text)
    assert failures(copy) == {"signature": "SHA256SUMS.sig is not one line of a signature"}


@pytest.mark.parametrize("helper", [None, "exit 127", "exit 0"], ids=["none", "cannot start", "says yes to all"])
def test_without_a_program_that_checks_a_signature_is_not_good(copy, tmp_path, helper):
    if helper:
        (tmp_path / "aurabench-signature").write_text(f"#!/bin/sh\n{helper}\n")
        (tmp_path / "aurabench-signature").chmod(0o755)
    done = subprocess.run([shutil.copy(harness.CLIENT, tmp_path), "verify", str(copy)], env=harness.CLEAN_ENV,
                          capture_output=True, text=True)
    assert done.returncode != 0 and "cannot be checked: aurabench-signature does not run" in done.stdout


def test_signatures_can_be_checked_by_hand(copy):
    sums = b"".join((copy / name).read_bytes() for name in ("SHA256SUMS.sig", "SHA256SUMS"))
    for text, status in ((sums, 0), (sums + b"x", 1), (b"", 2), (b"no signature\n", 2)):
        assert subprocess.run([harness.BUILD / "aurabench-signature"], input=text, capture_output=True).returncode == status


def test_a_signature_that_was_taken_away(sealed, copy):
    (copy / "SHA256SUMS.sig").unlink()
    assert "although the report says that it is signed" in failures(copy)["signature"]
    assert "nothing shows that the key made this" in failures(copy, "--key", sealed.key)["signature"]
    line = verify(copy, "--ignore-signature")["signature"]
    assert line[0] == "UNKNOWN" and "does not show who wrote them" in line[1]


# ---- lies with mended checksums: named by what they contradict

def observation(document: dict, **members) -> dict:
    return next(o for o in document["observations"] if o["kind"] == "timed")


def test_one_digit_of_one_observation(sealed, copy):
    def faster(raw):
        observation(raw)["elapsed_ns"] -= 1
    lie(copy, "raw.json", faster)
    assert "does not fit SHA256SUMS" in failures(copy, "--key", sealed.key)["signature"]
    found = failures(copy, "--ignore-signature")
    assert re.fullmatch(r"observation \d+ \(tiny \w+ \w+\) has an elapsed_ns that is not the time "
                        r"from GO to DONE", found["observations"])
    assert "recomputed" in found["summary"] and "protocol_exact" in found["grade"]


def set_in(path: str, value):
    def change(document):
        *way, last = path.split(".")
        for key in way:
            document = document[int(key) if key.isdigit() else key]
        document[int(last) if last.isdigit() else last] = value
    return change


@pytest.mark.parametrize(("change", "check", "words"), [
    (set_in("job.repetitions", 2), "plan", "the plan has"),
    (set_in("plan.3.position", 7), "plan", "step 3 of the plan"),
    (set_in("observations.2.start_ns", 0), "observations", "process_ns"),
    (set_in("observations.5.side", "suite"), "raw", "lists no side suite"),
    (set_in("observations.5.seq", 4), "raw", "ascending seq"),
    (set_in("observations.5.leftovers", 1), "observations", "left processes behind"),
    (set_in("observations.5.cpu", None), "observations", "another core"),
    (set_in("observations.5.ready", "READY other"), "suite", "did not print what the suite asks"),
    (set_in("policy.name", "quicker"), "names", "asks for policy quick"),
    (set_in("policy.margin", 0.5), "policy", "policy.json does not say"),
    (set_in("suite_sha256", "0" * 64), "names", "another suite"),
    (set_in("sources.0.commit", "1" * 40), "sources", "the source of before is not the one"),
    (set_in("sources.0.files", 7), "bundle", "has 1 files, the checkout of before had 7"),
    (set_in("builds.0.argv", ["cp", "elsewhere"]), "suite", "build step 0 is not the one"),
    (set_in("builds.1.log", "logs/other.txt"), "sources", "has another name"),
    (set_in("rechecks.0.sha256", "0" * 64), "sources", "begins with another one"),
    (lambda raw: raw["rechecks"].pop(), "sources", "was not hashed again"),
    (lambda raw: raw["observations"].pop(), "observations", "were observed"),
    (lambda raw: raw["observations"].pop(3), "observations", "were observed"),
    (set_in("inventories.after_timing.aggregate_pct", [99, 99]), "inventories",
     "called quiet and has more foreign CPU time"),
    (set_in("inventories.after_timing.state", "busy"), "inventories", "lists no competitor"),
    (set_in("inventories.after_timing.forks_per_second", 500.0), "inventories", "new processes"),
    (set_in("facts.after_timing.governor.text", "powersave"), "conditions", "after timing, CPU governor"),
    (set_in("conditions.after_timing.0.seen", "on battery"), "conditions", "mains power"),
    (set_in("host.name", "other"), "host", "host.json does not say"),
    (set_in("workloads.0.lanes.0.command", ["true"]), "suite", "lane subject of tiny"),
    (set_in("job.label", "other"), "raw", "label must be the label of the job"),
    (set_in("observer", {}), "raw", "busy is missing"),
])
def test_a_lie_in_the_raw_report(copy, change, check, words):
    lie(copy, "raw.json", change)
    found = failures(copy, "--ignore-signature")
    assert words in found[check], found


def test_a_raw_report_that_is_not_canonical(copy):
    raw = copy / "raw.json"
    raw.write_text(raw.read_text().replace('"boot_id_after":', '"boot_id_after": ', 1))
    lie(copy, "summary.json", lambda summary: None)
    assert failures(copy, "--ignore-signature") == \
        {"raw": "raw.json is not canonical: the spelling differs"}


@pytest.mark.parametrize(("change", "differs"), [
    (set_in("workloads.0.rows.0.wall.median_ns", 1), "workloads[0].rows[0].wall.median_ns"),
    (set_in("comparisons.0.wall.verdict", "SAME"), "comparisons[0].wall.verdict"),
    (set_in("rules.median_ns", "whatever"), "rules.median_ns"),
    (lambda summary: summary["comparisons"].pop(), "comparisons["),
])
def test_a_lie_in_the_summary_is_named_by_its_member(copy, change, differs):
    lie(copy, "summary.json", change)
    found = failures(copy, "--ignore-signature")
    assert set(found) == {"summary"} and f"recomputed, {differs}" in found["summary"]


def test_a_better_grade_in_the_summary(copy):
    lie(copy, "summary.json", set_in("grade.value", "contractual"))
    assert set(failures(copy, "--ignore-signature")) == {"summary", "grade"}


def test_a_summary_of_another_raw_report(copy):
    summary = json.loads((copy / "summary.json").read_text())
    summary["raw_report"]["sha256"] = "0" * 64
    (copy / "summary.json").write_text(canonical(summary))
    mend_sums(copy)
    assert "another raw.json" in failures(copy, "--ignore-signature")["link"]


@pytest.mark.parametrize(("name", "check"), [
    ("job.json", "job"), ("policy.json", "policy"), ("host.json", "host"),
    ("refusals.jsonl", "refusals"), ("reproduce.sh", "reproduce")])
def test_each_file_that_repeats_the_raw_report_must_agree(copy, name, check):
    with (copy / name).open("a") as f:
        f.write("echo pwned\n")
    mend_sums(copy)
    assert check in failures(copy, "--ignore-signature")


def test_a_suite_that_is_not_the_one_that_was_measured(copy):
    (copy / "suite/control.py").write_text("#!/bin/sh\n")
    mend_sums(copy)
    found = failures(copy, "--ignore-signature")
    assert "not the one that was measured" in found["suite"]
    assert found["initial"] == "suite/control.py is not what it was when timing ended"


def test_a_log_that_was_exchanged(copy):
    (copy / "logs/build-before-0.txt").write_text("all went well")
    mend_sums(copy)
    assert failures(copy, "--ignore-signature") == \
        {"initial": "logs/build-before-0.txt is not what it was when timing ended"}


@pytest.mark.parametrize("data", [b"", b"no bundle", None])
def test_a_broken_bundle(copy, data):
    bundle = copy / "commits.bundle"
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[:-30] if data is None else data)
    mend_sums(copy)
    assert "git refuses it" in failures(copy, "--ignore-signature")["bundle"]


def test_a_bundle_of_other_commits(sealed, copy):
    harness.git(sealed.repo, "bundle", "create", "-q", copy / "commits.bundle", "slow")
    mend_sums(copy)
    assert "does not hold commit" in failures(copy, "--ignore-signature")["bundle"]


def test_a_bundle_that_was_left_out_is_said(copy):
    (copy / "commits.bundle").unlink()
    mend_sums(copy)
    lines = verify(copy, "--ignore-signature")
    assert lines["bundle"][0] == "UNKNOWN" and "not in this evidence" in lines["bundle"][1]


# ---- later commits

def test_covers_says_whether_later_commits_changed_what_was_measured(sealed, copy):
    here = ("--repo", sealed.repo)
    assert verify(copy, "--covers", "fast", *here)["covers"][0] == "PASS"
    assert "docs/new.txt" in failures(copy, "--covers", "later", *here)["covers"]
    assert verify(copy, "--covers", "later", "--paths", "run.py", *here)["covers"][0] == "PASS"
    assert "run.py" in failures(copy, "--covers", "slow", "--paths", "run.py", *here)["covers"]
    assert "1 file changed" in failures(copy, "--covers", "later", *here, "--paths", "run.py", "docs")["covers"]


@pytest.mark.parametrize(("args", "words"), [
    (["--covers", "nothing"], "nothing names no commit"),
    (["--covers", "later", "--paths", "src"], "neither commit has src"),
])
def test_covers_refuses_what_is_not_there(sealed, copy, args, words):
    assert words in failures(copy, *args, "--repo", sealed.repo)["covers"]


def test_covers_needs_a_repository_with_the_measured_commit(copy, tmp_path):
    harness.make_repo(tmp_path / "other", {"x": {"f": "1"}})
    assert "names no commit" in failures(copy, "--covers", "x", "--repo", tmp_path / "other")["covers"]
    assert "git does not take" in failures(copy, "--covers", "x", "--repo", tmp_path)["covers"]


# ---- usage

@pytest.mark.parametrize(("args", "words"), [
    ([], "something is missing"),
    (["/nonexistent-folder"], "could not open"),
    (["{copy}", "--key", "abc"], "could not open abc"),
    (["{copy}", "--key", "{copy}/report.md"], "64 hex digits"),
    (["{copy}", "--paths", "x"], "add --covers"),
    (["{copy}", "other"], "one evidence folder"),
    (["{copy}/raw.json"], "is no folder"),
])
def test_wrong_usage_is_one_sentence(copy, args, words):
    done = client("verify", *[a.replace("{copy}", str(copy)) for a in args])
    assert done.returncode in (1, 2) and done.stdout == ""
    assert done.stderr.startswith("aurabench: ") and done.stderr.count("\n") == 1
    assert words in done.stderr


# ---- how much of a lie shows

# Leaves that feed no figure, no verdict and no part of the grade, as far as they can be changed
# unseen: what is recorded for people or for later rules, facts below the resolution of the condition
# that is recomputed from them, and the warmups' own CPU time.
MAY_PASS = re.compile("|".join([
    r"(clock|cpu_set|version|host_key|started_wall_ms|ended_wall_ms)",
    r"facts\.(before_build|after_timing)\.\w+\.(value|text|source)",
    r"conditions\.before_build\[\]\.seen",
    r"inventories\.(before_build|after_timing)\.(aggregate_pct\[\]|forks_per_second|n_procs|window_ns\[\])",
    r"observations\[\]\.(fifo|threads|max_rss_bytes|user_us|system_us|minor_faults|major_faults"
    r"|voluntary_switches|involuntary_switches|runner_cpu_ns|runner_delay_ns|runner_switches"
    r"|daemon_cpu_ns|daemon_switches|interval_cpu_ns)",
    r"sources\[\]\.(files|path_bytes)",  # the first of these by the bundle
    r"builds\[\]\.wall_ns",
    r"tools\[\]\.(name|version)",
    r"artifacts\[\]\.bytes",
]))


def test_every_change_of_a_leaf_is_caught_by_the_key_and_those_that_matter_without_it(sealed):
    done = subprocess.run([MUTATIONS, sealed.evidence], capture_output=True, text=True,
                          env=harness.CLEAN_ENV)
    print(done.stdout)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    totals = re.findall(r"^(\S+): (\d+) leaves, (\d+) caught with the key \S+ %\), (\d+) without",
                        done.stdout, re.M)
    assert [name for name, *_ in totals] == ["raw.json", "summary.json"]
    for _, leaves, by_key, _ in totals:
        assert int(leaves) > 300 and by_key == leaves
    assert totals[1][1] == totals[1][3], "a leaf of summary.json can be changed unseen"
    missed = re.findall(r"^missed raw\.json (\S+) (\d+)$", done.stdout, re.M)
    assert [path for path, _ in missed if not MAY_PASS.fullmatch(path)] == []
    warmups = sum(o["kind"] == "warmup" for o in sealed.daemon.raw(sealed.id)["observations"])
    assert int(dict(missed)["observations[].interval_cpu_ns"]) == warmups


# ---- the way back

def reproduce(daemon, evidence, folder, *args) -> dict:
    """Runs reproduce.sh against the daemon; the job that came of it."""
    env = {**harness.CLEAN_ENV, "HOME": str(folder), "AURABENCH_SOCKET": str(daemon.socket),
           "PATH": f"{harness.BUILD}:{harness.CLEAN_ENV['PATH']}"}
    done = subprocess.run(["sh", str(evidence / "reproduce.sh"), str(folder / "again"), *args, "--json"],
                          cwd="/", env=env, text=True, capture_output=True, timeout=harness.PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return daemon.finish(json.loads(done.stdout)["id"])


def test_reproduce_measures_the_same_commits_with_the_same_suite(sealed, copy, tmp_path):
    daemon = harness.Daemon(tmp_path, harness.FakeHost(tmp_path / "host2")).start()
    shown = reproduce(daemon, copy, tmp_path)
    assert shown["job"]["state"] == "done", shown["job"]
    again, first = daemon.raw(shown["job"]["id"]), sealed.daemon.raw(sealed.id)
    daemon.close()
    assert [s["commit"] for s in again["sources"]] == [s["commit"] for s in first["sources"]]
    assert [s["tree_sha256"] for s in again["sources"]] == [s["tree_sha256"] for s in first["sources"]]
    assert again["suite_sha256"] == first["suite_sha256"]
    assert again["policy"] == first["policy"] and again["plan"] == first["plan"]
    for member in ("label", "order", "exclude", "repetitions", "warmups", "allow_competing"):
        assert again["job"][member] == first["job"][member]


def test_reproduce_of_a_job_that_no_options_can_say(daemon, policy, tmp_path):
    repo = tmp_path / "repo"
    harness.make_repo(repo, {"one": {"lane": harness.LANE_SH}})
    suite = harness.make_suite(tmp_path / "s", [harness.protocol(
        {"a": {"command": ["{source}/lane"]}, "b": {"command": ["{source}/lane"]}})])
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)}, exclude=["tiny/b"],
                           sources={"here": {"repo": str(repo), "rev": "one"}}, order="sequential")
    first = daemon.finish(daemon.json("submit", job, "--policy", policy)["id"])
    shown = reproduce(daemon, daemon.evidence(first["job"]["id"]), tmp_path)
    assert shown["job"]["state"] == "done", shown["job"]
    again, was = daemon.raw(shown["job"]["id"]), daemon.raw(first["job"]["id"])
    assert again["plan"] == was["plan"] and again["suite_sha256"] == was["suite_sha256"]
    assert again["sources"][0]["commit"] == was["sources"][0]["commit"]


def test_reproduce_of_a_run(daemon, policy, tmp_path):
    id = daemon.json("run", "--policy", policy, "--repetitions", "2", "--no-wait", "--", "true")["id"]
    daemon.finish(id)
    shown = reproduce(daemon, daemon.evidence(id), tmp_path)
    assert shown["job"]["state"] == "done", shown["job"]
    assert daemon.raw(shown["job"]["id"])["workloads"] == daemon.raw(id)["workloads"]


def test_reproduce_makes_its_folder_and_takes_no_other(copy, tmp_path):
    (tmp_path / "there").mkdir()
    for args in ([], [tmp_path / "there"]):
        done = subprocess.run(["sh", copy / "reproduce.sh", *args], capture_output=True, text=True)
        assert done.returncode != 0 and done.stderr
