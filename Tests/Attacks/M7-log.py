#!/usr/bin/env python3
"""M7: values, keys and secrets in the log of the tool and in its export."""
import re
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

WORDS = ["Passwort: ", "Kennwort=", "mot de passe : ", "contraseña=", "pass=", "pw:", "code=", "password is ", "X-Api-Key ",
         "token ", "password:\n"]
message = " ".join(word + f"SECRETM{number}" for number, word in enumerate(WORDS))


def answer(handler, path):
    if handler.command != "GET":
        return handler.reply(json.dumps({"error": {"code": "SECRETCODE", "message": message}}), status=400)
    if "Forbidden" in path:
        return handler.reply(json.dumps({"error": {"code": "x", "message": message}}), status=403)


problems = []
with Home() as home:
    service = Service(answer)
    home.run("clone", service.url, "d")
    home.run("query", "d", "Items?$filter=City eqq 'SECRETVAL1'")
    home.run("query", "d", "Items('SECRETKEY2')")
    home.run("query", "d", "Items?$filter=ID eq 'SECRETVAL3")
    home.run("update", "d", "Items(1)", "ID=SECRETVAL6")
    home.run("update", "d", "Items(1)", "Name=SECRETVAL7")
    home.run("push", "d")
    home.run("clone", service.url + "Forbidden-SECRETPATH/", "e")
    home.run("clone", service.url + "?key=SECRETQUERY", "f")
    home.run("query", "password=SECRETDIR", "Items")
    home.run("vault", "open", "SECRETVAULT")
    home.run("log", "--export", "log.txt")
    home.run("log", "--export", "log.html")
    texts = [home.run("log", "--last", "1000")[1], home.run("log", "--json", "--last", "1000")[1]]
    texts += [open(home.path + "/" + name).read() for name in ["log.txt", "log.html"]]
    for text in texts:
        if found := sorted(set(re.findall(r"SECRET\w+", text))):
            problems.append(str(found))
    if "outpost.push" not in texts[0]:
        problems.append("the log tells nothing")
    service.close()
finish(problems)
