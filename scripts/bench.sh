#!/usr/bin/env bash
# Measures the figures of the design, each as a ratio beside its limit that ends in "holds" or in how far it was missed:
# scripts/bench.sh [--quick] [PART…]. All of it goes into BENCHMARKS.md; with --quick, a tenth of the size, or with
# the names of some parts, onto the terminal alone. What is measured with --quick may take three minutes, building aside.
#
# A figure is a line "title: … limit …: verdict" that a benchmark prints. A new one is printed by a program of the
# package Benchmarks, which gets a line at `run` below with the number of its figures: a program that fails or prints others fails
# the run, and BENCHMARKS.md stays as it was.
set -euo pipefail
cd "$(dirname "$0")/.."
products=(json-bench EncryptionBenchmarks ModelBenchmarks QueryBenchmarks ServerBenchmarks TypedBenchmarks ClientBenchmarks
    SyncBenchmarks)
limit=180 # seconds that --quick may measure
quick=
if [ "${1:-}" = --quick ]; then
    quick=--quick
    shift
fi
parts=("$@")
for part in ${parts[@]+"${parts[@]}"}; do
    case " ${products[*]} MobileServer startup " in
    *" $part "*) ;;
    *)
        echo "bench.sh: there is no part $part" >&2
        echo "usage: scripts/bench.sh [--quick] [PART…], where a part is one of: ${products[*]} MobileServer startup" >&2
        exit 2
        ;;
    esac
done
SECONDS=0
scripts/setup.sh bench
# Python's fastest reader of JSON and the client that is downloaded with beside ours stand where an interpreter has them.
if [ -z "${ORJSON_PYTHON:-}" ] && python3 -c 'import orjson' 2>/dev/null; then
    ORJSON_PYTHON=$(command -v python3)
    export ORJSON_PYTHON
fi
scratch=${SCRATCH:-.build}
scratch=$(mkdir -p "$scratch" && cd "$scratch" && pwd)
bin=$scratch/bench/release
output=$(mktemp)
printed=$(mktemp)
trap 'rm -f "$output" "$printed"' EXIT
figure='limit.*: \(holds\|missed\)'

is_wanted() { # is_wanted PRODUCT
    [ ${#parts[@]} -eq 0 ] && return
    for part in "${parts[@]}"; do if [ "$part" = "$1" ]; then return; fi; done
    return 1
}
run() { # run TITLE FIGURES PRODUCT COMMAND…: a program that prints so many figures with their limits
    local title=$1 expected=$2 product=$3
    shift 3
    is_wanted "$product" || return 0
    # Paths of this machine say nothing to others.
    local words=()
    for word in "$@"; do words+=("${word##*/}"); done
    printf '\n## %s\n\n    %s\n\n' "$title" "${words[*]}" >>"$output"
    echo "== $title ==" >&2
    # A limit that is missed is a result, not a failure.
    if ! "$@" | sed 's/^/    /' | tee "$printed"; then
        echo "bench.sh: $product failed" >&2
        exit 1
    fi
    cat "$printed" >>"$output"
    local found
    found=$(grep -c "$figure" "$printed" || true)
    if [ ! -s "$printed" ] || [ "$found" != "$expected" ]; then
        echo "bench.sh: $product printed $found figures with limits, not $expected" >&2
        exit 1
    fi
}

# Everything is built before anything is measured, and the whole package at once: each product by itself would be planned by
# itself.
if [ "${parts[*]:-}" != startup ]; then
    swift build -c release --package-path Benchmarks --scratch-path "$scratch/bench" -j "${JOBS:-2}" >&2
fi
if is_wanted startup || is_wanted MobileServer; then
    SCRATCH=$scratch scripts/build.sh >&2
fi
mobile() { OUTPOST_SERVER=$PWD/bin/outpost-server "$@"; } # mobile COMMAND…: measures through the mobile server

# What is compared with is built before anything is measured, too.
missing=()
sqlcipher=
if is_wanted EncryptionBenchmarks; then
    sqlcipher=$(Benchmarks/sqlcipher.sh "$scratch/bench")
    export OUTPOST_SQLCIPHER=$sqlcipher
    [ -n "$sqlcipher" ] || missing+=("SQLCipher (PyPI)")
fi
if is_wanted SyncBenchmarks; then
    python=$(Benchmarks/pyodata.sh "$scratch/bench")
    if [ -n "$python" ]; then export OUTPOST_PYTHON=$python OUTPOST_PYTHON_DOWNLOAD=$PWD/Benchmarks/download.py; fi
    [ -n "$python" ] || missing+=("pyodata (PyPI)")
fi
graph=${OUTPOST_CORPUS:-../shared/corpus}/metadata/microsoft_OpenAPI.NET.OData/graph1.0.xml
if is_wanted ModelBenchmarks && [ ! -f "$graph" ]; then missing+=("the metadata of Microsoft Graph ($graph)"); fi
if is_wanted json-bench && [ -z "${ORJSON_PYTHON:-}" ]; then missing+=("orjson (python3-orjson, or ORJSON_PYTHON)"); fi
if [ ${#missing[@]} -gt 0 ]; then
    printf 'bench.sh: missing: %s\n' "${missing[@]}" >&2
    # A report of everything does not give way to one of less.
    if [ -z "$quick" ] && [ ${#parts[@]} -eq 0 ]; then
        echo "bench.sh: BENCHMARKS.md stays as it is; name the parts to measure them without what is missing" >&2
        exit 1
    fi
fi
built="built in $SECONDS s"
SECONDS=0

run "JSON" 6 json-bench "$bin/json-bench" $quick
run "Encryption" "$([ -n "$sqlcipher" ] && echo 7 || echo 5)" EncryptionBenchmarks "$bin/EncryptionBenchmarks" $quick
if [ -f "$graph" ]; then
    run "Metadata" 1 ModelBenchmarks "$bin/ModelBenchmarks" "$graph" "${quick:+150}"
else
    printf '\n## Metadata\n\nNot measured: the metadata of Microsoft Graph is not there.\n' >>"$output"
fi
run "Queries" 6 QueryBenchmarks "$bin/QueryBenchmarks" $quick
run "Serving" 4 ServerBenchmarks "$bin/ServerBenchmarks" $quick
# B2 of the design of the mobile server.
run "Mobile server" 5 MobileServer mobile "$bin/ServerBenchmarks" $quick
run "Typed entities" 1 TypedBenchmarks "$bin/TypedBenchmarks" $quick
# What a client takes has no limit in the design: it is told beside a loop that only receives.
run "Client" 0 ClientBenchmarks "$bin/ClientBenchmarks" $quick
run "Synchronisation" 6 SyncBenchmarks "$bin/SyncBenchmarks" $quick
run "Start-up" 2 startup python3 Benchmarks/startup.py bin/outpost \
    "$([ -n "$quick" ] && echo 100000 || echo 1000000)"
seconds=$SECONDS
measured="$built, measured in $seconds s"
# What the build of a consumer takes is no measurement.
if [ -z "$quick" ] && is_wanted startup; then Benchmarks/sizes.sh "$scratch" | sed 's/^/    /' | tee -a "$output"; fi

if [ -n "$quick" ] || [ ${#parts[@]} -gt 0 ]; then
    echo
    grep "$figure" "$output" || true
    echo "$measured"
    if [ -n "$quick" ] && [ "$seconds" -gt "$limit" ]; then
        echo "bench.sh: --quick measured for $seconds s, its limit is $limit" >&2
        exit 1
    fi
    exit
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
    echo "Made by \`make bench\` on $(processor), $cores cores, $(uname -s),"
    echo "$(swift --version 2>/dev/null | grep -o 'Swift version [^ ]*' | head -1). Ratios are of things measured side by"
    echo "side in one run, in processor time unless a line says otherwise."
    cat "$output"
    echo
    cat Benchmarks/PROFILES.md
} >BENCHMARKS.md
echo
grep "$figure" BENCHMARKS.md
echo "$measured"
