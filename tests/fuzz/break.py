#!/usr/bin/env python3
"""A source file with one fault in it: break.py SOURCE OUT FROM TO. FROM stands in it exactly once."""

import pathlib
import sys

source, out, good, bad = sys.argv[1:]
text = pathlib.Path(source).read_text()
if text.count(good) != 1:
    sys.exit(f"{source} has {text.count(good)} times \"{good}\", which fuzz_broken in tests/fuzz/meson.build puts a "
             "fault into; name another piece of the file there")
pathlib.Path(out).write_text(text.replace(good, bad))
