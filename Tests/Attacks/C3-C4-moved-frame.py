#!/usr/bin/env python3
"""C3 and C4: a page of an older log is put in the place of another page in the log of a store.

No key is used. While a process serves the store, the rows of one table must not be shown as those of another. After that
process was killed, 'verify' must not call the store whole, and the commits that recovery cannot use must be kept.
"""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request

OUTPOST = os.environ["OUTPOST"]
FRAME = 24 + 4096


def run(*arguments):
    return subprocess.run([OUTPOST, *arguments], capture_output=True, text=True, timeout=60)


class Service:
    def __init__(self, *arguments):
        # Port 0: the system chooses, and the tool prints the address.
        self.process = subprocess.Popen(
            [OUTPOST, "serve", *arguments, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.root = None
        while self.root is None:
            line = self.process.stdout.readline()
            assert line, "the service did not start"
            found = re.search(r"http://[^\s'?]+", line)
            self.root = found and found.group(0)
        self.root = self.root.rstrip("/") + "/"

    def rows(self, name):
        try:
            with urllib.request.urlopen(self.root + name + "?$orderby=ID") as response:
                return [row["Name"] for row in json.load(response)["value"]]
        except urllib.error.HTTPError as error:
            return error.code

    def patch(self, path, name):
        request = urllib.request.Request(
            self.root + path, method="PATCH", data=json.dumps({"Name": name}).encode(),
            headers={"Content-Type": "application/json"})
        urllib.request.urlopen(request).close()

    def end(self, signal_number=signal.SIGTERM):
        self.process.send_signal(signal_number)
        self.process.wait(timeout=20)


def log(store):
    with open(store + "/store.db-wal", "rb") as file:
        return file.read()


def pages(content):
    return [int.from_bytes(content[at : at + 4], "big") for at in range(32, len(content) - FRAME + 1, FRAME)]


def put(path, offset, content):
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(content)


def main():
    database = sqlite3.connect("two.db")
    database.executescript(
        """create table Admins(ID integer primary key, Name text); create table Guests(ID integer primary key, Name text);
        insert into Admins values (1, 'root'), (2, 'ops'); insert into Guests values (1, 'visitor'), (2, 'mallory');"""
    )
    database.close()
    with open("key", "w") as file:
        file.write("0123456789abcdef" * 4)
    os.chmod("key", 0o600)
    upstream = Service("two.db")
    made = run("clone", upstream.root, "two", "--key-file", "key")
    assert made.returncode == 0, made.stderr
    upstream.end()
    options = ["two", "--key-file", "key"] + (["--open"] if "--open" in run("serve", "--help").stdout else [])

    service = Service(*options)
    for number in range(12):
        service.patch("Guests(1)", f"visitor{number}")
    older = log("two")
    service.end()

    service = Service(*options)
    target = None
    for number in range(12):
        service.patch("Admins(1)", f"root{number}")
        live = log("two")
        before, now = pages(older), pages(live)
        last = len(now) - 1
        # The last frame of some page, where the older log had another one.
        for frame in range(min(len(before), len(now)) - 1, -1, -1):
            if before[frame] != now[frame] and frame not in (0, last) and now[frame] not in now[frame + 1 :]:
                target = frame
                break
        if target is not None and number >= 4:
            break
    assert target is not None, "no frame to exchange"
    expected = {name: service.rows(name) for name in ("Admins", "Guests")}
    offset = 32 + target * FRAME + 24
    put("two/store.db-wal", offset, older[offset : offset + 4096])
    failures = []
    for name in ("Admins", "Guests"):
        found = service.rows(name)
        if found != expected[name] and not isinstance(found, int):
            failures.append(f"{name} shows {found} in the place of {expected[name]}")
    queried = run("query", "two", "Admins", "--key-file", "key")
    if "visitor" in queried.stdout:
        failures.append("another process shows guests as admins")
    if run("verify", "two", "--key-file", "key").returncode == 0:
        failures.append("'verify' calls the store whole while it is open")
    service.end(signal.SIGKILL)
    shutil.copytree("two", "killed")
    for name in ("store.db-shm", "sync.lock"):
        if os.path.exists("killed/" + name):
            os.remove("killed/" + name)
    if run("verify", "killed", "--key-file", "key").returncode == 0:
        failures.append("'verify' calls a log whole of which recovery throws the end away")
    run("query", "killed", "Admins", "--key-file", "key")
    if not any(name.startswith("store.db-wal-lost-") for name in os.listdir("killed")):
        failures.append("no copy of the log was kept")
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    os.environ["HOME"] = folder
    os.environ["XDG_DATA_HOME"] = folder + "/data"
    main()
