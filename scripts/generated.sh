#!/usr/bin/env bash
# Generates code from metadata documents and has the compiler check it: scripts/generated.sh [--all] [--objects] [FILE…].
# Without files: the documents of the tests, and with --all every document of the corpus, where that is there.
# With --objects it is compiled as a debug build does, instead of being checked alone.
# Each document is a module of its own. Ends with 1 when a document that can be read gives code that does not compile.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
all=
mode=(-typecheck)
while [[ "${1:-}" == --* ]]; do
    case $1 in
    --all) all=1 ;;
    --objects) mode=(-c -Onone -enable-batch-mode -j "${JOBS:-2}") ;;
    *) echo "usage: scripts/generated.sh [--all] [--objects] [FILE…]" >&2; exit 2 ;;
    esac
    shift
done
documents=("$@")
if [ ${#documents[@]} = 0 ]; then
    documents=(Tests/ODataGeneratorTests/Documents/*.xml)
    corpus=${OUTPOST_CORPUS:-../shared/corpus}
    if [ -n "$all" ]; then
        if [ -d "$corpus/metadata" ]; then
            while IFS= read -r file; do documents+=("$file"); done < <(
                find "$corpus/metadata" "$corpus/csdl-pairs" -type f \
                    \( -name '*.xml' -o -name '*.csdl' -o -name '*.edmx' -o -name '*.json' \) | sort)
        else
            echo "generated.sh: no corpus at $corpus: only the documents of the tests are checked" >&2
        fi
    fi
fi

# Documents are named from here, objects are written elsewhere.
root=$PWD
swift build "${configuration[@]}" "${traits[@]}" --product odata-generate >&2
swift build "${configuration[@]}" "${traits[@]}" --target ODataService >&2
bin=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT
read -ra xml <<<"$(pkg-config --cflags-only-I libxml-2.0 | sed 's/-I/-Xcc -I/g')"

compiled=0 unreadable=0 failed=0
for document in "${documents[@]}"; do
    rm -rf "$output/code"
    if ! message=$("$bin/odata-generate" "$document" --output "$output/code" --files 12 2>&1); then
        # Fragments and documents that are no metadata have nothing to generate; that is said, and is no failure.
        echo "no code: $message"
        unreadable=$((unreadable + 1))
        continue
    fi
    begin=$(date +%s)
    if (cd "$output" && swiftc "${mode[@]}" -swift-version 6 -warnings-as-errors -module-name Generated -I "$bin/Modules" \
        -Xcc -fmodule-map-file="$root/Sources/C/CLibXML2/module.modulemap" "${xml[@]}" code/*.swift); then
        compiled=$((compiled + 1))
        printf '%4ds %7d lines  %s\n' $(($(date +%s) - begin)) "$(cat "$output"/code/*.swift | wc -l)" "$document"
    else
        failed=$((failed + 1))
        echo "does not compile: $document" >&2
    fi
done
echo "$compiled documents compile, $unreadable cannot be generated from, $failed do not compile"
[ "$failed" = 0 ]
