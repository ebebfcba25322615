#!/usr/bin/env bash
# Makes the documentation of libraries: scripts/docs.sh OfflineOData. Without a name, that of all products, with an archive in which
# their pages link to each other.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
libraries=$*
options=()
if [ $# -eq 0 ]; then
    libraries=$(sed -n '/^let libraries/,/^]/s/.*"\([A-Za-z]*\)", floor: .*/\1/p' Package.swift)
    options=(--enable-experimental-combined-documentation)
fi
for library in $libraries; do options+=(--target "$library"); done
swift package "${traits[@]}" --scratch-path "$scratch" generate-documentation "${options[@]}"
