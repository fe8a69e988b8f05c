"""The table of fault points, and what a run counts."""

import os
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
POINTS = re.findall(r'^FAULT\("([^"]+)", (\w+)\)', (ROOT / "daemon/base/fault.def").read_text(), re.M)

COUNTS = {
    "points": "named points killed at",
    "daemon_kills": "kills of the daemon",
    "runner_kills": "kills of the runner",
    "random": "random moments",
    "jobs": "jobs accepted",
    "observations": "observations checked",
    "evidence": "evidence folders verified",
    "orphans": "orphans ended",
    "disk": "writes that failed",
    "missing": "jobs or observations lost",
    "doubled": "doubled",
}


def names(scenario: str) -> list[str]:
    return [name for name, of in POINTS if of == scenario]


# Random moments in all, and what they begin with; script/crash sets both.
RANDOM = int(os.environ.get("AURABENCH_CRASH_RANDOM", "60"))
SEED = int(os.environ.get("AURABENCH_CRASH_SEED", "0")) or int.from_bytes(os.urandom(4), "big")
# Workers of one run take it from the first process.
os.environ["AURABENCH_CRASH_SEED"] = str(SEED)
