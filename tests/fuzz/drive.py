#!/usr/bin/env python3
"""Runs one fuzz target: drive.py PROGRAM (--runs N | --seconds N) [--schemas NAME,...]
[--samples PROGRAM] [--keep FOLDER] [--broken].

With --runs it is a test: the same inputs each time, begun with the committed corpus, and nothing is
kept but what broke. With --seconds and --keep, FOLDER/corpus grows from run to run and FOLDER/crashes
holds what broke. --broken turns the result round: the target is linked with a parser that was broken
on purpose, and it must be found. script/fuzz and `meson test --suite fuzz` call it.
"""

import argparse
import base64
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = HERE.parents[1] / "proto/schema"
INPUT_BYTES_MAX = 32768
# Of one input: a hang, on however slow a machine.
INPUT_SECONDS_MAX = 60
SHOWN_BYTES_MAX = 3000


@dataclasses.dataclass
class Result:
    name: str
    executions: int
    coverage: int
    accepted: int
    seconds: float
    crashes: list[pathlib.Path]
    output: str
    status: int

    @property
    def good(self) -> bool:
        return self.status == 0 and not self.crashes


def name_of(program: pathlib.Path) -> str:
    return program.name.removeprefix("fuzz_").split("-")[0]


# ---- dictionaries


def schema_words(node, words: set[str]) -> None:
    """Keys and words that a document may have, from its schema."""
    if isinstance(node, dict):
        words.update(node.get("properties", {}))
        words.update(w for w in [*node.get("enum", []), node.get("const")] if isinstance(w, str))
        for value in node.values():
            schema_words(value, words)
    elif isinstance(node, list):
        for value in node:
            schema_words(value, words)


def quoted(word: str) -> str:
    return '"' + "".join(c if c.isalnum() or c in " _.-/" else "".join(f"\\x{b:02x}" for b in c.encode())
                         for c in word) + '"'


def write_dictionary(name: str, schemas: list[str], path: pathlib.Path) -> None:
    words: set[str] = set()
    for schema in schemas:
        schema_words(json.loads((SCHEMAS / f"{schema}.json").read_text()), words)
    own = HERE / "dict" / f"{name}.dict"
    lines = [quoted(f'"{w}"') for w in sorted(words)]
    path.write_text((own.read_text() if own.exists() else "") + "\n".join(lines) + "\n")


# ---- a run


def run(program: pathlib.Path, schemas: list[str], samples: pathlib.Path | None, limits: list[str],
        keep: pathlib.Path) -> Result:
    """keep: a folder that outlives the run, with corpus/ and crashes/. samples writes seeds."""
    name = name_of(program)
    corpus, crashes = keep / "corpus", keep / "crashes"
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(crashes.iterdir())
    seeds = HERE / "corpus" / name
    with tempfile.TemporaryDirectory(prefix="ab-fuzz-") as scratch:
        dictionary = pathlib.Path(scratch) / "words.dict"
        write_dictionary(name, schemas, dictionary)
        if samples:
            subprocess.run([str(samples), name, str(corpus)], check=True)
        # Changes of documents keep them documents only while they are few.
        gentle = ["-mutate_depth=2", "-cross_over=0"] if schemas else []
        command = [str(program), *gentle, f"-dict={dictionary}", f"-max_len={INPUT_BYTES_MAX}", f"-timeout={INPUT_SECONDS_MAX}",
                   "-rss_limit_mb=2048", "-print_final_stats=1", f"-artifact_prefix={crashes}/", *limits,
                   str(corpus), *([str(seeds)] if seeds.is_dir() else [])]
        began = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "TMPDIR": scratch, "TZ": "UTC"})
        seconds = time.monotonic() - began
    output = done.stderr.decode(errors="replace")

    def last(pattern: str) -> int:
        found = re.findall(pattern, output)
        return int(found[-1]) if found else 0

    return Result(name, last(r"stat::number_of_executed_units: +(\d+)") or last(r"^#(\d+)"), last(r"cov: (\d+)"),
                  last(r"accepted: (\d+)"), seconds, sorted(set(crashes.iterdir()) - before), output, done.returncode)


def tell_crash(result: Result) -> None:
    print("\n".join(result.output.splitlines()[-60:]))
    for crash in result.crashes:
        data = crash.read_bytes()
        print(f"{result.name}: {crash} ({len(data)} bytes)")
        if len(data) <= SHOWN_BYTES_MAX:
            print(f"in base 64: {base64.b64encode(data).decode()}")


def main() -> int:
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program", type=pathlib.Path)
    limit = args.add_mutually_exclusive_group(required=True)
    limit.add_argument("--runs", type=int)
    limit.add_argument("--seconds", type=int)
    args.add_argument("--schemas", default="")
    args.add_argument("--samples", type=pathlib.Path)
    args.add_argument("--keep", type=pathlib.Path)
    args.add_argument("--broken", action="store_true")
    a = args.parse_args()
    limits = [f"-runs={a.runs}", "-seed=1"] if a.runs else [f"-max_total_time={a.seconds}"]
    schemas = [s for s in a.schemas.split(",") if s]
    with tempfile.TemporaryDirectory(prefix="ab-fuzz-keep-") as scratch:
        result = run(a.program, schemas, a.samples, limits, a.keep or pathlib.Path(scratch))
        if a.broken:
            found = "broken property" in result.output or "Sanitizer" in result.output
            print(f"{result.name}: the broken parser was {'found' if found else 'NOT found'} after "
                  f"{result.executions} inputs")
            return 0 if found and not result.good else 1
        if not result.good:
            tell_crash(result)
        print(f"{result.name}: {result.executions} inputs, {result.accepted} good ones, coverage {result.coverage}, "
              f"{result.seconds:.1f} s, {len(result.crashes)} crashes")
        if result.accepted == 0:
            print("no input was a good one: the seeds are out of date; run tests/fuzz/seed.py BUILD")
        return 0 if result.good and result.accepted else 1


if __name__ == "__main__":
    sys.exit(main())
