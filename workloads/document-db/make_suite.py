#!/usr/bin/python3
"""Writes suite.json for other counts, with the results that they must have.

    ./make_suite.py > suite.json
    ./make_suite.py --divide 100 > /tmp/short/suite.json

The results are computed here from what each document is, without a database. This needs nothing
but the standard library.
"""

import argparse
import json

AGES = 90
NEW_AGES = 100
STRIDE = 7919
PYTHON = ["/usr/bin/python3", "-s", "-S", "-B", "{suite}/cpython/documents.py"]


def ages(documents):
    return sum(number % AGES for number in range(documents))


def insert_many(documents, operations):
    return ages(documents)


def get(documents, operations):
    return sum(k * STRIDE % documents % AGES for k in range(operations))


def find(documents, operations):
    return sum(sum(range(k % AGES, documents, AGES)) for k in range(operations))


def open_load(documents, operations):
    return operations * ages(documents)


def update(documents, operations):
    return sum(k % NEW_AGES for k in range(operations))


# The workload, its documents, and how many operations there are from GO to DONE.
WORKLOADS = [
    (insert_many, 5_000, 5_000),
    (get, 5_000, 50_000),
    (find, 5_000, 50),
    (open_load, 5_000, 10),
    (update, 2_000, 20_000),
    ("delete", 2_000, 2_000),
]


def workload(compute, documents, operations):
    name = compute if isinstance(compute, str) else compute.__name__
    # Each document is deleted once, so that what is told of it is what a get would tell.
    result = (get if name == "delete" else compute)(documents, operations)
    counts = [name, str(documents), str(operations)]
    return {
        "name": name,
        "measure": "operation",
        "operations": operations,
        "ready": f"READY document-db {name} {documents} {operations}",
        "go": f"GO document-db {name}",
        "done": f"DONE document-db {name} {operations} {result}",
        "lanes": {
            "c": {"command": ["{build}/documents", *counts], "cpus": 1},
            "cpython": {"command": [*PYTHON, *counts], "control": True, "cpus": 1},
        },
    }


def scaled(documents, operations, divide):
    return max(1, documents // divide), max(1, operations // divide)


def document(divide):
    return {
        "schema": "aurabench.suite.v1",
        "name": "document-db",
        "description": "A document database: C over SQLite's JSON beside dicts of CPython",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "env": {"PYTHONHASHSEED": "0"},
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld"],
        "workloads": [
            workload(compute, *scaled(documents, operations, divide))
            for compute, documents, operations in WORKLOADS
        ],
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--divide", type=int, default=1, help="so many times fewer documents")
    print(json.dumps(document(parser.parse_args().divide), indent=2))


if __name__ == "__main__":
    main()
