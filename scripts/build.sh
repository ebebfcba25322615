#!/usr/bin/env bash
# Builds the tool and the mobile server in release mode and puts them into bin/.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/linking.sh
source scripts/linking.sh
# In a folder of its own: with other flags than the rest has, SwiftPM would build everything anew, and the rest after it.
export SCRATCH=${SCRATCH:-.build}/tool
mkdir -p bin
for product in outpost outpost-server; do
    scripts/release.sh ${linking[@]+"${linking[@]}"} --product "$product"
    ln -sf "$(scripts/release.sh --show-bin-path)/$product" "bin/$product"
done
echo "Built bin/outpost and bin/outpost-server. Try: bin/outpost --help"
