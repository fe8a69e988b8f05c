#!/bin/sh
# Makes a git repository of two revisions, tagged "before" and "after", for the demo of a suite:
#
#     demo-repository.sh SUITES BEFORE AFTER DIR
#
# It has the sources of subject/ of each of the SUITES (names of folders beside this file; where two
# have a file of one name, the later one's). In the earlier revision demo/before.patch of each is
# applied. BEFORE and AFTER are the messages. DIR must not exist yet. Names and dates are fixed, so
# the commit ids are the same everywhere.
set -eu

if [ $# -ne 4 ]; then
    echo "usage: make-repository.sh DIR" >&2
    exit 2
fi
suites=$1 before=$2 after=$3 dir=$4
if [ -e "$dir" ]; then
    echo "make-repository.sh: $dir exists already" >&2
    exit 1
fi
workloads=$(cd "$(dirname "$0")" && pwd)

# The caller's git settings must not change the commits (line endings, signing, hooks).
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@localhost
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@localhost

# commit TAG MESSAGE DAY
commit() {
    git add -A
    GIT_AUTHOR_DATE=2026-01-0$3T00:00:00+00:00 GIT_COMMITTER_DATE=2026-01-0$3T00:00:00+00:00 \
        git commit -q -m "$2"
    git tag "$1"
}

mkdir -p "$dir"
cd "$dir"
git init -q -b main .
for suite in $suites; do
    # A subject that lies elsewhere is brought by its own script.
    if [ -x "$workloads/$suite/demo/sources.sh" ]; then
        "$workloads/$suite/demo/sources.sh" "$PWD"
        continue
    fi
    # Only the sources: a build inside subject/ stays out.
    find "$workloads/$suite/subject" -maxdepth 1 -type f \
        \( -name '*.c' -o -name '*.h' -o -name Makefile -o -name .gitignore \) -exec cp {} . \;
done
# The folder of the suites may have blanks in its name; the suites have none.
apply() {
    for suite in $suites; do
        git apply "$@" "$workloads/$suite/demo/before.patch"
    done
}
apply
commit before "$before" 1
apply -R
commit after "$after" 2
