"""What a client made with pyodata does: reads the metadata, queries, creates, changes and deletes.

Usage: pyodata_client.py URL_OF_A_V2_SERVICE
"""
import sys

import pyodata
import requests

service = pyodata.Client(sys.argv[1], requests.Session())


def check(found, expected, what):
    if found != expected:
        sys.exit(f"{what}: found {found!r}, expected {expected!r}")


# The metadata.
check(sorted(s.name for s in service.schema.entity_sets), ["Categories", "Products"], "entity sets")
product_type = service.schema.entity_type("Product")
check([p.name for p in product_type.key_proprties], ["ID"], "key")
check(product_type.proprty("Name").max_length, 40, "facet")

# Queries.
products = service.entity_sets.Products
names = [p.Name for p in products.get_entities().filter("Price gt 2").order_by("Name").execute()]
check(names, ["Lamp", "Pen"], "filter and order")
check(products.get_entities().count().execute(), 3, "count")
page = products.get_entities().order_by("ID").skip(1).top(1).select("ID,Name").execute()
check([p.Name for p in page], ["Ink"], "page")
inline = products.get_entities().count(inline=True).top(1).execute()
check((inline.total_count, len(inline)), (3, 1), "inline count")
check(products.get_entity(1).execute().Name, "Pen", "entity by key")
lamp = products.get_entity(3).expand("Category").execute()
check(lamp.Category.Name, "Light", "expanded entity")
check([p.Name for p in service.entity_sets.Categories.get_entity(1).nav("Products").get_entities().order_by("ID").execute()],
      ["Pen", "Ink"], "navigation")

# Changes.
made = products.create_entity().set(ID=4, Name="Chalk", Price="0.75", CategoryID=1).execute()
check((made.ID, made.Name), (4, "Chalk"), "created entity")
products.update_entity(4).set(Name="White chalk").execute()
check(products.get_entity(4).execute().Name, "White chalk", "updated entity")
products.update_entity(4, method="PUT").set(ID=4, Name="Red chalk", Price="0.85", CategoryID=1).execute()
check(products.get_entity(4).execute().Name, "Red chalk", "replaced entity")
products.delete_entity(4).execute()
try:
    products.get_entity(4).execute()
    sys.exit("a deleted entity was found")
except pyodata.exceptions.HttpError as error:
    check(error.response.status_code, 404, "status of a deleted entity")

# A batch.
batch = service.create_batch()
batch.add_request(products.get_entity(1))
batch.add_request(products.get_entity(2))
check([answer.Name for answer in batch.execute()], ["Pen", "Ink"], "batch")
changes = service.create_changeset()
changes.add_request(products.update_entity(1).set(Price="9.99"))
batch = service.create_batch()
batch.add_request(changes)
batch.execute()
check(str(products.get_entity(1).execute().Price), "9.99", "change set")
print("ok")
