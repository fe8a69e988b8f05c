#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" attribution "Validate the text of each frame" \
    "Validate a frame's text once for its function" "$@"
