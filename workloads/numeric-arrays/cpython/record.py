"""The READY, GO and DONE records between a workload and whoever times it."""

import os
import sys

LINE_LIMIT = 512
EXIT_WRONG_GO = 3


def _write_line(line):
    # One write for the whole line, so that the reader wakes once; nothing stays in a buffer.
    data = line.encode("ascii") + b"\n"
    while data:
        data = data[os.write(1, data) :]


def start(ready, go):
    """Writes the ready line; returns once exactly the go line has been read."""
    _write_line(ready)
    line = sys.stdin.buffer.readline(LINE_LIMIT)
    if line != go.encode("ascii") + b"\n":
        print("record: the line on stdin is not the GO line", file=sys.stderr)
        sys.exit(EXIT_WRONG_GO)


def finish(done):
    """Writes the done line, then reads stdin to its end.

    To stay until then keeps the exit of this process out of the timed interval.
    """
    _write_line(done)
    while sys.stdin.buffer.read(LINE_LIMIT):
        pass
