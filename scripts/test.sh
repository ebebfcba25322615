#!/usr/bin/env bash
# Runs every test; the one script behind `make test` and .ci/run. Arguments go to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
# All at once, tests would hold thousands of files open, more than Foundation's Process can look through, and those that
# measure time would wait for those that compute.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-8}
swift test --scratch-path "${SCRATCH:-.build}" -j "${JOBS:-2}" "$@"
