"""Checking a sealed session without a daemon: what is honest passes, every kind of damage and lie is
named, with the key of the host and, where it shows, without."""

import hashlib
import json
import pathlib
import shutil

import pytest

import harness
from test_verify import canonical, client, failures, mend_sums, set_in, verify


class Sealed:
    """A closed session of two jobs, one of which compares, and a session of another label."""

    def __init__(self, folder: pathlib.Path):
        self.daemon = harness.Daemon(folder, harness.FakeHost(folder / "host")).start()
        self.repo = folder / "repo"
        harness.make_repo(self.repo, {"slow": {"run.py": harness.lane_program(40000)},
                                      "fast": {"run.py": harness.lane_program(2000)}})
        self.suite = harness.tiny_suite(folder / "suite")
        self.policy = folder / "quick.json"
        self.policy.write_text(json.dumps(harness.quick_policy()))
        self.folder = folder
        sides = {side: {"repo": str(self.repo), "rev": rev} for side, rev in (("before", "slow"), ("after", "fast"))}
        self.evidence, self.attempts = self.seal("0.3.4", [self.job("pair", sources=sides),
                                                           self.job("one", sources={"here": sides["after"]})])
        self.foreign, [self.stranger] = self.seal("0.3.5", [self.job("one", sources={"here": sides["after"]})])
        self.key = self.daemon.state / "host.pub"

    def job(self, label: str, **members) -> dict:
        return {"schema": "aurabench.job.v1", "label": label, "repetitions": 2, "warmups": 0,
                "suite": {"path": str(self.suite)}, **members}

    def seal(self, label: str, jobs: list[dict]) -> tuple[pathlib.Path, list[str]]:
        path = self.folder / "session.json"
        path.write_text(json.dumps({"schema": "aurabench.session.v1", "label": label, "jobs": jobs}))
        for id in self.daemon.json("session", "open", path, "--policy", self.policy)["jobs"]:
            assert self.daemon.finish(id)["job"]["state"] == "done"
        closed = json.loads(self.daemon.run("session", "close", label, "--json").stdout)
        shown = json.loads(self.daemon.run("session", "show", label, "--json").stdout)
        return pathlib.Path(closed["evidence"]), [j["report"]["attempt"] for j in shown["jobs"]]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    s = Sealed(tmp_path_factory.mktemp("sealed"))
    yield s
    s.daemon.close()


@pytest.fixture
def copy(sealed, tmp_path):
    """The evidence on another machine, to be damaged."""
    return pathlib.Path(shutil.copytree(sealed.evidence, tmp_path / "copy"))


def edit(path: pathlib.Path, change) -> None:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(canonical(document))


def sha256(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---- what is honest

def test_a_sealed_session_verifies_on_another_machine(sealed, copy):
    lines = verify(copy, "--key", sealed.key)
    assert {status for status, _ in lines.values()} == {"PASS"}, lines
    assert set(lines) == {"sums", "files", "session", "reports", "signature", "maker", "raw", "link", "summary",
                          "grade", "names", "plan", "observations", "ledgers", "sources", "inventories", "conditions",
                          "member", "key", "record"}
    assert "2 jobs" in lines["session"][1] and "2, all named" in lines["reports"][1]
    text = client("verify", copy, "--key", sealed.key).stdout
    for attempt in sealed.attempts:
        assert f"{attempt}: recomputed" in text
    assert text.splitlines()[-1].startswith("verified: ")


def test_without_a_key_the_maker_of_a_session_is_not_shown(copy):
    assert {check: status for check, (status, _) in verify(copy).items() if status != "PASS"} == {"maker": "UNKNOWN"}


def test_covers_asks_a_report_and_no_session(copy):
    done = client("verify", copy, "--covers", "HEAD")
    assert done.returncode == 2 and "--covers asks one report" in done.stderr and done.stdout == ""


# ---- damage

def test_a_figure_that_was_changed(sealed, copy):
    edit(copy / "reports" / sealed.attempts[0] / "summary.json", set_in("workloads.0.rows.0.wall.median_ns", 1))
    assert "was changed since" in failures(copy)["files"]
    mend_sums(copy)
    found = failures(copy, "--ignore-signature")
    assert set(found) == {"summary"} and sealed.attempts[0] in found["summary"]
    found = failures(copy, "--key", sealed.key)
    assert set(found) == {"summary", "signature"} and "does not fit SHA256SUMS" in found["signature"]


def test_an_observation_that_was_changed_with_all_that_follows(sealed, copy):
    folder = copy / "reports" / sealed.attempts[0]

    def faster(raw):
        timed = next(o for o in raw["observations"] if o["kind"] == "timed")
        timed["elapsed_ns"] -= 1
    edit(folder / "raw.json", faster)
    edit(folder / "summary.json", set_in("raw_report.sha256", sha256(folder / "raw.json")))
    mend_sums(copy)
    found = failures(copy, "--ignore-signature")
    assert "not the time from GO to DONE" in found["observations"]
    assert "another raw.json" in found["member"] and "recomputed" in found["summary"]


def test_a_summary_of_another_raw_report(sealed, copy):
    edit(copy / "reports" / sealed.attempts[1] / "summary.json", set_in("raw_report.sha256", "0" * 64))
    mend_sums(copy)
    assert "another raw.json" in failures(copy, "--ignore-signature")["link"]


def test_a_better_grade_in_a_summary(sealed, copy):
    edit(copy / "reports" / sealed.attempts[1] / "summary.json", set_in("grade.value", "contractual"))
    mend_sums(copy)
    assert set(failures(copy, "--ignore-signature")) == {"summary", "grade"}


def test_a_raw_report_that_is_not_canonical(sealed, copy):
    raw = copy / "reports" / sealed.attempts[0] / "raw.json"
    raw.write_text(raw.read_text().replace('"boot_id_after":', '"boot_id_after": ', 1))
    mend_sums(copy)
    assert "is not canonical" in failures(copy, "--ignore-signature")["raw"]


@pytest.mark.parametrize("damage", [lambda p: p.unlink(), lambda p: p.write_text("{")],
                         ids=["gone", "no report"])
def test_a_raw_report_that_cannot_be_read(sealed, copy, damage):
    damage(copy / "reports" / sealed.attempts[0] / "raw.json")
    mend_sums(copy)
    assert sealed.attempts[0] in failures(copy, "--ignore-signature")["raw"]


def test_a_report_that_was_removed(sealed, copy):
    shutil.rmtree(copy / "reports" / sealed.attempts[1])
    assert "is missing" in failures(copy)["files"]
    mend_sums(copy)
    assert failures(copy, "--ignore-signature") == {"reports": f"reports/{sealed.attempts[1]} is missing"}
    assert "signature" in failures(copy, "--key", sealed.key)


@pytest.mark.parametrize("name", ["reports", "reports/{}"])
def test_no_link_is_followed_to_a_report(sealed, copy, tmp_path, name):
    path = copy / name.format(sealed.attempts[0])
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    found = failures(copy)
    assert set(found) == {"files", "reports"} and "is missing" in found["reports"]


def test_all_reports_removed(copy):
    shutil.rmtree(copy / "reports")
    mend_sums(copy)
    assert set(failures(copy, "--ignore-signature")) == {"reports"}


@pytest.mark.parametrize("name", ["more.txt", "raw.txt", "reports/more.txt", "reports/{}/more.txt",
                                  "reports/{}/deep/x", "suite/suite.json"])
def test_an_extra_file(sealed, copy, name):
    path = copy / name.format(sealed.attempts[0])
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    assert "is not listed in SHA256SUMS" in failures(copy)["files"]
    mend_sums(copy)
    assert "is no part of an evidence folder" in failures(copy, "--ignore-signature")["files"]


def test_a_report_that_session_json_does_not_name(sealed, copy):
    shutil.copytree(sealed.foreign / "reports" / sealed.stranger, copy / "reports" / sealed.stranger)
    mend_sums(copy)
    found = failures(copy, "--ignore-signature")
    assert set(found) == {"files", "reports"}
    assert found["reports"] == f"reports/{sealed.stranger} is not named in session.json"


def test_a_report_of_another_session_in_the_place_of_one(sealed, copy):
    place = copy / "reports" / sealed.attempts[1]
    shutil.rmtree(place)
    shutil.copytree(sealed.foreign / "reports" / sealed.stranger, place)
    mend_sums(copy)
    found = failures(copy, "--ignore-signature")
    assert found["member"] == f"{sealed.attempts[1]}: it belongs to another session"
    assert "signature" in failures(copy, "--key", sealed.key)


def test_a_report_of_another_job_in_the_place_of_one(sealed, copy):
    one, other = (copy / "reports" / a for a in sealed.attempts)
    shutil.rmtree(one)
    shutil.copytree(other, one)
    mend_sums(copy)
    assert f"it is of attempt {sealed.attempts[1]}" in failures(copy, "--ignore-signature")["member"]


def test_a_report_with_its_name_in_the_place_of_another_job(sealed, copy):
    """The record says of which job each report is."""
    def swap(record):
        one, other = record["jobs"]
        for member in ("report", "sealed"):
            one[member], other[member] = other[member], one[member]
    edit(copy / "session.json", swap)
    mend_sums(copy)
    assert "it is not of job" in failures(copy, "--ignore-signature")["member"]


def test_reports_that_name_another_key(sealed, copy):
    folder = copy / "reports" / sealed.attempts[1]
    edit(folder / "raw.json", set_in("host_key", "1" * 64))
    edit(folder / "summary.json", set_in("raw_report.sha256", sha256(folder / "raw.json")))
    mend_sums(copy)
    assert "another key than the first" in failures(copy, "--ignore-signature")["key"]


# ---- session.json

def another_hash(record: dict) -> None:
    for report in (record["jobs"][0]["report"], record["jobs"][0]["sealed"][0]):
        report["raw_sha256"] = "0" * 64


@pytest.mark.parametrize(("change", "check", "words"), [
    (set_in("session.label", "0.3.5"), "session", "of one session"),
    (set_in("session.opened_ms", 1), "member", "another thing of its session"),
    (set_in("session.opened_boot", "other"), "member", "another thing of its session"),
    (set_in("document.settle", "1m"), "member", "another thing of its session"),
    (set_in("document.boot", "same"), "member", "another thing of its session"),
    (set_in("document.window", 5), "session", "window"),
    (set_in("schema", "aurabench.session.v1"), "session", "schema must be"),
    (set_in("jobs", {}), "session", "jobs"),
    (set_in("jobs.0.id", "../../x"), "session", "jobs[0].id"),
    (set_in("jobs.0.label", "other"), "member", "it is not of job"),
    (set_in("jobs.0.report.attempt", "../../../../../../../etc"), "session", "must be a ULID"),
    (set_in("jobs.0.sealed", []), "session", "one of the job's sealed ones"),
    (set_in("jobs.0.sealed.0.attempt", "../x"), "session", "must be a ULID"),
    (set_in("jobs.0.sealed.0.raw_sha256", "0" * 64), "session", "one of the job's sealed ones"),
    (set_in("jobs.0.report.raw_sha256", "0" * 64), "session", "one of the job's sealed ones"),
    (another_hash, "member", "another raw.json"),
    (lambda r: r["jobs"][0]["sealed"].append(r["jobs"][0]["sealed"][0]), "session", "once only"),
    (lambda r: r["jobs"].pop(), "reports", "is not named in session.json"),
    (set_in("jobs.0.report.grade", "contractual"), "record", "its grade"),
    (set_in("jobs.0.report.line", "contractual"), "record", "its grade"),
    (set_in("jobs.0.report.boot", "other"), "record", "its boot"),
    (set_in("jobs.0.report.boot_label", "post-reboot"), "record", "its boot"),
    (set_in("jobs.0.report.started_ms", 1), "record", "when it began"),
])
def test_a_lie_in_session_json(copy, change, check, words):
    edit(copy / "session.json", change)
    mend_sums(copy)
    found = failures(copy, "--ignore-signature")
    assert words in found[check], found


def test_a_session_json_that_is_no_json_or_not_canonical(copy):
    path = copy / "session.json"
    text = path.read_text()
    path.write_text(text.replace('"jobs":', '"jobs": ', 1))
    mend_sums(copy)
    assert failures(copy, "--ignore-signature") == {"session": "session.json is not canonical"}
    path.write_text(text[:-10])
    mend_sums(copy)
    assert set(failures(copy, "--ignore-signature")) == {"session"}


def test_a_session_json_that_is_missing(copy):
    (copy / "session.json").unlink()
    mend_sums(copy)
    assert "raw" in failures(copy, "--ignore-signature")


# ---- who made it

def test_a_session_signed_with_another_key(sealed, copy, tmp_path):
    other = harness.Daemon(tmp_path / "other", harness.FakeHost(tmp_path / "host"))
    (tmp_path / "other").mkdir()
    other.start()
    key = other.state / "host.pub"
    other.close()
    found = failures(copy, "--key", key)
    assert set(found) == {"maker"} and "signed by key" in found["maker"]


def test_a_signature_of_another_session(sealed, copy):
    shutil.copy(sealed.foreign / "SHA256SUMS.sig", copy)
    assert "does not fit SHA256SUMS" in failures(copy)["signature"]


def test_a_signature_by_a_key_that_the_reports_do_not_name(sealed, copy):
    for attempt in sealed.attempts:
        folder = copy / "reports" / attempt
        edit(folder / "raw.json", set_in("host_key", "1" * 64))
        edit(folder / "summary.json", set_in("raw_report.sha256", sha256(folder / "raw.json")))
    text = (copy / "SHA256SUMS").read_bytes()
    mend_sums(copy)
    (copy / "SHA256SUMS").write_bytes(text)  # as it was signed
    assert "but the report names another key" in failures(copy)["signature"]


def test_a_signature_that_was_taken_from_a_session(sealed, copy):
    (copy / "SHA256SUMS.sig").unlink()
    assert "although the report says that it is signed" in failures(copy)["signature"]
    assert "nothing shows that the key made this" in failures(copy, "--key", sealed.key)["signature"]
