#!/usr/bin/env bash
# Fuzzes one parser: scripts/fuzz.sh TARGET [SECONDS]; the targets are the files in Fuzz/Targets.
# With INPUT=file, runs that input alone; with RUNS=n, ends after so many inputs (SECONDS=0: however long it takes).
# TIMEOUT is the seconds by the clock that one input may take, 10 unless set: more where the machine has other work, which may
# keep a process of low priority waiting for longer than that.
# With SEED=n, mutations follow from that number, as they do in the smoke run: what passes there passes again.
# scripts/fuzz.sh smoke [SECONDS] fuzzes every target, SECONDS (60) in all, but `store`: that one needs a release build of
# the cryptography, and .ci/run gives it its seconds where that is built. The compiler does not optimise for that: what it
# takes to do so is more than what the few seconds gain by it. LEVEL=-Onone does so for one target.
set -euo pipefail
cd "$(dirname "$0")/.."
targets=$(cd Fuzz/Targets && echo *.swift)
target=${1:-}
seconds=${2:-60}
if [ "$target" = smoke ]; then
    # shellcheck disable=SC2086 # words are wanted
    set -- ${targets//store.swift/}
    share=$(((seconds + $# - 1) / $#))
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    for target in "${@%.swift}"; do
        SEED=1 LEVEL=-Onone scripts/fuzz.sh "$target" "$share" >"$log" 2>&1 || {
            echo "The fuzzer of $target failed:" >&2
            tail -n 40 "$log" >&2
            exit 1
        }
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
    done
    exit
fi
if [ ! -f "Fuzz/Targets/$target.swift" ]; then
    echo "usage: scripts/fuzz.sh TARGET [SECONDS], TARGET one of ${targets//.swift/}" >&2
    exit 2
fi
scratch=${SCRATCH:-.build}
checkouts=$scratch/checkouts
level=${LEVEL:--O}
work=$scratch/fuzz/$target
build=$scratch/fuzz/objects$level
mkdir -p "$work/corpus" "$build"
work=$(cd "$work" && pwd)
build=$(cd "$build" && pwd)
package=outpost
if [ "$target" = tables ]; then
    # What stands beneath the engine is taken as the tests have built it: nothing to do where they have. It must not be
    # mixed with what is built here, and what it has for its package alone is seen by that name: the folder's.
    build=$work
    level=-Onone
    swift build --scratch-path "$scratch" --target OfflineOData -j "${JOBS:-2}" >&2
    products=$(swift build --scratch-path "$scratch" --show-bin-path)
    package=$(sed -n '/"-module-name","OfflineOData",/{s/.*"-package-name","\([^"]*\)".*/\1/p;q;}' "$scratch/debug.yaml")
    : "${package:?"SwiftPM does not say in $scratch/debug.yaml which package OfflineOData is of"}"
    # Whenever SwiftPM has built the engine again, what it stands on may have changed.
    if [ -n "$(find "$products/OfflineOData.build" -name '*.o' -newer "$build/OfflineOData.o" 2>/dev/null | head -1)" ]; then
        rm -f "$build/OfflineOData.o"
    fi
fi

# The libraries on the floors that parse, each instrumented for coverage. The linker that the toolchain takes by
# default hangs on the instrumented code.
flags=("$level" -wmo -parse-as-library -swift-version 6 -sanitize=fuzzer -I "$build" -package-name "$package"
    -Xcc -fmodule-map-file="$PWD/Sources/CLibXML2/module.modulemap")
# shellcheck disable=SC2046 # words are wanted
flags+=($(pkg-config --cflags libxml-2.0))
objects=()
# All begin with the same one: each is compiled again where the one before it is newer.
libraries=(ErrorCodes ODataModel ODataQuery ODataFormat)
support=(Fuzz/Support/*.swift)
if [ "$target" = store ]; then
    # Encrypted files. What the encryption stands on is built as always, and not instrumented.
    libraries=(ErrorCodes SafeFiles Secrets EncryptedSQLite)
    support=(Tests/EncryptedSQLiteTests/Support/{Connection,Folder,StoreFuzzing}.swift)
    scripts/release.sh --target EncryptedSQLite >&2
    products=$(scripts/release.sh --show-bin-path)
    flags+=(-I "$products/Modules" -Xcc -fmodule-map-file="$PWD/Sources/CSQLite/module.modulemap"
        -Xcc -fmodule-map-file="$products/CLinux.build/module.modulemap"
        -Xcc -fmodule-map-file="$products/CAESGCM.build/module.modulemap" -lsqlite3 -lstdc++)
    for library in CLinux CAESGCM Crypto CryptoExtras CryptoBoringWrapper CCryptoBoringSSL CCryptoBoringSSLShims \
        CXKCP CXKCPShims SwiftASN1; do
        while IFS= read -r object; do objects+=("$object"); done < <(find "$products/$library.build" -name '*.o')
    done
elif [ "$target" = queue ]; then
    # Of the engine, the coder alone: it needs nothing of the rest.
    libraries=(ErrorCodes ODataModel ODataQuery ODataService)
    support+=(Sources/OfflineOData/Queue/SnapshotCoder.swift Sources/OfflineOData/Store/OfflineError.swift
        Sources/OfflineOData/Download/{QueryRefusal,DownloadReport}.swift)
elif [ "$target" = delta ]; then
    libraries=(ErrorCodes ODataModel ODataQuery ODataFormat ODataService HTTPTypes ODataHTTP)
elif [ "$target" = tables ]; then
    libraries=(OfflineOData)
    flags+=(-enable-testing -I "$products/Modules"
        -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSL/include"
        -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSLShims/include")
    for map in Sources/CSQLite "$checkouts/GRDB.swift/Sources/GRDBSQLite" "$products/CLinux.build" \
        "$products/CAESGCM.build"; do
        flags+=(-Xcc -fmodule-map-file="$map/module.modulemap")
    done
    for library in ErrorCodes ODataModel ODataQuery ODataFormat ODataService HTTPTypes ODataHTTP ODataStore SafeFiles EncryptedSQLite \
        Secrets GRDB CLinux CAESGCM Crypto CryptoExtras CryptoBoringWrapper CCryptoBoringSSL CCryptoBoringSSLShims CXKCP \
        CXKCPShims SwiftASN1; do
        while IFS= read -r object; do objects+=("$object"); done < <(find "$products/$library.build" -name '*.o')
    done
    flags+=(-lsqlite3 -lstdc++)
fi
# shellcheck source=scripts/library.sh
source scripts/library.sh
for library in "${libraries[@]}"; do
    sources=Sources/$library
    if [ "$library" = HTTPTypes ]; then sources=$checkouts/swift-http-types/Sources/HTTPTypes; fi
    compile_library "$library" "$sources"
done
# shellcheck disable=SC2046
swiftc "${flags[@]}" -use-ld=lld -module-name fuzz "Fuzz/Targets/$target.swift" "${support[@]}" "${objects[@]}" \
    $(pkg-config --libs libxml-2.0) -o "$work/run"

# Whoever catches the signal first has it: libFuzzer, which writes the input down, and not Swift's backtracer.
export SWIFT_BACKTRACE=enable=no
if [ -n "${INPUT:-}" ]; then exec "$work/run" "$INPUT"; fi

seeds=("Fuzz/Seeds/$target")
corpus=${OUTPOST_CORPUS:-../shared/corpus}
case $target in
json | delta) folders=(payloads-v4 payloads-v2) ;;
atom) folders=(payloads-v2) ;;
csdl-json) folders=(csdl-pairs) ;;
metadata) folders=(metadata csdl-pairs vocabularies) ;;
multipart) folders=(batch) ;;
url) folders=(abnf uri-trees) ;;
*) folders=() ;;
esac
for folder in ${folders[@]+"${folders[@]}"}; do
    if [ -d "$corpus/$folder" ]; then
        while IFS= read -r inner; do seeds+=("$inner"); done < <(find "$corpus/$folder" -type d)
    fi
done
# A file that grows without end is a finding, and must not fill what files lie in.
ulimit -f 262144
cd "$work"
absolute=()
for seed in "${seeds[@]}"; do absolute+=("$(cd "$OLDPWD" && cd "$seed" && pwd)"); done
exec ./run -max_total_time="$seconds" -max_len=16384 -timeout="${TIMEOUT:-10}" -rss_limit_mb=2048 -print_final_stats=1 \
    ${RUNS:+-runs="$RUNS"} ${SEED:+-seed="$SEED"} corpus "${absolute[@]}"
