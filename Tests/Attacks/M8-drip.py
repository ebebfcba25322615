#!/usr/bin/env python3
"""M8: a body that drips, a byte a second. It is given up after 30 s, so that this script takes longer than others."""
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *


def drip(handler, path):
    if not path.startswith("/svc/Items") or "$count" in path:
        return None
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(1)
    except OSError:
        return True


problems = []
with Home() as home:
    service = Service(drip)
    try:
        code, text = home.run("clone", service.url, "d", timeout=80)
        if code == 0 or "1024" not in text:
            problems.append(f"{code} {text}")
    except subprocess.TimeoutExpired:
        problems.append("it waits for ever")
    service.close()
finish(problems)
