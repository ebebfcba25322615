#!/usr/bin/env bash
# Builds a part in release mode: scripts/release.sh --product simulate, or --target ODataSQL, or --show-bin-path. What the
# scripts build in this mode goes through here: with the same flags, the parts share what they stand on.
set -euo pipefail
cd "$(dirname "$0")/.."
export OUTPOST_CONFIGURATION=release
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
exec swift build "${configuration[@]}" "${traits[@]}" "$@"
