#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "document-db" \
    "Prepare a statement for each operation" \
    "Keep prepared statements" "$@"
