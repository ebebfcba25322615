#!/usr/bin/env bash
# Builds the example apps, which use the build-tool plugin, from packages of their own, and runs them. The app with business objects
# runs against the reference service.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
# Continuous integration has built the service already.
service=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)/reference-service
[ -n "${CI:-}" ] && [ -x "$service" ] || swift build "${configuration[@]}" "${traits[@]}" --product reference-service

export SCRATCH=${SCRATCH:-.build}/app
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
unset OUTPOST_OPTIMISED # nothing here computes for long
# Without the trait `Server`, its targets lack the packages that they import; they are not built.
configuration+=(--explicit-target-dependency-import-check none)
# Built without the trait `Server`, in the folder of scripts/app.sh: what is there is used again, and SwiftPM made to plan anew for
# another package.
plan_anew() { rm -f "$scratch"/*/{debug,release}/description.json; }
process="" address=""
cleanup() {
    plan_anew
    [ -z "$process" ] || kill "$process" 2>/dev/null || true
    [ -z "$address" ] || rm -f "$address"
}
trap cleanup EXIT

# check PACKAGE PRODUCT COMMAND…: the runs of the program, one for each command, must print Examples/PACKAGE/expected.txt
check() {
    local package=$1 product=$2 bin arguments
    shift 2
    plan_anew
    swift build --package-path "Examples/$package" "${configuration[@]}" --product "$product"
    bin=$(swift build --package-path "Examples/$package" "${configuration[@]}" --show-bin-path)
    diff <(for arguments in "${@:-}"; do
        # shellcheck disable=SC2086 # a command is words
        "$bin/$product" $arguments
    done) "Examples/$package/expected.txt"
    echo "Examples/$package: as expected"
}

check TypedHarbour TypedHarbour
address=$(mktemp)
"$service" --package crm --port 0 --json >"$address" &
process=$!
for _ in $(seq 100); do
    [ -s "$address" ] && break
    kill -0 "$process" || { echo "examples.sh: the reference service ended" >&2; exit 1; }
    sleep 0.1
done
root=$(sed 's/.*"url":"\([^"]*\)".*/\1/' "$address")
check Crm crm "$root" "report $root"
