#!/usr/bin/python3
"""Writes suite.json for other counts, with the results that they must have.

    ./make_suite.py > suite.json
    ./make_suite.py --divide 100 > /tmp/short/suite.json

The results are computed here without any collection. This needs nothing but the standard library.
"""

import argparse
import json

STRIDE = 7919
RUST = {"control": True, "optional": True, "needs": ["rustc"]}
PYTHON = ["/usr/bin/python3", "-s", "-S", "-B", "{suite}/cpython/programs.py"]


def dict_build_get(keys, gets):
    return sum(g * STRIDE % keys for g in range(gets))


def set_insert_contains(inserts, tests):
    return sum(t * STRIDE % (3 * inserts) % 3 == 0 for t in range(tests))


def int_list_sum(count, passes):
    return passes * sum(i % 1000 for i in range(count))


def string_list_scan(count, passes):
    return passes * sum(i % 100 == 42 for i in range(count))


def record_field_reads(count, passes):
    return passes * sum(i % 90 for i in range(count))


# The program, how many elements, and how often.
PROGRAMS = [
    (dict_build_get, 20_000, 200_000),
    (set_insert_contains, 20_000, 200_000),
    (int_list_sum, 100_000, 20),
    (string_list_scan, 10_000, 100),
    (record_field_reads, 5_000, 20),
]


def lanes_of(name, program, arguments, **members):
    """A lane and its startup lane."""
    startup = f"{name}_startup"
    common = {"cpus": 1, **members}
    return {
        name: {"command": [*program, *arguments], "startup": startup, **common},
        startup: {"command": [*program, "startup"], "stdout": "startup\n", **common},
    }


def workload(program, count, times):
    arguments = [program.__name__, str(count), str(times)]
    return {
        "name": program.__name__,
        "measure": "process",
        "stdout": f"{' '.join(arguments)} {program(count, times)}\n",
        "lanes": {
            **lanes_of("c", ["{build}/collections"], arguments),
            **lanes_of("cpython", PYTHON, arguments, control=True),
            **lanes_of("rust", ["{build}/rust_programs"], arguments, **RUST),
        },
    }


def document(divide):
    return {
        "schema": "aurabench.suite.v1",
        "name": "collections",
        "description": "Dicts, sets, lists and records: a C subject beside CPython and Rust",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "suite_build": [["sh", "{suite}/controls.sh", "{build}"]],
        "env": {"PYTHONHASHSEED": "0"},
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld", "rustc", "cargo"],
        "workloads": [
            workload(program, max(1, count // divide), times) for program, count, times in PROGRAMS
        ],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--divide", type=int, default=1, help="so many times fewer elements")
    print(json.dumps(document(parser.parse_args().divide), indent=2))


if __name__ == "__main__":
    main()
