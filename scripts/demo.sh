#!/usr/bin/env bash
# The whole story on the terminal: serve, clone, work offline, push, pull, and prove that both sides are equal.
# Everything happens in a temporary directory, on loopback ports that the system chooses; nothing is left behind.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh
# shellcheck source=scripts/configuration.sh
source scripts/configuration.sh
swift build "${configuration[@]}" "${traits[@]}" --product outpost
outpost=$(cd "$(swift build "${configuration[@]}" "${traits[@]}" --show-bin-path)" && pwd)/outpost

work=$(mktemp -d)
server=""
local_server=""
cleanup() {
    status=$?
    for process in $server $local_server; do kill "$process" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
    [ $status -eq 0 ] || echo "The demonstration failed (exit $status)." >&2
    exit $status
}
trap cleanup EXIT
export XDG_DATA_HOME="$work/data" # keys of the demonstration's stores stay out of your key folder

if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\e[1m' green=$'\e[32m' plain=$'\e[0m'; else bold="" green="" plain=""; fi
chapter() { printf '\n%s== %s ==%s\n' "$bold" "$*" "$plain"; }
run() { # shows a command as one would type it, and runs it
    printf '%s$ outpost' "$green"
    for word in "$@"; do
        case $word in *[\ \$\&\?\(\)\']*) printf " '%s'" "${word//$work\//}" ;; *) printf ' %s' "${word//$work\//}" ;; esac
    done
    printf '%s\n' "$plain"
    "$outpost" "$@"
}
expect() { # expect CODE COMMAND…: the command must end with this code
    local wanted=$1 code=0
    shift
    run "$@" || code=$?
    [ "$code" -eq "$wanted" ] || { echo "expected exit code $wanted, got $code" >&2; exit 1; }
}
fail() { echo "$*" >&2; exit 1; }

started_port=""
start() { # start LOG ARGUMENTS…: serves in the background; sets started_pid and started_url
    local log=$1
    shift
    "$outpost" serve "$@" --json --max-requests-per-minute 0 >"$log" 2>&1 &
    started_pid=$!
    for _ in $(seq 1 200); do
        started_url=$(sed -n 's/.*"url" : "\(.*\)".*/\1/p' "$log")
        [ -n "$started_url" ] && return 0
        kill -0 "$started_pid" 2>/dev/null || { cat "$log" >&2; fail "the server did not start"; }
        sleep 0.05
    done
    fail "the server did not say where it is"
}

cd "$work"
sqlite3 shop.db < "$OLDPWD/Examples/Shop/shop.sql"

chapter "A database becomes a service"
printf '%s$ outpost serve shop.db%s\n' "$green" "$plain"
start server.log shop.db --port 0
server=$started_pid url=$started_url
port=$(sed 's,.*:\([0-9]*\)/.*,\1,' <<<"$url")
echo "Serving at $url"

chapter "Clone it, encrypted"
run clone "$url" shop
run clone "$url" colleague >/dev/null

chapter "The server goes away"
kill "$server"; wait "$server" 2>/dev/null || true; server=""
curl -s "$url" >/dev/null && fail "the server should be gone"
echo "No network from here on."

chapter "Ask questions offline"
run query shop 'Orders?$filter=Freight gt 240&$orderby=Freight desc&$select=OrderID,OrderedAt,Freight&$expand=Customer($select=CompanyName,Country)&$top=5'
run query shop 'Customers?$filter=Orders/any(o:o/Freight gt 255)&$select=CustomerID,CompanyName&$orderby=CustomerID&$count=true'
run query shop 'Orders?$apply=groupby((Customer/Country),aggregate($count as Orders,Freight with sum as Total))&$orderby=Customer/Country'
run query shop 'Orders(1003)?$expand=Order_Lines($expand=Product($select=Name))' --json

chapter "Work offline"
run create shop Customers CustomerID=NEWCO 'CompanyName=New Water Co' City=Tromsø Country=Norway
run create shop Orders CustomerID=NEWCO OrderedAt=2026-11-21T09:00:00Z Freight=12.50
run create shop Order_Lines OrderID=-1 LineNumber=1 ProductID=3 Quantity=2 Price=19.90
run update shop 'Orders(1001)' Freight=99.95
run update shop 'Products(5)' Stock=77
run update shop 'Products(6)' Stock=-4 # the service will refuse this: its table has CHECK (Stock >= 0)
run update shop "Customers('C0002')" 'City=Lisboa' # a colleague changes the same customer: a conflict
run delete shop 'Order_Lines(OrderID=1003,LineNumber=1)'
run status shop

chapter "The server comes back, and a colleague is faster"
start server.log shop.db --port "$port"
server=$started_pid
run update colleague "Customers('C0002')" 'City=Braga'
run update colleague 'Products(9)' 'Price=123.45'
run delete colleague 'Order_Lines(OrderID=1006,LineNumber=1)'
run push colleague
echo "Meanwhile another program writes into the database itself:"
echo "sqlite3 shop.db \"UPDATE Customers SET City = 'Oslo' WHERE CustomerID = 'C0009'\""
sqlite3 shop.db "UPDATE Customers SET City = 'Oslo' WHERE CustomerID = 'C0009'"

chapter "Push: accepted, refused, conflict"
expect 3 push shop

chapter "Pull: only what changed travels"
run pull shop --json | tee pull.json
received=$(sed -n 's/^  "rows" : \([0-9]*\).*/\1/p' pull.json)
# 4 changes by others and our own 6 accepted ones: a tenth of that is not a clone of 700 rows
[ "$received" -le 12 ] || fail "a pull brought $received rows where about 10 had changed"

chapter "Mend what was refused"
run errors shop
run update shop 'Products(6)' Stock=4
conflict=$("$outpost" errors list shop --json | tr -d '\n' | sed -n 's/.*"entity" : "Customers(.C0002.)",[^}]*"id" : \([0-9]*\).*/\1/p')
[ -n "$conflict" ] || fail "the conflict is not in the archive"
run errors retry shop "$conflict"
run push shop
run errors shop
run status shop
"$outpost" status shop --json | tr -d ' \n' | grep -q '"errors":\[\]' || fail "the error archive is not empty"
"$outpost" status shop --json | tr -d ' \n' | grep -q '"pending":\[\]' || fail "the queue is not empty"

chapter "Two change the same customer, each another field: merged"
run update colleague "Customers('C0003')" City=Bergen
run push colleague
run update shop "Customers('C0003')" 'CompanyName=Third Water Co'
run push shop --on-conflict merge
run query shop "Customers('C0003')"
curl -sf "$url"'Customers/$count?$filter=CustomerID%20eq%20%27C0003%27%20and%20City%20eq%20%27Bergen%27' | grep -q 1 \
    || fail "the colleague's city is gone"

chapter "A copy of the clone sends nothing twice"
run create shop Employees 'Name=Nina Berg' HiredOn=2026-11-21
printf '%s$ cp -r shop copy%s\n' "$green" "$plain"
cp -r shop copy
run push shop
run push copy
copies=$(curl -sf "$url"'Employees/$count?$filter=Name%20eq%20%27Nina%20Berg%27')
[ "$(tr -dc 0-9 <<<"$copies")" = 1 ] || fail "there are $copies employees where one was created"
echo "The service has one Nina Berg."

chapter "Both sides are equal, row by row"
run pull shop
start local.log shop --port 0 --page-size 0 --open
local_server=$started_pid local_url=$started_url
rows=0
for set in Employees:EmployeeID Customers:CustomerID Categories:CategoryID Products:ProductID Orders:OrderID Order_Lines:OrderID,LineNumber; do
    name=${set%%:*} key=${set#*:}
    query="$name?\$orderby=$key"
    accept='Accept: application/json;odata.metadata=none'
    # One row a line, so that a difference shows the row.
    curl -sf -H "$accept" -H 'Prefer: maxpagesize=100000' "$url$query" | sed 's/},{/},\n{/g' >theirs.txt
    curl -sf -H "$accept" -H 'Prefer: maxpagesize=100000' "$local_url$query" | sed 's/},{/},\n{/g' >ours.txt
    diff theirs.txt ours.txt || fail "$name differs"
    count=$(curl -sf "$url$name/\$count")
    [ "$(wc -l <ours.txt)" -ge "$((count - 1))" ] || fail "$name: rows are missing"
    rows=$((rows + count))
    printf '%-12s %5d rows equal\n' "$name" "$count"
done
curl -sf "$url"'Customers?$filter=CustomerID%20eq%20%27C0002%27&$select=City' | grep -q Lisboa || fail "our change is not there"
curl -sf "$url"'Customers/$count?$filter=CustomerID%20eq%20%27NEWCO%27' | grep -q 1 || fail "our customer is not there"
printf '\n%sAll %d rows are equal on both sides.%s\n' "$bold" "$rows" "$plain"
