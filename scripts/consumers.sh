#!/usr/bin/env bash
# Builds and runs programs from a package of their own: one that uses every library product, and an app with one import beside the
# names of Apple's frameworks. Builds the code of the documentation, too: the examples of public types, and the program of the
# tutorial "Your first offline app". The smallest app is scripts/app.sh's.
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
# A type for every name of Apple's frameworks, a use of each beside OutpostKit, and the first example in Swift of the README as it is
# printed.
names=$(awk '$1 == "Swift" { own[$2] } !/^#/ && NF == 2 { all[$2] } END { for (name in all) if (!(name in own)) print name }' \
    Tests/ArchitectureTests/AppleNames.txt | grep -vxE 'Text|View|State' | sort)
{
    echo '// swift-format-ignore-file'
    sed 's/.*/public enum `&` {}/' <<<"$names"
} >$consumer/Sources/AppleFrameworks/Names.generated.swift
{
    printf '// swift-format-ignore-file\nimport AppleFrameworks\nimport OutpostKit\n\n'
    sed 's/.*/typealias Use_& = `&`/' <<<"$names"
} >$consumer/Sources/KitApp/Uses.generated.swift
awk '/^```/ { if (inside) exit; inside = $0 == "```swift"; next } inside' README.md >$consumer/Sources/KitApp/Readme.generated.swift
scripts/doc-examples.py $consumer/Sources/Examples/Examples.generated.swift
swift build "${configuration[@]}" "${traits[@]}" --product odata-generate
"$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)/odata-generate" $consumer/northwind.xml \
    --config $consumer/northwind.json --output $consumer/Sources/Examples/Northwind
plan_anew
# The Swift blocks of the tutorial: the manifest, the program, and the main file.
mkdir -p $consumer/Sources/AddressBook
awk -v folder=$consumer/Sources/AddressBook '
    /^```/ { if (!inside && $0 == "```swift") count++; inside = !inside && $0 == "```swift"; next }
    inside { blocks[count] = blocks[count] $0 "\n" }
    END {
        for (i = 2; i < count; i++) print blocks[i] >(folder "/AddressBook.generated.swift")
        printf "%s", blocks[count] >(folder "/main.swift")
    }' Sources/Kit/OutpostKit/Documentation.docc/FirstOfflineApp.md
swift build --package-path $consumer "${configuration[@]}"
bin=$(swift build --package-path $consumer "${configuration[@]}" --show-bin-path)

# scripts/app.sh looks for these names where they must not be; here they are.
foreign='7NIOCore|11Hummingbird'
grep -aEq "$foreign" "$bin/Everything" || {
    echo "the check for NIO and Hummingbird finds nothing where they are" >&2
    exit 1
}
if grep -aEq "$foreign" "$bin/KitApp"; then
    echo "OutpostKit pulls in NIO or Hummingbird" >&2
    exit 1
fi
"$bin/KitApp"
"$bin/Everything"
