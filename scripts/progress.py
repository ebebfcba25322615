#!/usr/bin/env python3
"""Shortens the output of a build or a test run, read from standard input, and shows progress.

    swift build --traits Server --build-tests 2>&1 | scripts/progress.py build
    TESTS 2>&1 | scripts/progress.py tests
    scripts/progress.py totals LOG SECONDS

On a terminal the progress is one line that is written over; elsewhere a line every INTERVAL seconds. `totals` prints one line
with the counts of a log and the time.
"""

import os
import re
import select
import sys
import time

INTERVAL = 30
STEP = re.compile(r"^\[(\d+)/(\d+)\] ")
ENDED = re.compile(r"^(✔|✘) Test (?!run |case )")
SKIPPED = re.compile(r"^➜ Test (?!run |case )")


class Progress:
    """The line that says how far a run is."""

    def __init__(self):
        self.on_terminal = sys.stdout.isatty()
        self.begin = self.shown = time.monotonic()
        self.width = 0
        self.text = ""

    def show(self, text):
        self.text = text
        self.tick()

    def tick(self):
        """Shows the line again, with its time, if the last one is old enough."""
        now = time.monotonic()
        if now - self.shown < (0.2 if self.on_terminal else INTERVAL):
            return
        self.shown = now
        line = f"{self.text}, {now - self.begin:.0f} s"
        if self.on_terminal:
            print(f"\r{line:<{self.width}}", end="", flush=True)
            self.width = len(line)
        else:
            print(line, flush=True)

    def print(self, line):
        self.clear()
        print(line, flush=True)

    def clear(self):
        if self.width:
            print("\r" + " " * self.width + "\r", end="", flush=True)
            self.width = 0


def lines(progress):
    """The lines of the input; the progress is shown while nothing comes, as behind a module that takes minutes."""
    rest = b""
    while True:
        if not select.select([sys.stdin], [], [], 1)[0]:
            if progress.text:
                progress.tick()
            continue
        piece = os.read(sys.stdin.fileno(), 1 << 16)
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
        if not piece:
            if rest:
                yield rest.decode(errors="replace")
            return


def build():
    progress = Progress()
    for line in lines(progress):
        step = STEP.match(line)
        if step:
            progress.show(f"Building: {step[1]} of {step[2]}")
        elif line.strip():
            progress.print(line)
    progress.clear()


def tests():
    progress = Progress()
    passed = failed = 0
    is_running = is_failure = False
    for line in lines(progress):
        # The lines behind a failure, which say what was expected and what came.
        is_failure = line.startswith("✘ Test") and "recorded an issue" in line or is_failure and not line.startswith(tuple("◇✔✘➜"))
        ended = ENDED.match(line)
        if ended:
            passed, failed = passed + (ended[1] == "✔"), failed + (ended[1] == "✘" and " failed after " in line)
            progress.show(f"Testing: {passed} passed, {failed} failed")
        is_running = is_running or line.startswith("◇ Test run started")
        if (not is_running or is_failure or line.startswith(("✘", "➜", "✔ Test run"))
                or re.search(r"error:|[Ff]atal|signal", line) and not line.startswith(("◇", "✔", "↳"))):
            progress.print(line)
    progress.clear()


def totals(log, seconds):
    passed = failed = skipped = 0
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            ended = ENDED.match(line)
            if ended and (" passed after " in line or " failed after " in line):
                passed, failed = passed + (ended[1] == "✔"), failed + (ended[1] == "✘")
            skipped += bool(SKIPPED.match(line))
    minutes, rest = divmod(int(seconds), 60)
    print(f"{passed} passed, {failed} failed, {skipped} skipped in {minutes} min {rest} s")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["build"]:
            build()
        case ["tests"]:
            tests()
        case ["totals", log, seconds]:
            totals(log, seconds)
        case _:
            sys.exit(__doc__)
