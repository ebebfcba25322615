#!/usr/bin/env bash
# Builds and runs a tiny program for each library product, from a package of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}-consumers

# The one that imports OfflineOData first, alone: its build must hold neither NIO nor Hummingbird.
swift build --package-path Consumers --scratch-path "$scratch" -j "${JOBS:-2}" --product UsesOfflineOData
bin=$(swift build --package-path Consumers --scratch-path "$scratch" --show-bin-path)
if ls "$bin" | grep -Eiq '^(NIO|Hummingbird|AsyncHTTPClient)'; then
    echo "UsesOfflineOData pulls in:" >&2
    ls "$bin" | grep -Ei '^(NIO|Hummingbird|AsyncHTTPClient)' >&2
    exit 1
fi
swift build --package-path Consumers --scratch-path "$scratch" -j "${JOBS:-2}"
for source in Consumers/Sources/*; do
    name=$(basename "$source")
    printf '%s: ' "$name"
    "$bin/$name"
done
