"""The rows of a V2 service into a table, with pyodata and sqlite3: download.py ROOT DATABASE ROWS."""

import sqlite3
import sys
import time

import pyodata
import requests

PROPERTIES = (
    "ID Customer Employee Placed Required Freight ShipName ShipAddress ShipCity ShipCountry Paid Weight"
).split()
PAGE = 1000


def main(root: str, path: str, rows: int) -> None:
    start, began = time.process_time(), time.monotonic()
    client = pyodata.Client(root, requests.Session())
    orders = client.entity_sets.Orders
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE TABLE Orders({', '.join(PROPERTIES)}, PRIMARY KEY (ID))")
        insert = f"INSERT INTO Orders VALUES ({', '.join('?' * len(PROPERTIES))})"
        for skip in range(0, rows, PAGE):
            page = orders.get_entities().skip(skip).top(PAGE).execute()
            values = [[getattr(order, name) for name in PROPERTIES] for order in page]
            database.executemany(
                insert, [[value if isinstance(value, (int, float, str, bytes)) else str(value) for value in row] for row in values])
            database.commit()
        count = database.execute("SELECT count(*) FROM Orders").fetchone()[0]
    if count != rows:
        sys.exit(f"{count} rows")
    print(
        f"{rows} rows with pyodata and sqlite3: {rows / (time.process_time() - start):.0f} rows/s of processor, "
        f"{rows / (time.monotonic() - began):.0f} by the clock")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
