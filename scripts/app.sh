#!/usr/bin/env bash
# Resolves, builds and runs the smallest app, Consumers/App: it must neither resolve nor link what server, tools and the NIO
# transport need. Those packages come with the trait `Server`, so that the app is built in a folder of its own. With --resolve-only,
# nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."
export SCRATCH=${SCRATCH:-.build}/app
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
unset OUTPOST_OPTIMISED # nothing here computes for long
# Without the trait `Server`, its targets lack the packages that they import; they are not built.
configuration+=(--explicit-target-dependency-import-check none)

swift package --package-path Consumers/App --scratch-path "$scratch" show-dependencies --format json 2>/dev/null |
    python3 -c '
import json, sys

# The packages that an app may resolve: cryptography, SQLite, and the currency types of HTTP, logs, metrics and traces.
ALLOWED = {"swift-crypto", "swift-asn1", "grdb.swift", "swift-http-types", "swift-log", "swift-metrics",
           "swift-distributed-tracing", "swift-service-context"}


def names(package):
    found = set()
    for dependency in package["dependencies"]:
        found |= {dependency["identity"]} | names(dependency)
    return found


text = sys.stdin.read()
root = json.loads(text[text.index("{"):])
own = {dependency["identity"] for dependency in root["dependencies"]}
resolved = names(root) - own
if not {"swift-crypto", "grdb.swift"} <= resolved:
    sys.exit("Consumers/App: no packages were found at all")
if resolved - ALLOWED:
    sys.exit("Consumers/App resolves " + ", ".join(sorted(resolved - ALLOWED))
             + ": only the trait Server may need them. Declare their products with server(_:_:) in Package.swift.")
print("Consumers/App resolves " + ", ".join(sorted(resolved)))'

if [ "${1:-}" = --resolve-only ]; then exit; fi

# The example is built in the same folder.
rm -f "$scratch"/*/{debug,release}/description.json
swift build --package-path Consumers/App "${configuration[@]}" --product App
bin=$(swift build --package-path Consumers/App "${configuration[@]}" --show-bin-path)
# The mangled names of the modules, and the client library of PostgreSQL. That the names would be found is shown by
# scripts/consumers.sh, whose program has the server.
if grep -aEq '7NIOCore|11Hummingbird|libpq\.' "$bin/App"; then
    echo "Consumers/App links NIO, Hummingbird or libpq" >&2
    exit 1
fi
"$bin/App"
