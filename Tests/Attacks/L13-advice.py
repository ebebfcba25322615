#!/usr/bin/env python3
"""L13: after a gzip bomb, nobody is advised to run the same command again."""
import gzip
import io
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

packed = io.BytesIO()
with gzip.GzipFile(fileobj=packed, mode="wb") as file:
    file.write(page([{"ID": 1, "Name": "one"}])[:-1].encode())
    for _ in range(200):
        file.write(b" " * (1 << 20))


def answer(handler, path):
    if path.startswith("/svc/Items") and "$count" not in path:
        return handler.reply(packed.getvalue(), Content_Encoding="gzip")


problems = []
with Home() as home:
    service = Service(answer)
    code, text = home.run("clone", service.url, "d", timeout=60)
    if code == 0 or "run the same command again" in text or "people who run" not in text:
        problems.append(f"{code} {text}")
    service.close()
finish(problems)
