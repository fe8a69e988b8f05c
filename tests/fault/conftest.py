import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "e2e")]

import pytest  # noqa: E402

import harness  # noqa: E402
import matrix  # noqa: E402
from world import World  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def build_with_faults():
    if b"AURABENCH_FAULT" not in harness.DAEMON.read_bytes():
        pytest.exit(f"{harness.BUILD} has no fault points: configure it with -Dfaults=true", 2)


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    """A state folder with sources and a suite in it, and what one attempt passes."""
    world = World(tmp_path_factory.mktemp("prepared"), matrix.SEED)
    world.prepare()
    traced = world.copy_to(tmp_path_factory.mktemp("traced") / "w", matrix.SEED)
    world.passed = traced.passes()
    world.seconds = traced.seconds
    traced.close()
    world.close()
    return world


@pytest.fixture
def world(prepared, tmp_path, record_property):
    w = prepared.copy_to(tmp_path / "w", matrix.SEED)
    w.passed, w.seconds = prepared.passed, prepared.seconds
    try:
        yield w
    finally:
        w.close()
    for name in matrix.COUNTS:
        record_property(name, 0 if w.broken else w.counts[name])


def pytest_terminal_summary(terminalreporter):
    """What the tests did, added up: also where it was done by several workers."""
    sums = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name in matrix.COUNTS and report.when == "teardown":
                    sums[name] = sums.get(name, 0) + value
    if sums:
        terminalreporter.write_line(f"fault tests, seed {matrix.SEED}: " + ", ".join(
            f"{title} {sums.get(name, 0)}" for name, title in matrix.COUNTS.items()))
