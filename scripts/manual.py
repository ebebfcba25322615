#!/usr/bin/env python3
"""Writes the manual pages of the tool from its own help: scripts/manual.py TOOL FOLDER

One page for the tool and one for each command, in section 1: outpost.1, outpost-clone.1, outpost-keys-new.1. The help comes
from `TOOL --experimental-dump-help`, which ArgumentParser answers. The date is that of SOURCE_DATE_EPOCH, so that the same
tool has the same pages. Needs no network.
"""

import datetime
import json
import os
import re
import subprocess
import sys


def escaped(text):
    """A text as roff prints it: no character means anything."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def flagged(argument):
    """The names of an option, with its value."""
    names = []
    for name in sorted(argument.get("names", []), key=lambda name: name["kind"] == "long"):
        names.append(("--" if name["kind"] == "long" else "-") + name["name"])
    value = f" <{argument.get('valueName', 'value')}>" if argument["kind"] == "option" else ""
    return ", ".join(names) + value


def synopsis(command, path):
    words = ["\\fB" + escaped(" ".join(path)) + "\\fR"]
    shown = [argument for argument in command.get("arguments", []) if argument.get("shouldDisplay", True)]
    for argument in shown:
        if argument["kind"] == "positional":
            text = f"<{argument.get('valueName', 'value')}>"
        else:
            preferred = argument["preferredName"]
            text = ("--" if preferred["kind"] == "long" else "-") + preferred["name"]
            if argument["kind"] == "option":
                text += f" <{argument.get('valueName', 'value')}>"
        if argument.get("isRepeating"):
            text += " ..."
        words.append(escaped(f"[{text}]" if argument.get("isOptional") else text))
    if command.get("subcommands"):
        words.append("<command>")
    return " ".join(words)


def paragraphs(text):
    """A help text: indented lines and lines after a heading stay as they are."""
    result = []
    for part in re.split(r"\n\s*\n", text.strip("\n")):
        lines = part.split("\n")
        if lines[0].isupper():
            result += [".SH " + escaped(lines[0]), ".nf", *(escaped(line) for line in lines[1:]), ".fi"]
        elif any(line.startswith(" ") for line in lines):
            result += [".PP", ".nf", *(escaped(line) for line in lines), ".fi"]
        else:
            result += [".PP", *(escaped(line) for line in lines)]
    return result


def page(command, path, version, date):
    name = "-".join(path)
    lines = [
        f'.TH "{escaped(name).upper()}" "1" "{date}" "Outpost {version}" "Outpost"',
        ".SH NAME",
        f"{escaped(name)} \\- {escaped(command.get('abstract', '').rstrip('.'))}",
        ".SH SYNOPSIS",
        synopsis(command, path),
        ".SH DESCRIPTION",
    ]
    lines += paragraphs(command.get("discussion") or command.get("abstract", ""))
    options = []
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True):
            continue
        text = argument.get("abstract", "")
        if argument.get("defaultValue"):
            text += f" Default: {argument['defaultValue']}."
        label = f"<{argument.get('valueName', 'value')}>" if argument["kind"] == "positional" else flagged(argument)
        options += [".TP", "\\fB" + escaped(label) + "\\fR", escaped(text) or "\\&"]
    if options:
        lines += [".SH OPTIONS", *options]
    if command.get("subcommands"):
        lines.append(".SH COMMANDS")
        for below in command["subcommands"]:
            if below["commandName"] != "help" and below.get("shouldDisplay", True):
                lines += [".TP", f"\\fB{escaped('-'.join(path + [below['commandName']]))}\\fR(1)",
                          escaped(below.get("abstract", ""))]
    above = ["-".join(path[:count]) for count in range(1, len(path))]
    if above:
        lines += [".SH SEE ALSO", ", ".join(f"\\fB{escaped(other)}\\fR(1)" for other in above)]
    return name, "\n".join(lines) + "\n"


def pages(command, path, version, date):
    yield page(command, path, version, date)
    for below in command.get("subcommands", []):
        if below["commandName"] != "help" and below.get("shouldDisplay", True):
            yield from pages(below, path + [below["commandName"]], version, date)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tool, folder = sys.argv[1:]
    version = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    help_text = subprocess.run([tool, "--experimental-dump-help"], stdout=subprocess.PIPE, text=True, check=True).stdout
    moment = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    root = json.loads(help_text)["command"]
    os.makedirs(folder, exist_ok=True)
    for name, text in pages(root, [root["commandName"]], version, moment.date().isoformat()):
        with open(os.path.join(folder, name + ".1"), "w", encoding="utf-8") as file:
            file.write(text)


main()
