#!/usr/bin/env bash
# Builds the program that goes the hot paths and prints where it is: scripts/hot-paths.sh. What is counted is the release
# build of the libraries, or the build of the tests in continuous integration, where they are optimised, too. Of the package of
# benchmarks these few files alone are compiled, since building that one means building all that it compares with.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}
[ -n "${CI:-}" ] || export OUTPOST_CONFIGURATION=release
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
for part in "--target ODataSQL" "--target ODataHTTP" "--product odata-generate"; do
    # shellcheck disable=SC2086 # words are wanted
    swift build "${configuration[@]}" "${traits[@]}" $part >&2
done
products=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)
build=$scratch/hot-paths
rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)
checkouts=$scratch/checkouts
flags=(-O -wmo -parse-as-library -swift-version 6 -I "$build" -I "$products/Modules"
    -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSL/include"
    -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSLShims/include")
for map in Sources/C/CLibXML2 Sources/C/CSQLite "$checkouts/GRDB.swift/Sources/GRDBSQLite" "$products/CLinux.build" \
    "$products/CAESGCM.build"; do
    flags+=(-Xcc -fmodule-map-file="$map/module.modulemap")
done
# shellcheck disable=SC2207 # words are wanted
flags+=($(pkg-config --cflags libxml-2.0))
objects=()
# shellcheck source=scripts/library.sh
source scripts/library.sh
# What the plugin generates where the package is built stands beside the sources here.
cp -r Benchmarks/Sources/HotPaths "$build/sources"
"$products/odata-generate" "$build/sources/odata-metadata.xml" --config "$build/sources/odata-generator.json" \
    --output "$build/sources" >&2
compile_library SampleOrders Benchmarks/Sources/SampleOrders
compile_library HotPaths "$build/sources"
for library in ODataModel ODataQuery ODataFormat ODataService ODataHTTP HTTPTypes ODataSQL DataVault ErrorCodes EncryptedSQLite SafeFiles Secrets CLinux CAESGCM GRDB \
    Crypto CryptoExtras CryptoBoringWrapper CCryptoBoringSSL CCryptoBoringSSLShims CXKCP CXKCPShims SwiftASN1; do
    while IFS= read -r object; do objects+=("$object"); done < <(find "$products/$library.build" -name '*.o')
done
# shellcheck disable=SC2046 # words are wanted
swiftc "${flags[@]/-parse-as-library/-DHOT}" -module-name hot_paths Benchmarks/Sources/hot-paths/main.swift "${objects[@]}" \
    $(pkg-config --libs libxml-2.0) -lsqlite3 -lstdc++ -o "$build/hot-paths" >&2
# Valgrind cannot read what Swift says for debuggers.
strip -g "$build/hot-paths"
echo "$build/hot-paths"
