"""A served database for the scripts beside this folder: private folders, a port of the system's choice, and its end."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time


class Serving:
    def __init__(self, fill, *arguments, path=None):
        """Serves the database that `fill` makes, or another path, by the tool in OUTPOST."""
        self.folder = tempfile.mkdtemp(prefix="outpost-attack-")
        self.temporary = os.path.join(self.folder, "tmp")
        os.mkdir(self.temporary, 0o700)
        self.path = path or os.path.join(self.folder, "served.db")
        if fill:
            database = sqlite3.connect(self.path)
            fill(database)
            database.commit()
            database.close()
        self.arguments = arguments
        self.start()

    def start(self):
        environment = dict(
            os.environ, HOME=self.folder, XDG_DATA_HOME=os.path.join(self.folder, "data"), TMPDIR=self.temporary)
        self.process = subprocess.Popen(
            [os.environ["OUTPOST"], "serve", self.path, "--port", "0", "--json", *self.arguments],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
        text = b""
        while not text.rstrip().endswith(b"}"):
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the server did not start")
            text += line
        self.url = json.loads(text)["url"]
        self.host, self.port = self.url.split("//")[1].rstrip("/").split(":")

    def peak(self):
        """The most memory that the process had, in bytes."""
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) << 10

    def curl(self, path, *arguments, seconds=60):
        """The output of curl, and its exit code."""
        outcome = subprocess.run(
            ["curl", "-sg", "-m", str(seconds), *arguments, self.url + path], capture_output=True)
        return outcome.stdout, outcome.returncode

    def stop(self, seconds=20):
        """Ends the server by SIGTERM; the time that this took, `None` if it had to be killed."""
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None
        return time.monotonic() - start

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def check(holds, message):
    """Ends the script with a failure unless something holds."""
    if not holds:
        sys.exit(f"FAILED: {message}")


def shop(database):
    """40 customers with 200 orders."""
    database.executescript("""
        CREATE TABLE Customers (CustomerID INTEGER PRIMARY KEY, Name TEXT NOT NULL, City TEXT);
        CREATE TABLE Orders (
            OrderID INTEGER PRIMARY KEY, CustomerID INTEGER REFERENCES Customers, Freight NUMERIC, Placed TEXT);
        CREATE INDEX OrdersOfCustomer ON Orders(CustomerID);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
        INSERT INTO Customers SELECT i, 'Customer number ' || i, 'Bergen' FROM n;
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
        INSERT INTO Orders SELECT i, 1 + i % 40, i * 1.5, '2026-01-02' FROM n;
        """)
