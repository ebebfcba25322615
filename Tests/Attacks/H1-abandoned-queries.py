#!/usr/bin/env python3
"""H1: queries that nobody waits for any more must end, others must be answered, and SIGTERM must end the process."""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from serving import Serving, check


def big(database):
    database.executescript("""
        CREATE TABLE Items (ID INTEGER PRIMARY KEY, Name TEXT, ParentID INTEGER REFERENCES Items, V INTEGER);
        CREATE TABLE Other (ID INTEGER PRIMARY KEY, ItemID INTEGER REFERENCES Items, T TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO Items SELECT i, 'Item ' || i, i / 2, i FROM n WHERE i > 0;
        UPDATE Items SET ParentID = NULL WHERE ID = 1;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO Other SELECT i, i, 'x' FROM n;
        """)


ENDLESS = "$crossjoin(Items,Other)?$top=1&$filter=Items/V%20add%20Other/ID%20eq%20-1"

with Serving(big, "--drain-time", "5") as server:
    for _ in range(8):
        server.curl(ENDLESS, seconds=1)
    time.sleep(1.5)
    start = time.monotonic()
    body, code = server.curl(
        "Items(7)", "-X", "PATCH", "-H", "Content-Type: application/json", "-d", '{"Name":"new"}', "-w",
        "%{http_code}", seconds=10)
    check(code == 0 and body == b"204", f"a change waits for abandoned queries: {body} {code}")
    body, _ = server.curl("Items(7)/Name/$value", seconds=5)
    check(body == b"new", f"a read waits for abandoned queries: {body}")
    check(time.monotonic() - start < 10, "the server is busy with abandoned queries")
    # With callers that wait, the process ends within its drain time all the same.
    waiting = [
        subprocess.Popen(["curl", "-sg", "-o", "/dev/null", "-m", "60", server.url + ENDLESS]) for _ in range(4)]
    time.sleep(1)
    took = server.stop(seconds=15)
    for client in waiting:
        client.kill()
        client.wait()
    check(took is not None and took < 8, f"SIGTERM did not end the process in its drain time: {took}")
