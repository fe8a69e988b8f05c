"""Prints of a JUnit XML file (meson's or pytest's):

    count_junit.py FILE            "passed failed skipped"
    count_junit.py --mended FILE   the same, those that failed counted as passed
    count_junit.py --failed FILE   what failed, as pytest takes it: one id a line
"""

import sys
import xml.etree.ElementTree as ElementTree


def is_failed(case) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def pytest_id(case) -> str:
    """tests.e2e.test_x, test_y -> tests/e2e/test_x.py::test_y (no test here stands in a class)"""
    return case.get("classname").replace(".", "/") + ".py::" + case.get("name")


def main() -> int:
    *how, path = sys.argv[1:]
    cases = list(ElementTree.parse(path).getroot().iter("testcase"))
    failed = [case for case in cases if is_failed(case)]
    skipped = [case for case in cases if not is_failed(case) and case.find("skipped") is not None]
    if how == ["--failed"]:
        print(*map(pytest_id, failed), sep="\n", end="\n" if failed else "")
    elif how == ["--mended"]:
        print(len(cases) - len(skipped), 0, len(skipped))
    else:
        print(len(cases) - len(failed) - len(skipped), len(failed), len(skipped))
    return 0


if __name__ == "__main__":
    sys.exit(main())
