#!/bin/sh
# Makes a git repository with the two revisions of the demo, tagged "before" and "after".
#
#     demo/make-repository.sh DIR
#
# DIR must not exist yet. Names and dates are fixed, so the commit ids are the same everywhere.
set -eu

if [ $# -ne 1 ]; then
    echo "usage: $0 DIR" >&2
    exit 2
fi
if [ -e "$1" ]; then
    echo "$0: $1 exists already" >&2
    exit 1
fi
suite=$(cd "$(dirname "$0")/.." && pwd)

# The caller's git settings must not change the commits (line endings, signing, hooks).
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
export GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@localhost
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@localhost

commit() {
    GIT_AUTHOR_DATE=$2 GIT_COMMITTER_DATE=$2 git commit -q -m "$1"
}

mkdir -p "$1"
cd "$1"
git init -q -b main .
# Only the sources: a build inside subject/ stays out.
cp "$suite"/subject/*.c "$suite"/subject/*.h "$suite"/subject/Makefile \
    "$suite"/subject/.gitignore .
git apply "$suite/demo/before.patch"
git add -A
commit "Compute fib with a record of its calls" "2026-01-01T00:00:00+00:00"
git tag before

git apply -R "$suite/demo/before.patch"
git add -A
commit "Compute fib without a record of its calls" "2026-01-02T00:00:00+00:00"
git tag after
