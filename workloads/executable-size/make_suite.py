#!/usr/bin/python3
"""Writes suite.json, with what the programs were when they were recorded.

    ./make_suite.py > suite.json
    ./make_suite.py --record out > suite.json        for other programs: the bytes of those in out/
    ./make_suite.py --everywhere > suite.json        where the earlier revision has all programs

This needs nothing but the standard library.
"""

import argparse
import json
import pathlib

# Bytes of the default profile on Debian 12, x86-64.
RECORDED = {"hello": 16128, "json_values": 16560, "tls_roundtrip": 17616}
TLS_LIBRARIES = ["libssl.so.3", "libcrypto.so.3"]
JSON_LIBRARIES = ["libcjson.so.1"]

# The program, what it prints, what must be in it, and what must not.
PROGRAMS = [
    ("hello", "hello\n", [], [*JSON_LIBRARIES, *TLS_LIBRARIES, "cJSON_Parse", "SSL_new"]),
    (
        "json_values",
        '{"name":"primes","numbers":[2,3,5,7,11],"sum":28}\n',
        [*JSON_LIBRARIES, "cJSON_Parse"],
        [*TLS_LIBRARIES, "SSL_new"],
    ),
    (
        "tls_roundtrip",
        "TLSv1.3\nhello through TLS\n",
        [*TLS_LIBRARIES, "SSL_new"],
        [*JSON_LIBRARIES, "cJSON_Parse"],
    ),
]
# The earlier revision of the demo has no TLS.
ABSENT = {"tls_roundtrip": ["before"]}
# An empty search path: a program that calls a compiler, or any other tool, fails.
HIDDEN = {"PATH": ""}


def lanes_of(lane):
    """The subject, and as a control the suite's own copy of it."""
    return {"c": lane, "own": {**lane, "control": True}}


def workloads(recorded, everywhere):
    for name, stdout, inside, outside in PROGRAMS:
        absent = {"absent": ABSENT[name]} if name in ABSENT and not everywhere else {}
        links = {"must_link": ["libc.so.6", *inside], "must_not_link": outside}
        files = {"files": {"program": f"{{build}}/{name}"}, **links}
        lanes = lanes_of(files)
        lanes["c"] = {**files, "baselines": {"program": recorded[name]}}
        yield {"name": name, "measure": "size", "growth_pct": 10, **absent, "lanes": lanes}
        run = {"command": [f"{{build}}/{name}"], "cpus": 1, "env": HIDDEN}
        yield {
            "name": f"{name}_run",
            "measure": "process",
            "stdout": stdout,
            **absent,
            "lanes": lanes_of(run),
        }


def document(recorded, everywhere):
    return {
        "schema": "aurabench.suite.v1",
        "name": "executable-size",
        "description": "Bytes of three programs, what is inside, and that they run without a toolchain",
        "build": [["make", "-C", "{source}", "OUT={build}"]],
        "suite_build": [["make", "-C", "{suite}/subject", "OUT={build}"]],
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld"],
        "workloads": list(workloads(recorded, everywhere)),
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--record", metavar="DIR", help="take the bytes of the programs in DIR")
    parser.add_argument("--everywhere", action="store_true", help="no program is absent on a side")
    arguments = parser.parse_args()
    recorded = RECORDED
    if arguments.record:
        folder = pathlib.Path(arguments.record)
        recorded = {name: (folder / name).stat().st_size for name in RECORDED}
    print(json.dumps(document(recorded, arguments.everywhere), indent=2))


if __name__ == "__main__":
    main()
