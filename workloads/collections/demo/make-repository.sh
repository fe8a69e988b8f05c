#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "collections" \
    "Find a key by comparing it with whole keys" \
    "Compare hashes before keys, and leave room in tables" "$@"
