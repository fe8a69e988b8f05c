#!/usr/bin/python3
"""Writes suite.json for other counts.

    ./make_suite.py > suite.json
    ./make_suite.py --divide 100 --window-ms 200 > /tmp/short/suite.json

This needs nothing but the standard library.
"""

import argparse
import json

PYTHON = ["/usr/bin/python3", "-s", "-S", "-B", "{suite}/cpython/runtime.py"]
RUST = {"control": True, "optional": True, "needs": ["cargo", "rustc"]}
SLEEPERS, IDLE, TIMERS = 10_000, 10_000, 1_000
TIMERS_MS = 200


def workload(name, count, *arguments, **members):
    command = [name, str(count), *map(str, arguments)]
    return {
        "name": name,
        **members,
        "ready": f"READY {name} {count}",
        "go": "GO",
        "done": f"DONE {name} {count}",
        "lanes": {
            "c": {"command": ["{build}/runtime", *command], "cpus": 1},
            "cpython": {"command": [*PYTHON, *command], "cpus": 1, "control": True},
            "rust": {"command": ["{build}/rust_runtime", *command], **RUST},
        },
    }


def document(divide, window_ms):
    return {
        "schema": "aurabench.suite.v1",
        "name": "scalable-runtime",
        "description": "Many tasks that wait: a C event loop beside asyncio and tokio",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "suite_build": [["sh", "{suite}/controls.sh", "{build}"]],
        "env": {"PYTHONHASHSEED": "0"},
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld", "rustc", "cargo"],
        "workloads": [
            workload("sleepers", max(1, SLEEPERS // divide), measure="memory",
                     baseline="BASELINE sleepers", load="LOAD"),
            workload("idle", max(1, IDLE // divide), measure="cpu", window_ms=window_ms),
            workload("timers", max(1, TIMERS // divide), TIMERS_MS, measure="protocol",
                     declared_wait_ns=TIMERS_MS * 1_000_000),
        ],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--divide", type=int, default=1, help="so many times fewer tasks")
    parser.add_argument("--window-ms", type=int, default=10_000, help="how long idle is watched")
    arguments = parser.parse_args()
    print(json.dumps(document(arguments.divide, arguments.window_ms), indent=2))


if __name__ == "__main__":
    main()
