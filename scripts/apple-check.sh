#!/usr/bin/env bash
# Type-checks on Linux the branches that only Apple's platforms compile, against the modules of Tests/AppleStubs:
# scripts/apple-check.sh [--skip-build] [--whole] [TARGET…]. Without names: every target with a condition on a platform.
# Checked are the files with such a condition; with --whole every file of the target, which takes minutes.
# Imported modules are those of the debug build, which is made first; with --skip-build it is used as it is.
# The first check is one of mistakes that must be found. Ends with 1 if a branch does not type-check or cannot be checked.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
if [ "$(uname)" = Darwin ]; then
    echo "apple-check.sh: here the build compiles these branches"
    exit
fi
build=1 whole=
while [[ "${1:-}" == --* ]]; do
    case $1 in
    --skip-build) build= ;;
    --whole) whole=1 ;;
    *) echo "usage: scripts/apple-check.sh [--skip-build] [--whole] [TARGET…]" >&2; exit 2 ;;
    esac
    shift
done
[ -z "$build" ] || swift build "${configuration[@]}" >&2
bin=$(cd "$scratch/debug" && pwd)
output=$scratch/apple-check
resources=$(swiftc -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["paths"]["runtimeResourcePath"])')
frontend=(swiftc -frontend -module-cache-path "$output/cache" -plugin-path "$resources/host/plugins" -swift-version 6)
failed=0

# Conditions that a stub cannot make true, or that are true here although they are not on Apple's platforms.
never='os\((Linux|macOS|iOS|visionOS)\)|canImport\((Glibc|FoundationNetworking|FoundationXML)\)|targetEnvironment|_runtime\('
undecided=$(grep -rnE "^ *#(if|elseif) .*($never)" --include='*.swift' --exclude-dir='*.docc' Sources || true)
if [ -n "$undecided" ]; then
    echo "These conditions cannot be checked on Linux. Ask for canImport(Darwin) or for a module of Tests/AppleStubs first:" >&2
    echo "$undecided" >&2
    failed=1
fi
while IFS= read -r module; do
    [ -d "Tests/AppleStubs/$module" ] || {
        echo "Sources ask for canImport($module), for which Tests/AppleStubs has no module" >&2
        failed=1
    }
done < <(grep -rhoE '^ *#(if|elseif) .*' --include='*.swift' Sources | grep -oE 'canImport\(\w+\)' | sed 's/.*(//; s/)//' |
    sort -u | grep -vx Musl)

# The stubs, each after those that it imports. `Glibc` takes the place of the system's own module: Foundation exports it, and
# so has Darwin's declarations, as on Apple's platforms.
rm -rf "$output/stubs"
mkdir -p "$output/stubs"
for module in DarwinTypes Darwin Glibc AppleFoundation Security LocalAuthentication Network CryptoKit os; do
    "${frontend[@]}" -emit-module -parse-as-library -enable-library-evolution -suppress-warnings -I "$output/stubs" \
        -module-name "$module" -o "$output/stubs/$module.swiftmodule" Tests/AppleStubs/"$module"/*.swift
done

condition='^ *#(if|elseif) .*(canImport|os)\('

# arguments TARGET: the arguments of the target's compiler run that a type check needs, one a line.
arguments() {
    python3 - "$scratch/debug.yaml" "$1" <<'PYTHON'
import json, re, sys

manifest, target = sys.argv[1:]
found = re.search(rf'"C\.{re.escape(target)}-[^"]*-debug\.module":.*?\n    args: (\[.*?\])\n', open(manifest).read(), re.S)
if not found:
    sys.exit(f"apple-check.sh: the build does not know the target {target}")
arguments = iter(json.loads(found.group(1))[1:])
alone = re.compile(r"-D.+|-I.+|-parse-as-library|-enable-testing")
paired = {"-module-name", "-I", "-target", "-Xcc", "-swift-version", "-package-name", "-enable-upcoming-feature",
          "-enable-experimental-feature"}
for argument in arguments:
    if alone.fullmatch(argument):
        print(argument)
    elif argument in paired:
        value = re.sub("=.*/CZlib/module.modulemap$", "=Tests/AppleStubs/CZlib/module.modulemap", next(arguments))
        print(argument, value, sep="\n")
PYTHON
}

# check FOLDER [FILE…]: checks the target of a folder, and files beside its own; the arguments of `extra` are added.
check() {
    local folder=$1 target=${1##*/} sources=() flags=() file
    shift
    mapfile -t flags < <(arguments "$target")
    [ ${#flags[@]} -gt 0 ] || return 1
    while IFS= read -r file; do
        if [ -n "$whole" ] || grep -qE "$condition" "$file"; then sources+=(-primary-file); fi
        sources+=("$file")
    done < <(find "$folder" "$bin/$target.build/DerivedSources" -name '*.swift' -not -path '*.docc/*' 2>/dev/null | sort)
    for file in "$@"; do sources+=(-primary-file "$file"); done
    "${frontend[@]}" -typecheck -I "$output/stubs" -import-module AppleFoundation "${flags[@]}" "${extra[@]}" "${sources[@]}"
}

# The folders of the targets, and those of the targets to check.
folders=()
for folder in Sources/* Sources/*/*; do
    [ ! -f "$bin/Modules/${folder##*/}.swiftmodule" ] || folders+=("$folder")
done
if [ $# -gt 0 ]; then
    wanted=()
    for target in "$@"; do
        for folder in "${folders[@]}"; do [ "${folder##*/}" != "$target" ] || wanted+=("$folder"); done
    done
    [ ${#wanted[@]} = $# ] || { echo "apple-check.sh: the build has no module of one of: $*" >&2; exit 2; }
else
    mapfile -t wanted < <(
        for folder in "${folders[@]}"; do
            if grep -qrE "$condition" --include='*.swift' --exclude-dir='*.docc' "$folder"; then echo "$folder"; fi
        done)
    unknown=$(grep -rlE "$condition" --include='*.swift' --exclude-dir='*.docc' Sources |
        grep -vE "^($(IFS='|' && echo "${folders[*]}"))/" || true)
    [ -z "$unknown" ] || { echo "The build has no module with these files:"$'\n'"$unknown" >&2; failed=1; }
fi

for folder in "${folders[@]}"; do
    [ "${folder##*/}" != SafeFiles ] || safe_files=$folder
done
echo "mistakes"
extra=(-verify)
check "$safe_files" Tests/AppleStubs/Mistakes.swift || {
    echo "The check misses mistakes of Tests/AppleStubs/Mistakes.swift" >&2
    failed=1
}
extra=(-suppress-warnings)
for folder in "${wanted[@]}"; do
    echo "${folder##*/}"
    check "$folder" || failed=1
done
exit $failed
