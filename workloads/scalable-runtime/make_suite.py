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
SLEEPERS, IDLE, TIMERS, WAKES, STEPS = 10_000, 10_000, 1_000, 100, 8_000_000
TIMERS_MS, PAUSE_MS = 200, 2
TASKS = 4
BLOCKS = 64
# The p99 of what the subject may be late, and its time as four tasks by that as one.
TIMERS_LATE_NS, BESIDE_LATE_NS = 5_000_000, 5_000_000
SCALING_MAX = 0.4


def lanes(command, suffix="", **members):
    pinned = {} if suffix else {"cpus": 1}
    return {
        f"c{suffix}": {"command": ["{build}/runtime", *command], **pinned, **members},
        f"cpython{suffix}": {"command": [*PYTHON, *command], **pinned, "control": True, **members},
        f"rust{suffix}": {"command": ["{build}/rust_runtime", *command], **RUST, **members},
    }


def workload(name, count, *arguments, **members):
    command = [name, str(count), *map(str, arguments)]
    return {
        "name": name,
        **members,
        "ready": f"READY {name} {count}",
        "go": "GO",
        "done": f"DONE {name} {count}",
        "lanes": lanes(command),
    }


def series(name, count, **members):
    return {"name": name, "unit": "ns", "max": count, **members}


def steps_from(x, steps):
    """So many steps of x = (x * 1103515245 + 12345) mod 2^31, by doubling."""
    factor, term = 1103515245, 12345
    while steps:
        if steps & 1:
            x = (x * factor + term) % 2**31
        term = term * (factor + 1) % 2**31
        factor = factor * factor % 2**31
        steps >>= 1
    return x


def scaling(steps):
    """The same work as one task and as TASKS."""
    total = sum(steps_from(block + 1, steps // BLOCKS) for block in range(BLOCKS))
    both = {}
    for tasks in (1, TASKS):
        both.update(lanes(["scaling", str(steps), str(tasks)], f"_{tasks}"))
    for name, lane in both.items():
        language, tasks = name.rsplit("_", 1)
        if int(tasks) > 1:
            lane["scaling"] = {"of": f"{language}_1", "tasks": TASKS, "max_ratio": SCALING_MAX}
    return {
        "name": "scaling",
        "measure": "protocol",
        "ready": f"READY scaling {steps}",
        "go": "GO",
        "done": f"DONE scaling {steps} {total}",
        "ack": "ACK",
        "lanes": both,
    }


def document(divide, window_ms, steps):
    timers, wakes = max(1, TIMERS // divide), max(1, WAKES // divide)
    return {
        "schema": "aurabench.suite.v1",
        "name": "scalable-runtime",
        "description": "Many tasks that wait, beside one that computes, and work as several: C beside CPython and tokio",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "suite_build": [["sh", "{suite}/controls.sh", "{build}"]],
        "env": {"PYTHONHASHSEED": "0"},
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld", "rustc", "cargo"],
        "workloads": [
            workload("sleepers", max(1, SLEEPERS // divide), measure="memory",
                     baseline="BASELINE sleepers", load="LOAD"),
            workload("idle", max(1, IDLE // divide), measure="cpu", window_ms=window_ms),
            workload("timers", timers, TIMERS_MS, measure="protocol",
                     declared_wait_ns=TIMERS_MS * 1_000_000, ack="ACK",
                     samples=[series("overshoot", timers, p99_max=TIMERS_LATE_NS), series("arm_span", 1)]),
            workload("beside", wakes, PAUSE_MS, measure="protocol",
                     declared_wait_ns=wakes * PAUSE_MS * 1_000_000, ack="ACK",
                     samples=[series("overshoot", wakes, p99_max=BESIDE_LATE_NS)]),
            scaling(max(BLOCKS, steps // divide)),
        ],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--divide", type=int, default=1, help="so many times fewer tasks and steps")
    parser.add_argument("--window-ms", type=int, default=30_000, help="how long idle is watched")
    parser.add_argument("--steps", type=int, default=STEPS, help="what scaling computes")
    arguments = parser.parse_args()
    print(json.dumps(document(arguments.divide, arguments.window_ms, arguments.steps), indent=2))


if __name__ == "__main__":
    main()
