"""Prints "passed failed skipped" for a JUnit XML file (meson's or pytest's)."""

import sys
import xml.etree.ElementTree as ElementTree


def main() -> int:
    passed = failed = skipped = 0
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    print(passed, failed, skipped)
    return 0


if __name__ == "__main__":
    sys.exit(main())
