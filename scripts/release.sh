#!/usr/bin/env bash
# Builds a part in release mode: scripts/release.sh --product simulate, or --target ODataStore, or --show-bin-path. What the
# scripts build in this mode goes through here: with the same flags, the parts share what they stand on, and with
# other flags SwiftPM would build everything anew.
set -euo pipefail
cd "$(dirname "$0")/.."
exec swift build -c release --scratch-path "${SCRATCH:-.build}" -j "${JOBS:-2}" "$@"
