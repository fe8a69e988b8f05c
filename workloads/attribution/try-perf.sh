#!/bin/sh
# try-perf.sh BUILD: makes BUILD/perf-records where perf may record here, or leaves the reason why it
# may not beside its place.
set -eu
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v perf >/dev/null; then
    echo "perf is not on this host" >"$out/perf-records.absent"
elif perf record -q -e cpu-clock:u -F 997 -o "$work/data" -- true >/dev/null 2>&1 &&
    perf script -i "$work/data" >/dev/null 2>&1; then
    : >"$out/perf-records"
else
    echo "perf is not permitted to record here" >"$out/perf-records.absent"
fi
