#!/usr/bin/env python3
"""C1: one GET with a nested $expand must not end the server, nor take its memory or its time."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from serving import Serving, check, shop


def url(levels):
    text = ""
    for level in range(levels):
        name = "Orders" if level % 2 == levels % 2 else "Customer"
        text = f"{name}($expand={text})" if text else name
    return f"Orders?$expand={text}"


for arguments in [(), ("--max-rows", "0")]:
    with Serving(shop, *arguments) as server:
        model, _ = server.curl("$metadata")
        check(b'Name="Orders"' in model and b'Name="Customer"' in model, f"other names: {model[:2000]}")
        server.curl("Orders")
        idle = server.peak()
        start = time.monotonic()
        # 14 levels are 4 GB without a limit of rows; the client takes what comes in its time.
        seconds = 60 if not arguments else 12
        size, code = server.curl(url(14), "-o", "/dev/null", "-w", "%{http_code} %{size_download}", seconds=seconds)
        status, count = size.split()
        check(time.monotonic() - start <= 60, "it took more than 60 s")
        grown = server.peak() - idle
        check(grown < 128 << 20, f"the server took {grown >> 20} MB more")
        if arguments:
            check(status == b"200" and int(count) > 8 << 20, f"nothing streamed: {size}")
        else:
            check(status == b"413" or code in (18, 56), f"no limit of rows: {size}")
        body, _ = server.curl("Orders?$top=1", seconds=5)
        check(b'"OrderID":1' in body, f"the server answers nothing any more: {body}")
