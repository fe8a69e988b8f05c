"""Where figures come from: the machine, this commit, the versions of the foreign programs."""

import datetime
import os
import pathlib
import platform
import shutil
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def output_of(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def first_line_of(path: str, key: str) -> str | None:
    try:
        lines = pathlib.Path(path).read_text(errors="replace").splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), None)


def file_system(folder: pathlib.Path) -> str | None:
    return output_of("findmnt", "-n", "-o", "FSTYPE", "-T", str(folder))


def facts(folder: pathlib.Path) -> dict:
    memory_kb = (first_line_of("/proc/meminfo", "MemTotal") or "0 kB").split()[0]
    return {
        "host": platform.node(), "system": platform.system(), "kernel": platform.release(),
        "arch": platform.machine(),
        "cpu": first_line_of("/proc/cpuinfo", "model name") or platform.processor() or None,
        "cores": os.cpu_count(), "memory_mib": int(memory_kb) // 1024, "file_system": file_system(folder),
        "load": round(os.getloadavg()[0], 2), "scheduler": scheduler(), "sqlite": sqlite3.sqlite_version,
    }


def scheduler() -> str:
    if not hasattr(os, "sched_getscheduler"):
        return "default"
    names = {os.SCHED_OTHER: "other", os.SCHED_RR: "round robin"}
    return names.get(os.sched_getscheduler(0), "another")


def commit() -> str | None:
    name = output_of("git", "-C", str(ROOT), "rev-parse", "HEAD")
    changes = output_of("git", "-C", str(ROOT), "status", "--porcelain")
    return f"{name} and uncommitted changes" if name and changes else name


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


# How each foreign program says its version; the first line counts.
PEERS = {
    "tsp": ["tsp", "-V"],
    "pueue": ["pueue", "--version"],
    "hyperfine": ["hyperfine", "--version"],
}


def cargo_bin_on_path() -> None:
    """Where `cargo install` puts programs, whether or not a login shell has it on the path."""
    cargo = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo")) / "bin"
    os.environ["PATH"] = os.environ["PATH"] + os.pathsep + str(cargo)


def peer_version(name: str) -> str | None:
    """None: it is not here."""
    command = PEERS[name]
    if not shutil.which(command[0]):
        return None
    text = output_of(*command)
    return text.splitlines()[0] if text else "unknown version"
