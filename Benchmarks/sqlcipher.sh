#!/usr/bin/env bash
# Builds SQLCipher for comparison and prints where the library is: Benchmarks/sqlcipher.sh FOLDER. Debian's is of 2016;
# a source package of PyPI has a recent one as a single C file. Prints nothing when it cannot be had: the benchmark says
# so then. Needs python3 with venv, a C compiler and OpenSSL's headers.
set -uo pipefail
folder=$1
library=$folder/libsqlcipher.so
version=0.6.4
if [ ! -f "$library" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    {
        python3 -m venv "$work/venv" &&
            "$work/venv/bin/pip" install -q setuptools wheel &&
            # Without build isolation: its hook would call a package manager.
            "$work/venv/bin/pip" download -q --no-deps --no-build-isolation --no-binary sqlcipher3 \
                -d "$work" "sqlcipher3==$version" &&
            tar -xzf "$work/sqlcipher3-$version.tar.gz" -C "$work" &&
            mkdir -p "$folder" &&
            # Symbolic: its functions have the names of the system's SQLite, and must call each other.
            cc -O2 -shared -fPIC -Wl,-Bsymbolic -DSQLITE_HAS_CODEC -DSQLITE_TEMP_STORE=2 -DSQLITE_THREADSAFE=1 \
                -DSQLITE_EXTRA_INIT=sqlcipher_extra_init -DSQLITE_EXTRA_SHUTDOWN=sqlcipher_extra_shutdown \
                -o "$library" "$work/sqlcipher3-$version/vendor/sqlite3.c" -lcrypto -lm -lpthread
    } >&2 || exit 0
fi
echo "$library"
