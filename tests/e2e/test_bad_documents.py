"""What is refused before a job exists: revisions, checkouts, suites, job files and policies that
cannot be measured. Each has its code, the field at fault and a sentence; no job is made."""

import json
import os
import shutil

import pytest

import harness


class Desk:
    """A daemon, a good repository, suite, job file and policy: each test breaks one thing."""

    def __init__(self, folder):
        self.folder = folder
        self.daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
        self.repo = folder / "repo"
        self.ids = harness.make_repo(self.repo, {"one": {"lane": harness.LANE_SH, "data": "1\n"},
                                                 "two": {"data": "2\n"}})
        self.workload = harness.protocol({"lane": {"command": ["{source}/lane"]}})
        self.suite = harness.make_suite(folder / "suite", [self.workload])
        self.policy = folder / "quick.json"
        self.policy.write_text(json.dumps(harness.quick_policy()))
        self.accepted = 0

    def compare(self, repo=None, before="one", after="two", suite=None, policy=None, *more) -> dict:
        """The error of a comparison that differs from a good one in these points."""
        return self.daemon.refused("compare", "--repo", repo or self.repo, "--before", before,
                                   "--after", after, "--suite", suite or self.suite,
                                   "--policy", policy or self.policy, *more)

    def finish(self, repo=None, policy=None, *more) -> dict:
        """The end of a comparison that is taken."""
        self.accepted += 1
        id = self.daemon.json("compare", "--repo", repo or self.repo, "--before", "one", "--after",
                              "two", "--suite", self.suite, "--policy", policy or self.policy,
                              "--repetitions", "1", *more)["id"]
        return self.daemon.finish(id)


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    d = Desk(tmp_path_factory.mktemp("desk"))
    yield d
    d.daemon.close()


def check(error: dict, code: str, field: str, status: int, *words: str) -> None:
    assert (error["code"], error["field"], error["exit"]) == (code, field, status), error
    for word in words:
        assert word in error["message"], error["message"]


# ---- revisions

@pytest.mark.parametrize("rev", ["no-such-tag", "0" * 40, "deadbee", "one:lane", "two..one", "-n"])
def test_a_revision_that_names_no_commit_is_unresolved(desk, rev):
    error = desk.daemon.refused("compare", "--repo", desk.repo, f"--before={rev}", "--after", "two",
                                "--suite", desk.suite, "--policy", desk.policy)
    check(error, "source.unresolved", "sources.before.rev", 4)


def test_a_short_id_of_two_commits_is_ambiguous(desk, tmp_path):
    repo = tmp_path / "many"
    harness.make_repo(repo, {"one": {"lane": harness.LANE_SH}})
    seen = {}
    tree = harness.git(repo, "rev-parse", "HEAD^{tree}")
    for n in range(5000):
        id = harness.git(repo, "commit-tree", tree, "-m", str(n))
        if id[:4] in seen:
            break
        seen[id[:4]] = id
    check(desk.compare(repo=repo, before=id[:4], after="one"), "source.ambiguous",
          "sources.before.rev", 2, id[:4], "name the full id")


def test_a_branch_with_the_name_of_a_commit_id_is_ambiguous(desk, tmp_path):
    repo = tmp_path / "branches"
    ids = harness.make_repo(repo, {"one": {"lane": harness.LANE_SH}, "two": {"data": "2\n"}})
    harness.git(repo, "update-ref", f"refs/heads/{ids['one']}", ids["two"])
    harness.git(repo, "branch", ids["one"][:7], "two")
    for name in (ids["one"], ids["one"][:7]):
        check(desk.compare(repo=repo, before=name), "source.ambiguous", "sources.before.rev", 2,
              "a branch or tag has the name of a commit id")


def test_a_branch_and_a_tag_of_one_name_are_ambiguous(desk, tmp_path):
    repo = tmp_path / "same-name"
    harness.make_repo(repo, {"one": {"lane": harness.LANE_SH}, "two": {"data": "2\n"}})
    harness.git(repo, "branch", "one", "two")
    check(desk.compare(repo=repo), "source.ambiguous", "sources.before.rev", 2, "one is ambiguous")


# ---- checkouts

def test_a_dirty_checkout_is_refused_with_its_files_unless_a_commit_is_named(desk, tmp_path):
    repo = tmp_path / "dirty"
    harness.make_repo(repo, {"one": {"lane": harness.LANE_SH, ".gitignore": "*.o\n"},
                             "two": {"data": "2\n"}})
    (repo / "data").write_text("changed\n")
    (repo / "new file").write_text("untracked\n")
    (repo / "fine.o").write_text("ignored\n")
    error = desk.compare(repo=repo, after="HEAD")
    check(error, "source.dirty", "sources.after.rev", 2, "data", "new file")
    assert "fine.o" not in error["message"]
    check(desk.compare(repo=repo, after="main"), "source.dirty", "sources.after.rev", 2)
    # By name of a commit it is no question what is measured.
    assert desk.finish(repo)["job"]["state"] == "done"


def test_what_is_no_checkout_is_refused(desk, tmp_path):
    bare, shallow = tmp_path / "bare.git", tmp_path / "shallow"
    harness.git(desk.repo, "clone", "-q", "--bare", desk.repo, bare)
    harness.git(desk.repo, "clone", "-q", "--depth", "1", f"file://{desk.repo}", shallow)
    (tmp_path / "plain").mkdir()
    for repo, code, status in ((bare, "source.bare", 2), (shallow, "source.shallow", 2),
                               (tmp_path / "plain", "source.not_a_repository", 4),
                               (tmp_path / "nothing", "source.not_a_repository", 4),
                               (desk.policy, "source.not_a_repository", 4)):
        check(desk.compare(repo=repo, after="HEAD", before="HEAD"), code, "sources.before.repo", status,
              str(repo))


def test_a_submodule_is_refused_by_name(desk, tmp_path):
    repo = tmp_path / "super"
    harness.make_repo(repo, {"one": {"lane": harness.LANE_SH}})
    harness.git(repo, "update-index", "--add", "--cacheinfo", f"160000,{desk.ids['one']},parts/lib")
    harness.git(repo, "commit", "-q", "-m", "sub")
    harness.git(repo, "tag", "sub")
    check(desk.compare(repo=repo, after="sub"), "source.submodule", "sources.after.rev", 2, "parts/lib")


# ---- suites

def changed(desk, tmp_path, change) -> object:
    """A copy of the good suite after change(document); what it returns is written in its place."""
    folder = tmp_path / "suite"
    shutil.copytree(desk.suite, folder)
    document = json.loads((folder / "suite.json").read_text())
    text = change(document)
    (folder / "suite.json").write_text(text if isinstance(text, str) else json.dumps(document))
    return folder


def lane(document) -> dict:
    return document["workloads"][0]["lanes"]["lane"]


LANE = "workloads[0].lanes.lane"
SUITES = {
    "unknown-key": (lambda d: d.update(colour="red"), "json.unknown_key", "colour"),
    "unknown-key-of-a-lane": (lambda d: lane(d).update(nice=1), "json.unknown_key", LANE + ".nice"),
    "duplicate-key": (lambda d: json.dumps(d)[:-1] + ', "name": "again"}', "json.duplicate_key", "name"),
    "duplicate-lane": (lambda d: json.dumps(d).replace(
        '"lanes": {', '"lanes": {"lane": {"command": ["x"]}, '), "json.duplicate_key", LANE),
    "wrong-type": (lambda d: d.update(name=7), "json.type", "name"),
    "wrong-type-of-a-command": (lambda d: lane(d).update(command="make all"), "json.type",
                                LANE + ".command"),
    "not-json": (lambda d: "{,}", "json.bad", "offset 1"),
    "cut-off": (lambda d: json.dumps(d)[:20], "json.bad", "offset 20"),
    "other-schema": (lambda d: d.update(schema="aurabench.suite.v9"), "json.schema", "schema"),
    "no-workloads": (lambda d: d.update(workloads=[]), "suite.bad", "workloads"),
    "no-name": (lambda d: d.pop("name") and None, "json.missing", "name"),
    "unknown-measure": (lambda d: d["workloads"][0].update(measure="vibes"), "json.value",
                        "workloads[0].measure"),
    "unknown-placeholder": (lambda d: lane(d).update(command=["{sauce}/lane"]),
                            "suite.unknown_placeholder", LANE + ".command[0]"),
    "shell-operator": (lambda d: lane(d).update(command=["cat", "x", "|", "sort"]),
                       "suite.shell_operator", LANE + ".command[2]"),
    "control-with-source": (lambda d: lane(d).update(control=True), "suite.control_source",
                            LANE + ".command"),
    "suite-build-with-source": (lambda d: d.update(suite_build=[["make", "-C", "{source}"]]),
                                "suite.control_source", "suite_build"),
    "two-line-record": (lambda d: d["workloads"][0].update(ready="READY\ntiny"), "suite.record",
                        "workloads[0].ready"),
    "startup-of-a-protocol-lane": (lambda d: lane(d).update(startup="lane"), "suite.startup",
                                   LANE + ".startup"),
    "not-yet": (lambda d: lane(d).update(fixture=["server"]), "suite.not_yet", LANE + ".fixture"),
}


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_that_breaks_a_rule_is_refused_at_its_field(desk, tmp_path, name):
    change, code, field = SUITES[name]
    suite = changed(desk, tmp_path, change)
    check(desk.compare(suite=suite), code, field, 2, f"{suite}/suite.json: ")


def test_a_suite_that_is_not_there_is_not_found(desk, tmp_path):
    for suite in (tmp_path, tmp_path / "none", "no-such-suite"):
        check(desk.compare(suite=suite), "suite.not_found", "suite", 4, "suite.json")


def test_a_suite_with_a_link_or_a_special_file_is_refused(desk, tmp_path):
    suite = changed(desk, tmp_path, lambda d: None)
    (suite / "link").symlink_to("/etc/passwd")
    check(desk.compare(suite=suite), "suite.link", "link", 2)
    (suite / "link").unlink()
    os.mkfifo(suite / "pipe")
    check(desk.compare(suite=suite), "suite.special_file", "pipe", 2)


def test_a_suite_that_uses_sources_needs_a_job_that_has_some(desk, tmp_path):
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(desk.suite)})
    check(desk.daemon.refused("submit", job, "--policy", desk.policy), "suite.needs_sources",
          "sources", 2, "lane lane of tiny uses {source}")

    def only_its_build(document):
        lane(document).update(command=["true"])
        document.update(build=[["make", "-C", "{source}"]])

    suite = changed(desk, tmp_path, only_its_build)
    job = harness.job_file(tmp_path / "job.json", suite={"path": str(suite)})
    check(desk.daemon.refused("submit", job, "--policy", desk.policy), "suite.needs_sources",
          "sources", 2, "build uses {source}")


# ---- job files

def job_of(desk, **members) -> dict:
    return {"schema": "aurabench.job.v1", "suite": {"path": str(desk.suite)},
            "sources": {"before": {"repo": str(desk.repo), "rev": "one"},
                        "after": {"repo": str(desk.repo), "rev": "two"}}, **members}


JOBS = {
    "unknown-key": ({"colour": "red"}, "json.unknown_key", "colour"),
    "wrong-type": ({"repetitions": "11"}, "json.type", "repetitions"),
    "fraction": ({"repetitions": 1.5}, "json.type", "repetitions"),
    "out-of-range": ({"repetitions": 0}, "json.range", "repetitions"),
    "unknown-order": ({"order": "random"}, "json.value", "order"),
    "window": ({"window": {"days": "mon-fri"}}, "json.missing", "window.from"),
    "bad-duration": ({"retry": {"every": "soon"}}, "json.value", "retry.every"),
    "no-revision": ({"sources": {"after": {"repo": "."}}}, "json.missing", "sources.after.rev"),
    "other-schema": ({"schema": "aurabench.job.v2"}, "json.schema", "schema"),
    "run-with-sources": ({"run": True}, "job.bad", "run"),
    "reserved-side": ({"sources": {"suite": {"repo": ".", "rev": "one"}}}, "job.bad", "sources.suite"),
    "unknown-policy": ({"policy": "lenient"}, "policy.not_found", "policy"),
    "excluded-lane-of-no-workload": ({"exclude": ["tiny/lame"]}, "job.bad", "exclude"),
    "excluded-lane-of-another-workload": ({"exclude": ["lane", "tinny/lane"]}, "job.bad", "exclude"),
}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_file_that_breaks_a_rule_is_refused_at_its_field(desk, tmp_path, name):
    members, code, field = JOBS[name]
    job = tmp_path / "job.json"
    job.write_text(json.dumps(job_of(desk, **members)))
    error = desk.daemon.refused("submit", job)
    check(error, code, field, 4 if code == "policy.not_found" else 2)
    # What stands in the file is found there; what only does not fit the rest is not its grammar.
    assert error["message"].startswith(f"{job}: ") or field in ("policy", "exclude")


def test_a_job_file_with_a_duplicate_key_is_refused(desk, tmp_path):
    job = tmp_path / "job.json"
    job.write_text(json.dumps(job_of(desk))[:-1] + ', "suite": {"path": "/"}}')
    check(desk.daemon.refused("submit", job), "json.duplicate_key", "suite", 2)


def test_the_daemon_checks_exclusions_itself(desk):
    """Whatever client sends the job."""
    document = desk.daemon.show(desk.finish()["job"]["id"])["document"]
    wire = desk.daemon.connect()
    for exclude, at in ((["tiny/lame"], 0), (["lane", "tinny/lane"], 1)):
        document.update(id="01J9Z3ABCDEFGHJKMNPQRSTVWX", exclude=exclude)
        answer = wire.call("job.submit", job=document, policy=harness.quick_policy())
        assert answer["error"]["data"] == {"code": "job.bad", "field": f"exclude[{at}]"}
    wire.close()


def test_every_lane_excluded_leaves_nothing_to_measure(desk):
    error = desk.finish(None, None, "--exclude", "lane")["job"]["error"]
    assert (error["code"], error["field"]) == ("job.nothing_to_measure", "exclude")


# ---- policies

POLICIES = {
    "unknown-key": ({"colour": "red"}, "json.unknown_key", "colour"),
    "unknown-condition": ({"conditions": {"moon": {"mode": "require"}}}, "json.unknown_key",
                          "conditions.moon"),
    "wrong-type": ({"settle": 10}, "json.type", "settle"),
    "unknown-mode": ({"conditions": {"swap": {"mode": "maybe"}}}, "json.value", "conditions.swap.mode"),
    "waiver-without-reason": ({"conditions": {"swap": {"mode": "waive"}}}, "policy.waiver",
                              "conditions.swap.reason"),
    "limit-where-there-is-none": ({"conditions": {"swap": {"mode": "require", "limit": 1}}},
                                  "policy.bad", "conditions.swap.limit"),
    "relative-path": ({"path": "bin:/usr/bin"}, "policy.bad", "path"),
    "shipped-name": ({"name": "standard", "margin": 0.5}, "policy.reserved_name", "name"),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_breaks_a_rule_is_refused_at_its_field(desk, tmp_path, name):
    changes, code, field = POLICIES[name]
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps({"schema": "aurabench.policy.v1", "name": "mine", **changes}))
    check(desk.compare(policy=policy), code, field, 2, f"{policy}: ")


def test_a_policy_with_a_duplicate_key_is_refused(desk, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text('{"schema": "aurabench.policy.v1", "name": "mine", "margin": 0.1, "margin": 0}')
    check(desk.compare(policy=policy), "json.duplicate_key", "margin", 2)


def test_cpus_that_the_host_lacks_end_the_job(desk, tmp_path):
    policy = tmp_path / "policy.json"
    policy.write_text(json.dumps(harness.quick_policy(cpu_set=["4095"])))
    error = desk.finish(None, policy)["job"]["error"]
    assert (error["code"], error["field"]) == ("policy.cpu_set", "cpu_set")
    assert "CPU 4095" in error["text"]


def test_nothing_that_was_refused_became_a_job_and_a_good_one_is_taken(desk):
    """Stands last: it counts."""
    assert len(desk.daemon.json("list")["jobs"]) == desk.accepted
    assert desk.finish()["job"]["state"] == "done"
