#!/usr/bin/env bash
# Builds the tool in release mode and puts it into bin/.
set -euo pipefail
cd "$(dirname "$0")/.."
# With what it uses of Swift's libraries in itself, the tool starts in half the time where nothing is in the kernel's caches.
flags=()
if [ "$(uname)" = Linux ]; then flags+=(--static-swift-stdlib); fi
scripts/release.sh "${flags[@]}" --product outpost
mkdir -p bin
ln -sf "$(scripts/release.sh --show-bin-path)/outpost" bin/outpost
echo "Built bin/outpost. Try: bin/outpost --help"
