#!/usr/bin/env bash
# Fuzzes one parser: scripts/fuzz.sh TARGET [SECONDS]; the targets are the files in Fuzz/Targets.
# With INPUT=file, runs that input alone; with RUNS=n, ends after so many inputs (SECONDS=0: however long it takes).
# TIMEOUT is the seconds by the clock that one input may take, 10 unless set: more where the machine has other work, which may
# keep a process of low priority waiting for longer than that.
# With SEED=n, mutations follow from that number, as they do in the smoke run: what passes there passes again.
# scripts/fuzz.sh smoke [SECONDS] fuzzes every target, SECONDS (60) in all, on the libraries as the tests have built them:
# without coverage to guide it, a fuzzer changes its seeds at random. It shows that each target builds and keeps its promises
# on the seeds and near them. With PREBUILT=1, one target is built that way. `store` alone is built as always, since unoptimised
# cryptography tries little.
set -euo pipefail
cd "$(dirname "$0")/.."
targets=$(cd Fuzz/Targets && echo *.swift)
target=${1:-}
seconds=${2:-60}
if [ "$target" = smoke ]; then
    # shellcheck disable=SC2086 # words are wanted
    set -- $targets
    share=$(((seconds + $# - 1) / $#))
    # One build for all of them.
    # shellcheck source=scripts/configuration.sh
    source scripts/configuration.sh
    for needed in OfflineOData ODataServer; do
        swift build "${configuration[@]}" "${traits[@]}" --target "$needed" >&2
    done
    log=$(mktemp)
    trap 'rm -f "$log"' EXIT
    for target in "${@%.swift}"; do
        if [ "$target" = store ]; then way=(LEVEL=-O); else way=(PREBUILT=1 LEVEL=-Onone); fi
        env SEED=1 "${way[@]}" scripts/fuzz.sh "$target" "$share" >"$log" 2>&1 || {
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
# The libraries that a target is about, which are instrumented, and those beneath them, which are taken as SwiftPM builds them.
cryptography=(CLinux CAESGCM Crypto CryptoExtras CryptoBoringWrapper CCryptoBoringSSL CCryptoBoringSSLShims CXKCP CXKCPShims
    SwiftASN1)
libraries=(ErrorCodes ODataModel ODataQuery ODataFormat)
beneath=()
support=(Fuzz/Support/*.swift)
case $target in
store) # encrypted files: the cryptography is optimised, or little is tried
    [ -n "${CI:-}" ] || export OUTPOST_CONFIGURATION=release
    libraries=(ErrorCodes SafeFiles Secrets EncryptedSQLite)
    beneath=("${cryptography[@]}")
    support=(Tests/EncryptedSQLiteTests/Support/{Connection,Folder,StoreFuzzing}.swift) ;;
queue) # of the engine, the coder alone: it needs nothing of the rest
    libraries=(ErrorCodes ODataModel ODataQuery ODataService)
    support+=(Sources/Sync/OfflineOData/Queue/SnapshotCoder.swift Sources/Sync/OfflineOData/Store/OfflineError.swift
        Sources/Sync/OfflineOData/Incarnation/QueueHold.swift
        Sources/Sync/OfflineOData/Download/{QueryRefusal,DownloadReport,UnreadableProperty}.swift) ;;
delta) libraries=(ErrorCodes ODataModel ODataQuery ODataFormat ODataService HTTPTypes ODataHTTP) ;;
device-proof) # of the mobile server, the files of the proof alone, beside debug builds of the cryptography
    level=-Onone
    libraries=(ErrorCodes ODataModel ODataQuery ODataFormat ODataService HTTPTypes ODataHTTP)
    beneath=("${cryptography[@]}")
    support+=(Sources/Mobile/MobileServer/Registration/{DeviceKey,DeviceProof,DeviceProofError,ProofCheck,ProofNonces}.swift) ;;
certificate-request) # likewise; the parser is that of swift-certificates, which comes with the server
    level=-Onone
    libraries=(ErrorCodes)
    beneath=("${cryptography[@]}" _CertificateInternals X509)
    needs=ODataServer
    support=(Fuzz/Support/Promise.swift Sources/Mobile/MobileServer/Registration/CertificateRequest.swift) ;;
yaml | ini) # of the mobile server, the configuration alone
    level=-Onone
    libraries=()
    beneath=(ErrorCodes ODataModel ODataQuery "${cryptography[@]}" CYaml Yams SafeFiles Secrets EncryptedSQLite GRDB
        ServerState)
    needs=MobileServer
    support=(Fuzz/Support/Promise.swift Sources/Mobile/MobileServer/Configuration/*.swift) ;;
delta-token) # of the mobile server, the token alone
    level=-Onone
    libraries=()
    beneath=(ErrorCodes "${cryptography[@]}" SafeFiles Secrets EncryptedSQLite GRDB ServerState)
    needs=ServerState
    support=(Fuzz/Support/Promise.swift Sources/Mobile/MobileServer/Feeds/FeedToken.swift) ;;
zip-directory) # of the mobile server, the directory alone
    libraries=()
    support=(Fuzz/Support/Promise.swift Sources/Mobile/MobileServer/Bundles/ZipDirectory.swift) ;;
upload-fields) # of the mobile server, the fields and names alone
    level=-Onone
    libraries=(ErrorCodes ODataModel)
    beneath=(HTTPTypes)
    support=(Fuzz/Support/Promise.swift Sources/Mobile/MobileServer/Uploads/UploadFields.swift
        Sources/Mobile/MobileServer/DeviceServices/DeviceResourceName.swift) ;;
tables) # modules that SwiftPM builds for debugging cannot be mixed with optimised ones
    level=-Onone
    libraries=(OfflineOData)
    beneath=(ErrorCodes ODataModel ODataQuery ODataFormat ODataService HTTPTypes ODataHTTP ODataSQL SafeFiles
        EncryptedSQLite DataVault Secrets GRDB "${cryptography[@]}") ;;
esac
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
checkouts=$scratch/checkouts
level=${level:-${LEVEL:--O}}
work=$scratch/fuzz/$target
build=$scratch/fuzz/objects$level
if [ "$target" = tables ] || [ -n "${PREBUILT:-}" ]; then build=$work; fi
mkdir -p "$work/corpus" "$build"
work=$(cd "$work" && pwd)
build=$(cd "$build" && pwd)
if [ -n "${PREBUILT:-}" ]; then
    beneath+=("${libraries[@]}")
    libraries=()
fi

# The linker that the toolchain takes by default hangs on instrumented code.
flags=("$level" -wmo -parse-as-library -swift-version 6 -sanitize=fuzzer -enable-testing -I "$build"
    -Xcc -fmodule-map-file="$PWD/Sources/C/CLibXML2/module.modulemap")
# shellcheck disable=SC2046 # words are wanted
flags+=($(pkg-config --cflags libxml-2.0))
objects=()
package=outpost
if [ ${#beneath[@]} -gt 0 ]; then
    [ -n "${PREBUILT:-}" ] || swift build "${configuration[@]}" "${traits[@]}" --target "${needs:-OfflineOData}" >&2
    products=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)
    # What is declared for the package alone is seen under the name that SwiftPM gives it: the folder's.
    plan=$scratch/${OUTPOST_CONFIGURATION:-debug}.yaml
    package=$(sed -n '/"-module-name","OfflineOData",/{s/.*"-package-name","\([^"]*\)".*/\1/p;q;}' "$plan")
    : "${package:?"SwiftPM does not say in $plan which package OfflineOData is of"}"
    flags+=(-I "$products/Modules" -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSL/include"
        -Xcc -I"$checkouts/swift-crypto/Sources/CCryptoBoringSSLShims/include" -lsqlite3 -lstdc++)
    for map in Sources/C/CSQLite "$checkouts/GRDB.swift/Sources/GRDBSQLite" "$products/CLinux.build" \
        "$products/CAESGCM.build" "$checkouts/Yams/Sources/CYaml/include"; do
        flags+=(-Xcc -fmodule-map-file="$map/module.modulemap")
    done
    for library in "${beneath[@]}"; do
        while IFS= read -r object; do objects+=("$object"); done < <(find "$products/$library.build" -name '*.o')
    done
    # Whenever SwiftPM has built the engine again, what it stands on may have changed.
    if [ -n "$(find "$products/OfflineOData.build" -name '*.o' -newer "$build/OfflineOData.o" 2>/dev/null | head -1)" ]; then
        rm -f "$build/OfflineOData.o"
    fi
fi
flags+=(-package-name "$package")
# All begin with the same library: each is compiled again if the one before it is newer.
# shellcheck source=scripts/library.sh
source scripts/library.sh
for library in ${libraries[@]+"${libraries[@]}"}; do
    sources=$(echo Sources/*/"$library")
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
