#!/usr/bin/env bash
# Builds and runs a tiny program for each library product, from a package of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}
# What the tests have built is used again: the folder is shared, and SwiftPM made to plan anew for another package.
plan_anew() { rm -f "$scratch"/*/debug/description.json; }
trap plan_anew EXIT
plan_anew

# A program that imports OfflineOData must hold neither NIO nor Hummingbird: it is built first, alone, and their
# mangled module names must not be in it. That the names would be found is shown by the server's program.
foreign='7NIOCore|11Hummingbird'
swift build --package-path Consumers --scratch-path "$scratch" -j "${JOBS:-2}" --product UsesOfflineOData
bin=$(swift build --package-path Consumers --scratch-path "$scratch" --show-bin-path)
if grep -aEq "$foreign" "$bin/UsesOfflineOData"; then
    echo "UsesOfflineOData pulls in NIO or Hummingbird" >&2
    exit 1
fi
swift build --package-path Consumers --scratch-path "$scratch" -j "${JOBS:-2}"
grep -aEq "$foreign" "$bin/UsesODataServer" || {
    echo "the check for NIO and Hummingbird finds nothing where they are" >&2
    exit 1
}
for source in Consumers/Sources/*; do
    name=$(basename "$source")
    printf '%s: ' "$name"
    "$bin/$name"
done
