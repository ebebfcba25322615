#!/usr/bin/env python3
"""Runs the steps of continuous integration, two at a time, and prints the processor seconds of each beside its budget.

    scripts/ci.py [--strict] [STEP …]

Without names, every step of STEPS runs. A step starts when the steps that it needs have ended and one of the two lanes is
free. The output of the tests is printed while they run, the output of every other step when it ends. A step that fails does
not stop the steps that are running; no further step starts, and the exit code is 1. After OPTIONAL_UNTIL seconds no optional
step starts any more, and the steps left out are named.

Budgets are processor seconds, in .ci/budgets.json. Being over budget by more than TOLERANCE is printed, and fails only with
--strict (`make ci-budget`). The file .build/ci/steps.md then holds the table of the run.
"""

import json
import os
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUDGETS = os.path.join(ROOT, ".ci", "budgets.json")
LOGS = os.path.join(ROOT, os.environ.get("SCRATCH", ".build"), "ci")
LANES = 2
TOLERANCE = 1.3
OPTIONAL_UNTIL = 60 * 60


class Step:
    """A command, the steps that must have ended before it, whether it may be left out, and whether its output is printed live."""

    def __init__(self, name, command, needs=(), optional=False, live=False, environment=None):
        self.name, self.command, self.needs = name, command, needs
        self.optional, self.live, self.environment = optional, live, environment or {}
        self.wall = self.processor = 0.0
        self.state = "waiting"


# In the order in which they start: while the tests run on one lane, everything else is run on the other. The libraries that compute
# are optimised in the one build. The first 100 seeds from 40 hold runs of fifty clients with and without repeatable requests.
# "consumers" plans the build anew for another package, so that nothing of this one is built behind it. The app and the example have
# a folder of their own.
STEPS = [
    Step("build", ["scripts/test.sh", "--build-only"], live=True),
    Step("lint", ["make", "lint"]),
    Step("tests", ["scripts/test.sh", "--skip-build"], needs=["build"], live=True),
    Step("limits", ["scripts/limits.py"], needs=["build"]),
    Step("simulation", ["scripts/simulate.sh"], needs=["build"], environment={"SEEDS": "100", "FIRST_SEED": "40"}),
    Step("fuzzers", ["scripts/fuzz.sh", "smoke"], needs=["build"]),
    Step("apple", ["scripts/apple-check.sh", "--skip-build"], needs=["build"]),
    Step("generated code", ["scripts/generated.sh"], needs=["build"], optional=True),
    Step("wrong uses of business objects", ["scripts/refused.sh"], needs=["build"], optional=True),
    Step("new app", ["scripts/new-app.py"], needs=["build"], optional=True),
    Step("demonstration", ["scripts/demo.sh"], needs=["build"]),
    Step("demonstration of the server", ["scripts/demo-server.sh", "--skip-build"], needs=["build"]),
    Step("resolution", ["scripts/app.sh", "--resolve-only"], needs=["build"]),
    Step("consumers", ["scripts/consumers.sh"],
         needs=["limits", "simulation", "fuzzers", "apple", "generated code", "wrong uses of business objects", "new app",
                "demonstration", "demonstration of the server"]),
    Step("app", ["scripts/app.sh"], needs=["consumers"], optional=True),
    Step("example", ["scripts/examples.sh"], needs=["app"], optional=True),
]


def run(step, output):
    """Runs the command of a step and notes what it took; the usage covers every process that it waited for."""
    log_path = os.path.join(LOGS, step.name.replace(" ", "-") + ".log")
    begin = time.monotonic()
    with open(log_path, "w", encoding="utf-8", errors="replace") as log:
        process = subprocess.Popen(
            step.command, cwd=ROOT, env=dict(os.environ, **step.environment), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        for line in process.stdout:
            log.write(line)
            if step.live:
                output(line.rstrip("\n"))
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    step.wall = time.monotonic() - begin
    step.processor = usage.ru_utime + usage.ru_stime
    with open(log_path, encoding="utf-8", errors="replace") as log:
        lines = log.read().splitlines()
    if not step.live or process.returncode != 0:
        for line in lines[-60:] if process.returncode != 0 else lines[-12:]:
            output(f"   {line[:300]}")
    return process.returncode


class Schedule:
    """Starts each step as soon as its needs and a lane allow, and keeps the printed lines whole."""

    def __init__(self, steps, budgets):
        self.steps, self.budgets = steps, budgets
        self.begin = time.monotonic()
        self.changed = threading.Condition()
        self.printing = threading.Lock()
        self.failed = False

    def output(self, line):
        with self.printing:
            print(line, flush=True)

    def elapsed(self):
        return time.monotonic() - self.begin

    def ended(self, name):
        return all(step.state in ("done", "left out") for step in self.steps if step.name == name)

    def next(self):
        """The next step that can start, or None; steps whose time has passed are left out."""
        for step in self.steps:
            if step.state != "waiting" or not all(self.ended(need) for need in step.needs):
                continue
            if step.optional and self.elapsed() > OPTIONAL_UNTIL:
                step.state = "left out"
                continue
            return step
        return None

    def work(self):
        while True:
            with self.changed:
                while True:
                    if self.failed or all(step.state != "waiting" for step in self.steps):
                        return
                    step = self.next()
                    if step:
                        break
                    self.changed.wait(1)
                step.state = "running"
            self.output(f"== {step.name}: begins after {self.elapsed():.0f} s")
            status = run(step, self.output)
            with self.changed:
                step.state = "done" if status == 0 else "failed"
                self.failed = self.failed or status != 0
                self.changed.notify_all()
            self.output(f"== {step.name}: {self.told(step)}" + ("" if status == 0 else f", FAILED (exit {status})"))

    def told(self, step):
        budget = self.budgets.get(step.name)
        beside = f", budget {budget}" if budget else ""
        over = " (over budget)" if self.is_over(step) else ""
        return f"{step.wall:.0f} s, {step.processor:.0f} processor seconds{beside}{over}"

    def is_over(self, step):
        budget = self.budgets.get(step.name)
        return bool(budget) and step.state == "done" and step.processor > budget * TOLERANCE

    def run(self):
        lanes = [threading.Thread(target=self.work) for _ in range(LANES)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()

    def table(self):
        rows = ["| step | seconds | processor seconds | budget |", "| --- | ---: | ---: | ---: |"]
        for step in self.steps:
            taken = f"{step.wall:.0f} | {step.processor:.0f}" if step.state in ("done", "failed") else f"{step.state} | "
            rows.append(f"| {step.name} | {taken} | {self.budgets.get(step.name, '')} |")
        total = sum(step.processor for step in self.steps)
        rows.append(f"| all | {self.elapsed():.0f} | {total:.0f} | {sum(self.budgets.values())} |")
        return "\n".join(rows)


def main():
    arguments = sys.argv[1:]
    strict = "--strict" in arguments
    names = [argument for argument in arguments if argument != "--strict"]
    known = {step.name for step in STEPS}
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"ci.py: there is no step {unknown[0]}; the steps are: {', '.join(step.name for step in STEPS)}")
    with open(BUDGETS, encoding="utf-8") as file:
        budgets = json.load(file)
    os.makedirs(LOGS, exist_ok=True)
    schedule = Schedule([step for step in STEPS if not names or step.name in names], budgets)
    schedule.run()
    table = schedule.table()
    with open(os.path.join(LOGS, "steps.md"), "w", encoding="utf-8") as file:
        file.write(table + "\n")
    print(table)
    over = [step.name for step in schedule.steps if schedule.is_over(step)]
    if over:
        print(f"Over budget by more than {TOLERANCE - 1:.0%}: {', '.join(over)}. See .ci/budgets.json.")
    left = [step.name for step in schedule.steps if step.state in ("left out", "waiting")]
    if left:
        print(f"Not run: {', '.join(left)}.")
    return 1 if schedule.failed or (strict and over) else 0


if __name__ == "__main__":
    sys.exit(main())
