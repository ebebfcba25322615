#!/usr/bin/env python3
"""Credentials over plain http to another machine."""
import os
import sys
from os.path import dirname, join

sys.path.insert(0, join(dirname(__file__), "support"))
from hostile import *

problems = []
with Home() as home:
    with open(home.path + "/secret", "w") as file:
        file.write("s3cret")
    os.chmod(home.path + "/secret", 0o600)
    for options in [
        ["--user", "ada", "--password-file", "secret"], ["--token-file", "secret"], ["--header", "X-Api-Key: s3cret"],
    ]:
        # An address that answers nobody: the refusal must come before anything is sent to it.
        code, text = home.run("clone", "http://192.0.2.1/svc/", "d", *options, timeout=30)
        if code == 0 or "--allow-plain-http" not in text:
            problems.append(f"{options}: {code} {text}")
        service = Service()
        code, text = home.run("clone", service.url, "d" + options[0], *options)
        if code != 0:
            problems.append(f"on this machine, {options}: {text}")
        service.close()
finish(problems)
