#!/usr/bin/env bash
# Fuzzes one parser: scripts/fuzz.sh TARGET [SECONDS]; the targets are the files in Fuzz/Targets.
# With INPUT=file, runs that input alone; with RUNS=n, ends after so many inputs (SECONDS=0: however long it takes).
# scripts/fuzz.sh smoke [SECONDS] fuzzes every target, SECONDS (60) in all, but `store`: that one needs a release build of
# the cryptography, and a test of EncryptedSQLite opens the same random files.
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
        "scripts/fuzz.sh" "$target" "$share" >"$log" 2>&1 || {
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
build=${SCRATCH:-.build}/fuzz
mkdir -p "$build/$target/corpus"
build=$(cd "$build" && pwd)

# The libraries on the floors that parse, each instrumented for coverage. The linker that the toolchain takes by
# default hangs on the instrumented code.
flags=(-O -wmo -parse-as-library -swift-version 6 -sanitize=fuzzer -I "$build" -package-name outpost
    -Xcc -fmodule-map-file="$PWD/Sources/CLibXML2/module.modulemap")
# shellcheck disable=SC2046 # words are wanted
flags+=($(pkg-config --cflags libxml-2.0))
objects=()
libraries=(ODataModel ODataQuery ODataFormat)
support=(Fuzz/Support/*.swift)
if [ "$target" = store ]; then
    # Encrypted files. What the encryption stands on is built as always, and not instrumented.
    libraries=(ErrorCodes Secrets EncryptedSQLite)
    support=(Tests/EncryptedSQLiteTests/Support/{Connection,Folder,StoreFuzzing}.swift)
    swift build -c release --scratch-path "${SCRATCH:-.build}" --target EncryptedSQLite -j "${JOBS:-2}" >&2
    products=$(swift build -c release --scratch-path "${SCRATCH:-.build}" --show-bin-path)
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
    support+=(Sources/OfflineOData/Queue/SnapshotCoder.swift Sources/OfflineOData/Store/OfflineError.swift)
elif [ "$target" = delta ]; then
    libraries=(ErrorCodes ODataModel ODataQuery ODataFormat ODataService HTTPTypes ODataHTTP)
fi
checkouts=${SCRATCH:-.build}/checkouts
# shellcheck source=scripts/library.sh
source scripts/library.sh
for library in "${libraries[@]}"; do
    sources=Sources/$library
    if [ "$library" = HTTPTypes ]; then sources=$checkouts/swift-http-types/Sources/HTTPTypes; fi
    compile_library "$library" "$sources"
done
# shellcheck disable=SC2046
swiftc "${flags[@]}" -use-ld=lld -module-name fuzz "Fuzz/Targets/$target.swift" "${support[@]}" "${objects[@]}" \
    $(pkg-config --libs libxml-2.0) -o "$build/$target/run"

# Whoever catches the signal first has it: libFuzzer, which writes the input down, and not Swift's backtracer.
export SWIFT_BACKTRACE=enable=no
if [ -n "${INPUT:-}" ]; then exec "$build/$target/run" "$INPUT"; fi

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
cd "$build/$target"
absolute=()
for seed in "${seeds[@]}"; do absolute+=("$(cd "$OLDPWD" && cd "$seed" && pwd)"); done
exec ./run -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    ${RUNS:+-runs="$RUNS"} corpus "${absolute[@]}"
