#!/usr/bin/python3
"""Writes suite.json for other counts, with the results that they must have.

    ./make_suite.py > suite.json
    ./make_suite.py --divide 1000 > /tmp/short/suite.json

This needs nothing but the standard library.
"""

import argparse
import json

COUNTERS = ["union_boxes", "environments", "overflow_blocks", "retains", "releases"]


def evens(times):
    return range(0, times, 2)


# The program, how many times it does its one thing, and its result.
PROGRAMS = [
    ("union_scalar_local", 1_000_000, lambda n: sum(evens(n))),
    ("union_class_field", 100_000, lambda n: sum(i + 1 for i in evens(n))),
    ("union_text_local", 100_000, lambda n: len("text") * len(evens(n))),
    ("callable_pack_inline", 100_000, lambda n: sum(i + 1 for i in range(n))),
    ("callable_pack_overflow", 100_000, lambda n: sum(i + 7 for i in range(n))),
    ("callable_move", 100_000, lambda n: sum(2 + i for i in range(n))),
]


def lanes_of(arguments):
    """The subject, and as a control the suite's own copy of it that boxes."""
    command = ["{build}/representation", *arguments]
    return {
        "c": {"command": command, "cpus": 1},
        "boxed": {"command": command, "cpus": 1, "control": True},
    }


def workloads(divide):
    for name, times, result in PROGRAMS:
        times = max(1, times // divide)
        arguments = [name, str(times)]
        yield {
            "name": name,
            "measure": "counters",
            "counters": COUNTERS,
            "lanes": lanes_of([*arguments, "--count"]),
        }
        yield {
            "name": f"{name}_time",
            "measure": "process",
            "stdout": f"{name} {times} {result(times)}\n",
            "lanes": lanes_of(arguments),
        }
    files = {"files": {"representation": "{build}/representation"}}
    yield {
        "name": "program",
        "measure": "size",
        "lanes": {"c": files, "boxed": {**files, "control": True}},
    }


def document(divide):
    return {
        "schema": "aurabench.suite.v1",
        "name": "representation",
        "description": "Allocations for unions and callables, counted by the runtime; with times and sizes",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "suite_build": [["make", "-C", "{suite}/subject", "OUT={build}", "BOXED=1"]],
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld"],
        "workloads": list(workloads(divide)),
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--divide", type=int, default=1, help="so many times less often")
    print(json.dumps(document(parser.parse_args().divide), indent=2))


if __name__ == "__main__":
    main()
