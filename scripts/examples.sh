#!/usr/bin/env bash
# Builds the example app, which uses the build-tool plugin, from a package of its own, and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
export SCRATCH=${SCRATCH:-.build}/app
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
# Built without the trait `Server`, in the folder of scripts/app.sh: what is there is used again, and SwiftPM made to plan anew for
# another package.
plan_anew() { rm -f "$scratch"/*/{debug,release}/description.json; }
trap plan_anew EXIT
plan_anew
swift build --package-path Examples/TypedHarbour "${configuration[@]}" --product TypedHarbour
bin=$(swift build --package-path Examples/TypedHarbour "${configuration[@]}" --show-bin-path)
diff <("$bin/TypedHarbour") Examples/TypedHarbour/expected.txt
echo "Examples/TypedHarbour: as expected"
