#!/usr/bin/env python3
"""Writes the examples in the documentation of public types into one Swift file, for the compiler to check.

    scripts/doc-examples.py OUTPUT.swift    # the file; fails if a type of Consumers/Everything/examples.txt has none
    scripts/doc-examples.py --check         # the same without the file
    scripts/doc-examples.py --all           # every public type that OutpostKit exports, and the number of its examples

An example is a block ```swift in the documentation comment of a type or of its members, or on a page. Each one becomes the body of a function.
Names that an example does not declare, such as `store`, `client` and `order`, come from Consumers/Everything/Sources/Examples/Setup.swift,
and the typed proxies from Consumers/Everything/northwind.xml. `…` stands for code that is left out. A line `import X`, and an example
that begins with `extension`, stand at the top of the file.
"""

import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(ROOT, "Consumers", "Everything", "examples.txt")
KIT = os.path.join(ROOT, "Sources", "Kit", "OutpostKit")

DECLARATION = re.compile(
    r"( *)(?:@\w+(?:\([^)]*\))? )*(public )?(?:(?:final|indirect|nonisolated) )*"
    r"(struct|class|enum|actor|protocol|typealias|extension) `?([\w.]+)")


class Example:
    """The code of a block, and the place of its first line."""

    def __init__(self, path, line, code):
        self.path, self.line, self.code = path, line, code


def exported_folders():
    """The folders of the modules that OutpostKit exports."""
    source = "".join(open(os.path.join(KIT, name), encoding="utf-8").read() for name in os.listdir(KIT) if name.endswith(".swift"))
    groups = [os.path.join(ROOT, "Sources", group) for group in os.listdir(os.path.join(ROOT, "Sources"))]
    for module in re.findall(r"@_exported import (\w+)", source):
        yield next(os.path.join(group, module) for group in groups if os.path.isdir(os.path.join(group, module)))


def swift_files(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.endswith(".docc"))
        yield from (os.path.join(place, name) for name in sorted(names) if name.endswith(".swift"))


def examples(path, comment):
    """The examples of a documentation comment: pairs of line number and line."""
    found, block = [], None
    for number, line in comment:
        text = re.sub(r"^ *///? ?", "", line)
        if block is None and text == "```swift":
            block = Example(os.path.relpath(path, ROOT), number + 1, [])
        elif block is not None and text.startswith("```"):
            found.append(block)
            block = None
        elif block is not None:
            block.code.append(text)
    return found


def page_examples(path):
    """The Swift blocks of a page."""
    found, block = [], None
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if block is None and line == "```swift":
                block = Example(path, number + 1, [])
            elif block is not None and line.startswith("```"):
                found.append(block)
                block = None
            elif block is not None:
                block.code.append(line)
    return found


def documented(path):
    """The public declarations of a file that have documentation: the name of the type, whether it is the declaration of the type
    itself or of a member, and the examples. The name of a type contains those of the types around it."""
    around, comment = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            if re.match(r" *///", line):
                comment.append((number, line))
                continue
            match = DECLARATION.match(line)
            if match:
                indentation, is_public, kind, name = len(match[1]), match[2], match[3], match[4]
                around = [entry for entry in around if entry[0] < indentation]
                if is_public and kind != "extension":
                    yield ".".join([entry[1] for entry in around] + [name]), True, examples(path, comment)
                if kind != "typealias":
                    around.append((indentation, name))
            elif comment and re.match(r" +(public|case) ", line):
                yield ".".join(entry[1] for entry in around), False, examples(path, comment)
            if re.fullmatch(r" *}", line):
                around = [entry for entry in around if entry[0] < len(line) - 1]
            if not re.match(r" *(@|#if)", line):
                comment = []


def written(found):
    """The Swift file with the examples."""
    imports, top, functions = {"Foundation", "OutpostKit"}, [], []
    for name, blocks in found:
        for number, block in enumerate(blocks):
            code = []
            for line in block.code:
                match = re.fullmatch(r"import (\w+)", line)
                if match:
                    imports.add(match[1])
                    line = ""
                head, comment, tail = line.partition("//")
                code.append(re.sub("…", "fatalError()", head) + comment + tail)
            place = f'#sourceLocation(file: "{block.path}", line: {block.line})'
            body = [place] + code + ["#sourceLocation()"]
            if next((line for line in code if line), "").startswith("extension "):
                top += body + [""]
            else:
                title = re.sub(r"\W", "_", name) + (f"_{number + 1}" if number else "")
                bound = re.findall(r"^(?:let|var) (\w+|\([\w, ]+\))", "\n".join(code), re.MULTILINE)
                unused = [name for names in bound for name in re.findall(r"\w+", names)]
                functions += [f"func example_{title}() async throws {{"] + body + [f"_ = {name}" for name in unused] + ["}", ""]
    head = ["// swift-format-ignore-file"] + [f"import {module}" for module in sorted(imports)]
    return "\n".join(head + [""] + top + functions)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    types, members = {}, {}
    for folder in exported_folders():
        for path in swift_files(folder):
            for name, is_type, blocks in documented(path):
                (types if is_type else members).setdefault(name, []).extend(blocks)
    if sys.argv[1] == "--all":
        for name in sorted(types):
            print(f"{len(types[name])} {name}")
        return
    with open(LIST, encoding="utf-8") as file:
        entries = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    pages = [entry for entry in entries if "/" in entry]
    wanted = [entry for entry in entries if "/" not in entry]
    faults = [f"{name}: there is no such public type" for name in wanted if name not in types]
    faults += [f"{name}: its documentation has no example" for name in wanted if name in types and not types[name]]
    if faults:
        sys.exit("\n".join(faults) + "\nSee Consumers/Everything/examples.txt.")
    found = [(name, types[name] + members.get(name, [])) for name in wanted]
    found += [(os.path.basename(page), page_examples(page)) for page in pages]
    if sys.argv[1] != "--check":
        with open(sys.argv[1], "w", encoding="utf-8") as file:
            file.write(written(found))
    print(f"{sum(len(blocks) for _, blocks in found)} examples of {len(wanted)} types and {len(pages)} pages")


if __name__ == "__main__":
    main()
