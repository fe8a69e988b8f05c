"""Receipts of kernels in the daemon's store: taken in, listed, shown, and compared when they are alike."""

import copy
import json
import pathlib

import harness
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "workloads/portable-kernel/example"
FIXTURES = ROOT / "tests/fixtures/kernel"
MEASURE = ["kernel", EXAMPLE / "reducer.pk", "--entry", "reduce", "--input", EXAMPLE / "reducer-input.json",
           "--iterations", "20", "--compile-iterations", "3"]


def refusal(daemon, status: int, *args) -> dict:
    done = daemon.run("kernel", "--json", *args, check=status)
    assert done.stderr.startswith("aurabench: ") and done.stderr.count("\n") == 1
    return json.loads(done.stdout)["error"]


def variant(tmp_path: pathlib.Path, name: str, change, source="native.json") -> pathlib.Path:
    document = json.loads((FIXTURES / source).read_text())
    change(document)
    path = tmp_path / name
    path.write_text(json.dumps(document))
    return path


def test_a_measured_receipt_is_stored_listed_and_shown(daemon):
    made = daemon.json(*MEASURE, "--store")
    listed = daemon.json("kernel", "--list")["receipts"]
    assert [r["id"] for r in listed] == [made["id"]]
    assert listed[0]["entry"] == "reduce" and listed[0]["machine"] == made["receipt"]["provenance"]["machine"]
    shown = daemon.json("kernel", "--show", made["id"][-8:])
    assert shown["receipt"] == made["receipt"]
    assert "stored as" in daemon.run(*MEASURE, "--store").stdout
    text = daemon.run("kernel", "--list").stdout
    assert made["id"][-8:] in text and "reduce" in text
    assert "function reduce" in daemon.run("kernel", "--show", made["id"]).stdout


def test_the_machine_is_the_hosts_own(tmp_path):
    """The client tells a machine as the daemon does."""
    daemon = harness.Daemon(tmp_path).start()
    try:
        made = daemon.json(*MEASURE)
        assert made["receipt"]["provenance"]["machine"] == daemon.json("host")["host"]["id"]
    finally:
        daemon.close()


@pytest.mark.parametrize("name", ["native.json", "browser.json", "harn-native.json", "harn-browser.json"])
def test_receipts_of_both_schemas_and_targets_are_taken_in_once(name, daemon):
    first = daemon.json("kernel", "--import", FIXTURES / name, "--machine", "lab-3")
    again = daemon.json("kernel", "--import", FIXTURES / name)
    assert not first["duplicate"] and again == {**first, "duplicate": True}
    shown = daemon.json("kernel", "--show", first["id"])
    assert shown["receipt"] == json.loads((FIXTURES / name).read_text())
    own = shown["receipt"]["provenance"].get("machine")
    assert shown["machine"] == (own or "lab-3")


def test_receipts_outlive_the_daemon(daemon):
    made = daemon.json("kernel", "--import", FIXTURES / "native.json")
    daemon.stop()
    daemon.start()
    assert daemon.json("kernel", "--list")["receipts"][0]["id"] == made["id"]


def test_what_is_no_receipt_is_not_taken_in(daemon, tmp_path):
    bad = variant(tmp_path, "bad.json", lambda d: d["dispatch"].update(throughputPerSecond=1))
    error = refusal(daemon, 2, "--import", bad)
    assert error["code"] == "kernel.receipt" and str(bad) in error["message"]
    more = variant(tmp_path, "more.json", lambda d: d.update(note="x"))
    assert refusal(daemon, 2, "--import", more)["code"] == "json.unknown_key"
    assert daemon.json("kernel", "--list")["receipts"] == []


def test_the_daemon_checks_what_others_send(wire):
    text = (FIXTURES / "native.json").read_text()
    for params, code in (({"receipt": text.replace("500", "501", 1)}, "kernel.receipt"),
                         ({"receipt": "{}"}, "json.missing"), ({"receipt": text, "machine": ""}, "json.value"),
                         ({"receipt": text, "machine": "a\nb"}, "json.value"), ({"receipt": 7}, "json.type")):
        assert wire.call("kernel.put", **params)["error"]["data"]["code"] == code
    assert wire.call("kernel.list", before="nothing")["error"]["data"]["code"] == "kernel.not_found"


def test_receipts_that_are_not_there_are_named(daemon):
    assert refusal(daemon, 4, "--show", "01ZZZZZZ")["code"] == "kernel.not_found"
    assert refusal(daemon, 4, "--diff", FIXTURES / "native.json", "01ZZZZZZ")["code"] == "kernel.not_found"


def test_many_receipts_come_in_pages(daemon, tmp_path, wire):
    for i in range(5):
        daemon.run("kernel", "--import", variant(tmp_path, "r.json", lambda d: d.update(source=f"r{i}.pk")))
    page = wire.call("kernel.list", limit=2)["result"]
    assert [r["source"] for r in page["receipts"]] == ["r4.pk", "r3.pk"] and page["more"]
    page = wire.call("kernel.list", limit=2, before=page["receipts"][-1]["id"])["result"]
    assert [r["source"] for r in page["receipts"]] == ["r2.pk", "r1.pk"]
    assert [r["source"] for r in daemon.json("kernel", "--list")["receipts"]] == [f"r{i}.pk" for i in (4, 3, 2, 1, 0)]


# ---- like for like


def test_two_that_are_alike_are_compared_figure_by_figure(daemon, tmp_path):
    one, two = (daemon.json(*MEASURE, "--store")["id"] for _ in range(2))
    figures = {(f["phase"], f["figure"]): f for f in daemon.json("kernel", "--diff", one, two)["figures"]}
    assert figures["initialization", "whole"]["ratio"] is None
    first = figures["compile", "first"]
    assert first["ratio"] == pytest.approx(first["second"] / first["first"])
    text = daemon.run("kernel", "--diff", one, FIXTURES / "native.json", check=None)
    assert text.returncode == 2  # another machine
    file = FIXTURES / "native.json"
    assert "second/first" in daemon.run("kernel", "--diff", file, file).stdout


UNLIKE = {
    "targets": lambda d: d.update(target="browser"),
    "build profiles": lambda d: d["provenance"].update(buildProfile="debug"),
    "machines": lambda d: d["provenance"].update(machine="f" * 64),
    "architectures": lambda d: d["provenance"].update(arch="arm64"),
    "sources": lambda d: d["provenance"].update(sourceDigest="f" * 64),
    "inputs": lambda d: d["provenance"].update(inputDigest="f" * 64),
    "terminal values": lambda d: d.update(terminalDigest="f" * 64),
    "entries": lambda d: d.update(entry="other"),
    "workers": lambda d: d.update(workers=3),
}


@pytest.mark.parametrize("what", UNLIKE)
def test_what_is_not_alike_is_refused_in_one_sentence(what, tmp_path):
    other = variant(tmp_path, "other.json", UNLIKE[what])
    daemon = harness.Daemon(tmp_path)  # not started: files need none
    error = refusal(daemon, 2, "--diff", FIXTURES / "native.json", other)
    assert error["code"] == "kernel.unlike" and what in error["message"], error


def test_an_unknown_machine_is_like_no_other_until_somebody_names_it(tmp_path):
    daemon = harness.Daemon(tmp_path)
    harn = FIXTURES / "harn-native.json"
    assert "--machine NAME" in refusal(daemon, 2, "--diff", harn, harn)["message"]
    assert daemon.json("kernel", "--diff", harn, harn, "--machine", "lab-3")["figures"]
    assert "schemas" in refusal(daemon, 2, "--diff", harn, FIXTURES / "native.json", "--machine", "x")["message"]


@pytest.mark.parametrize("args", [
    ["--list", "--show", "X"], ["--list", "more"], ["--diff", "one"], ["--import", "f", "--store"],
    ["program", "--machine", "m", "--entry", "e", "--input", "i"], ["a", "b"], ["--diff", "a", "b", "--entry", "e"]])
def test_one_thing_is_done_at_a_time(args, tmp_path):
    assert refusal(harness.Daemon(tmp_path), 2, *args)["code"] == "usage"


def test_the_examples_differ_only_where_they_should():
    documents = {p.name: json.loads(p.read_text()) for p in FIXTURES.glob("*.json")}
    native, browser = copy.deepcopy(documents["native.json"]), documents["browser.json"]
    assert native.keys() == browser.keys() == documents["harn-native.json"].keys()
    jsonschema = pytest.importorskip("jsonschema")
    for name, document in documents.items():
        schema = json.loads((ROOT / "proto/schema" / ("kernel_harn.json" if "harn" in name else "kernel.json")).read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        validator.validate(document)
        for key in document:
            with pytest.raises(jsonschema.ValidationError):
                validator.validate({k: v for k, v in document.items() if k != key})
        with pytest.raises(jsonschema.ValidationError):
            validator.validate({**document, "note": 1})
