#!/usr/bin/env python3
"""Creates apps with `outpost new` and checks that they compile without warnings and pass their tests.

    scripts/new-app.py [--full] [--corpus] [DOCUMENT …]

Without documents: the metadata of the generator's tests. Each app is compiled with the modules of the finished build and
linked with its objects, which takes seconds; the build must be there (scripts/test.sh --build-only). With --full, each app is
built and tested by SwiftPM, in $SCRATCH/new-app: that takes as long as the first build of any app. With --corpus, the
documents are those of the corpus, if it is there; one without code is named and is no failure, and a failure does not stop
the others.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCRATCH = os.path.join(ROOT, os.environ.get("SCRATCH", ".build"))
MODE = os.environ.get("OUTPOST_CONFIGURATION", "debug")
BUILD = os.path.join(SCRATCH, MODE)
DOCUMENTS = [os.path.join(ROOT, "Tests", "ODataGeneratorTests", "Documents", name) 
             for name in ("harbour.xml", "hostile.xml", "orchard.xml")]

# The outputs of a compiler run, the information for debuggers, and what an app does not see: the name of the package, the trait.
ALONE = {"-emit-dependencies", "-incremental", "-enable-batch-mode", "-serialize-diagnostics", "-parseable-output",
         "-emit-module", "-c", "-emit-objc-header", "-use-frontend-parseable-output", "-parse-as-library",
         "-whole-module-optimization", "-wmo", "-g", "-DServer"}
PAIRED = {"-output-file-map", "-emit-module-path", "-emit-objc-header-path", "-index-store-path", "-module-name",
          "-package-name"}
RUNNER = "import Testing\n@main struct Runner { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }\n"


class Failed(Exception):
    """An app that cannot be created, does not compile or fails its tests."""


def run(command, what, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode:
        raise Failed(f"{what}:\n{done.stdout[-6000:]}")
    return done.stdout


class FinishedBuild:
    """The compiler runs of SwiftPM's last build, and its objects."""

    def __init__(self):
        manifest = os.path.join(SCRATCH, f"{MODE}.yaml")
        if not os.path.exists(manifest):
            sys.exit("new-app.py: there is no finished build: scripts/test.sh --build-only")
        with open(manifest, encoding="utf-8") as file:
            self.commands = file.read()

    def arguments(self, pattern, wanted):
        """The arguments of the first command whose name matches and whose arguments hold a text."""
        for found in re.finditer(rf'"C\.{pattern}[^"]*":', self.commands):
            begin = self.commands.index("args: ", found.start()) + len("args: ")
            line = self.commands[begin:self.commands.index("\n", begin)]
            if wanted in line:
                return json.loads(line)
        sys.exit(f"new-app.py: the build has no command {pattern}")

    def compiler(self):
        """How the tests of the generator are compiled, which see every module that an app uses."""
        result, rest = [], iter(self.arguments("ODataGeneratorTests-", "-module-name"))
        for argument in rest:
            if argument in PAIRED:
                next(rest)
            elif argument == "-Xcc":
                result += [argument, next(rest)]
            elif argument not in ALONE and not argument.startswith(("@", "-j")) and not argument.endswith(".swift"):
                result.append(argument)
        return result + ["-warnings-as-errors"] * ("-warnings-as-errors" not in result)

    def objects(self):
        """The objects of the libraries: neither tests nor their entry point."""
        with open(os.path.join(BUILD, "outpostPackageTests.product", "Objects.LinkFileList"), encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.strip()]
        return [line for line in lines if not re.search(r"/[^/]*Tests\.build/|runner\.swift\.o'?$", line)]

    def linker(self, objects, output):
        """How the tests are linked, with other objects."""
        files = output + ".objects"
        with open(files, "w", encoding="utf-8") as file:
            file.write("\n".join(objects) + "\n")
        result, rest = [], iter(self.arguments("outpostPackageTests-", "Objects.LinkFileList"))
        for argument in rest:
            if "Objects.LinkFileList" in argument:
                result.append("@" + files)
            elif argument == "-o":
                next(rest)
                result += ["-o", output]
            else:
                result.append(argument)
        return result


def create(document, name, folder):
    tool = os.environ.get("OUTPOST_BIN", BUILD) + "/outpost"
    home = os.path.join(os.path.dirname(folder), "home")
    report = run([tool, "new", name, "--metadata", document, "--path", ROOT, "--output", folder, "--json"],
                 "outpost new", env=dict(os.environ, HOME=home, XDG_DATA_HOME=home, XDG_STATE_HOME=home, XDG_CACHE_HOME=home))
    return json.loads(report[report.index("{"):])


def check(build, document, name, scratch):
    folder = os.path.join(scratch, name)
    report = create(document, name, folder)
    library = report["library"]

    def compile_module(module, sources, *flags):
        files = [os.path.join(path, file) for path, _, names in os.walk(os.path.join(folder, sources)) for file in names]
        run(build.compiler() + ["-I", scratch, "-module-name", module, "-whole-module-optimization", *flags, "-c",
                                "-o", f"{scratch}/{module}.o"] + sorted(files), f"{document}: {module} does not compile",
            cwd=ROOT)

    compile_module(library, f"Sources/{library}", "-emit-module", "-emit-module-path", f"{scratch}/{library}.swiftmodule",
                   "-parse-as-library")
    compile_module(name.replace("-", "_"), f"Sources/{name}", "-parse-as-library")
    compile_module(f"{library}Tests", f"Tests/{library}Tests", "-parse-as-library", "-enable-testing")
    runner = os.path.join(scratch, "Runner.swift")
    with open(runner, "w", encoding="utf-8") as file:
        file.write(RUNNER)
    run(build.compiler() + ["-module-name", "Runner", "-parse-as-library", "-c", "-o", f"{scratch}/Runner.o", runner],
        "the entry point does not compile", cwd=ROOT)
    tests = os.path.join(scratch, "tests")
    own = [f"{scratch}/{module}.o" for module in (library, f"{library}Tests", "Runner")]
    run(build.linker(own + build.objects(), tests), f"{document}: the tests do not link", cwd=ROOT)
    output = run([tests, "--testing-library", "swift-testing"], f"{document}: the tests fail", cwd=folder)
    found = re.search(r"with (\d+) tests?", output)
    expected = 3 if report.get("testedSet") else 2
    if not found or int(found.group(1)) < expected:
        raise Failed(f"{document}: {expected} tests are expected:\n{output[-2000:]}")
    print(f"{os.path.relpath(document, ROOT)}: {len(report['sets'])} sets, {found.group(1)} tests passed", flush=True)


def check_with_package_manager(document, name, scratch):
    folder = os.path.join(scratch, name)
    create(document, name, folder)
    jobs = os.environ.get("JOBS", "2")
    build = os.path.join(SCRATCH, "new-app")
    for action in ("build", "test"):
        run(["swift", action, "--package-path", folder, "--scratch-path", build, "-j", jobs], f"{document}: swift {action}")
    packages = json.loads(subprocess.run(
        ["swift", "package", "--package-path", folder, "--scratch-path", build, "show-dependencies", "--format", "json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout)

    def identities(package):
        return {package["identity"]}.union(*(identities(dependency) for dependency in package["dependencies"]))

    foreign = identities(packages) & {"swift-nio", "hummingbird", "swift-argument-parser", "async-http-client", "jwt-kit"}
    if foreign:
        raise Failed(f"{document}: the app resolves {', '.join(sorted(foreign))}")
    print(f"{os.path.relpath(document, ROOT)}: built and tested by SwiftPM", flush=True)


def corpus():
    folder = os.environ.get("OUTPOST_CORPUS", os.path.join(ROOT, "..", "shared", "corpus"))
    found = [os.path.join(path, name) for part in ("metadata", "csdl-pairs")
             for path, _, names in os.walk(os.path.join(folder, part)) for name in names
             if name.endswith((".xml", ".csdl", ".edmx", ".json"))]
    if not found:
        print(f"new-app.py: no corpus at {folder}", file=sys.stderr)
    return sorted(found)


def main():
    flags = [argument for argument in sys.argv[1:] if argument.startswith("--")]
    documents = [os.path.abspath(argument) for argument in sys.argv[1:] if not argument.startswith("--")] or DOCUMENTS
    if set(flags) - {"--full", "--corpus"}:
        sys.exit(__doc__)
    if "--corpus" in flags:
        documents = corpus()
    build = None if "--full" in flags else FinishedBuild()
    failures = 0
    for document in documents:
        scratch = tempfile.mkdtemp(prefix="outpost-new-")
        name = "app-" + re.sub(r"[^a-z]+", "-", os.path.basename(document).split(".")[0].lower()).strip("-")[:40]
        try:
            if build:
                check(build, document, name, scratch)
            else:
                check_with_package_manager(document, name, scratch)
        except Failed as failure:
            without_code = "error: " in str(failure) and str(failure).startswith("outpost new")
            print(("no app: " if without_code else "") + str(failure), file=sys.stderr, flush=True)
            if "--corpus" not in flags:
                sys.exit(1)
            failures += not without_code
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
