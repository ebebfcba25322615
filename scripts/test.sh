#!/usr/bin/env bash
# Runs every test; the one script behind `make test` and .ci/run. Arguments go to `swift test`.
# The terminal gets what failed, what was skipped and the totals; everything is in tests.log of the build folder.
# With SANITIZER=address or SANITIZER=thread it runs what scripts/sanitize.sh has built.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
scratch=${SCRATCH:-.build}
log=$scratch/tests.log
flags=(--scratch-path "$scratch" -j "${JOBS:-2}")
# There are no XCTest tests.
if [ -n "${SANITIZER:-}" ]; then flags+=(--sanitize="$SANITIZER" --skip-build --disable-xctest); fi
mkdir -p "$scratch"
: >"$log"

# All at once, tests would hold thousands of files open, more than Foundation's Process can look through.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-8}

run() {
    local status=0
    swift test "${flags[@]}" "$@" 2>&1 | tee -a "$log" |
        awk '/^◇ Test run started/ { runs = 1 }
            !runs && !/^\[[0-9]/ || /^(✘|➜|✔ Test run)/ || /error:|[Ff]atal|signal/ { print; fflush() }' || status=$?
    if [ $status -ne 0 ]; then
        echo "The tests failed (exit $status). These failed, then the end of $log:" >&2
        grep -a '^✘' "$log" >&2 || true
        tail -n 20 "$log" | cut -c1-300 >&2
        exit $status
    fi
}

if [ $# -gt 0 ]; then
    run "$@"
    exit
fi
# Two runs: tests that compute keep all threads of a test process busy for seconds, and those of the wire measure time.
wire='^(ODataTransport|ODataClientTests|ODataServerTests|ConformanceTests|outpostTests)'
run --skip "$wire"
run --skip-build --filter "$wire"
