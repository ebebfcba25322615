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
    printf '%-52s %4d MB, without symbols %3d MB\n' "$1" $(($(stat -Lc %s "$2") >> 20)) $(($(stat -c %s "$copy") >> 20))
    rm -f "$copy"
}
stripped "outpost, with the server and the tools" bin/outpost
# As the tool is linked: else the sizes say nothing of each other.
# shellcheck source=scripts/linking.sh
source scripts/linking.sh
build=(swift build -c release --package-path Consumers/App --scratch-path "$scratch/sizes" -j "${JOBS:-2}"
    ${linking[@]+"${linking[@]}"})
"${build[@]}" --product App >&2
consumer=$("${build[@]}" --show-bin-path)/App
stripped "a program with OfflineOData, without the server" "$consumer"
