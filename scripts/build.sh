#!/usr/bin/env bash
# Builds the tool in release mode and puts it into bin/.
set -euo pipefail
cd "$(dirname "$0")/.."
# With what it uses of Swift's libraries in itself, the tool starts in half the time where nothing is in the kernel's caches.
# What it does not use of them goes where nothing is exported. Packed relocations need glibc 2.36.
flags=()
if [ "$(uname)" = Linux ]; then
    flags+=(--static-swift-stdlib -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic)
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2 || true)
    if [ -n "$glibc" ] && [ "$(printf '%s\n' 2.36 "$glibc" | sort -V | head -n 1)" = 2.36 ]; then
        flags+=(-Xlinker -z -Xlinker pack-relative-relocs)
    fi
fi
scripts/release.sh "${flags[@]}" --product outpost
mkdir -p bin
ln -sf "$(scripts/release.sh --show-bin-path)/outpost" bin/outpost
echo "Built bin/outpost. Try: bin/outpost --help"
