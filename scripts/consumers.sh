#!/usr/bin/env bash
# Builds and runs a program from a package of its own that uses every library product. The smallest app is scripts/app.sh's.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
# What the tests have built is used again: the folder is shared, and SwiftPM made to plan anew for another package.
plan_anew() { rm -f "$scratch"/*/{debug,release}/description.json; }
trap plan_anew EXIT
plan_anew

consumer=Consumers/Everything
for product in $(sed -n '/^let libraries/,/^]/s/.*"\([A-Za-z]*\)", floor: .*/\1/p' Package.swift); do
    grep -q "outpost(\"$product\")" $consumer/Package.swift || {
        echo "$consumer/Package.swift does not use the product $product" >&2
        exit 1
    }
done
swift build --package-path $consumer "${configuration[@]}"
bin=$(swift build --package-path $consumer "${configuration[@]}" --show-bin-path)

# scripts/app.sh looks for these names where they must not be; here they are.
grep -aEq '7NIOCore|11Hummingbird' "$bin/Everything" || {
    echo "the check for NIO and Hummingbird finds nothing where they are" >&2
    exit 1
}
"$bin/Everything"
