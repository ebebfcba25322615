#!/usr/bin/env bash
# A web page, another user of the machine and a guesser try the front door of `outpost serve` (H2, H3, M3, M6, M9).
# OUTPOST names the tool. Exits with an error if one of them gets in.
set -euo pipefail
outpost=${OUTPOST:?the path of the tool}
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
pids=""
trap 'for pid in $pids; do kill "$pid" 2>/dev/null || true; done; wait 2>/dev/null || true; rm -rf "$work"' EXIT
export HOME=$work XDG_DATA_HOME=$work/data XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
cd "$work"
sqlite3 shop.db < "$root/Examples/Shop/shop.sql"
failed=0
check() { # check WANTED TEXT…: the last command line must give this status
    local wanted=$1 got
    shift
    got=$(curl -s -o body -w '%{http_code}' --max-time 60 "$@" || true)
    if [ "$got" != "$wanted" ]; then echo "expected $wanted, got $got: curl $*" >&2; failed=1; fi
}
url=""
start() { # start LOG ARGUMENTS…
    local log=$1
    shift
    "$outpost" serve "$@" --port 0 --json >"$log" 2>"$log.errors" &
    pids="$pids $!"
    for _ in $(seq 1 200); do
        url=$(sed -n 's/^ *"url" : "\(.*\)".*/\1/p' "$log" | tr -d '\\')
        if [ -n "$url" ]; then return 0; fi
        sleep 0.05
    done
    cat "$log.errors" >&2
    exit 1
}

start open.log shop.db --log
port=${url##*:}
port=${port%/}
check 200 "${url}Customers"
# DNS rebinding: the page's own name leads to this machine.
check 421 -H "Host: attacker.example:$port" -H "Origin: http://attacker.example:$port" "${url}Customers"
check 421 -X PATCH -H "Host: attacker.example:$port" -H 'Content-Type: application/json' -d '{}' "${url}Customers('C0001')"
check 200 -H 'Host: attacker.example' "${url}health"
check 400 -H 'Host: a"b<script>' "${url}"
check 400 -H 'Host;' "${url}"
# A simple request of another origin.
check 403 -H 'Origin: http://attacker.example' -H 'Content-Type: text/plain' -d x "${url}Customers"
check 403 -H 'Sec-Fetch-Site: cross-site' -H 'Content-Type: application/json' -d '{}' "${url}Customers"
# A forged line in the access log.
check 404 -H 'X-Request-ID: z status=200 user=admin GET /payroll' "${url}nothing"
grep -q 'user=admin' open.log.errors && { echo "the access log was forged" >&2; failed=1; }
# A clone, and what somebody planted in its directory.
"$outpost" clone "$url" shop --query c=Customers >/dev/null
echo planted > planted
ln -s "$work/planted" shop/serve.token
start clone.log shop
check 401 "${url}Customers"
check 401 -u :planted "${url}Customers"
[ "$(cat planted)" = planted ] || { echo "a link was followed" >&2; failed=1; }
[ "$(stat -c %a shop/serve.token)" = 600 ] || { echo "others can read the token" >&2; failed=1; }
check 200 -u ":$(cat shop/serve.token)" "${url}Customers"
link=$(sed -n 's/^ *"signIn" : "\(.*\)".*/\1/p' clone.log | tr -d '\\')
check 303 -c jar "$link"
check 401 "$link"
check 200 -b jar "${url}Customers"
"$outpost" serve shop --open --host 0.0.0.0 --port 0 >/dev/null 2>&1 && { echo "--open listens for everybody" >&2; failed=1; }
# Guessing a password: the seventh attempt is slow, and another user is quick.
printf 'right\n' | "$outpost" users add users.txt alice >/dev/null
for name in bob bea ben; do printf 'right\n' | "$outpost" users add users.txt $name >/dev/null; done
grep -q right users.txt && { echo "a password is in the file" >&2; failed=1; }
start users.log shop.db --auth users.txt
for _ in 1 2 3 4 5; do check 401 -u alice:wrong "${url}"; done
check 401 -u alice:wrong "${url}"
curl -s -o /dev/null -u alice:wrong --max-time 1 "${url}" && { echo "guessing goes on at full speed" >&2; failed=1; }
# Others go on guessing while users sign in for the first time. One of three may meet a busy machine.
guesses=""
for name in alice dave erin frank; do
    curl -s -o /dev/null -u $name:wrong "${url}" &
    guesses="$guesses $!"
done
quick=0
for name in bob bea ben; do
    seconds=$(curl -s -o /dev/null -u $name:right -w '%{http_code} %{time_total}' "${url}")
    case $seconds in "200 0.0"*) quick=1 ;; "200 "*) ;; *) echo "$name: $seconds" >&2; failed=1 ;; esac
done
if [ $quick = 0 ]; then echo "no first sign-in of another user took less than 0.1 s" >&2; failed=1; fi
wait $guesses || true
echo 'carol:plain' > plain.txt
chmod 600 plain.txt
"$outpost" serve shop.db --auth plain.txt --port 0 >/dev/null 2>plain.errors && failed=1
grep -q 'outpost users add' plain.errors || { echo "no advice for a password in plain text" >&2; failed=1; }
exit $failed
