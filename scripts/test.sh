#!/usr/bin/env bash
# Runs every test; the one script behind `make test` and .ci/run. Arguments go to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
run() { swift test --scratch-path "${SCRATCH:-.build}" -j "${JOBS:-2}" "$@"; }
if [ $# -gt 0 ]; then
    run "$@"
    exit
fi
# Two runs: tests that compute keep all threads of a test process busy for seconds, and those of the wire measure time.
wire='^(ODataTransport|ODataClientTests|ODataServerTests)'
run --skip "$wire"
run --skip-build --filter "$wire"
