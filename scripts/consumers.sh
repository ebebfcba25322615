#!/usr/bin/env bash
# Builds and runs programs from a package of their own: one that uses every library product, the smallest app, and an app with one
# import beside the names of Apple's frameworks.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
# What the tests have built is used again: the folder is shared, and SwiftPM made to plan anew for another package.
plan_anew() { rm -f "$scratch"/*/{debug,release}/description.json; }
trap plan_anew EXIT
plan_anew

for product in $(sed -n 's/.*\.library(name: "\([^"]*\)".*/\1/p' Package.swift); do
    grep -q "outpost(\"$product\")" Consumers/Package.swift || {
        echo "Consumers/Package.swift does not use the product $product" >&2
        exit 1
    }
done
# A type for every name of Apple's frameworks, a use of each beside OutpostKit, and the first example in Swift of the README as it is
# printed. Names that still clash are left out.
pending='Authentication|Entity|EntityCollection|Environment|Expression|NavigationPath|Operation|Query|Relationship|Schema|Shape'
names=$(awk '$1 == "Swift" { own[$2] } !/^#/ && NF == 2 { all[$2] } END { for (name in all) if (!(name in own)) print name }' \
    Tests/ArchitectureTests/AppleNames.txt | grep -vxE "Text|View|State|$pending" | sort)
{
    echo '// swift-format-ignore-file'
    sed 's/.*/public enum `&` {}/' <<<"$names"
} >Consumers/Sources/AppleFrameworks/Names.generated.swift
{
    printf '// swift-format-ignore-file\nimport AppleFrameworks\nimport OutpostKit\n\n'
    sed 's/.*/typealias Use_& = `&`/' <<<"$names"
} >Consumers/Sources/KitApp/Uses.generated.swift
awk '/^```/ { if (inside) exit; inside = $0 == "```swift"; next } inside' README.md >Consumers/Sources/KitApp/Readme.generated.swift
swift build --package-path Consumers "${configuration[@]}"
bin=$(swift build --package-path Consumers "${configuration[@]}" --show-bin-path)

# An app that imports OfflineOData or OutpostKit must hold neither NIO nor Hummingbird: their mangled module names must not be in it. That
# the names would be found is shown by the other program, which has the server.
foreign='7NIOCore|11Hummingbird'
for app in OfflineApp KitApp; do
    if grep -aEq "$foreign" "$bin/$app"; then
        echo "$app pulls in NIO or Hummingbird" >&2
        exit 1
    fi
done
grep -aEq "$foreign" "$bin/Everything" || {
    echo "the check for NIO and Hummingbird finds nothing where they are" >&2
    exit 1
}
"$bin/OfflineApp"
"$bin/KitApp"
"$bin/Everything"
