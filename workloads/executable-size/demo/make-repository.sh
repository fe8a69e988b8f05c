#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "executable-size" \
    "Print through a table of messages, without TLS" \
    "Print as it is, and speak TLS" "$@"
