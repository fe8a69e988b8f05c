"""The suite executable-size beyond what all suites must do: profiles as sides, a program that is absent on one
of them, the gate on growth, what may be inside a program, and that it needs no tools to run."""

import json
import subprocess

import pytest

import harness
from test_suite_shipped import WORKLOADS, check, make_demo

SUITE = WORKLOADS / "executable-size"
PROGRAMS = ("hello", "json_values", "tls_roundtrip")


def recorded(folder) -> None:
    """The suite with the bytes that this host's compiler makes, so that no other is asked for."""
    out = folder.parent / "recorded"
    subprocess.run(["make", "-s", "-C", str(SUITE / "subject"), f"OUT={out}"], check=True,
                   capture_output=True, env=harness.CLEAN_ENV)
    text = subprocess.run(["/usr/bin/python3", "-B", str(SUITE / "make_suite.py"), "--record", str(out)],
                          check=True, capture_output=True, text=True, env=harness.CLEAN_ENV).stdout
    subprocess.run(["cp", "-r", str(SUITE), str(folder)], check=True)
    (folder / "suite.json").write_text(text)


def measure(daemon, policy, tmp_path, change=lambda job: None) -> dict:
    job = json.loads((SUITE / "demo/profiles.json").read_text())
    job.update(suite={"path": str(tmp_path / "suite")}, repetitions=1, warmups=0)
    for source in job["sources"].values():
        source["repo"] = str(tmp_path / "repo")
    change(job)
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job))
    return daemon.finish(daemon.json("submit", path, "--policy", policy)["id"])["job"]


def commit(repo, name: str, old: str, new: str) -> None:
    path = repo / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    harness.git(repo, "commit", "-qam", "change")
    harness.git(repo, "tag", "changed")


def with_changed(job) -> None:
    """One side, of the revision that the test has made."""
    job["sources"] = {"default": {**job["sources"]["default"], "rev": "changed"}}
    del job["pairs"]


def test_profiles_are_sides_and_a_program_that_one_lacks_is_absent_there(daemon, policy, tmp_path):
    recorded(tmp_path / "suite")
    make_demo("executable-size", tmp_path / "repo")
    shown = measure(daemon, policy, tmp_path)
    assert shown["state"] == "done", shown["error"]
    raw, summary = daemon.raw(shown["id"]), daemon.summary(shown["id"])
    assert {w["name"]: w["absent_sides"] for w in raw["workloads"] if w["absent_sides"]} == {
        "tls_roundtrip": ["before"], "tls_roundtrip_run": ["before"]}
    weighed = {(o["workload"], o["lane"], o["side"]): o["values"][0]["value"]
               for o in raw["observations"] if o.get("values")}
    built = {(a["path"], a["side"]): a["bytes"] for a in raw["artifacts"]}
    for name in PROGRAMS:
        for side in ("before", "default", "tuned"):
            assert weighed.get((name, "c", side)) == built.get((name, side))
        assert weighed[name, "own", "tuned"] == weighed[name, "c", "default"]
    assert ("tls_roundtrip", "c", "before") not in weighed
    changes = {(c["workload"], c["subject"]["side"], c["reference"]["side"]): c["value_verdict"]
               for c in summary["value_comparisons"]
               if c["kind"] == "sides" and c["subject"]["lane"] == "c"}
    assert {name for name, *pair in changes if pair == ["tuned", "default"]} == set(PROGRAMS)
    assert {name for name, *pair in changes if pair == ["default", "before"]} == set(PROGRAMS[:2])
    assert all(verdict == "LESS" for (_, *pair), verdict in changes.items()
               if pair == ["tuned", "default"])
    growth = {(r["workload"], r["side"]): p["status"] for r in summary["grade"]["rows"]
              for p in r["predicates"] if (p["name"], r["lane"]) == ("growth_within", "c")}
    assert growth == {(name, side): "NOT_APPLICABLE" if (name, side) not in built else "PASS"
                      for name in PROGRAMS for side in ("before", "default", "tuned")}
    report = daemon.run("report", shown["id"]).stdout
    assert "tls_roundtrip: absent on before" in report


def test_a_program_that_grows_by_more_than_a_tenth_fails_the_gate(daemon, policy, tmp_path):
    recorded(tmp_path / "suite")
    make_demo("executable-size", tmp_path / "repo")
    commit(tmp_path / "repo", "hello.c", "int main(void)\n{\n",
           "static volatile char more[8192] = {1};\n\nint main(void)\n{\n    more[1] = more[0];\n")
    shown = measure(daemon, policy, tmp_path, with_changed)
    assert shown["state"] == "done", shown["error"]
    growth = {r["workload"]: p["status"] for r in daemon.summary(shown["id"])["grade"]["rows"]
              for p in r["predicates"] if (p["name"], r["lane"]) == ("growth_within", "c")}
    assert growth == {"hello": "FAIL", "json_values": "PASS", "tls_roundtrip": "PASS"}


@pytest.mark.parametrize(("change", "code", "words"), [
    (("Makefile", "-Wl,--as-needed", "-Wl,--no-as-needed"), "lane.link_forbidden",
     "workload hello, lane c"),
    (("json_values.c", "runtime_json_sum(", "runtime_print("), "lane.link_missing",
     "lacks libcjson.so.1"),
])
def test_more_or_less_inside_than_there_should_be_is_refused(daemon, policy, tmp_path, change,
                                                             code, words):
    recorded(tmp_path / "suite")
    make_demo("executable-size", tmp_path / "repo")
    commit(tmp_path / "repo", *change)
    shown = measure(daemon, policy, tmp_path, with_changed)
    assert (shown["state"], shown["error"]["code"]) == ("failed", code)
    assert words in shown["error"]["text"]


def test_a_program_that_calls_a_tool_fails_with_tools_out_of_sight(tmp_path):
    make_demo("executable-size", tmp_path / "source")
    hello = tmp_path / "source/hello.c"
    hello.write_text(hello.read_text().replace("int main(void)\n{\n", "#include <stdlib.h>\n\nint main(void)\n{\n"
                                               "    if (system(\"cc --version >/dev/null 2>&1\") != 0)\n"
                                               "        return 9;\n"))
    done = check(SUITE, tmp_path / "source", tmp_path / "out")
    lines = {line.split()[1]: line for line in done.stdout.splitlines()}
    assert lines["hello_run/c"].startswith("FAIL") and "exit status 9" in lines["hello_run/c"]
    assert all(line.startswith("pass") for name, line in lines.items() if name != "hello_run/c")
    assert subprocess.run([tmp_path / "out/hello"], capture_output=True).stdout == b"hello\n"
