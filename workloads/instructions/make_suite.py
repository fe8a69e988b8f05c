#!/usr/bin/python3
"""Writes suite.json for other counts, with the results that they must have.

    ./make_suite.py > suite.json
    ./make_suite.py --divide 100 > /tmp/short/suite.json

The results are computed here without any collection. This needs nothing but the standard library.
"""

import argparse
import json

STRIDE = 7919
FIB_N = 30
# The same for a short trial: fib(20) has a hundredth of the calls.
FIB_SHORT = 20


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


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


# The program, how many elements, and how often; as in the suite collections.
PROGRAMS = [
    (dict_build_get, 20_000, 200_000),
    (set_insert_contains, 20_000, 200_000),
    (int_list_sum, 100_000, 20),
    (string_list_scan, 10_000, 100),
    (record_field_reads, 5_000, 20),
]


def workload(name, command, stdout):
    return {
        "name": name,
        "measure": "instructions",
        "stdout": stdout,
        "lanes": {"c": {"command": command, "cpus": 1}},
    }


def workloads(divide):
    n = FIB_N if divide == 1 else FIB_SHORT
    yield workload(f"fib{n}", ["{build}/fib", str(n)], f"fib {n} {fib(n)}\n")
    for program, count, times in PROGRAMS:
        count = max(1, count // divide)
        # Few elements are asked a few times only; passes over a list are already as short as it is.
        times = max(1, times // divide) if times > count else times
        arguments = [program.__name__, str(count), str(times)]
        yield workload(
            program.__name__,
            ["{build}/collections", *arguments],
            f"{' '.join(arguments)} {program(count, times)}\n",
        )
    yield workload("startup", ["{build}/collections", "startup"], "startup\n")


def document(divide):
    return {
        "schema": "aurabench.suite.v1",
        "name": "instructions",
        "description": "Instructions of whole processes: fib(30), dicts, sets, lists and records in C",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld"],
        "workloads": list(workloads(divide)),
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--divide", type=int, default=1, help="so many times fewer elements")
    print(json.dumps(document(parser.parse_args().divide), indent=2))


if __name__ == "__main__":
    main()
