#!/usr/bin/env bash
# Builds the example app, which uses the build-tool plugin, from a package of its own, and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}
# What the tests have built is used again: the folder is shared, and SwiftPM made to plan anew for another package.
plan_anew() { rm -f "$scratch"/*/debug/description.json; }
trap plan_anew EXIT
plan_anew
swift build --package-path Examples/TypedHarbour --scratch-path "$scratch" -j "${JOBS:-2}" --product TypedHarbour
bin=$(swift build --package-path Examples/TypedHarbour --scratch-path "$scratch" --show-bin-path)
diff <("$bin/TypedHarbour") Examples/TypedHarbour/expected.txt
echo "Examples/TypedHarbour: as expected"
