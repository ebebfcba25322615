#!/usr/bin/env bash
# Names the changes of the public API that break apps, compared with another commit: BASELINE=COMMIT scripts/api-changes.sh, or
# with the last tag. Ends with 1 if there are any. Changes that are meant are listed in .ci/api-breakages.txt, one message a line,
# as `swift package diagnose-api-breaking-changes --breakage-allowlist-path` reads them.
# That command itself builds the earlier commit without the trait `Server`, which the server needs; so the programs that it runs are
# run here: both commits are built, and swift-api-digester compares each library.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh

baseline=${BASELINE:-$(git describe --tags --abbrev=0 2>/dev/null || true)}
if [ -z "$baseline" ]; then
    echo "There is no tag yet, so that no release has an API to keep. Compare with a commit, such as the merge base of a branch:"
    echo '    make proofs PROOF=api BASELINE=$(git merge-base HEAD main)'
    exit 0
fi
commit=$(git rev-parse --verify --quiet "$baseline^{commit}") || {
    echo "api-changes.sh: there is no commit '$baseline'" >&2
    exit 2
}
work=$(mkdir -p "$scratch/api" && cd "$scratch/api" && pwd)
allowed=.ci/api-breakages.txt

# libraries FOLDER: the library products of a checkout.
libraries() { sed -n '/^let libraries/,/^]/s/.*"\([A-Za-z]*\)", floor: .*/\1/p' "$1/Package.swift" | sort; }

# flags BUILD: the arguments by which the build's modules and those of C are found, one a line.
flags() {
    python3 - "$1/debug.yaml" <<'PYTHON'
import json, re, sys

found = re.search(r'"C\.outpost-[^"]*-debug\.module":.*?\n    args: (\[.*?\])\n', open(sys.argv[1]).read(), re.S)
if not found:
    sys.exit("api-changes.sh: the build does not know the tool, which imports every library")
arguments = iter(json.loads(found.group(1))[1:])
for argument in arguments:
    if argument in ("-I", "-Xcc", "-target"):
        print(argument, next(arguments), sep="\n")
    elif argument.startswith("-I"):
        print(argument)
PYTHON
}

# digest CHECKOUT BUILD FOLDER: writes the API of each library into a folder.
digest() {
    local arguments library
    (cd "$1" && swift build --scratch-path "$2" -j "${JOBS:-2}" "${traits[@]}" >&2)
    mapfile -t arguments < <(flags "$2")
    mkdir -p "$3.part"
    for library in $(libraries "$1"); do
        (cd "$1" && swift-api-digester -dump-sdk -compiler-style-diags "${arguments[@]}" -module "$library" \
            -o "$3.part/$library.json") >&2
        [ -s "$3.part/$library.json" ] || { echo "api-changes.sh: the API of $library cannot be read" >&2; exit 1; }
    done
    mv "$3.part" "$3"
}

# What was read from a commit once is kept.
if [ ! -d "$work/$commit" ]; then
    rm -rf "$work/checkout" "$work/$commit.part"
    git worktree prune
    git worktree add --force --detach "$work/checkout" "$commit" >&2
    trap 'git worktree remove --force "$work/checkout" 2>/dev/null || true' EXIT
    digest "$work/checkout" "$work/build" "$work/$commit"
fi
rm -rf "$work/current" "$work/current.part"
digest "$PWD" "$(mkdir -p "$scratch" && cd "$scratch" && pwd)" "$work/current"

broken=0
for file in "$work/$commit"/*.json; do
    library=$(basename "$file" .json)
    if [ ! -f "$work/current/$library.json" ]; then
        echo "$library: the library is gone"
        broken=1
        continue
    fi
    arguments=(-diagnose-sdk -compiler-style-diags -print-module -input-paths "$file" -input-paths "$work/current/$library.json")
    if [ -f "$allowed" ]; then arguments+=(-breakage-allowlist-path "$allowed"); fi
    swift-api-digester "${arguments[@]}" 2>&1 | sed -nE "s/^API breakage: /$library: /p" | sort -u >"$work/found"
    if [ -s "$work/found" ]; then cat "$work/found"; broken=1; fi
done
if [ $broken = 1 ]; then
    echo "The API has changes since $baseline that break apps. Name those that are meant in $allowed." >&2
    exit 1
fi
echo "No change since $baseline breaks an app: $(find "$work/$commit" -name '*.json' | wc -l) libraries compared"
