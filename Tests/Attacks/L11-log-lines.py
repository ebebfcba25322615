#!/usr/bin/env python3
"""L11: lines of the stored log that are swapped, dropped and doubled."""
import glob
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

problems = []
for name in ["swapped", "dropped", "dropped at the end", "doubled"]:
    with Home() as home:
        for _ in range(4):
            home.run("status", "none")
        path = sorted(glob.glob(home.path + "/state/outpost/log/*.log"))[-1]
        lines = open(path).read().splitlines()
        if name == "swapped":
            lines[1], lines[2] = lines[2], lines[1]
        elif name == "dropped":
            del lines[2]
        elif name == "dropped at the end":
            del lines[-1]
        else:
            lines.insert(2, lines[2])
        open(path, "w").write("\n".join(lines) + "\n")
        code, text = home.run("log")
        if "altered" not in text:
            problems.append(f"{name}: {text[-300:]}")
finish(problems)
