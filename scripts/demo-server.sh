#!/usr/bin/env bash
# The story of the mobile server on the terminal: a server without configuration, a device that registers and clones
# through it, a delta from a back end without delta links, a lost response, a backup and a restore, equal rows at the end.
# Everything happens in a temporary directory, on loopback ports that the system chooses; nothing is left behind.
#
# With --skip-build, the tools of the last build are used: continuous integration has one build.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
if [ "${1:-}" = --skip-build ]; then
    bin=$(cd "$scratch/${OUTPOST_CONFIGURATION:-debug}" && pwd)
else
    scripts/setup.sh
    for product in outpost outpost-server reference-service; do
        swift build "${configuration[@]}" "${traits[@]}" --product $product
    done
    bin=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)
fi
scripts=$PWD/scripts

work=$(mktemp -d)
processes=()
cleanup() {
    status=$?
    for process in "${processes[@]}"; do kill "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
    [ $status -eq 0 ] || echo "The demonstration failed (exit $status)." >&2
    exit $status
}
trap cleanup EXIT
export XDG_DATA_HOME="$work/data"
mkdir -p "$XDG_DATA_HOME"
cd "$work"

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' green=$'\e[32m' plain=$'\e[0m'; else bold="" green="" plain=""; fi
chapter() { printf '\n%s== %s ==%s\n' "$bold" "$*" "$plain"; }
fail() { echo "$*" >&2; exit 1; }
say() { printf '%s$ %s%s\n' "$green" "${*//$work\//}" "$plain"; }
run() { say "$@"; "$bin/$1" "${@:2}"; }

# awaiting LOG PATTERN: the first match of the pattern in a log, as soon as it is there
awaiting() {
    for _ in $(seq 1 400); do
        found=$(sed -n "$2" "$1" | head -n 1)
        [ -n "$found" ] && { echo "$found"; return 0; }
        sleep 0.05
    done
    cat "$1" >&2
    fail "nothing began to listen"
}

server=""
start_server() {
    say outpost-server run
    "$bin/outpost-server" run --listen 127.0.0.1:0 --operator-listen 127.0.0.1:0 --metrics-listen "" >server.log 2>&1 &
    server=$!
    processes+=("$server")
    port=$(awaiting server.log 's,.*Device API *http://127.0.0.1:\([0-9]*\)/.*,\1,p')
    cat server.log
}
stop_server() { kill "$server"; wait "$server" 2>/dev/null || true; }

proxy=""
start_proxy() {
    "$scripts/losing-proxy.py" "$port" "$work/lose" >proxy.log 2>proxy.err &
    proxy=$!
    processes+=("$proxy")
    proxy_port=$(awaiting proxy.log 's/^\([0-9]*\)$/\1/p')
}

chapter "A back end without delta links and without repeatable requests"
say reference-service --package crm --plain
"$bin/reference-service" --package crm --plain --port 0 --json >back.log 2>&1 &
processes+=("$!")
back=$(awaiting back.log 's/.*"url":"\([^"]*\)".*/\1/p')
echo "Serving at $back"
curl -sf -D - -o /dev/null -H 'Prefer: odata.track-changes' "${back}Customers" | grep -i 'preference-applied.*track' \
    && fail "the back end should not track changes"

chapter "A server without configuration"
start_server
curl -sf "http://127.0.0.1:$port/m/v1/shop/d/shop/Products?\$top=2&\$select=Name" || fail "the example is not served"
echo

chapter "An application for the back end"
cat >crm.yaml <<YAML
title: Customers
registration:
  required: false
  device_proof: none
security:
  guest:
    kind: anonymous
destinations:
  back:
    url: $back
    queries:
      Customers:
        query: Customers
        visibility: shared
        refresh_interval: 1s
        max_stale: 1s
      SalesOrders:
        query: SalesOrders
        visibility: shared
        refresh_interval: 1s
        max_stale: 1s
YAML
run outpost-server app import crm crm.yaml --activate
start_proxy
url=http://127.0.0.1:$proxy_port/m/v1/crm/

chapter "A device registers"
say curl -X POST "${url}Registrations" -d '{"ID":"demo-phone","DeviceType":"Linux"}'
curl -sf -X POST "${url}Registrations" -H 'Content-Type: application/json' \
    -d '{"ID":"demo-phone","DeviceType":"Linux"}' >registration.json || fail "the registration was refused"
cat registration.json; echo
run outpost-server device list crm | grep demo-phone || fail "the device is not listed"

chapter "It clones through the server"
run outpost clone "${url}d/back/" crm
run outpost-server feed list crm | tee feeds.txt
grep -q 'back/Customers *active' feeds.txt || fail "the clone was not answered from a feed"

chapter "A change at the back end arrives as a delta"
customer=$(curl -sf "${back}Customers?\$top=1&\$orderby=ID&\$select=ID" | tr -d ' \n' | sed 's/.*"ID":\([0-9-]*\).*/\1/')
say curl -X PATCH "Customers($customer)" -d '{"City":"Tralee"}'
curl -sf -X PATCH -H 'If-Match: *' -H 'Content-Type: application/json' -d '{"City":"Tralee"}' "${back}Customers($customer)" >/dev/null
sleep 2 # Rows that were read before the change are older than max_stale then.
run outpost pull crm --json | tee pull.json
grep -q '"method" : "delta"' pull.json || fail "the pull was no delta: the server has $(cat server.log)"
received=$(sed -n 's/^  "rows" : \([0-9]*\).*/\1/p' pull.json)
[ "$received" = 1 ] || fail "the pull brought $received rows where one had changed"
"$bin/outpost" query crm "Customers($customer)" --json | grep -q Tralee || fail "the change did not arrive"

chapter "An upload, and a second one whose response is lost"
run outpost create crm Customers FirstName=Dee LastName=Kelly City=Sligo Region=North
run outpost push crm
run outpost create crm Customers FirstName=Eve LastName=Walsh City=Ennis Region=West
touch lose
run outpost push crm && fail "the loss was not noticed"
run outpost push crm
[ ! -e lose ] || fail "no response was lost"
grep -q 'a response was lost' proxy.err || fail "the proxy lost nothing"
for name in Kelly Walsh; do
    count=$(curl -sf "${back}Customers/\$count?\$filter=LastName%20eq%20'$name'" | tr -dc 0-9)
    [ "$count" = 1 ] || fail "there are $count customers $name"
done
echo "A response was lost, and the back end has one Eve Walsh."

chapter "Backup, a lost disk, restore"
run outpost-server backup shop.backup
cp "$XDG_DATA_HOME/outpost-server/master.key" kept.key
stop_server
kill "$proxy"; wait "$proxy" 2>/dev/null || true
rm -rf "$XDG_DATA_HOME/outpost-server"
run outpost-server restore shop.backup --master-key kept.key
start_server
# The clone knows the server by the port of the relay.
old_port=$proxy_port
python3 - "$port" "$old_port" <<'PYTHON' &
import asyncio, sys
target, port = int(sys.argv[1]), int(sys.argv[2])
async def relay(reader, writer):
    a, b = await asyncio.open_connection("127.0.0.1", target)
    async def copy(source, sink):
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
        sink.close()
    await asyncio.gather(copy(reader, b), copy(a, writer), return_exceptions=True)
async def main():
    async with await asyncio.start_server(relay, "127.0.0.1", port) as server:
        await server.serve_forever()
asyncio.run(main())
PYTHON
processes+=("$!")
for _ in $(seq 1 100); do curl -sf "${url}d/back/" >/dev/null && break; sleep 0.1; done
curl -sf -X PATCH -H 'If-Match: *' -H 'Content-Type: application/json' -d '{"City":"Kerry"}' "${back}Customers($customer)" >/dev/null
sleep 2
run outpost pull crm
run outpost-server device list crm | grep -q demo-phone || fail "the registration is not in the backup"

chapter "Both sides are equal, row by row"
"$bin/outpost" serve crm --port 0 --page-size 0 --open --json >local.log 2>&1 &
processes+=("$!")
local_url=$(awaiting local.log 's/.*"url" : "\(.*\)".*/\1/p')
rows=0
for set in Customers SalesOrders; do
    accept='Accept: application/json;odata.metadata=none'
    query="$set?\$orderby=ID"
    curl -sf -H "$accept" "$back$query" | sed 's/},{/},\n{/g' >theirs.txt
    curl -sf -H "$accept" "$local_url$query" | sed 's/},{/},\n{/g' >ours.txt
    diff theirs.txt ours.txt || fail "$set differs"
    count=$(curl -sf "$back$set/\$count" | tr -dc 0-9)
    rows=$((rows + count))
    printf '%-12s %5d rows equal\n' "$set" "$count"
done
[ "$rows" -ge 5 ] || fail "there are $rows rows only"
printf '\n%sAll %d rows are equal on both sides.%s\n' "$bold" "$rows" "$plain"
