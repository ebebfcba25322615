#!/usr/bin/env bash
# Runs a service and its clients in virtual time, everything failing, and prints one line of totals:
# SEEDS=10000 FIRST_SEED=0 scripts/simulate.sh. A run follows from its seed, and as many go at a time as there are processors.
# Ends with 1 when a promise was broken; with MAX_SECONDS, also when the runs (not their building) kept the processors busy
# for longer. By the clock, a neighbour's work would count.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/release.sh --product simulate >&2
simulate=$(scripts/release.sh --show-bin-path)/simulate
times=$(mktemp)
trap 'rm -f "$times"' EXIT
TIMEFORMAT='%U %S'
{ time "$simulate" --seeds "${SEEDS:-10000}" --first-seed "${FIRST_SEED:-0}" 2>&3; } 3>&2 2>"$times"
awk -v processors="$(getconf _NPROCESSORS_ONLN)" -v most="${MAX_SECONDS:-0}" '
    { busy = ($1 + $2) / processors }
    most && busy > most { printf "The runs kept %d processors busy for %.0f s, and may for %d.\n", processors, busy, most; exit 1 }
    ' "$times" >&2
