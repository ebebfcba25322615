#!/bin/bash
# C2: outpost.json of another clone, or a planted one, makes rekey and clone remove keys that belong to others.
. "$(dirname "$0")/support/common.sh" || exit 2
serve
"$OUTPOST" clone "$URL" "$WORK/a" >/dev/null || exit 2
"$OUTPOST" clone "$URL" "$WORK/b" >/dev/null || exit 2
"$OUTPOST" update "$WORK/a" 'Items(1)' Name=precious >/dev/null || exit 2
"$OUTPOST" vault create login --no-password >/dev/null || exit 2
before=$(ls "$XDG_DATA_HOME/outpost/keys")

# The wrong outpost.json, and the advice of the tool.
cp "$WORK/a/outpost.json" "$WORK/b/outpost.json"
"$OUTPOST" rekey "$WORK/b" >/dev/null 2>&1
"$OUTPOST" status "$WORK/a" 2>&1 | grep -q 'update Items(1)' || succeeded "rekey of b made a unreadable"
"$OUTPOST" status "$WORK/b" >/dev/null 2>&1 || succeeded "b is unreadable"

# A copy gets another key.
cp -r "$WORK/a" "$WORK/a2"
"$OUTPOST" rekey "$WORK/a2" >/dev/null 2>&1
"$OUTPOST" status "$WORK/a" 2>&1 | grep -q 'update Items(1)' || succeeded "rekey of a copy made the original unreadable"

# A planted directory names the key of a clone, and of a vault.
name=$(sed -n 's/.*"name" : "\([^"]*\)".*/\1/p' "$WORK/a/outpost.json")
vault=$(ls "$XDG_DATA_HOME/outpost/keys" | grep '^vault-' | grep -v tries)
for planted in "$name" "$vault" "$vault.tries" "../keys/$name"; do
    rm -rf "$WORK/d"
    mkdir "$WORK/d"
    echo "{\"isUnfinished\":true,\"key\":{\"vault\":{\"name\":\"$planted\"}}}" >"$WORK/d/outpost.json"
    "$OUTPOST" clone "$URL" "$WORK/d" >/dev/null 2>&1
    "$OUTPOST" rekey "$WORK/d" >/dev/null 2>&1
done
for key in $before; do
    [ -e "$XDG_DATA_HOME/outpost/keys/$key" ] || succeeded "the key $key is gone"
done
"$OUTPOST" vault open login >/dev/null 2>&1 || succeeded "the vault is gone"

# A whole clone is said to be half made.
sed -i 's/^{/{ "isUnfinished": true,/' "$WORK/a/outpost.json"
"$OUTPOST" clone "$URL" "$WORK/a" >/dev/null 2>&1
sed -i 's/"isUnfinished": true,//' "$WORK/a/outpost.json"
"$OUTPOST" status "$WORK/a" 2>&1 | grep -q 'update Items(1)' || succeeded "the store with a pending change was removed"
