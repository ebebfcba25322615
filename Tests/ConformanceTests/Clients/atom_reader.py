"""What a spreadsheet does with a service that speaks Atom: service document, feed, next links until the end.

Knows Atom and the properties of entries (RFC 4287, RFC 5023, OData 2.0), and nothing of OData's JSON.

Usage: atom_reader.py URL_OF_A_V2_SERVICE SET
Prints a line of column names, then a line for each row, separated by tabs.
"""
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

APP = "{http://www.w3.org/2007/app}"
ATOM = "{http://www.w3.org/2005/Atom}"
DATA = "{http://schemas.microsoft.com/ado/2007/08/dataservices}"
META = "{http://schemas.microsoft.com/ado/2007/08/dataservices/metadata}"
XML = "{http://www.w3.org/XML/1998/namespace}"


def read(url, accept):
    request = urllib.request.Request(url, headers={"Accept": accept, "MaxDataServiceVersion": "2.0"})
    with urllib.request.urlopen(request) as response:
        return ElementTree.parse(response).getroot(), response.geturl()


service, base = read(sys.argv[1], "application/atomsvc+xml, application/xml")
base = urllib.parse.urljoin(base, service.get(XML + "base", ""))
collections = {c.findtext(ATOM + "title"): c.get("href") for c in service.iter(APP + "collection")}
url = urllib.parse.urljoin(base, collections[sys.argv[2]])

columns = None
pages = 0
while url:
    feed, here = read(url, "application/atom+xml")
    here = urllib.parse.urljoin(here, feed.get(XML + "base", ""))
    pages += 1
    for entry in feed.findall(ATOM + "entry"):
        properties = entry.find(f"{ATOM}content/{META}properties")
        row = {p.tag.removeprefix(DATA): "" if p.get(META + "null") == "true" else p.text or "" for p in properties}
        if columns is None:
            columns = list(row)
            print("\t".join(columns))
        print("\t".join(row.get(name, "") for name in columns))
    following = feed.find(f"{ATOM}link[@rel='next']")
    url = None if following is None else urllib.parse.urljoin(here, following.get("href"))
print(f"{pages} pages", file=sys.stderr)
