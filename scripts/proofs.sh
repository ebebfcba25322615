#!/usr/bin/env bash
# Runs the proofs that are too long for continuous integration, which makes a smoke pass of each: scripts/proofs.sh [PROOF…].
# Without a name, all of them in turn, which takes most of a day. A proof that fails does not stop the others; the exit code is
# 1 if one failed. MINUTES (60) is the time of the soak and of each fuzzer, SEEDS (10000) the runs of the simulation, BASELINE the
# commit that `api` compares with, the last tag unless told otherwise.
set -euo pipefail
cd "$(dirname "$0")/.."
minutes=${MINUTES:-60}

proofs=(faults long-tests differential simulation generated new-app api dist soak fuzzers)
prove() {
    case $1 in
    faults) OUTPOST_FAULTS=all scripts/test.sh --filter 'StoreFaultTests|SyncFaultTests' ;;
    long-tests) OUTPOST_PROOFS=all scripts/test.sh ;; # tests that run a sample unless told otherwise
    differential) OUTPOST_DIFFERENTIAL=${OUTPOST_DIFFERENTIAL:-100000} scripts/test.sh --filter DifferentialTests ;;
    simulation) SEEDS=${SEEDS:-10000} scripts/simulate.sh ;;
    generated) scripts/generated.sh --all ;;
    new-app) scripts/test.sh --build-only && scripts/new-app.py --corpus && scripts/new-app.py --full ;;
    api) scripts/api-changes.sh ;;
    dist) scripts/build.sh && scripts/dist.sh ;;
    soak)
        scripts/release.sh --product Soak &&
        "$(scripts/release.sh --show-bin-path)/Soak" $((minutes * 60)) ;;
    fuzzers)
        for target in Fuzz/Targets/*.swift; do
            TIMEOUT=1200 scripts/fuzz.sh "$(basename "$target" .swift)" $((minutes * 60)) || return
        done ;;
    *)
        echo "usage: scripts/proofs.sh [PROOF…], PROOF one of: ${proofs[*]}" >&2
        exit 2 ;;
    esac
}

failed=()
for proof in "${@:-${proofs[@]}}"; do
    begin=$SECONDS
    echo "== $proof"
    if prove "$proof"; then verdict=holds; else verdict=FAILED; failed+=("$proof"); fi
    echo "== $proof: $verdict, $((SECONDS - begin)) s"
done
[ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}" >&2; exit 1; }
