#!/usr/bin/python3
"""Writes suite.json for programs of another size.

    ./make_suite.py > suite.json
    ./make_suite.py --functions 2 > /tmp/short/suite.json

This needs nothing but the standard library.
"""

import argparse
import json
import sys

sys.dont_write_bytecode = True  # nothing but the suite may lie in its folder

import generate  # noqa: E402: behind the line above

PROGRAMS = ["hello", "modules", "tables", "network"]
STEPS = ["check", "build", "run", "link", "run_linked"]
# The driver of the measured source; and as a control the host's compiler, by what it drives it with.
CC = {
    "check": ["cc", "-std=c11", "-fsyntax-only"],
    "build": ["cc", "-std=c11", "-O1", "-o"],
    "object": ["cc", "-std=c11", "-O1", "-c", "-o"],
    "link": ["cc", "-o"],
}
DRIVER = {mode: ["{build}/compile", mode] for mode in CC}


def paths(program):
    return [f"{{build}}/programs/{name}" for name in generate.sources(program)]


def objects(program):
    return [path.removesuffix(".c") + ".o" for path in paths(program)]


def steps(by, program, output):
    """What is timed, in the empty folder that the lane runs in; what was made must run."""
    return {
        "check": {"command": [*by["check"], *paths(program)]},
        "build": {"command": [*by["build"], program, *paths(program)], "outputs": [program]},
        "run": {"command": [f"./{program}"], "stdout": output},
        "link": {"command": [*by["link"], "linked", *objects(program)], "outputs": ["linked"]},
        "run_linked": {"command": ["./linked"], "stdout": output},
    }


def prepare(by, functions):
    """Build steps of a side: the sources, and their objects."""
    yield ["/usr/bin/python3", "-I", "-S", "-B", "{suite}/generate.py", "{build}/programs", str(functions)]
    for program in PROGRAMS:
        for source, target in zip(paths(program), objects(program)):
            yield [*by["object"], target, source]


def workloads(functions):
    for program in PROGRAMS:
        output = generate.output(program, functions)
        yield {
            "name": program,
            "measure": "build",
            "steps": STEPS,
            "reproducible": True,
            "stdout": "",
            "lanes": {
                "c": {"steps": steps(DRIVER, program, output), "cpus": 1},
                "cc": {"steps": steps(CC, program, output), "cpus": 1, "control": True},
            },
        }


def document(functions):
    return {
        "schema": "aurabench.suite.v1",
        "name": "build-times",
        "description": "Checking, building and linking of four programs by a driver of the compiler",
        "build": [["make", "-C", "{source}", "OUT={build}"], *prepare(DRIVER, functions)],
        "suite_build": list(prepare(CC, functions)),
        "forbidden": ["make", "cc", "gcc", "clang", "cc1", "as", "ld"],
        "workloads": list(workloads(functions)),
    }


def main():
    parser = argparse.ArgumentParser(description="Writes suite.json to stdout.")
    parser.add_argument("--functions", type=int, default=25, help="of each module (default: 25)")
    print(json.dumps(document(parser.parse_args().functions), indent=2))


if __name__ == "__main__":
    main()
