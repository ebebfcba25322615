#!/usr/bin/env python3
"""H1: a query whose caller waits is stopped when its processor time is over, with a code and advice."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from serving import Serving, check


def big(database):
    database.executescript("""
        CREATE TABLE Items (ID INTEGER PRIMARY KEY, V INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO Items SELECT i, i FROM n;
        """)


ENDLESS = "Items?$filter=$root/Items/any(a:a/V%20add%20V%20eq%20-1)"

with Serving(big, "--max-time", "2") as server:
    start = time.monotonic()
    body, code = server.curl(ENDLESS, "-w", "|%{http_code}", seconds=30)
    check(code == 0 and body.endswith(b"|503") and b'"TimeLimit"' in body, f"not stopped: {body[:300]} {code}")
    check(b"$filter" in body, f"no advice: {body[:300]}")
    check(time.monotonic() - start < 25, "stopped too late")
    patch = ("-X", "PATCH", "-H", "Content-Type: application/json", "-d", '{"V":0}', "-w", "|%{http_code}")
    body, code = server.curl(
        "Items/$filter($root/Items/any(a:a/V%20add%20V%20eq%20-1))/$each", *patch, seconds=30)
    check(code == 0 and body.endswith(b"|503"), f"a change is not stopped: {body[:300]} {code}")
    body, _ = server.curl("Items/$count?$filter=V%20eq%200", seconds=10)
    check(body.endswith(b"0"), f"a change that was stopped left something: {body}")
