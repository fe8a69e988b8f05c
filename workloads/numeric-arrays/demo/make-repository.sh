#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "numeric-arrays" \
    "Add arrays by copying one and adding the other to it" \
    "Add arrays in one pass" "$@"
