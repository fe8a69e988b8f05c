#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "release-performance" \
    "Compute fib with a record of its calls" \
    "Compute fib without a record of its calls" "$@"
