#!/bin/bash
# H4 and its like: links in a directory that comes from somebody else direct writes at a file of the user.
. "$(dirname "$0")/support/common.sh" || exit 2
serve
"$OUTPOST" clone "$URL" "$WORK/shop" >/dev/null || exit 2
precious="$WORK/precious.txt"
check() {
    cmp -s "$precious" "$WORK/original.txt" || succeeded "$* destroyed a file through a link"
}
echo "the only copy" >"$precious"
cp "$precious" "$WORK/original.txt"
for name in sync.lock clone.lock outpost.json store.db-wal store.db-shm store.db-journal store.db.reading store.db.saved; do
    for kind in -s ""; do
        cp -r "$WORK/shop" "$WORK/copy"
        rm -f "$WORK/copy/$name"
        ln $kind "$precious" "$WORK/copy/$name"
        for command in sync rekey gc repair; do
            timeout 20 "$OUTPOST" $command "$WORK/copy" >/dev/null 2>&1
            check "$command with $name"
        done
        rm -rf "$WORK/copy"
        mkdir "$WORK/copy"
        ln $kind "$precious" "$WORK/copy/$name"
        timeout 20 "$OUTPOST" clone "$URL" "$WORK/copy" >/dev/null 2>&1
        check "clone with $name"
        rm -rf "$WORK/copy"
    done
done
# An empty file is destroyed, too, if something is written into it: the one beside a served database.
: >"$WORK/empty"
sqlite3 "$WORK/other.db" "CREATE TABLE Items(ID INTEGER PRIMARY KEY, Name TEXT)"
ln -s "$WORK/empty" "$WORK/other.db-outpost"
timeout 5 "$OUTPOST" serve "$WORK/other.db" --port 0 >/dev/null 2>&1
[ -s "$WORK/empty" ] && succeeded "serve wrote through a link beside the database"
ln -s "$WORK/made" "$WORK/key"
"$OUTPOST" keys new "$WORK/key" >/dev/null 2>&1
[ -e "$WORK/made" ] && succeeded "keys new wrote through a link"
exit 0
