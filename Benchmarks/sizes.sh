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
tool=$(swift build -c release --scratch-path "$scratch" --show-bin-path)/outpost
stripped "outpost, with the server and the tools" "$tool"
swift build -c release --package-path Consumers --scratch-path "$scratch/sizes" --product UsesOfflineOData -j "${JOBS:-2}" >&2
consumer=$(swift build -c release --package-path Consumers --scratch-path "$scratch/sizes" --show-bin-path)/UsesOfflineOData
stripped "a program with OfflineOData, without the server" "$consumer"
