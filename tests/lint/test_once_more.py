"""What failed is run once more, alone, by tests/run: only a few, never what fails again, always said."""

import pathlib
import shutil
import subprocess

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]

WORLD = """
import pathlib

import pytest


@pytest.mark.parametrize("name", ["x y", "z[1]-é"][:{flaky}])
def test_that_passes_later(name):
    seen = pathlib.Path(f"seen {{name}}")
    if not seen.exists():
        seen.write_text("")
        raise AssertionError


@pytest.mark.parametrize("n", range({broken}))
def test_that_never_passes(n):
    raise AssertionError


def test_that_passes():
    pass
"""

RUN = """
. tests/pytest_parts.sh
scratch=. counts=counts unsteady=unsteady
: >"$counts"
: >"$unsteady"
run_twice part-plain build tests/e2e
"""


@pytest.mark.parametrize("flaky, broken, status, counts, named", [
    (0, 0, 0, "1 0 2", 0),
    (2, 0, 0, "3 0 1", 2),
    (1, 1, 1, "1 2 0", 0),
    (0, 3, 1, "1 3 1", 0),
    (0, 4, 1, "1 4 1", 0),
])
def test_what_failed_is_run_once_more(tmp_path, flaky, broken, status, counts, named):
    (tmp_path / "tests/e2e").mkdir(parents=True)
    for name in ("count_junit.py", "pytest_parts.sh"):
        shutil.copy(TESTS / name, tmp_path / "tests" / name)
    (tmp_path / "tests/e2e/test_world.py").write_text(WORLD.format(flaky=flaky, broken=broken))
    done = subprocess.run(["bash", "-uo", "pipefail", "-c", RUN], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    assert (tmp_path / "counts").read_text() == counts + "\n"
    unsteady = (tmp_path / "unsteady").read_text().splitlines()
    assert len(unsteady) == named
    assert all(line.startswith("passed only when run again, alone (part-plain): tests/e2e/test_world.py::test_that")
               for line in unsteady)
    assert ("== once more, alone:" in done.stdout) == (0 < flaky + broken <= 3)
