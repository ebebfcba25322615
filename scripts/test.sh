#!/usr/bin/env bash
# Runs every test; the one script behind `make test` and .ci/run. Arguments go to `swift test`.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
swift test --scratch-path "${SCRATCH:-.build}" -j "${JOBS:-2}" "$@"
