#!/usr/bin/env bash
# Builds and runs two programs from a package of their own: one that uses every library product, and the smallest app.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
# What the tests have built is used again: the folder is shared, and SwiftPM made to plan anew for another package.
plan_anew() { rm -f "$scratch"/*/{debug,release}/description.json; }
trap plan_anew EXIT
plan_anew

for product in $(sed -n '/^let libraries/,/^]/s/.*"\([A-Za-z]*\)", floor: .*/\1/p' Package.swift); do
    grep -q "outpost(\"$product\")" Consumers/Package.swift || {
        echo "Consumers/Package.swift does not use the product $product" >&2
        exit 1
    }
done
swift build --package-path Consumers "${configuration[@]}"
bin=$(swift build --package-path Consumers "${configuration[@]}" --show-bin-path)

# An app that imports OfflineOData must hold neither NIO nor Hummingbird: their mangled module names must not be in it. That
# the names would be found is shown by the other program, which has the server.
foreign='7NIOCore|11Hummingbird'
if grep -aEq "$foreign" "$bin/OfflineApp"; then
    echo "OfflineApp pulls in NIO or Hummingbird" >&2
    exit 1
fi
grep -aEq "$foreign" "$bin/Everything" || {
    echo "the check for NIO and Hummingbird finds nothing where they are" >&2
    exit 1
}
"$bin/OfflineApp"
"$bin/Everything"
