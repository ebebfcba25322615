#!/usr/bin/env bash
# Builds the tool in release mode and puts it into bin/.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/linking.sh
source scripts/linking.sh
# In a folder of its own: with other flags than the rest has, SwiftPM would build everything anew, and the rest after it.
export SCRATCH=${SCRATCH:-.build}/tool
scripts/release.sh ${linking[@]+"${linking[@]}"} --product outpost
mkdir -p bin
ln -sf "$(scripts/release.sh --show-bin-path)/outpost" bin/outpost
echo "Built bin/outpost. Try: bin/outpost --help"
