#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "scalable-runtime" \
    "Look at the input and the clock every millisecond" \
    "Sleep until the next task is due" "$@"
