# What the attacks share: a private home, a served example database, and the end of both.
# Each attack exits with 1 if it succeeds, and with 0 if Outpost resists. Needs OUTPOST, the path of the tool.
set -u
: "${OUTPOST:?the path of the tool}"
WORK=$(mktemp -d)
export HOME="$WORK/home" XDG_DATA_HOME="$WORK/home/data" XDG_STATE_HOME="$WORK/home/state" XDG_CACHE_HOME="$WORK/home/cache"
mkdir -m 700 "$HOME"
SERVERS=()
trap 'for pid in "${SERVERS[@]}"; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done; rm -rf "$WORK"' EXIT

# Serves a database of two tables on a port that the system chooses; the address is in URL.
serve() {
    sqlite3 "$WORK/shop.db" "CREATE TABLE Items(ID INTEGER PRIMARY KEY, Name TEXT);
        INSERT INTO Items VALUES (1, 'one'), (2, 'two');"
    "$OUTPOST" serve "$WORK/shop.db" --port 0 --json "$@" >"$WORK/serve.out" 2>"$WORK/serve.err" &
    SERVERS+=($!)
    for _ in $(seq 100); do
        URL=$(sed -n 's/.*"url" : "\([^"]*\)".*/\1/p' "$WORK/serve.out" | sed 's,\\/,/,g')
        [ -n "$URL" ] && return
        sleep 0.1
    done
    echo "the server did not start: $(cat "$WORK/serve.err")" >&2
    exit 2
}

succeeded() {
    echo "the attack succeeded: $*" >&2
    exit 1
}
