#!/usr/bin/env bash
# Runs a service and its clients in virtual time, everything failing, and prints one line of totals:
# SEEDS=10000 FIRST_SEED=0 scripts/simulate.sh. A run follows from its seed, and as many go at a time as there are processors.
# Ends with 1 when a promise was broken; with MAX_SECONDS, also when the runs (not their building) took longer.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}
swift build -c release --product simulate --scratch-path "$scratch" -j "${JOBS:-2}" >&2
simulate=$(swift build -c release --product simulate --scratch-path "$scratch" --show-bin-path)/simulate
begin=$SECONDS
"$simulate" --seeds "${SEEDS:-10000}" --first-seed "${FIRST_SEED:-0}"
taken=$((SECONDS - begin))
if [ -n "${MAX_SECONDS:-}" ] && [ "$taken" -gt "$MAX_SECONDS" ]; then
    echo "The runs took $taken s, and may take $MAX_SECONDS." >&2
    exit 1
fi
