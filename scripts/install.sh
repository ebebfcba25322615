#!/usr/bin/env bash
# Installs the tool that scripts/build.sh has built, with its manual pages and with completions for bash, zsh and fish:
# PREFIX (/usr/local) is where it will be, DESTDIR a folder in front of it, for packages. With --uninstall, removes the files that
# an installation at the same place has written, and nothing else. TOOL is another program than bin/outpost.
set -euo pipefail
cd "$(dirname "$0")/.."
prefix=${PREFIX:-/usr/local}
case $prefix in
/*) ;;
*) echo "install.sh: PREFIX is an absolute path, not '$prefix'" >&2; exit 2 ;;
esac
target=${DESTDIR:-}${prefix%/}
# The paths of the installed files below the prefix, one a line.
list=share/outpost/installed-files

if [ "${1:-}" = --uninstall ]; then
    [ -f "$target/$list" ] || { echo "install.sh: nothing is installed at $target" >&2; exit 1; }
    while IFS= read -r file; do
        case $file in
        /* | ../* | */../* | */.. | ..) echo "install.sh: $list names '$file', which is not below the prefix" >&2; exit 1 ;;
        esac
        rm -f "$target/$file"
    done <"$target/$list"
    rm -f "$target/$list"
    rmdir "$target/share/outpost" 2>/dev/null || true
    echo "Removed outpost from $target"
    exit
fi

tool=${TOOL:-bin/outpost}
[ -x "$tool" ] || { echo "install.sh: $tool is not there; run: make build" >&2; exit 1; }
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# The tool keeps a log in its home folder.
export HOME=$stage/home XDG_DATA_HOME=$stage/home XDG_STATE_HOME=$stage/home XDG_CACHE_HOME=$stage/home
mkdir -p "$stage/files/bin" "$stage/home"
cp -L "$tool" "$stage/files/bin/outpost"
completions() { # completions SHELL FILE
    mkdir -p "$stage/files/$(dirname "$2")"
    "$stage/files/bin/outpost" --generate-completion-script "$1" >"$stage/files/$2"
}
completions bash share/bash-completion/completions/outpost
completions zsh share/zsh/site-functions/_outpost
completions fish share/fish/vendor_completions.d/outpost.fish
scripts/manual.py "$stage/files/bin/outpost" "$stage/files/share/man/man1"

(cd "$stage/files" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$stage/list"
while IFS= read -r file; do
    mode=644
    case $file in bin/*) mode=755 ;; esac
    mkdir -p "$target/$(dirname "$file")"
    install -m "$mode" "$stage/files/$file" "$target/$file"
done <"$stage/list"
mkdir -p "$target/share/outpost"
install -m 644 "$stage/list" "$target/$list"
echo "Installed outpost $("$stage/files/bin/outpost" --version) at $target"
