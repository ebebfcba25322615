#!/bin/bash
# M3, M4, L7: a text of 31 characters and a line end is taken for a raw key, a short passphrase is taken, a key file that
# others can read is taken, and outpost.json is made for everybody.
. "$(dirname "$0")/support/common.sh" || exit 2
serve
umask 0
file="$WORK/passphrase"
printf 'correct horse battery staple 12\n' >"$file"
"$OUTPOST" clone "$URL" "$WORK/open" --key-file "$file" >/dev/null 2>&1 && succeeded "a key file of mode 666 was taken"
chmod 600 "$file"
"$OUTPOST" clone "$URL" "$WORK/shop" --key-file "$file" >/dev/null || exit 2
# Byte 5 of the envelope says how the key is derived: 1 is scrypt.
for slot in 1024 3072; do
    derivation=$(od -An -tu1 -j $((slot + 16 + 5)) -N1 "$WORK/shop/store.db" | tr -d ' ')
    magic=$(dd if="$WORK/shop/store.db" bs=1 skip=$((slot + 16)) count=4 2>/dev/null | tr -d '\0')
    [ "$magic" = OPKE ] && [ "$derivation" != 1 ] && succeeded "a passphrase was taken for a raw key"
done
[ "$(stat -c %a "$WORK/shop/outpost.json")" = 600 ] || succeeded "outpost.json has mode $(stat -c %a "$WORK/shop/outpost.json")"
printf 'a' >"$file"
"$OUTPOST" clone "$URL" "$WORK/short" --key-file "$file" >/dev/null 2>&1 && succeeded "a passphrase of one letter was taken"
exit 0
