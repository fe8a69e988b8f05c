"""The rules of the house that a reader relies on: ranks of includes, sizes, format, no leaks of
how or where we work. Each rule has a test in which it refuses."""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# A module may include its own rank's folder and the folders named here.
MAY_INCLUDE = {
    "base": {"base"},
    "core": {"core", "base"},
    "proto": {"proto", "core", "base"},
    "store": {"store", "proto", "core", "base"},
    "host": {"host", "proto", "core", "base"},
    "source": {"source", "proto", "core", "base"},
    "run": {"run", "proto", "core", "base"},
    "evidence": {"evidence", "proto", "core", "base"},
    "report": {"report", "proto", "core", "base"},
    "sched": {"sched", "store", "host", "source", "run", "evidence", "report", "proto", "core", "base"},
    "api": {"api", "sched", "store", "host", "source", "evidence", "report", "proto", "core", "base"},
    "server": {"server", "api", "proto", "core", "base"},
    "client": {"client", "proto", "core", "base"},
    # workloads/portable-kernel: the language stands alone, its driver is a program of this product.
    "lang": {"lang"},
    "driver": {"driver", "lang", "proto", "core", "base"},
    "wasm": {"lang", "core", "base"},
}
# core is pure: of base it may use only what touches no system call.
CORE_MAY_USE_OF_BASE = {"base/arena.h", "base/buf.h", "base/err.h", "base/mem.h"}
CORE_FORBIDDEN = re.compile(r"<(uv|sqlite3|cjson/cJSON|fcntl|time|pthread|sys/\w+|unistd)\.h>")
LINES_MAX = 600


def tracked(*patterns: str) -> list[str]:
    out = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, check=True, capture_output=True
    ).stdout
    return [name for name in out.decode().split("\0") if name and (ROOT / name).is_file()]


def folder_of(path: str) -> str:
    parts = pathlib.PurePath(path).parts
    if parts[0] == "daemon":
        return parts[1] if len(parts) > 2 else "daemon"
    if parts[:2] == ("workloads", "portable-kernel"):
        return parts[2]
    return parts[0]


def include_faults(path: str, text: str) -> list[str]:
    home = folder_of(path)
    allowed = MAY_INCLUDE.get(home)
    faults = []
    for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', text, re.M):
        target = header.split("/")[0] if "/" in header else None
        if target is None:
            faults.append(f'{path}: "{header}" has no folder')
        elif allowed is not None and target not in allowed:
            faults.append(f"{path}: {home} may not include {header}")
        elif home == "core" and target == "base" and header not in CORE_MAY_USE_OF_BASE:
            faults.append(f"{path}: core is pure and may not include {header}")
    if home in ("core", "lang"):
        faults += [f"{path}: {home} is pure and may not include {m.group(0)}"
                   for m in CORE_FORBIDDEN.finditer(text)]
    return faults


def c_sources() -> list[str]:
    return [p for p in tracked("core/*", "proto/*", "daemon/*", "client/*",
                                      "workloads/portable-kernel/*") if p.endswith((".c", ".h"))]


def test_includes_follow_the_ranks():
    faults = [f for p in c_sources() for f in include_faults(p, (ROOT / p).read_text())]
    assert faults == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("core/x.c", '#include "proto/json/json.h"\n'),
        ("core/x.c", "#include <sqlite3.h>\n"),
        ("core/x.c", '#include "base/files.h"\n'),
        ("daemon/store/x.c", '#include "host/host.h"\n'),
        ("daemon/api/x.c", '#include "server/server.h"\n'),
        ("client/x.c", '#include "store/store.h"\n'),
        ("proto/x.c", '#include "json.h"\n'),
        ("workloads/portable-kernel/lang/x.c", '#include "base/mem.h"\n'),
        ("workloads/portable-kernel/lang/x.c", "#include <unistd.h>\n"),
    ],
)
def test_includes_against_the_ranks_are_refused(path, text):
    assert include_faults(path, text)


def long_files(paths, read) -> list[str]:
    return [p for p in paths if read(p).count("\n") > LINES_MAX]


def test_files_stay_small():
    paths = [p for p in tracked("*.c", "*.h", "*.py", "*.def") if not p.startswith("tests/fixtures")]
    assert long_files(paths, lambda p: (ROOT / p).read_text()) == []


def test_a_long_file_is_refused():
    assert long_files(["x.c"], lambda _: "\n" * (LINES_MAX + 1)) == ["x.c"]


def format_faults(paths: list[pathlib.Path]) -> set[str]:
    run = subprocess.run(
        ["clang-format", "--dry-run", "--Werror", f"--style=file:{ROOT / '.clang-format'}", *map(str, paths)],
        capture_output=True, text=True,
    )
    return {line.split(":")[0] for line in run.stderr.splitlines() if ": error:" in line}


def test_c_is_formatted():
    paths = [ROOT / p for p in tracked("*.c", "*.h") if not p.startswith("tests/fixtures")]
    assert format_faults(paths) == set()


def test_bad_format_is_refused(tmp_path):
    bad, good = tmp_path / "bad.c", tmp_path / "good.c"
    bad.write_text("int  main( void ){return 0 ;}\n")
    good.write_text("int zero;\n")
    assert format_faults([bad, good]) == {str(bad)}


# Written so that this file does not match itself.
LEAKS = re.compile("|".join(["(^|[^A-Za-z0-9_.-])/" + "work/", "/tmp/bash" + "_jobs", "sub" + "agent"]))


def test_no_path_of_a_developers_machine_is_committed():
    faults = []
    for path in tracked("*"):
        data = (ROOT / path).read_bytes()
        if b"\0" not in data and LEAKS.search(data.decode("utf-8", "replace")):
            faults.append(path)
    assert faults == []


def test_a_path_of_a_developers_machine_is_refused():
    assert LEAKS.search("see /" + "work/main")


def test_migrations_are_embedded_in_order():
    names = sorted(p for p in tracked("db/migrations/*.sql"))
    assert names, "there are no migrations"
    numbers = [int(pathlib.PurePath(n).name[:4]) for n in names]
    assert numbers == list(range(1, len(numbers) + 1))


def test_scripts_are_executable():
    out = subprocess.run(["git", "ls-files", "-s", "--", "script", ".ci/run"], cwd=ROOT, check=True,
                         capture_output=True, text=True).stdout
    assert out and all(line.startswith("100755") for line in out.splitlines())
