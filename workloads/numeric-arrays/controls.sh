#!/bin/sh
# Prepares the lanes that need more than every host has: builds the Rust program and looks for NumPy.
# What cannot be had leaves its reason beside its place, and the lane is absent.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)

if /usr/bin/python3 -s -B -c 'import numpy; print("NumPy", numpy.__version__)' >"$out/numpy"; then
    cat "$out/numpy"
else
    rm "$out/numpy"
    echo "NumPy is not installed for /usr/bin/python3" >"$out/numpy.absent"
fi

if ! command -v rustc >/dev/null; then
    echo "rustc is not on this host" >"$out/rust_arrays.absent"
elif rustc --version && ! rustc --edition 2021 -C opt-level=3 -o "$out/rust_arrays" "$here/rust/arrays.rs"; then
    echo "rustc could not build it; the log of the build says why" >"$out/rust_arrays.absent"
fi
