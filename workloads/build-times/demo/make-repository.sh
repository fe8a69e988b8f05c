#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "build-times" \
    "Build programs with more optimization" \
    "Build programs with less optimization" "$@"
