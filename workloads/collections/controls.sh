#!/bin/sh
# Builds the Rust program, or leaves the reason why its lanes are absent beside its place.
set -eu
out=$1
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v rustc >/dev/null; then
    echo "rustc is not on this host" >"$out/rust_programs.absent"
elif rustc --version && ! rustc --edition 2021 -C opt-level=3 -o "$out/rust_programs" "$here/rust/programs.rs"; then
    echo "rustc could not build it; the log of the build says why" >"$out/rust_programs.absent"
fi
