#!/usr/bin/env bash
# The size of release binaries, as built and without symbols: Benchmarks/sizes.sh SCRATCH. The tool has everything, the
# consumer of OfflineOData what an app links.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$1
stripped() { # stripped NAME FILE
    local copy
    copy=$(mktemp)
    strip -o "$copy" "$2"
    printf '%-52s %4d MB, without symbols %3d MB\n' "$1" $(($(stat -c %s "$2") >> 20)) $(($(stat -c %s "$copy") >> 20))
    rm -f "$copy"
}
tool=$(SCRATCH=$scratch scripts/release.sh --show-bin-path)/outpost
stripped "outpost, with the server and the tools" "$tool"
# As the tool is linked, with what is used of Swift's libraries: else the sizes say nothing of each other.
build=(swift build -c release --package-path Consumers --scratch-path "$scratch/sizes" -j "${JOBS:-2}")
if [ "$(uname)" = Linux ]; then
    build+=(--static-swift-stdlib -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic)
fi
"${build[@]}" --product UsesOfflineOData >&2
consumer=$("${build[@]}" --show-bin-path)/UsesOfflineOData
stripped "a program with OfflineOData, without the server" "$consumer"
