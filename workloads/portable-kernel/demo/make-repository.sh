#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "portable-kernel" \
    "Build the kernel with less optimization" \
    "Build the kernel with more optimization" "$@"
