#!/usr/bin/env python3
"""L5: a batch of many reads must not take the server's memory, nor one caller all of its places."""
import json
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from serving import Serving, check


def rows(database):
    database.executescript("""
        CREATE TABLE Items (ID INTEGER PRIMARY KEY, Name TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
        INSERT INTO Items SELECT i, hex(zeroblob(500)) FROM n;
        """)


with Serving(rows) as server:
    server.curl("Items")
    idle = server.peak()
    batch = json.dumps({"requests": [{"id": str(i), "method": "GET", "url": "Items"} for i in range(400)]})
    size, code = server.curl(
        "$batch", "-H", "Content-Type: application/json", "-d", batch, "-o", "/dev/null", "-w",
        "%{http_code} %{size_download}")
    check(code == 0 and size.startswith(b"200"), f"the batch was not answered: {size} {code}")
    grown = server.peak() - idle
    check(grown < 128 << 20, f"the server took {grown >> 20} MB more")
    # Batches whose responses nobody reads keep their places.
    head = (
        f"POST /$batch HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(batch)}\r\n\r\n")
    open_batches = []
    for _ in range(8):
        connection = socket.create_connection((server.host, int(server.port)))
        connection.sendall((head + batch).encode())
        connection.recv(100)
        open_batches.append(connection)
    time.sleep(0.5)
    body, _ = server.curl(
        "$batch", "-H", "Content-Type: application/json", "-d", batch, "-w", "|%{http_code}", seconds=10)
    check(body.endswith(b"|429") and b"TooManyBatches" in body, f"a ninth batch is answered: {body[-300:]}")
    body, _ = server.curl("Items(1)/ID/$value", seconds=5)
    check(body == b"1", "other requests are not answered meanwhile")
    for connection in open_batches:
        connection.close()
    time.sleep(2)
    body, _ = server.curl("$batch", "-H", "Content-Type: application/json", "-d", batch, "-o", "/dev/null", "-w",
        "%{http_code}")
    check(body == b"200", f"the places are not free again: {body}")
