#!/usr/bin/env python3
"""Counts the instructions and allocations of the hot paths, and compares them with Benchmarks/limits.json, and in continuous
integration with Benchmarks/limits-ci.json.

    scripts/limits.py [--update] [PATH …]

Counts repeat where times do not: valgrind counts what one more run of a path takes. A path that takes more than its limit
by its tolerance fails; with --update, the counts found become the limits. Another compiler makes other code: the counts are
then printed and fail nothing.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Continuous integration counts the build of its tests, in which libraries of other packages are not optimised.
LIMITS = os.path.join(ROOT, "Benchmarks", "limits-ci.json" if os.environ.get("CI") else "limits.json")
TOLERANCE, ALLOCATION_TOLERANCE = 1.10, 1.03
# What start-up and caches take is in the shorter run as in the longer one. What happens once on the way, a table that grows
# or a thread that waited, counts ten times less over the longest one, which is asked where ten runs take too much, and
# always of a path that is SHALLOW: two whole processes differ by up to 10,000 instructions.
SHORT, LONG, LONGEST = 5, 15, 115
SHALLOW = 100_000
ALLOCATORS = re.compile(r"^(malloc|calloc|realloc|posix_memalign|aligned_alloc|memalign)(@|'|$)")


def counted(program: str, path: str, runs: int) -> tuple[int, int]:
    """The instructions of a whole process, and how often it allocates."""
    environment = dict(os.environ, SWIFT_DETERMINISTIC_HASHING="1", SWIFT_BACKTRACE="enable=no")
    with tempfile.NamedTemporaryFile(suffix=".callgrind") as output:
        subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output.name}", program, path, str(runs)],
            check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(output.name, encoding="utf-8", errors="replace") as lines:
            return parsed(lines)


def parsed(lines) -> tuple[int, int]:
    """Adds up a profile (the format is described in Valgrind's manual, "Callgrind Format Specification")."""
    names: dict[str, str] = {}
    total = allocations = 0
    called = ""
    for line in lines:
        if line.startswith(("cfn=", "fn=")):
            kind, _, rest = line.rstrip("\n").partition("=")
            number, _, name = rest.partition(" ")
            if name:
                names[number] = name
            if kind == "cfn":
                called = names.get(number, "")
        elif line.startswith("calls=") and ALLOCATORS.match(called):
            allocations += int(line[6:].split(" ")[0])
        elif line.startswith("totals:"):
            total = int(line.split()[1])
    return total, allocations


def over(limit, instructions: int, allocations: int) -> float:
    """How many times as much as it may take a path takes; nothing is too much for one that has no limit yet."""
    if not limit:
        return 0
    return max(instructions / limit["instructions"] / TOLERANCE,
               (allocations + 1) / (limit["allocations"] + 1) / ALLOCATION_TOLERANCE)


def main() -> int:
    arguments = sys.argv[1:]
    update = "--update" in arguments
    wanted = [argument for argument in arguments if argument != "--update"]
    program = subprocess.run(
        [os.path.join(ROOT, "scripts", "hot-paths.sh")], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[-1]
    paths = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    compiler = subprocess.run(["swift", "--version"], capture_output=True, text=True).stdout
    version = (re.search(r"Swift version (\S+)", compiler) or ["", "unknown"])[1]
    known = {"swift": version, "paths": {}}
    if os.path.exists(LIMITS):
        with open(LIMITS, encoding="utf-8") as file:
            known = json.load(file)
    applies = known["swift"] == version
    missed = 0
    for path in wanted or paths:
        limit = known["paths"].get(path)
        verdict = "new"
        short = counted(program, path, SHORT)
        for runs in (LONG, LONGEST):
            instructions, allocations = (
                round((b - a) / (runs - SHORT)) for a, b in zip(short, counted(program, path, runs)))
            ratio = over(limit, instructions, allocations)
            if ratio <= 1 and instructions >= SHALLOW:
                break
        if limit:
            verdict = "holds" if ratio <= 1 else f"missed by {ratio:.2f} times"
            missed += ratio > 1
        beside = f" (limit {limit['instructions']}, {limit['allocations']})" if limit else ""
        print(f"{path}: {instructions} instructions, {allocations} allocations{beside}: {verdict}", flush=True)
        if update:
            known["paths"][path] = {"instructions": instructions, "allocations": allocations}
    if update:
        known["swift"] = version
        with open(LIMITS, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=2)
            file.write("\n")
        return 0
    if missed and not applies:
        print(f"The limits are of Swift {known['swift']}, this is {version}: nothing fails.")
        return 0
    if missed:
        print(f"{missed} paths take more than they did; if that is meant, scripts/limits.py --update keeps the new counts.")
    return 1 if missed else 0


sys.exit(main())
