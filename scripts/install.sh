#!/usr/bin/env bash
# Installs the programs that scripts/build.sh has built, with their manual pages and with completions for bash, zsh and fish:
# outpost, and outpost-server if it was built. PREFIX (/usr/local) is the place of the installation, DESTDIR a folder in front of it,
# for packages. With --uninstall, removes the files that an installation at the same place has written, and nothing else. TOOL is
# another program than bin/outpost; SERVER is then the mobile server, which is left out without it.
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
server=${SERVER:-}
if [ -z "${TOOL:-}" ] && [ -z "$server" ] && [ -x bin/outpost-server ]; then server=bin/outpost-server; fi
[ -z "$server" ] || [ -x "$server" ] || { echo "install.sh: $server is not there; run: make build" >&2; exit 1; }
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
# The tool keeps a log in its home folder.
export HOME=$stage/home XDG_DATA_HOME=$stage/home XDG_STATE_HOME=$stage/home XDG_CACHE_HOME=$stage/home
mkdir -p "$stage/files/bin" "$stage/home"
completions() { # completions NAME SHELL FILE
    mkdir -p "$stage/files/$(dirname "$3")"
    "$stage/files/bin/$1" --generate-completion-script "$2" >"$stage/files/$3"
}
program() { # program FILE NAME
    cp -L "$1" "$stage/files/bin/$2"
    completions "$2" bash "share/bash-completion/completions/$2"
    completions "$2" zsh "share/zsh/site-functions/_$2"
    completions "$2" fish "share/fish/vendor_completions.d/$2.fish"
    scripts/manual.py "$stage/files/bin/$2" "$stage/files/share/man/man1"
}
program "$tool" outpost
if [ -n "$server" ]; then program "$server" outpost-server; fi

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
