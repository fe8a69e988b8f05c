"""Fault points stand in one table, and are in builds for tests only. Each rule has a test in which it
refuses."""

import json
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AURABENCH_BUILD", ROOT / "build"))
TABLE = "daemon/base/fault.def"
IN_TABLE = re.compile(r'^FAULT\("([^"]+)", (\w+)\)', re.M)
# What a test may look for at run time is passed in, never composed.
IN_SOURCE = re.compile(r'FAULT_(?:POINT|ERROR)\(\s*"([^"]+)"\s*\)')


def sources() -> dict[str, str]:
    out = subprocess.run(["git", "ls-files", "-z", "--", "daemon/*.c", "client/*.c", "proto/*.c", "core/*.c"],
                         cwd=ROOT, check=True, capture_output=True).stdout
    return {name: (ROOT / name).read_text() for name in out.decode().split("\0")
            if name and (ROOT / name).is_file()}


def table_faults(table: str, texts: dict[str, str]) -> set[str]:
    listed = [name for name, _ in IN_TABLE.findall(table)]
    used = {name for text in texts.values() for name in IN_SOURCE.findall(text)}
    twice = {name for name in listed if listed.count(name) > 1}
    return (set(listed) ^ used) | twice


def test_the_table_lists_every_fault_point_once_and_no_other():
    assert table_faults((ROOT / TABLE).read_text(), sources()) == set()


def test_a_fault_point_that_is_not_listed_or_not_used_is_found():
    table = 'FAULT("a.b", attempt)\nFAULT("a.c", attempt)\nFAULT("a.c", attempt)\n'
    assert table_faults(table, {"x.c": 'FAULT_POINT("a.b"); FAULT_ERROR("a.d");'}) == {"a.c", "a.d"}


def preprocessed(switch: list[str]) -> str:
    """What the compiler sees of the files that pass fault points: the build's commands with this
    switch alone."""
    passing = {name for name, text in sources().items() if IN_SOURCE.search(text)}
    assert passing
    done, seen = set(), []
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = (BUILD / entry["file"]).resolve()
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""
        if name not in passing - done:
            continue
        done.add(name)
        words = [w for w in shlex.split(entry["command"])
                 if w not in ("-DAURABENCH_FAULTS", "-MD", "-c")]
        for option in ("-o", "-MF", "-MQ"):
            if option in words:
                del words[words.index(option):words.index(option) + 2]
        run = subprocess.run([*words, "-E", *switch], cwd=BUILD, check=True, capture_output=True, text=True)
        # Without the lines that say where a header lies.
        seen += [line for line in run.stdout.splitlines() if not line.startswith("#")]
    assert done == passing, f"not built: {passing - done}"
    return "\n".join(seen)


def names_in(text: str) -> set[str]:
    return {name for name, _ in IN_TABLE.findall((ROOT / TABLE).read_text()) if f'"{name}"' in text}


def test_no_fault_point_is_in_a_build_for_users():
    text = preprocessed([])
    assert names_in(text) == set()
    assert not re.search(r"\bfault_(point|error|runner|tell|environment)\b|AURABENCH_FAULT", text)
    assert re.search(r"option\('faults', type: 'boolean', value: false",
                     (ROOT / "meson_options.txt").read_text())
    assert "faults" not in (ROOT / "script/build").read_text()


def test_fault_points_are_found_in_a_build_for_tests():
    assert names_in(preprocessed(["-DAURABENCH_FAULTS"])) == {n for n, _ in IN_TABLE.findall(
        (ROOT / TABLE).read_text())}
