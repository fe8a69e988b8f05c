# For tests/run: the parts of the tests that pytest runs. Each appends a line "passed failed skipped"
# to $counts, and what it has to say at the end to $unsteady; JUnit files go to $scratch.

# Sums a JUnit file's tests into "passed failed skipped".
count_junit() { # file
    /usr/bin/python3 tests/count_junit.py "$1" >>"$counts" || echo "0 1 0" >>"$counts"
}

pytest_in() { # build folder, JUnit file, pytest arguments
    local build=$1 junit=$2
    shift 2
    AURABENCH_BUILD=$PWD/$build /usr/bin/python3 -B -m pytest -q -p no:cacheprovider --junitxml "$junit" "$@"
}

run_pytest() { # name, build folder, pytest arguments
    local junit=$scratch/$1.xml build=$2
    shift 2
    pytest_in "$build" "$junit" "$@"
    local status=$?
    if [ -f "$junit" ]; then count_junit "$junit"; else echo "0 1 0" >>"$counts"; fi
    return $status
}

# The end-to-end tests wait for real processes on a machine that others use too: of more than a
# thousand, up to three that failed are run once more, alone and one at a time. One that passes then
# is named with the closing line, for it is to be mended; its first failure stands in the log above.
run_twice() { # name, build folder, pytest arguments
    local name=$1 junit=$scratch/$1.xml again=$scratch/$1-again.xml build=$2 failed
    shift 2
    if pytest_in "$build" "$junit" "$@"; then
        count_junit "$junit"
        return 0
    fi
    mapfile -t failed < <(/usr/bin/python3 tests/count_junit.py --failed "$junit")
    if [ ${#failed[@]} -eq 0 ] || [ ${#failed[@]} -gt 3 ]; then
        if [ -f "$junit" ]; then count_junit "$junit"; else echo "0 1 0" >>"$counts"; fi
        return 1
    fi
    echo "== once more, alone: ${failed[*]}"
    if pytest_in "$build" "$again" "${failed[@]}"; then
        printf "passed only when run again, alone ($name): %s\\n" "${failed[@]}" >>"$unsteady"
        /usr/bin/python3 tests/count_junit.py --mended "$junit" >>"$counts" || echo "0 1 0" >>"$counts"
        return 0
    fi
    count_junit "$junit"
    return 1
}
