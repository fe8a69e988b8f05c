#!/bin/sh
# record.sh COMMAND...: runs the command under perf and leaves its samples as text in the file
# "profile" of this folder. The command's own output is this one's.
set -eu
perf record -q -e cpu-clock:u -F 997 -o .perf.data -- "$@"
perf script -i .perf.data >profile 2>/dev/null
