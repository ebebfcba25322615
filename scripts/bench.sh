#!/usr/bin/env bash
# Measures the figures of the design and writes them into BENCHMARKS.md, each as a ratio beside its limit that ends in
# "holds" or in how far it was missed: scripts/bench.sh [--quick]. With --quick, smaller collections and fewer rounds.
#
# A figure is a line "title: … limit …: verdict" that a benchmark prints. A new one is printed by a program of the
# package Benchmarks, which gets a line at `run` below.
set -euo pipefail
cd "$(dirname "$0")/.."
quick=${1:-}
if [ -n "$quick" ] && [ "$quick" != --quick ]; then
    echo "usage: scripts/bench.sh [--quick]" >&2
    exit 2
fi
scripts/setup.sh bench
# Python's fastest reader of JSON stands beside where an interpreter has it.
if [ -z "${ORJSON_PYTHON:-}" ] && python3 -c 'import orjson' 2>/dev/null; then
    ORJSON_PYTHON=$(command -v python3)
    export ORJSON_PYTHON
fi
scratch=${SCRATCH:-.build}
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
output=$(mktemp)
trap 'rm -f "$output"' EXIT

run() { # run TITLE PRODUCT ARGUMENT…
    local title=$1 product=$2
    shift 2
    swift build -c release --package-path Benchmarks --scratch-path "$scratch/bench" --product "$product" \
        -j "${JOBS:-2}" >&2
    printf '\n## %s\n\n    %s\n\n' "$title" "$product ${*//*\//}" >>"$output"
    # A limit that is missed is a result, not a failure; what says nothing has failed.
    { "$scratch/bench/release/$product" "$@" || true; } | sed 's/^/    /' | tee -a "$output"
    if ! grep -q 'limit' <(sed -n "/^## $title\$/,\$p" "$output"); then
        echo "bench.sh: $product printed no figure" >&2
        exit 1
    fi
}

run "JSON" json-bench ${quick:+"$quick"}
OUTPOST_SQLCIPHER=$(Benchmarks/sqlcipher.sh "$scratch/bench") run "Encryption" EncryptionBenchmarks ${quick:+"$quick"}
graph=${OUTPOST_CORPUS:-../shared/corpus}/metadata/microsoft_OpenAPI.NET.OData/graph1.0.xml
if [ -f "$graph" ]; then
    run "Metadata" ModelBenchmarks "$graph" "$([ -n "$quick" ] && echo 150 || echo 500)"
else
    printf '\n## Metadata\n\nNot measured: the metadata of Microsoft Graph is not there.\n' >>"$output"
fi
run "Queries" QueryBenchmarks ${quick:+"$quick"}
run "Serving" ServerBenchmarks "$([ -n "$quick" ] && echo 100000 || echo 1000000)" "$([ -n "$quick" ] && echo 4 || echo 10)"

run "Typed entities" TypedBenchmarks ${quick:+"$quick"}

run "Client" ClientBenchmarks ${quick:+"$quick"}
run "Synchronisation" SyncBenchmarks ${quick:+"$quick"}
if [ -f "$graph" ]; then
    printf '\n## Generated code\n\nMicrosoft Graph, generated and type-checked; seconds elapsed:\n\n' >>"$output"
    SCRATCH=$scratch scripts/generated.sh "$graph" 2>/dev/null | sed 's/^/    /' | tee -a "$output"
fi

processor() {
    if [ "$(uname)" = Darwin ]; then sysctl -n machdep.cpu.brand_string; else
        sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1
    fi
}
cores=$(getconf _NPROCESSORS_ONLN)
{
    echo "# Benchmarks"
    echo
    echo "Made by \`scripts/bench.sh${quick:+ $quick}\` on $(processor), $cores cores, $(uname -s),"
    echo "$(swift --version 2>/dev/null | grep -o 'Swift version [^ ]*' | head -1). Ratios are of things measured side by"
    echo "side in one run, in processor time."
    cat "$output"
} >BENCHMARKS.md
echo
grep 'limit.*: \(holds\|missed\)' BENCHMARKS.md
