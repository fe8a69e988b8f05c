#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after":
#
#     demo/make-repository.sh DIR
exec "$(dirname "$0")/../../demo-repository.sh" "representation" \
    "Box each union and each callable" \
    "Keep unions and callables where they are declared" "$@"
