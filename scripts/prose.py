#!/usr/bin/env python3
"""Measures how plainly the package is written, and compares the counts with scripts/prose.json.

    scripts/prose.py [--update] [--show GROUP] [--verbose]

A free clause begins with "what", "who", "whom", "whose" or "where": "what is sent" instead of "the request". Plain prose has
one or two of them in 1,000 words. The script counts them in
  comments  the comments of each target,
  tests     the names of tests and suites of each test target,
  pages     the Markdown of each folder,
  help      abstracts, discussions and help of commands and options,
  errors    the texts of errors, and the catalogues of messages.
It also counts comment lines of more than 120 columns ("lines"), sentences of more than 25 words in help and errors
("sentences"), and names that two tests or two suites of a target have ("doubles").

A group that the file of limits does not name may have 2 free clauses in 1,000 words, and none of the rest. The limits in
the file are for groups that do not reach this yet. They only go down: a limit above the one of the last commit fails.
With --update, the file gets the counts found, if these are lower. With --show, the places of one group are printed.
"""

import bisect
import collections
import json
import math
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = "scripts/prose.json"
GOAL = {"comments": 2.0, "tests": 2.0, "pages": 2.0, "help": 2.0, "errors": 2.0, "lines": 0, "sentences": 0, "doubles": 0}
RATES = ("comments", "tests", "pages", "help", "errors")
COLUMNS, WORDS = 120, 25

FREE = re.compile(r"\b(?:what|who|whom|whose|whoever|whatever)\b|(?:^|[,;:(] ?|\. )where\b", re.I)
WORD = re.compile(r"[^\W\d_][\w'’-]*")
INTERPOLATION = r'\\#*\((?:[^()"\n]|"(?:[^"\\\n]|\\.)*"|\((?:[^()"\n]|"(?:[^"\\\n]|\\.)*"|\([^()\n]*\))*\))*\)'
TOKEN = re.compile(
    r"[^\"/#]+|(?P<comment>//[^\n]*)|(?P<block>/\*.*?\*/)"
    r'|(?P<raw>(#+)"""\n.*?"""\4|(#+)"[^\n]*?"\5)'
    r'|(?P<long>"""\n(?:[^\\"]|' + INTERPOLATION + r'|\\.|"(?!""))*""")'
    r'|(?P<text>"(?:[^"\\\n]|' + INTERPOLATION + r'|\\.)*")', re.S)
PLACE = re.compile(INTERPOLATION)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-ZÄÖÜ“\"'$-])|\n\s*\n|\n\s*[-*] |```")
EXAMPLE = re.compile(r"\bEXAMPLES?\n.*?(?=\n\s*\n|\Z)", re.S)
NAMES = re.compile(r"[a-z\s-]+")
NAMED = re.compile(r"@(Test|Suite)\(")
FUNCTION = re.compile(r"\bfunc `([^`]+)`")
HELP = re.compile(
    r"\b(?:abstract|discussion|help|usage)\s*:(?:\s*translated\(\s*(?:paragraphs:)?|\s*\.text\()?|\bArgumentHelp\(")
ERROR = re.compile(
    r"\b(?:struct|enum|class|extension)\s+[\w.]+\s*:[^{\n]*\b(?:Error|CodedError|LocalizedError)\b[^{\n]*\{"
    r"|\bextension\s+[\w.]*(?:Error|Failure|Refusal)\b[^{\n]*\{")
THROWN = re.compile(r"\bthrow\s+[\w.]+\(|\b(?:ODataError|Refusal|Failure|ValidationError)(?:\.\w+)?\(")
OPENING, CLOSING = "([{", ")]}"


class Source:
    """A file: its comments and strings, and the code with these blanked out."""

    def __init__(self, path, text, pieces):
        self.path, self.text = path, text
        self.comments, self.strings = [], []
        code, last = [], 0
        for match in pieces:
            if match.lastgroup is None:  # code
                continue
            start, end = match.span()
            code += [text[last:start], " " * (end - start)]
            last = end
            if match.lastgroup == "comment":
                self.comments.append((start, match.group().lstrip("/")))
            elif match.lastgroup != "block":
                self.strings.append((start, content(match.group())))
        code.append(text[last:])
        self.code = "".join(code)
        self.starts = [start for start, _ in self.strings]

    def line(self, position):
        return self.text.count("\n", 0, position) + 1

    def end(self, opening):
        """The position behind the bracket that closes the one at a position."""
        depth = 0
        for match in re.compile(r"[][(){}]").finditer(self.code, opening):
            depth += 1 if match.group() in OPENING else -1
            if depth == 0:
                return match.end()
        return len(self.code)

    def strings_in(self, start, end):
        return self.strings[bisect.bisect_left(self.starts, start):bisect.bisect_left(self.starts, end)]


def content(literal):
    """The text of a string literal, a placeholder for each interpolation."""
    text = PLACE.sub("X", literal.strip("#"))
    if text.startswith('"""'):
        return re.sub(r"\\\n\s*", "", text[3:-3])
    return text[1:-1].replace('\\"', "“").replace("\\n", "\n")


def expression(source, start):
    """The string literals of the expression at a position, joined if there is a `+` between them."""
    found = []
    at = start
    while True:
        index = bisect.bisect_left(source.starts, at)
        if index == len(source.starts) or source.code[at:source.starts[index]].strip() not in ("", "+"):
            return found
        if found and "+" not in source.code[at:source.starts[index]]:
            return found
        found.append(source.strings[index])
        begin = source.starts[index]
        token = TOKEN.match(source.text, begin)
        at = token.end() if token else begin + 1


def joined(found):
    return [(found[0][0], "".join(text for _, text in found))] if found else []


def folder(path):
    parts = path.split("/")
    depth = 3 if parts[0] == "Sources" else 2
    return "/".join(parts[:min(depth, len(parts) - 1)]) or path


class Counts:
    def __init__(self):
        self.free = collections.Counter()
        self.words = collections.Counter()
        self.plain = collections.Counter()
        self.places = collections.defaultdict(list)
        self.seen = set()

    def prose(self, group, source, start, text):
        self.words[group] += len(WORD.findall(text))
        free = len(FREE.findall(text))
        if free:
            self.free[group] += free
            self.place(group, source, start, text)

    def one(self, group, source, start, text):
        self.plain[group] += 1
        self.place(group, source, start, text)

    def place(self, group, source, start, text):
        self.places[group].append(f"{source.path}:{source.line(start)}: {' '.join(text.split())}")

    def sentences(self, group, source, start, text):
        for sentence in SENTENCE.split(EXAMPLE.sub("", text)):
            if len(WORD.findall(sentence)) > WORDS and not NAMES.fullmatch(sentence):
                self.one(group, source, start, sentence)

    def values(self):
        found = {group: rounded(1000 * free / self.words[group]) for group, free in self.free.items()}
        return {**found, **self.plain}


def rounded(rate):
    return math.ceil(rate * 100) / 100


def swift(source, counts):
    place = folder(source.path)
    for start, text in source.comments:
        counts.prose(f"comments {place}", source, start, text)
        begin = source.text.rfind("\n", 0, start) + 1
        if start + 2 + len(text) - begin > COLUMNS and not source.text[begin:start].strip() and long(source, begin):
            counts.one(f"lines {place}", source, start, text)
    if source.path.startswith("Tests/"):
        names(source, place, counts)
    if source.path.startswith("Sources/"):
        if "ArgumentParser" in source.text:
            for match in HELP.finditer(source.code):
                for start, text in joined(expression(source, match.end())):
                    counts.prose(f"help {place}", source, start, text)
                    counts.sentences(f"sentences help {place}", source, start, text)
        errors(source, place, counts)


def long(source, begin):
    """Whether a line is too long for another reason than an address."""
    line = source.text[begin:source.text.find("\n", begin)]
    return len(line) > COLUMNS and not ("://" in line and line.count(" ") < 12)


def names(source, place, counts):
    if "Testing" not in source.code:
        return
    for match in FUNCTION.finditer(source.code):
        counts.prose(f"tests {place}", source, match.start(), match.group(1))
    for match in NAMED.finditer(source.code):
        for start, text in joined(expression(source, match.end())):
            counts.prose(f"tests {place}", source, start, text)
            key = (place, match.group(1), text)
            if key in counts.seen:
                counts.one(f"doubles {place}", source, start, text)
            counts.seen.add(key)


def errors(source, place, counts):
    if "ErrorMessages+" in source.path:
        ranges = [(0, len(source.text))]
    else:
        ranges = [(match.start(), source.end(match.end() - 1))
                  for pattern in (ERROR, THROWN) for match in pattern.finditer(source.code)]
    seen = set()
    for begin, end in ranges:
        for start, _ in source.strings_in(begin, end):
            if start in seen:
                continue
            found = expression(source, start)
            seen.update(position for position, _ in found)
            text = "".join(text for _, text in found)
            if text.count(" ") >= 2:
                counts.prose(f"errors {place}", source, start, text)
                counts.sentences(f"sentences errors {place}", source, start, text)


def page(source, counts):
    start, fenced = 0, False
    for line in source.text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            counts.prose(f"pages {folder(source.path)}", source, start, re.sub(r"`[^`]*`", "X", line))
        start += len(line) + 1


def measured():
    counts = Counts()
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.swift", "*.md"], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
    for path in sorted(listing.splitlines()):
        full = os.path.join(ROOT, path)
        if "/Fixtures/" in path or "/Golden/" in path or not os.path.exists(full):
            continue
        with open(full, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if path.endswith(".md"):
            page(Source(path, text, pieces=()), counts)
        else:
            swift(Source(path, text, TOKEN.finditer(text)), counts)
    return counts


def goal(group):
    return GOAL[group.split(" ")[0]]


def committed(revision):
    """The limits at a revision; `None` if git cannot tell."""
    shown = subprocess.run(["git", "show", f"{revision}:{LIMITS}"], cwd=ROOT, capture_output=True, text=True)
    return json.loads(shown.stdout) if shown.returncode == 0 else None


def raised(limits):
    """The groups whose limit is above an earlier one."""
    for revision in ("HEAD", "HEAD~"):
        before = committed(revision)
        if before is not None:
            yield from (f"{group}: the limit {limit} is above {before.get(group, goal(group))} of {revision}"
                        for group, limit in limits.items() if limit > before.get(group, goal(group)))


def allowed(group, limit, counts):
    """Whether a group keeps its limit. One free clause is allowed in a group of few words."""
    if group.split(" ")[0] in RATES:
        return counts.free[group] <= max(1, math.floor(limit * counts.words[group] / 1000 + 1e-6))
    return counts.plain[group] <= limit


def main():
    arguments = sys.argv[1:]
    counts = measured()
    if "--show" in arguments:
        wanted = arguments[arguments.index("--show") + 1]
        for group in sorted(counts.places):
            if group.startswith(wanted):
                print(*counts.places[group], sep="\n")
        return 0
    with open(os.path.join(ROOT, LIMITS), encoding="utf-8") as file:
        limits = json.load(file)
    values = counts.values()
    lower = {}
    missed = 0
    for group in sorted(set(values) | set(limits)):
        limit, value = limits.get(group, goal(group)), values.get(group, 0)
        if "--verbose" in arguments:
            print(f"{group}: {value} (limit {limit})")
        if not allowed(group, limit, counts):
            missed += 1
            print(f"{group}: {value} is above the limit {limit}; see scripts/prose.py --show '{group}'")
        if group in limits and value < limit:
            lower[group] = max(value, goal(group))
    for message in raised(limits):
        missed += 1
        print(message)
    if "--update" in arguments:
        kept = {group: lower.get(group, limit) for group, limit in limits.items()}
        kept = {group: limit for group, limit in sorted(kept.items())
                if limit > goal(group) and not allowed(group, goal(group), counts)}
        with open(os.path.join(ROOT, LIMITS), "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=2)
            file.write("\n")
    elif lower:
        print(f"{len(lower)} groups are below their limits: lower them with scripts/prose.py --update "
              f"({', '.join(sorted(lower)[:3])}{', …' if len(lower) > 3 else ''}).")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
