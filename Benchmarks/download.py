"""The rows of a V2 service into a table, with pyodata and sqlite3: download.py ROOT DATABASE ROWS.

Prints the seconds that it took, of the processor and by the clock.
"""

import sqlite3
import sys
import time

import pyodata
import requests

PROPERTIES = (
    "ID Customer Employee Placed Required Freight ShipName ShipAddress ShipCity ShipCountry Paid Weight"
).split()


def main(root: str, path: str, rows: int) -> None:
    client = pyodata.Client(root, requests.Session())
    with sqlite3.connect(path) as database:
        # As fast as SQLite writes what survives the end of the process.
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        columns = ["ID INTEGER PRIMARY KEY", *PROPERTIES[1:]]
        database.execute(f"CREATE TABLE Orders({', '.join(columns)})")
        start, began = time.process_time(), time.monotonic()
        insert = f"INSERT INTO Orders VALUES ({', '.join('?' * len(PROPERTIES))})"
        page = client.entity_sets.Orders.get_entities().execute()
        while True:
            values = [[getattr(order, name) for name in PROPERTIES] for order in page]
            database.executemany(
                insert, [[value if isinstance(value, (int, float, str, bytes)) else str(value) for value in row] for row in values])
            database.commit()
            if not page.next_url:
                break
            page = client.entity_sets.Orders.get_entities().next_url(page.next_url).execute()
        count = database.execute("SELECT count(*) FROM Orders").fetchone()[0]
    if count != rows:
        sys.exit(f"{count} rows")
    print(time.process_time() - start, time.monotonic() - began)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
