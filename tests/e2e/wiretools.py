"""What the tests of the wire share: raw requests and connections, and what the daemon takes of memory,
CPU and descriptors, read from /proc."""

import json
import os
import pathlib
import socket

import harness

MIB = 1 << 20
# What the daemon may grow by while somebody misbehaves. The sanitizer keeps what was freed.
SANITIZED = b"__asan_init" in harness.DAEMON.read_bytes()
GROWTH_MAX_BYTES = (64 if SANITIZED else 16) * MIB


def request(method="daemon.status", ident=1, **params) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method,
                       "params": params}).encode() + b"\n"


def code_of(answer) -> str:
    return answer["error"]["data"]["code"]


def code_of_second(lines: list[dict]) -> str | None:
    return code_of(lines[1]) if "error" in lines[1] else None


# ---- the daemon, from outside


def rss_bytes(daemon) -> int:
    """Exact, unlike VmRSS."""
    text = pathlib.Path(f"/proc/{daemon.process.pid}/smaps_rollup").read_text()
    return int(text.split("Rss:")[1].split()[0]) * 1024


def peak_bytes(daemon) -> int:
    """The most it has ever had; reset_peak begins anew."""
    text = pathlib.Path(f"/proc/{daemon.process.pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) * 1024


def reset_peak(daemon) -> None:
    pathlib.Path(f"/proc/{daemon.process.pid}/clear_refs").write_text("5")


def cpu_ticks(daemon) -> int:
    """User and system time so far, in ticks of os.sysconf("SC_CLK_TCK") a second."""
    fields = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rsplit(")")[1].split()
    return int(fields[11]) + int(fields[12])


def descriptors(daemon) -> int:
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


# ---- connections without a protocol


def connect_raw(path) -> socket.socket:
    s = socket.socket(socket.AF_UNIX)
    s.connect(str(path))  # without a timeout: with one, a full queue would be an error
    s.settimeout(harness.PATIENCE_S)
    return s


def lines_of(s: socket.socket) -> list[dict]:
    """All that comes until the end, or until the reset that a question nobody read brings."""
    lines = []
    with s.makefile("rb") as file:
        try:
            while line := file.readline():
                lines.append(json.loads(line))
        except ConnectionResetError:
            pass
    return lines


def ask_and_leave(s: socket.socket) -> list[dict]:
    """What a connection answers to one question; the hello first."""
    try:
        s.sendall(request())
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # it was refused already
    return lines_of(s)
