#!/usr/bin/env python3
"""M8: next links without end, although the service counts one row; pages without rows; a body that drips."""
import itertools
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

problems = []
numbers = itertools.count(1)


def rows(handler, path):
    if path.startswith("/svc/Items") and "$count" not in path:
        number = next(numbers)
        some = [{"ID": number * 1000 + n, "Name": "x" * 100} for n in range(1000)]
        return handler.reply(page(some, nextLink=f"Items?p={number}"))


def empty(handler, path):
    if path.startswith("/svc/Items") and "$count" not in path:
        return handler.reply(page([], nextLink=f"Items?p={next(numbers)}"))


for name, answer in [("rows", rows), ("empty", empty)]:
    with Home() as home:
        service = Service(answer)
        try:
            code, text = home.run("clone", service.url, "d", timeout=120)
            if code == 0 or "no end" not in text:
                problems.append(f"{name}: {code} {text}")
        except subprocess.TimeoutExpired:
            problems.append(f"{name}: it goes on for ever ({len(service.requests)} pages)")
        service.close()
finish(problems)
