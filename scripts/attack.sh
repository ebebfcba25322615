#!/usr/bin/env bash
# Runs the attacks of Tests/Attacks on a built tool: scripts/attack.sh [NAME…], a name as C1-nested-expand. Each of them exits with 0
# if the tool holds. The tool is built unless OUTPOST says where it is.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
if [ -z "${OUTPOST:-}" ]; then
    scripts/release.sh --product outpost
    OUTPOST=$(cd "$(scripts/release.sh --show-bin-path)" && pwd)/outpost
fi
export OUTPOST
# Nothing of the person who runs this is read or changed.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_DATA_HOME=$home/data XDG_STATE_HOME=$home/state XDG_CACHE_HOME=$home/cache
names=("$@")
if [ ${#names[@]} -eq 0 ]; then
    for file in Tests/Attacks/*.{py,sh}; do
        name=$(basename "${file%.*}")
        names+=("$name")
    done
fi
begin=$SECONDS
failed=()
for name in "${names[@]}"; do
    start=$SECONDS
    if [ -f "Tests/Attacks/$name.py" ]; then command=(python3 "Tests/Attacks/$name.py"); else command=(bash "Tests/Attacks/$name.sh"); fi
    if "${command[@]}" </dev/null >"$home/output" 2>&1; then
        echo "$name: held, $((SECONDS - start)) s"
    else
        failed+=("$name")
        echo "$name: NOT HELD, $((SECONDS - start)) s"
        tail -n 30 "$home/output"
    fi
done
echo "$((${#names[@]} - ${#failed[@]})) attacks held, ${#failed[@]} did not, $((SECONDS - begin)) s"
[ ${#failed[@]} -eq 0 ]
