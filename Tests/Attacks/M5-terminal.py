#!/usr/bin/env python3
"""M5: control characters, ends of lines and hidden characters of a service at the terminal."""
import re
import unicodedata
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

HARM = "a\x1b[31mb\x07c\x9b32md\u202ee\u2066f\u200bg\u200fh\u061ci\ufeffj\r\nFAKE LINE\u2028k\x7fl"


def answer(handler, path):
    if handler.command != "GET":
        error = {"code": "E" + HARM, "message": "M" + HARM, "target": HARM}
        return handler.reply(json.dumps({"error": error}), status=409)
    if path.startswith("/svc/Items") and "$count" not in path:
        return handler.reply(page([{"ID": 1, "Name": "n" + HARM, "dyn" + HARM: HARM}]))


problems = []
with Home() as home:
    service = Service(answer)
    home.run("clone", service.url, "d")
    home.run("update", "d", "Items(1)", "Name=x")
    for command in [
        "query d Items", "query d Items(1)", "query d Items --json", "query d Items(1)/Name/$value", "export d --query Items",
        "export d --query Items --format csv", "push d --trace low", "status d", "errors d", "log d", "pull d --trace high",
        "watch d Items",
    ]:
        shown = home.at_terminal(*command.split(" "), timeout=3 if command.startswith("watch") else 60)
        shown = shown.replace("\r\x1b[K", "").replace("\r\n", "\n")
        bad = {f"U+{ord(c):04X}" for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"}
        if bad:
            problems.append(f"{command}: {sorted(bad)}")
        if re.search(r"^FAKE LINE", shown, re.M):
            problems.append(f"{command}: a forged line")
    service.close()
finish(problems)
