#!/usr/bin/env bash
# Has the compiler refuse the wrong uses of generated business objects: scripts/refused.sh [FILE…].
# Without files: Tests/ObjectAPITests/Refused. The first line of each file says after `Expected:` which error it gives.
# Ends with 1 when a file compiles, or gives another error.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
files=("$@")
[ ${#files[@]} -gt 0 ] || files=(Tests/ObjectAPITests/Refused/*.swift)
swift build "${configuration[@]}" "${traits[@]}" --target ObjectAPI >&2
bin=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)
read -ra xml <<<"$(pkg-config --cflags-only-I libxml-2.0 | sed 's/-I/-Xcc -I/g')"
maps=()
for map in Sources/C/*/module.modulemap "$scratch"/checkouts/GRDB.swift/Sources/GRDBSQLite/module.modulemap \
    "$bin"/*.build/module.modulemap; do
    [ -f "$map" ] && maps+=(-Xcc "-fmodule-map-file=$map")
done
check() {
    swiftc -typecheck -swift-version 6 -module-name Refused -I "$bin/Modules" "${maps[@]}" "${xml[@]}" \
        Tests/ObjectAPITests/Crm/*.swift "$@" 2>&1
}

# The generated code alone compiles, so that each error is one of the wrong use.
check || { echo "refused.sh: the generated code does not compile" >&2; exit 1; }
failed=0
for file in "${files[@]}"; do
    expected=$(sed -n '1s/.*Expected: //p' "$file")
    if message=$(check "$file"); then
        echo "compiles, but should not: $file" >&2
        failed=1
    elif grep -qF "$expected" <<<"$message" && grep -qF "$(basename "$file")" <<<"$message"; then
        echo "refused: $file"
    else
        printf '%s gives another error than "%s":\n%s\n' "$file" "$expected" "$message" >&2
        failed=1
    fi
done
exit $failed
