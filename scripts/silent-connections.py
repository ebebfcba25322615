#!/usr/bin/env python3
"""Opens connections that send nothing, closes them, and says what memory the service holds before, meanwhile and after.

Usage: silent-connections.py [--count 10000] PROGRAM [ARGUMENT…]

The program must understand --port; reference-service and `outpost serve FILE` do. Fails when others are not answered
meanwhile, or when a minute later more than half of the memory that the connections took is still held. Linux only.
"""
import argparse
import resource
import socket
import subprocess
import sys
import time
import urllib.request

parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int, default=10_000)
parser.add_argument("program", nargs=argparse.REMAINDER)
options = parser.parse_args()
needed = options.count + 1000
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
if hard != resource.RLIM_INFINITY and hard < needed:
    sys.exit(f"{needed} open files are needed, {hard} are allowed")
resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))

with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
root = f"http://127.0.0.1:{port}/"
service = subprocess.Popen([*options.program, "--port", str(port)], stdout=subprocess.DEVNULL)


def megabytes():
    with open(f"/proc/{service.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024


def answers():
    with urllib.request.urlopen(root, timeout=10) as response:
        return response.status == 200


try:
    for _ in range(100):
        try:
            if answers():
                break
        except OSError:
            time.sleep(0.2)
    for _ in range(100):
        answers()
    before = megabytes()
    silent = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(options.count)]
    time.sleep(1)
    isAnswered = answers()
    during = megabytes()
    for connection in silent:
        connection.close()
    after = during
    for _ in range(60):
        time.sleep(1)
        after = megabytes()
        if after - before < (during - before) / 2:
            break
    print(f"{before:.0f} MB before, {during:.0f} MB with {options.count} connections, {after:.0f} MB afterwards")
    if not isAnswered:
        sys.exit("nobody else was answered meanwhile")
    if after - before >= (during - before) / 2:
        sys.exit("the memory did not return")
finally:
    service.terminate()
    service.wait()
