#!/usr/bin/env bash
# Checks an archive of scripts/dist.sh: scripts/dist-check.sh ARCHIVE. The checksums are right; unpacked into an empty folder, the
# program prints the version that the archive names; and in a root folder that has only the libraries of the packages in PACKAGES
# it prints it, too. That last check needs user namespaces or root. Without them, it is left out
# with a message.
set -euo pipefail
archive=$(readlink -f "$1")
base=$(basename "$archive" .tar.gz)
version=$(sed -nE 's/^outpost-(.*)-linux-.*$/\1/p' <<<"$base")
fail() { echo "dist-check.sh: $*" >&2; exit 1; }
(cd "$(dirname "$archive")" && sha256sum --quiet -c SHA256SUMS) || fail "the checksums are wrong"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/prefix" "$work/home"
tar -xzf "$archive" -C "$work/prefix"
program=$work/prefix/$base/bin/outpost
printed=$(env -i HOME="$work/home" PATH=/usr/bin "$program" --version)
[ "$printed" = "$version" ] || fail "the program prints '$printed', not '$version'"
if [ -e "$program-server" ]; then
    printed=$(env -i HOME="$work/home" PATH=/usr/bin "$program-server" --version)
    [ "$printed" = "$version" ] || fail "the mobile server prints '$printed', not '$version'"
    [ -s "$work/prefix/$base/share/man/man1/outpost-server.1" ] || fail "the archive has no manual page of the mobile server"
fi
for file in share/doc/outpost/PACKAGES share/doc/outpost/LICENSE share/man/man1/outpost.1 share/man/man1/outpost-clone.1 \
    share/bash-completion/completions/outpost share/zsh/site-functions/_outpost \
    share/fish/vendor_completions.d/outpost.fish; do
    [ -s "$work/prefix/$base/$file" ] || fail "the archive has no $file"
done
other=$(tar -tzf "$archive" | grep -v "^$base/" || true)
[ -z "$other" ] || fail "the archive has files beside $base: $other"
cmp -s "$work/prefix/$base/share/doc/outpost/PACKAGES" "$(dirname "$archive")/$base.packages" || fail "the two lists of packages differ"

# A root folder with the libraries of the named packages alone.
root=$work/root
mkdir -p "$root"/{usr/bin,usr/lib,usr/lib64,tmp,home,proc}
for folder in lib lib64 bin; do if [ -L /$folder ]; then cp -P /$folder "$root/$folder"; fi; done
while read -r package _; do
    dpkg-query -L "$package" 2>/dev/null | grep -E '\.so(\.|$)' | while IFS= read -r file; do
        [ -f "$file" ] || continue
        mkdir -p "$root/$(dirname "$file")"
        cp -P "$file" "$root/$(dirname "$file")/"
        if [ -L "$file" ]; then cp -n "$(readlink -f "$file")" "$root/$(dirname "$file")/"; fi
    done || true
done <"$work/prefix/$base/share/doc/outpost/PACKAGES"
cp "$program" "$root/usr/bin/outpost"
enter=(unshare --mount)
if [ "$(id -u)" != 0 ]; then enter+=(--user --map-root-user); fi
# Swift reads the arguments of a program from /proc.
# shellcheck disable=SC2016 # the inner shell expands them
start='mount --rbind /proc "$0/proc" && exec chroot "$0" /usr/bin/outpost --version'
if "${enter[@]}" sh -c 'mount --rbind /proc "$0/proc"' "$root" 2>/dev/null; then
    printed=$(env -i HOME=/home PATH="$PATH" "${enter[@]}" sh -c "$start" "$root") ||
        fail "the program does not start with the libraries of PACKAGES alone"
    [ "$printed" = "$version" ] || fail "in a root folder of its own, the program prints '$printed'"
else
    echo "dist-check.sh: without user namespaces, the list of packages is not tried" >&2
fi
echo "$base: the program prints $version with $(wc -l <"$work/prefix/$base/share/doc/outpost/PACKAGES") Debian packages"
