#!/usr/bin/python3
"""Writes suite.json for other counts, with the results that they must have.

    ./make_suite.py > suite.json
    ./make_suite.py --short > /tmp/short/suite.json

This needs nothing but the standard library.
"""

import argparse
import json

# The first that matches has the sample.
CATEGORIES = [
    {"name": "call-frames", "symbols": ["frame_*"]},
    {"name": "moves", "symbols": ["value_move"]},
    {"name": "other-runtime", "symbols": ["value_*"]},
    {"name": "generated", "symbols": ["fib", "main"]},
    {"name": "start", "libraries": ["ld-linux*", "ld-musl*", "libc.*"]},
]
CALLGRIND = ["valgrind", "-q", "--tool=callgrind", "--log-file=/dev/null", "--callgrind-out-file=profile.%p"]


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def workload(name, n, format, lanes):
    return {
        "name": name,
        "measure": "attribution",
        "stdout": f"calls {n} {fib(n)}\n",
        "profile": {"format": format, "categories": CATEGORIES},
        "lanes": lanes,
    }


def workloads(counted, sampled):
    yield workload("fib_instructions", counted, "callgrind", {
        "c": {"command": [*CALLGRIND, "{build}/calls", str(counted)], "optional": True, "cpus": 1},
    })
    yield workload("fib_samples", sampled, "perf-script", {
        "perf_c": {"command": ["sh", "{suite}/record.sh", "{build}/calls", str(sampled)], "optional": True,
                   "needs": ["perf", "{build}/perf-records"]},
    })


def document(counted, sampled):
    return {
        "schema": "aurabench.suite.v1",
        "name": "attribution",
        "description": "Where the calls of fib spend themselves: instructions and samples by category",
        "build": [["make", "-C", "{source}", "OUT={build}"], ["sh", "{suite}/try-perf.sh", "{build}"]],
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld"],
        "workloads": list(workloads(counted, sampled)),
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--short", action="store_true", help="a hundredth of the calls")
    short = parser.parse_args().short
    print(json.dumps(document(12 if short else 22, 24 if short else 34), indent=2))


if __name__ == "__main__":
    main()
