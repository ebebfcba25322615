"""From the shell to the first row: `outpost query` on a clone, cold, beside `sqlite3` with the same rows.

    startup.py OUTPOST [ROWS]

Both read fifty rows by the order of the key. Before each run the kernel forgets what it holds of files, where it lets us
(root), else of the two databases alone. The least of seven runs is taken, of a derivation the least of five; the limit is of the
difference.
"""

import hashlib
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

RUNS = 7
LIMIT = 50.0


def forget(*folders: str) -> None:
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as caches:
            caches.write("3")
        return
    except OSError:
        pass
    for folder in folders:
        for name in os.listdir(folder):
            descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def read_ahead(folder: str) -> str:
    """How much the kernel reads where one page of a file is wanted: most of a cold start depends on it."""
    device = os.stat(folder).st_dev
    try:
        with open(f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb", encoding="ascii") as file:
            return f", the kernel reading {int(file.read())} KB ahead"
    except (OSError, ValueError):
        return ""


def first_row(command: list[str], *folders: str, isCold: bool = True) -> float:
    """Milliseconds to the first byte of the answer, the least of seven runs."""
    best = float("inf")
    for _ in range(RUNS):
        if isCold:
            forget(*folders)
        start = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            first = process.stdout.read(1)
            best = min(best, (time.monotonic() - start) * 1000)
            rest = process.stdout.read()
        if process.returncode or (first + rest).count(b"Reims") != 50:
            sys.exit(f"{command[0]} did not answer fifty rows: {(first + rest)[:300]!r}")
    return best


def make(path: str, rows: int) -> None:
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE Orders(ID INTEGER PRIMARY KEY, Customer TEXT, Employee INTEGER, ShipName TEXT, ShipAddress TEXT, "
            "ShipCity TEXT, ShipCountry TEXT, Weight REAL)")
        database.executemany(
            "INSERT INTO Orders VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((n, "VINET", n % 9, "Vins et alcools Chevalier", "59 rue de l'Abbaye", "Reims", "France", n % 50 + 0.5)
             for n in range(rows)))


def clone(outpost: str, source: str, folder: str, key: str) -> None:
    with subprocess.Popen([outpost, "serve", source, "--port", "0", "--json", "--max-requests-per-minute", "0"], stdout=subprocess.PIPE, text=True) as server:
        try:
            url = None
            for line in server.stdout:
                url = re.search(r'"url" : "([^"]+)"', line)
                if url:
                    break
            subprocess.run(
                [outpost, "clone", url[1].replace("\\/", "/"), folder, "--all", "--key-file", key], check=True,
                stdout=subprocess.DEVNULL)
        finally:
            server.terminate()


def derivation_once() -> float:
    """Milliseconds of the processor that Python takes to derive a key as a store does."""
    start = time.process_time()
    hashlib.scrypt(b"correct horse", salt=bytes(16), n=1 << 15, r=8, p=3, maxmem=1 << 28, dklen=32)
    return (time.process_time() - start) * 1000


def verdict(value: float, limit: float) -> str:
    return "holds" if value <= limit else f"missed by {value / limit:.2f} times"


def main() -> None:
    outpost, rows = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        # What the tool keeps for its user, its log among it, is neither read nor written.
        for kind in ("DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{kind}_HOME"] = os.path.join(folder, kind.lower())
        plain = os.path.join(folder, "plain")
        os.mkdir(plain)
        make(os.path.join(plain, "orders.db"), rows)
        raw, phrase = os.path.join(folder, "raw.key"), os.path.join(folder, "phrase.key")
        subprocess.run([outpost, "keys", "new", raw], check=True, stdout=subprocess.DEVNULL)
        os.umask(0o077)
        with open(phrase, "w", encoding="ascii") as file:
            file.write("correct horse battery staple")
        times = {}
        for name, key in (("raw key", raw), ("passphrase", phrase)):
            store = os.path.join(folder, name.replace(" ", "-"))
            clone(outpost, os.path.join(plain, "orders.db"), store, key)
            command = [outpost, "query", store, "Orders?$orderby=ID&$top=50", "--key-file", key, "--json"]
            times[name] = first_row(command, store)
            times[name, "warm"] = first_row(command, store, isCold=False)
        sql = ["sqlite3", "-json", os.path.join(plain, "orders.db"), "SELECT * FROM Orders ORDER BY ID LIMIT 50"]
        times["sqlite3"] = first_row(sql, plain)
        times["sqlite3", "warm"] = first_row(sql, plain, isCold=False)
        derivation = min(derivation_once() for _ in range(5))
        print(f"fifty of {rows} rows, from the shell to the first byte, cold (warm){read_ahead(folder)}:")
        for name in ("raw key", "passphrase", "sqlite3"):
            print(f"  {name:<12} {times[name]:6.0f} ms ({times[name, 'warm']:.0f})")
        beyond = times["raw key"] - times["sqlite3"]
        print(f"cold start with a raw key beyond sqlite3: {beyond:.0f} ms, limit {LIMIT:.0f}: {verdict(beyond, LIMIT)}")
        derivations = (times["passphrase", "warm"] - times["raw key", "warm"]) / derivation
        print(
            f"what a passphrase adds, in derivations of Python's scrypt ({derivation:.0f} ms): {derivations:.2f} times, "
            f"limit 1.5: {verdict(derivations, 1.5)}")


main()
