#!/usr/bin/env bash
# How time and memory grow with the rows of a store: scripts/growth.sh [ROWS…] measures each size in a process of its own,
# writes Benchmarks/growth.jsonl and draws the plot that the documentation of OfflineOData shows.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh bench
scratch=${SCRATCH:-.build}
scratch=$(mkdir -p "$scratch" && cd "$scratch" && pwd)
[ $# -gt 0 ] || set -- 10000 100000 1000000
# All of the package, as scripts/bench.sh builds it: the plan of a build is kept.
swift build -c release --package-path Benchmarks --scratch-path "$scratch/bench" -j "${JOBS:-2}" >&2
figures=Benchmarks/growth.jsonl
for rows in "$@"; do
    echo "measuring $rows rows" >&2
    line=$("$scratch/bench/release/SyncBenchmarks" --growth "$rows")
    # A size that was measured before gives way.
    { grep -v "\"rows\":$rows," "$figures" 2>/dev/null || true; echo "$line"; } | sort -t: -k2 -n >"$figures.new"
    mv "$figures.new" "$figures"
done
table=$(mktemp)
trap 'rm -f "$table"' EXIT
python3 - "$figures" >"$table" <<'PYTHON'
import json, sys
names = ["rows", "download", "delta", "page", "uploadEach", "open", "observeClock", "downloadMiB", "peakMiB"]
for line in open(sys.argv[1], encoding="utf-8"):
    figures = json.loads(line)
    print(*(figures[name] for name in names))
PYTHON
picture=Sources/Sync/OfflineOData/Documentation.docc/Resources/growth.png
mkdir -p "$(dirname "$picture")"
gnuplot <<PLOT
set terminal pngcairo size 1200,520 noenhanced font "sans,10"
set output "$picture"
set multiplot layout 1,2
set logscale xy
set format x "%.0s%c"
set xlabel "rows in the store" offset 0,0.6
set key outside below maxrows 3
set bmargin 7
set linetype 5 linecolor rgb "#8b4513"
set grid
set title "seconds of the processor (observing: by the clock)"
plot "$table" using 1:2 with linespoints title "first download", "" using 1:3 with linespoints title "delta of 100 changes", \
    "" using 1:4 with linespoints title "filtered page of 50", "" using 1:5 with linespoints title "upload of one change", \
    "" using 1:6 with linespoints title "open", "" using 1:7 with linespoints title "edit until observed"
set title "MiB"
set yrange [1:1000]
plot "$table" using 1:8 with linespoints title "first download, beyond what was there", \
    "" using 1:9 with linespoints title "greatest in all"
PLOT
echo "$picture"
