#!/usr/bin/env bash
# Runs the tests under a sanitizer: scripts/sanitize.sh address|thread [FILTER…]
# Each FILTER is a regular expression as `swift test --filter` takes it; without one, every test runs.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() { echo "usage: scripts/sanitize.sh address|thread [FILTER…]" >&2; exit 2; }
[ $# -ge 1 ] || usage
sanitizer=$1
shift
case $sanitizer in
address) scratch=${SCRATCH:-.build}-asan ;;
thread) scratch=${SCRATCH:-.build}-tsan ;;
*) usage ;;
esac
scripts/setup.sh
filters=()
for filter in "$@"; do filters+=(--filter "$filter"); done

# Built before the options are set: they are for what is tested, not for the compiler.
# `swift build` also makes the tool, which some tests start as a process of its own.
swift build --build-tests --traits Server --sanitize="$sanitizer" --scratch-path "$scratch" -j "${JOBS:-2}"

# Reports go to files, one for each process: the tests send the standard error of the tools that they start to
# nowhere, and do not look at the exit code of a server that they end.
mkdir -p "$scratch/reports"
reports=$(mktemp -d "$(cd "$scratch/reports" && pwd)/XXXXXX")

# Leaks are not looked for. Swift keeps the case of an enumeration in the high bits of the pointer to its payload, and
# the leak checker follows no such pointer: this program was reported to leak 104 bytes in 4 allocations.
#
#     indirect enum T { case a(Int), b(String), c(T), d(Double) }
#     final class Keep { let value: [T]; init(_ value: [T]) { self.value = value } }
#     nonisolated(unsafe) var kept: Keep?
#     @inline(never) func make() -> [T] { [.a(1), .b("longer than fifteen bytes"), .c(.d(2)), .d(3)] }
#     kept = Keep(make())
#     print(kept?.value.count ?? 0)
export ASAN_OPTIONS="detect_leaks=0:log_path=$reports/address${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export TSAN_OPTIONS="log_path=$reports/thread:suppressions=$PWD/scripts/tsan.supp${TSAN_OPTIONS:+:$TSAN_OPTIONS}"

# Limits on time and stack are wider in instrumented code; a run without a sanitizer keeps them as they are.
export OUTPOST_SANITIZER=$sanitizer

status=0
SCRATCH=$scratch SANITIZER=$sanitizer scripts/test.sh ${filters[@]+"${filters[@]}"} || status=$?

for report in "$reports"/*; do
    [ -e "$report" ] || continue
    echo "== $report" >&2
    cat "$report" >&2
    [ $status -ne 0 ] || status=1
done
rmdir "$reports" 2>/dev/null || true
[ $status -eq 0 ] || echo "Not clean under the $sanitizer sanitizer (exit $status)." >&2
exit $status
