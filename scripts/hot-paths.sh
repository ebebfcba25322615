#!/usr/bin/env bash
# Builds the program that goes the hot paths and prints where it is: scripts/hot-paths.sh. The libraries that are counted
# are optimised; what they stand on is taken as the tests have built it, so that this takes minutes less than a release
# build of everything.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=${SCRATCH:-.build}
# Nothing to do where the tests have been built.
for target in GRDB EncryptedSQLite; do
    swift build --scratch-path "$scratch" --target "$target" -j "${JOBS:-2}" >&2
done
products=$(swift build --scratch-path "$scratch" --show-bin-path)
build=$scratch/hot-paths
mkdir -p "$build"
build=$(cd "$build" && pwd)
checkouts=$scratch/checkouts
flags=(-O -wmo -parse-as-library -swift-version 6 -I "$build" -I "$products/Modules" -package-name outpost
    -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSL/include"
    -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSLShims/include")
for map in Sources/CLibXML2 Sources/CSQLite "$checkouts/GRDB.swift/Sources/GRDBSQLite" "$products/CLinux.build" \
    "$products/CAESGCM.build"; do
    flags+=(-Xcc -fmodule-map-file="$map/module.modulemap")
done
# shellcheck disable=SC2207 # words are wanted
flags+=($(pkg-config --cflags libxml-2.0))
objects=()
# shellcheck source=scripts/library.sh
source scripts/library.sh
for library in ODataModel ODataQuery ODataFormat ODataService ODataStore; do compile_library "$library" "Sources/$library"; done
for library in SampleOrders HotPaths; do compile_library "$library" "Benchmarks/Sources/$library"; done
for library in ErrorCodes EncryptedSQLite Secrets CLinux CAESGCM GRDB Crypto CryptoExtras CryptoBoringWrapper CCryptoBoringSSL \
    CCryptoBoringSSLShims CXKCP CXKCPShims SwiftASN1; do
    while IFS= read -r object; do objects+=("$object"); done < <(find "$products/$library.build" -name '*.o')
done
# shellcheck disable=SC2046 # words are wanted
swiftc "${flags[@]/-parse-as-library/-DHOT}" -module-name hot_paths Benchmarks/Sources/hot-paths/main.swift "${objects[@]}" \
    $(pkg-config --libs libxml-2.0) -lsqlite3 -lstdc++ -o "$build/hot-paths" >&2
# Valgrind cannot read what Swift says for debuggers.
strip -g "$build/hot-paths"
echo "$build/hot-paths"
