# How the released tool is linked. To be sourced: sets `linking`, flags of `swift build`.
# With what it uses of Swift's libraries in itself, a program starts in half the time where nothing is in the kernel's caches.
# What it does not use of them goes where nothing is exported. Packed relocations need glibc 2.36.
linking=()
if [ "$(uname)" = Linux ]; then
    linking+=(--static-swift-stdlib -Xswiftc -use-ld=lld -Xlinker --no-export-dynamic)
    glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d' ' -f2 || true)
    if [ -n "$glibc" ] && [ "$(printf '%s\n' 2.36 "$glibc" | sort -V | head -n 1)" = 2.36 ]; then
        linking+=(-Xlinker -z -Xlinker pack-relative-relocs)
    fi
fi
