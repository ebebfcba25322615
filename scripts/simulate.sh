#!/usr/bin/env bash
# Runs a service and its clients in virtual time, everything failing, and prints one line of totals:
# SEEDS=10000 FIRST_SEED=0 scripts/simulate.sh. A run follows from its seed, and as many go at a time as there are processors.
# Ends with 1 when a promise was broken.
set -euo pipefail
cd "$(dirname "$0")/.."
# In continuous integration, libraries are optimised in the build of the tests, too.
[ -n "${CI:-}" ] || export OUTPOST_CONFIGURATION=release
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
swift build "${configuration[@]}" "${traits[@]}" --product simulate >&2
exec "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)/simulate" --seeds "${SEEDS:-10000}" --first-seed "${FIRST_SEED:-0}"
