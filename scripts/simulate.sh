#!/usr/bin/env bash
# Runs a service and its clients in virtual time, everything failing, and prints one line of totals:
# SEEDS=10000 FIRST_SEED=0 scripts/simulate.sh. A run follows from its seed, and as many go at a time as there are processors.
# Ends with 1 when a promise was broken.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/release.sh --product simulate >&2
exec "$(scripts/release.sh --show-bin-path)/simulate" --seeds "${SEEDS:-10000}" --first-seed "${FIRST_SEED:-0}"
