"""Authorized corrections: a side may be a base commit with exactly a diff that somebody allowed. The
daemon proves it; the report and the evidence say who allowed what and why; anything else is refused
with the first difference named, and no job is stored."""

import hashlib
import json
import re
import shutil
import subprocess

import pytest

import harness

# Neither base runs: their limit is text. The correction is one line, at another place in each.
PROGRAM = """#!/usr/bin/python3 -IS
{more}
#
#
import sys
limit = "20000"
print("READY tiny", flush=True)
assert sys.stdin.readline() == "GO tiny\\n"
total = sum(range(limit))
print("DONE tiny 42", flush=True)
sys.stdin.read()
"""
OLD = PROGRAM.format(more="# old")
NEW = PROGRAM.format(more="# new\n# and longer")
REASON = "the limit was text: range() refuses it"


def corrected(text: str) -> str:
    return text.replace('"20000"', 'int("20000")')


def commit_on(repo, base: str, branch: str, files: dict[str, str]) -> str:
    harness.git(repo, "checkout", "-q", "-b", branch, base)
    for name, text in files.items():
        (repo / name).write_text(text)
    harness.git(repo, "add", "-A")
    harness.git(repo, "commit", "-q", "-m", branch)
    return harness.git(repo, "rev-parse", "HEAD")


@pytest.fixture
def ids(tmp_path):
    repo = tmp_path / "repo"
    ids = harness.make_repo(repo, {"old": {"run.py": OLD}, "new": {"run.py": NEW}})
    for name, text in (("old", OLD), ("new", NEW)):
        ids["fixed-" + name] = commit_on(repo, name, "fixed-" + name, {"run.py": corrected(text)})
    return ids


@pytest.fixture
def repo(tmp_path, ids):
    return tmp_path / "repo"


@pytest.fixture
def allowed(tmp_path, repo):
    path = tmp_path / "allowed.diff"
    path.write_text(harness.git(repo, "diff", "old", "fixed-old") + "\n")
    return path


@pytest.fixture
def flags(repo, suite, policy, allowed):
    """The options of a comparison of two corrected commits; changes replace them, None leaves out."""

    def make(**changes) -> list:
        options = {"repo": repo, "suite": suite, "policy": policy, "before": "fixed-old",
                   "before-base": "old", "after": "fixed-new", "after-base": "new",
                   "allowed-diff": allowed, "approved-by": "Ada Example", "reason": REASON,
                   "repetitions": 1, "warmups": 0}
        options.update({name.replace("_", "-"): value for name, value in changes.items()})
        return ["compare"] + [word for name, value in options.items() if value is not None
                              for word in ("--" + name, value)]

    return make


def refused(daemon, words: list, code: str, field: str) -> str:
    """The sentence; nothing of the refused job is left in the daemon."""
    error = daemon.refused(*words)
    assert (error["code"], error["field"]) == (code, field), error
    assert daemon.sql("SELECT count(*) FROM jobs")[0][0] == 0
    assert list((daemon.state / "uploads").iterdir()) == []
    return error["message"]


# ---- a corrected comparison

@pytest.fixture
def done(daemon, flags):
    id = daemon.json(*flags())["id"]
    shown = daemon.finish(id)
    assert shown["job"]["state"] == "done", shown["job"]["error"]
    return id


def test_both_sides_are_proven_and_the_report_names_base_approver_reason_and_diff(
        daemon, done, ids, allowed):
    digest = hashlib.sha256(allowed.read_bytes()).hexdigest()
    raw = daemon.raw(done)
    for source, base in zip(raw["sources"], ("old", "new")):
        assert source["commit"] == ids["fixed-" + base]
        assert source["correction"] == {
            "base_commit": ids[base], "corrected": ids["fixed-" + base], "diff_sha256": digest,
            "files": 1, "lines_added": 1, "lines_removed": 1, "approved_by": "Ada Example",
            "reason": REASON, "proven": True}
    grade = daemon.summary(done)["grade"]
    assert next(p for p in grade["predicates"] if p["name"] == "corrections_proven")["status"] == "PASS"
    text = " ".join(daemon.run("report", done).stdout.split())
    for side, base in (("before", "old"), ("after", "new")):
        assert (f"{side}: base {ids[base]} + approved correction (1 line in 1 file, by Ada Example: "
                f"{REASON}), diff sha256 {digest}") in text
    log = daemon.log_of(done)
    assert f"proven to be {ids['old']} and exactly the diff that Ada Example allowed" in log


def test_what_was_proven_is_in_the_database(daemon, done, ids):
    rows = daemon.sql("SELECT side, base_commit, corrected, approved_by, reason, proven"
                      " FROM corrections ORDER BY side DESC")
    assert [tuple(r) for r in rows] == [
        (side, ids[base], ids["fixed-" + base], "Ada Example", REASON, 1)
        for side, base in (("before", "old"), ("after", "new"))]


def test_the_evidence_has_each_diff_and_all_four_commits(daemon, done, ids, repo, allowed):
    evidence = daemon.evidence(done)
    for side in ("before", "after"):
        assert (evidence / "corrections" / f"{side}.diff").read_bytes() == allowed.read_bytes()
    subprocess.run(["sha256sum", "-c", "--quiet", "--strict", "SHA256SUMS"], cwd=evidence, check=True)
    heads = harness.git(repo, "bundle", "list-heads", str(evidence / "commits.bundle"))
    assert {line.split()[0] for line in heads.splitlines()} == set(ids.values())


def test_the_commands_to_reproduce_carry_the_correction(daemon, done, tmp_path):
    evidence = daemon.evidence(done)
    env = {**harness.CLEAN_ENV, "HOME": str(tmp_path), "AURABENCH_SOCKET": str(daemon.socket),
           "PATH": f"{harness.BUILD}:{harness.CLEAN_ENV['PATH']}"}
    again = subprocess.run(["sh", evidence / "reproduce.sh", tmp_path / "again", "--json"], env=env,
                           text=True, capture_output=True, check=False)
    assert again.returncode == 0, again.stdout + again.stderr
    id = json.loads(again.stdout)["id"]
    assert daemon.finish(id)["job"]["state"] == "done"
    assert [s["correction"] for s in daemon.raw(id)["sources"]] == \
        [s["correction"] for s in daemon.raw(done)["sources"]]


def test_one_side_alone_may_be_corrected(daemon, repo, flags, ids):
    id = daemon.json(*flags(before="fixed-old", before_base=None))["id"]
    assert daemon.finish(id)["job"]["state"] == "done"
    first, second = daemon.raw(id)["sources"]
    assert first["correction"] is None and second["correction"]["base_commit"] == ids["new"]
    assert not (daemon.evidence(id) / "corrections" / "before.diff").exists()


def test_a_job_file_names_the_diff_beside_it(daemon, tmp_path, repo, suite, policy, ids, allowed):
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "a.diff").write_bytes(allowed.read_bytes())
    correction = {"base": "old", "diff": "a.diff", "approved_by": "Ada", "reason": "r"}
    job = harness.job_file(folder / "job.json", suite={"path": str(suite)}, sources={
        "before": {"repo": str(repo), "rev": "fixed-old", "correction": correction}})
    id = daemon.json("submit", job, "--policy", policy)["id"]
    assert daemon.finish(id)["job"]["state"] == "done", daemon.log_of(id)
    assert daemon.raw(id)["sources"][0]["correction"]["base_commit"] == ids["old"]
    assert (daemon.evidence(id) / "corrections" / "before.diff").read_bytes() == allowed.read_bytes()


def session_of(tmp_path, repo, suite, allowed, rev: str):
    """A session of two jobs; the second corrects "new" by the commit rev."""
    plain = {"schema": "aurabench.job.v1", "suite": {"path": str(suite)}, "repetitions": 1,
             "warmups": 0, "sources": {"before": {"repo": str(repo), "rev": "fixed-old"}}}
    fixed = json.loads(json.dumps(plain))
    fixed["sources"] = {"after": {"repo": str(repo), "rev": rev, "correction": {
        "base": "new", "diff": allowed.name, "approved_by": "Ada", "reason": "r"}}}
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": "0.3.4",
                                "jobs": [plain, fixed]}))
    return path


def test_the_jobs_of_a_session_may_be_corrected(daemon, tmp_path, repo, suite, policy, ids, allowed):
    path = session_of(tmp_path, repo, suite, allowed, "fixed-new")
    daemon.run("session", "open", path, "--policy", policy)
    jobs = [row["id"] for row in daemon.sql("SELECT id FROM jobs ORDER BY number")]
    assert [daemon.finish(id)["job"]["state"] for id in jobs] == ["done", "done"]
    assert daemon.raw(jobs[1])["sources"][0]["correction"]["proven"] is True


def test_a_session_with_a_wrong_correction_is_refused_whole(
        daemon, tmp_path, repo, suite, policy, allowed):
    commit_on(repo, "new", "sly", {"run.py": corrected(NEW), "cache.bin": "42\n"})
    path = session_of(tmp_path, repo, suite, allowed, "sly")
    message = refused(daemon, ["session", "open", path, "--policy", policy],
                      "source.correction_differs", "jobs[1].sources.after.correction")
    assert "in cache.bin" in message
    assert daemon.sql("SELECT count(*) FROM sessions")[0][0] == 0


# ---- verification, which needs no daemon

def verify(daemon, folder, check: int, *args) -> str:
    return daemon.run("verify", folder, *args, check=check).stdout


def mend(folder) -> None:
    """SHA256SUMS as they would be after the change."""
    lines = [line.split("  ", 1) for line in (folder / "SHA256SUMS").read_text().splitlines()]
    (folder / "SHA256SUMS").write_text("".join(
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for _, name in lines))


def test_verify_proves_the_corrections_again_and_notices_another_diff(daemon, done, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(daemon.evidence(done), copy)
    said = verify(daemon, copy, 0, "--key", daemon.state / "host.pub")
    assert re.search(r"PASS +corrections +2 allowed diffs as raw.json has them", said), said
    assert re.search(r"PASS +bundle ", said), said
    (copy / "corrections" / "after.diff").write_text("another\n")
    mend(copy)
    said = verify(daemon, copy, 1, "--ignore-signature")
    assert re.search(r"FAIL +corrections +corrections/after.diff is missing or not the diff", said)


def test_verify_proves_base_and_diff_in_the_bundle(daemon, done, tmp_path):
    """A diff that was exchanged everywhere still does not lead from the base to the commit."""
    copy = tmp_path / "copy"
    shutil.copytree(daemon.evidence(done), copy)
    diff = copy / "corrections" / "after.diff"
    old, old_digest = diff.read_text(), hashlib.sha256(diff.read_bytes()).hexdigest()
    new = old.replace("int(", "abs(")
    for name in ("raw.json", "job.json"):
        document = json.loads((copy / name).read_text())
        job = document.get("job", document)
        for side in job["sources"].values():
            side["correction"]["diff"] = new
            side["correction"]["diff_sha256"] = hashlib.sha256(new.encode()).hexdigest()
        text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        (copy / name).write_text(
            text.replace(old_digest, hashlib.sha256(new.encode()).hexdigest()) + "\n")
    for side in ("before", "after"):
        (copy / "corrections" / f"{side}.diff").write_text(new)
    mend(copy)
    said = verify(daemon, copy, 1, "--ignore-signature")
    assert re.search(r"PASS +corrections ", said), said
    assert re.search(r"FAIL +bundle +side before: \w+ is not \w+ with exactly the allowed diff", said), said


# ---- refusals

def test_a_faster_line_beside_the_correction_is_refused_and_named(daemon, repo, flags):
    commit_on(repo, "new", "sly", {"run.py": corrected(NEW).replace("sum(range(limit))", "42")})
    message = refused(daemon, flags(after="sly"), "source.correction_differs",
                      "sources.after.correction")
    assert re.search(r"in run\.py, @@ -\d+,\d+ \+\d+,\d+ @@, the commit has "
                     r'"-total = sum\(range\(limit\)\)"', message), message


def test_another_file_beside_the_correction_is_refused_and_named(daemon, repo, flags):
    commit_on(repo, "old", "sly", {"run.py": corrected(OLD), "cache.bin": "42\n"})
    message = refused(daemon, flags(before="sly"), "source.correction_differs",
                      "sources.before.correction")
    assert "in cache.bin, " in message and "new file mode 100644" in message


def test_a_correction_that_is_not_all_there_is_refused(daemon, repo, flags, allowed):
    commit_on(repo, "new", "half", {"README": "x\n"})
    message = refused(daemon, flags(after="half"), "source.correction_differs",
                      "sources.after.correction")
    assert "in README, " in message


def test_a_diff_for_another_text_is_refused_and_names_the_file(daemon, flags, allowed):
    allowed.write_text(allowed.read_text().replace('-limit = "20000"', '-limit = "30000"'))
    message = refused(daemon, flags(), "source.correction_unapplied", "sources.before.correction")
    assert "patch failed: run.py" in message


def test_a_commit_between_base_and_correction_is_refused(daemon, repo, flags):
    harness.git(repo, "checkout", "-q", "fixed-new")
    harness.git(repo, "commit", "-q", "--allow-empty", "-m", "more")
    message = refused(daemon, flags(after="fixed-new"), "source.correction_parent",
                      "sources.after.correction")
    assert "not the one parent" in message


@pytest.mark.parametrize("content, words", [
    (b"", "is empty"),
    (b"\xe9\n", "no UTF-8 text"),
    (b"a\0b\n", "no UTF-8 text"),
    (b"x" * 65537, "more than 65536 bytes"),
])
def test_a_file_that_is_no_diff_of_ours_is_refused_before_anything_is_sent(
        daemon, flags, allowed, content, words):
    allowed.write_bytes(content)
    assert words in refused(daemon, flags(), "source.correction_diff",
                            "sources.before.correction.diff")


def test_what_cannot_be_found_is_refused_by_name(daemon, flags, tmp_path):
    assert "none.diff" in refused(daemon, flags(allowed_diff=tmp_path / "none.diff"), "system.open",
                                  "sources.before.correction.diff")
    assert "v9" in refused(daemon, flags(after_base="v9"), "source.unresolved",
                           "sources.after.correction.base")


@pytest.mark.parametrize("missing, option", [
    ({"allowed_diff": None}, "--allowed-diff"),
    ({"approved_by": None}, "--approved-by"),
    ({"reason": None}, "--reason"),
    ({"reason": ""}, "--reason"),
    ({"before_base": None, "after_base": None}, "--before-base"),
])
def test_the_options_of_a_correction_belong_together(daemon, flags, missing, option):
    refused(daemon, flags(**missing), "usage", option)


# ---- on the wire, where no client of ours has looked

def test_the_daemon_believes_no_client(daemon, done, ids, allowed):
    document = daemon.show(done)["document"]
    wire = daemon.connect()

    def submit(**changes) -> tuple:
        job = json.loads(json.dumps(document))
        job["id"] = "01J9Z3K4M5N6P7Q8R9S0T1V2W3"
        job["sources"]["before"]["correction"].update(changes)
        policy = json.loads((daemon.evidence(done) / "policy.json").read_text())
        error = wire.call("job.submit", job=job, policy=policy)["error"]["data"]
        return error["code"], error["field"]

    at = "sources.before.correction"
    nonsense = hashlib.sha256(b"nonsense").hexdigest()
    assert submit(diff=allowed.read_text() + " ") == ("job.bad", f"{at}.diff_sha256")
    assert submit(base_commit="0" * 40) == ("source.missing_commit", f"{at}.base_commit")
    assert submit(base_commit=ids["new"]) == ("source.correction_parent", at)
    assert submit(diff="nonsense", diff_sha256=nonsense) == ("source.correction_unapplied", at)
    assert submit(approved_by="") == ("json.missing", f"{at}.approved_by")
    wire.close()
    assert daemon.sql("SELECT count(*) FROM jobs")[0][0] == 1
