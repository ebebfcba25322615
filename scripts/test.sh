#!/usr/bin/env bash
# Builds and runs every test; the one script behind `make test` and .ci/run. Arguments go to the test program, as `swift test`
# takes them: scripts/test.sh --filter UploadTests. With --build-only, the tests are built and not run; with --skip-build, they are
# run as they were built. With OUTPOST_TESTS=ODataModelTests,SecretsTests, only these test targets and the libraries that they need are
# built.
# The terminal gets progress, failures, skipped tests and the totals; everything is in tests.log of the build folder.
# With SANITIZER=address or SANITIZER=thread it runs what scripts/sanitize.sh has built.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
log=$scratch/tests.log
mkdir -p "$scratch"
: >"$log"
begin=$SECONDS
if [ "${1:-}" = --skip-build ]; then
    shift
elif [ -z "${SANITIZER:-}" ]; then
    what=(--build-tests)
    [ -z "${OUTPOST_TESTS:-}" ] || what=(--product outpostPackageTests)
    swift build "${configuration[@]}" "${traits[@]}" "${what[@]}" 2>&1 | tee -a "$log" | scripts/progress.py build
    if [ "${1:-}" = --build-only ]; then exit; fi
fi
if [ "$(uname)" = Darwin ]; then # where the tests are a bundle
    tests=(swift test "${configuration[@]}" "${traits[@]}" --skip-build --disable-xctest)
else # without SwiftPM, which would wait for another build
    tests=("$scratch/${OUTPOST_CONFIGURATION:-debug}/outpostPackageTests.xctest" --testing-library swift-testing)
fi

# All at once, tests would hold thousands of files open, more than Foundation's Process can look through.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-8}
# Tests compare English texts of the tool.
export OUTPOST_LANGUAGE=en

run() { # run ARGUMENTS…: one process of tests; there are no XCTest tests
    local status=0
    "${tests[@]}" "$@" 2>&1 | sed -u $'s/\e\\[[0-9;]*m//g' | tee -a "$log" | scripts/progress.py tests || status=$?
    if [ $status -ne 0 ]; then
        echo "The tests failed (exit $status). These failed, then the end of $log:" >&2
        awk '/^(◇|✔|➜)/ { told = 0 } /^✘/ { told = 12 } told-- > 0' "$log" | cut -c1-600 >&2
        tail -n 20 "$log" | cut -c1-300 >&2
        exit $status
    fi
}

if [ $# -gt 0 ]; then
    run "$@"
else
    # Two runs: tests that compute keep all threads of a test process busy for seconds, and those of the wire measure time.
    wire='^(ODataTransport|ODataClientTests|ODataServerTests|ConformanceTests|MobileClientTests|PostgresClientTests|ServerStatePostgresTests|MobileServerTests|outpostServerTests|outpostTests)'
    run --skip "$wire"
    run --filter "$wire"
fi
scripts/progress.py totals "$log" $((SECONDS - begin))
