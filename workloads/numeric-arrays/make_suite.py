#!/usr/bin/python3
"""Writes suite.json for other counts, with the results that they must have.

    ./make_suite.py > suite.json
    ./make_suite.py --elements 1000 --operations 3 > /tmp/short/suite.json

The results are computed here by other means than any lane uses: by the definition of each
element, without arrays. This needs nothing but the standard library.
"""

import argparse
import json

STRIDE = 7919
MASK_64 = (1 << 64) - 1
PYTHON = ["/usr/bin/python3", "-s", "-B"]


def small(i, salt):
    return (i * 7 + salt) % 1000


def wide(i, salt):
    return (i + salt) * 0x9E3779B97F4A7C15 & MASK_64


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def added(i):
    return small(i, 1) + small(i, 2)


def multiplied_32(i):
    return signed((wide(i, 1) >> 32) * (wide(i, 2) >> 32), 32)


def multiplied_64(i):
    return signed(wide(i, 1) * wide(i, 2), 64)


def first(i):
    return small(i, 1)


# Kernel: element of the result, what of all elements is one operation's result, operations.
KERNELS = {
    "float64_add": (added, None, 512),
    "float64_sum": (first, sum, 1024),
    "int32_add": (added, None, 50),
    "int32_sum": (first, sum, 100),
    "int32_max": (first, max, 100),
    "int32_mul": (multiplied_32, None, 20),
    "int64_add": (added, None, 50),
    "int64_sum": (first, sum, 100),
    "int64_max": (first, max, 100),
    "int64_mul": (multiplied_64, None, 20),
}


def checksum(kernel, elements, operations):
    element, reduction, _ = KERNELS[kernel]
    if reduction:
        return operations * reduction(map(element, range(elements))) & MASK_64
    sampled = sum(element(k * STRIDE % elements) for k in range(operations))
    return sampled + sum(map(element, range(elements))) & MASK_64


def workload(kernel, elements, operations):
    counts = [kernel, str(elements), str(operations)]
    check = checksum(kernel, elements, operations)
    numpy = {"control": True, "optional": True, "needs": ["{build}/numpy"], "cpus": 1}
    return {
        "name": kernel,
        "measure": "operation",
        "operations": operations,
        "ready": f"READY numeric-arrays {kernel} {elements} {operations}",
        "go": f"GO numeric-arrays {kernel}",
        "done": f"DONE numeric-arrays {kernel} {operations} {check}",
        "lanes": {
            "c": {"command": ["{build}/arrays", *counts], "cpus": 1},
            "cpython": {
                "command": [*PYTHON, "-S", "{suite}/cpython/arrays.py", *counts],
                "control": True,
                "cpus": 1,
            },
            "numpy": {"command": [*PYTHON, "{suite}/cpython/numpy_arrays.py", *counts], **numpy},
            "rust": {
                "command": ["{build}/rust_arrays", *counts],
                "control": True,
                "optional": True,
                "needs": ["rustc"],
                "cpus": 1,
            },
        },
    }


def document(elements, operations):
    return {
        "schema": "aurabench.suite.v1",
        "name": "numeric-arrays",
        "description": "Kernels on arrays of numbers: a C subject beside CPython, NumPy and Rust",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "suite_build": [["sh", "{suite}/controls.sh", "{build}"]],
        "env": {
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
        },
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld", "rustc", "cargo"],
        "workloads": [
            workload(kernel, elements, operations or usual)
            for kernel, (_, _, usual) in KERNELS.items()
        ],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--elements", type=int, default=1_000_000, help="default: 1,000,000")
    parser.add_argument("--operations", type=int, help="of every kernel (default: its own)")
    arguments = parser.parse_args()
    print(json.dumps(document(arguments.elements, arguments.operations), indent=2))


if __name__ == "__main__":
    main()
