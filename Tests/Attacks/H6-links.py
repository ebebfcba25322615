#!/usr/bin/env python3
"""H6: next links of an https service that lead to http, to another host, or to the service behind its proxy."""
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

problems = []
with Home() as home:
    cert, both = certificate(home.path)
    plain = Service(lambda h, p: h.reply(page([{"ID": 666, "Name": "planted"}])) if "skiptoken" in p else None)
    for link, may_work in [
        (f"http://127.0.0.1:{plain.port}/svc/Items?$skiptoken=2", True),
        (f"http://127.0.0.1:{plain.port}/other/Items?$skiptoken=2", False),
        ("https://internal.host.invalid/svc/Items?$skiptoken=2", True),
        ("https://internal.host.invalid/other?$skiptoken=2", False),
    ]:
        def answer(handler, path):
            if "skiptoken" in path:
                return handler.reply(page([{"ID": 2, "Name": "two"}]))
            if path.startswith("/svc/Items") and "$count" not in path:
                return handler.reply(page([{"ID": 1, "Name": "one"}], nextLink=link), Set_Cookie="sess=COOKIESECRET; Path=/")
        secure = Service(answer, certificate=both)
        url = secure.url.replace("127.0.0.1", "localhost")
        name = f"clone{len(plain.requests)}-{abs(hash(link))}"
        code, text = home.run("clone", url, name, "--trust", cert)
        if plain.requests:
            problems.append(f"{link} was followed: {plain.requests}")
            plain.requests.clear()
        if may_work and code != 0:
            problems.append(f"{link} was not asked at the service's own address: {text}")
        if not may_work and (code == 0 or "link" not in text.lower()):
            problems.append(f"{link}: {code} {text}")
        secure.close()
    plain.close()
finish(problems)
