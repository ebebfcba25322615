#!/usr/bin/env python3
"""M1: snapshots must not fill the disk, and must not stay behind when the server is killed."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "support"))
from serving import Serving, check

MODEL = """<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="M" xmlns="http://docs.oasis-open.org/odata/ns/edm"><EntityType Name="Item"><Key><PropertyRef
Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Name" Type="Edm.String"/>
</EntityType><EntityContainer Name="C"><EntitySet Name="Items" EntityType="M.Item"/></EntityContainer></Schema>
</edmx:DataServices></edmx:Edmx>"""


def size(folder):
    return sum(
        os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names)


def files(folder):
    return [name for _, _, names in os.walk(folder) for name in names if "snapshot" in name]


import tempfile

with tempfile.TemporaryDirectory() as folder:
    model, rows = os.path.join(folder, "m.xml"), os.path.join(folder, "rows.json")
    with open(model, "w") as file:
        file.write(MODEL)
    with open(rows, "w") as file:
        json.dump({"Items": [{"ID": i, "Name": "x" * 1000} for i in range(10000)]}, file)
    with Serving(None, "--rows", rows, path=model) as server:
        for _ in range(20):
            body, _ = server.curl(
                "Items", "-H", "OData-Isolation: snapshot", "-H", "Prefer: maxpagesize=1", "-w", "|%{http_code}")
            check(body.endswith(b"|200"), f"no snapshot: {body[:300]}")
        kept = size(server.temporary)
        check(kept < 150 << 20, f"{kept >> 20} MB lie in the temporary folder")
        check(files(server.temporary), "there is no snapshot to look for")
        server.process.kill()
        server.process.wait()
        check(files(server.temporary), "there is no snapshot to remove")
        server.start()
        check(not files(server.temporary), f"the snapshots of a killed server stay: {files(server.temporary)}")
