#!/usr/bin/env bash
# Installs pyodata from PyPI for comparison and prints the interpreter that has it: Benchmarks/pyodata.sh FOLDER. Prints
# nothing when it cannot be had: the benchmark says so then.
set -uo pipefail
python=$1/pyodata/bin/python
if ! "$python" -c "import pyodata, requests" 2>/dev/null; then
    { python3 -m venv "$1/pyodata" && "$1/pyodata/bin/pip" install -q pyodata requests; } >&2 || exit 0
fi
echo "$python"
