#!/usr/bin/env bash
# Packs the programs for Linux: scripts/dist.sh [FOLDER], bin/dist unless told otherwise. Writes outpost-VERSION-linux-MACHINE.tar.gz
# with the programs (Swift's libraries in them, stripped), manual pages and completions, and beside it its SHA-256 in SHA256SUMS and
# the Debian packages that the programs need in outpost-VERSION-linux-MACHINE.packages, which is in the archive, too. The same
# programs give the same archive: names are sorted, and times are SOURCE_DATE_EPOCH or the time of the last commit.
# TOOL is another program than the one that scripts/build.sh has built; SERVER is then the mobile server, which is left out
# without it. The archive is checked by scripts/dist-check.sh.
set -euo pipefail
[ "$(uname)" = Linux ] || { echo "dist.sh: archives are made on Linux" >&2; exit 1; }
mkdir -p "${1:-$(dirname "$0")/../bin/dist}"
output=$(cd "${1:-$(dirname "$0")/../bin/dist}" && pwd)
cd "$(dirname "$0")/.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export LC_ALL=C TZ=UTC
tool=${TOOL:-bin/outpost}
[ -x "$tool" ] || { echo "dist.sh: $tool is not there; run: make build" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

server=${SERVER:-}
if [ -z "${TOOL:-}" ] && [ -z "$server" ] && [ -x bin/outpost-server ]; then server=bin/outpost-server; fi
strip_all() { if command -v llvm-strip >/dev/null; then llvm-strip --strip-all "$1"; else strip --strip-all "$1"; fi; }
cp -L "$tool" "$work/outpost"
strip_all "$work/outpost"
programs=("$work/outpost")
if [ -n "$server" ]; then
    cp -L "$server" "$work/outpost-server"
    strip_all "$work/outpost-server"
    programs+=("$work/outpost-server")
fi
mkdir -p "$work/home"
version=$(HOME=$work/home XDG_DATA_HOME=$work/home XDG_STATE_HOME=$work/home "$work/outpost" --version)
name=outpost-$version-linux-$(uname -m)

# owner FILE: the Debian package of a library; the file may be known by its name before folders of / moved to /usr.
owner() {
    local file=$1 candidate
    for candidate in "$file" "$(readlink -f "$file")" "${file#/usr}" "/usr$file"; do
        if dpkg-query -S "$candidate" 2>/dev/null | head -n 1 | cut -d: -f1 | grep .; then return; fi
    done
    echo "dist.sh: no Debian package has $file; is the program linked with Swift's libraries in it?" >&2
    return 1
}
ldd "${programs[@]}" | grep -v "^$work/" >"$work/ldd"
if grep 'not found' "$work/ldd" >&2; then exit 1; fi
grep -oE '/[^ ]+' "$work/ldd" | sort -u >"$work/libraries"
while IFS= read -r library; do owner "$library"; done <"$work/libraries" >"$work/owners"
# The lowest glibc by the versions of its symbols; relative relocations in packed form need 2.36.
glibc=$(grep -ahoE 'GLIBC_(2\.[0-9]+|ABI_DT_RELR)' "${programs[@]}" | sed 's/ABI_DT_RELR/2.36/; s/GLIBC_//' | sort -uV | tail -n 1)
sort -u "$work/owners" | sed "s/^libc6\$/libc6 (>= $glibc)/" >"$work/packages"

DESTDIR=$work PREFIX=/$name TOOL=$work/outpost SERVER=${server:+$work/outpost-server} scripts/install.sh >/dev/null
mkdir -p "$work/$name/share/doc/outpost"
cp LICENSE "$work/$name/share/doc/outpost/LICENSE"
cp "$work/packages" "$work/$name/share/doc/outpost/PACKAGES"
find "$work/$name" -type d -exec chmod 755 {} +
find "$work/$name" -type f -exec chmod 644 {} +
chmod 755 "$work/$name/bin"/*
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -C "$work" -cf - "$name" |
    gzip -9 -n >"$output/$name.tar.gz"
cp "$work/packages" "$output/$name.packages"
(cd "$output" && sha256sum "$name.tar.gz" "$name.packages" >SHA256SUMS)
scripts/dist-check.sh "$output/$name.tar.gz"
echo "$output/$name.tar.gz"
