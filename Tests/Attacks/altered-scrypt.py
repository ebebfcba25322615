#!/usr/bin/env python3
"""L6: altered scrypt parameters in a key block make a process work and allocate far beyond the normal."""

import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time

MAGIC = b"Outpost SQLite\r\n"


def block(version: int, exponent: int, size: int, lanes: int) -> bytes:
    """A key block of one slot, whose digest fits, and that no passphrase opens."""
    header = MAGIC + version.to_bytes(2, "big") + (4096).to_bytes(2, "big") + bytes([28, 0, 0, 0]) + bytes(range(16))
    header += bytes(512 - len(header))
    envelope = b"OPKE" + bytes([1, 1, exponent, 0]) + size.to_bytes(4, "big") + lanes.to_bytes(4, "big") + bytes(76)
    slot = (1).to_bytes(8, "big") + bytes([0, 92, 0, 0, 0, 0, 0, 0]) + envelope
    slot += bytes(480 - len(slot))
    slot += hashlib.sha256(header + slot).digest()
    return header + bytes(512) + slot + bytes(4096 - 1536) + bytes(4096)


def cost(tool: str, folder: str, *parameters: int) -> tuple[float, float]:
    """Seconds of the processor, and the memory in MB, that it takes to refuse a store."""
    with open(os.path.join(folder, "store.db"), "wb") as file:
        file.write(block(1, *parameters))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [tool, "status", folder, "--key-file", os.path.join(folder, "key")], check=False, timeout=60,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, after.ru_maxrss / 1024


def main() -> int:
    tool = os.environ["OUTPOST"]
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{kind}_HOME"] = os.path.join(folder, kind.lower())
        with open(os.open(os.path.join(folder, "key"), os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write("correct horse battery staple")
        normal, _ = cost(tool, folder, 15, 8, 3)
        for parameters in ((20, 4, 16), (19, 8, 1), (15, 8, 16), (18, 8, 1), (18, 8, 16), (10, 32, 16), (20, 1, 1)):
            start = time.monotonic()
            seconds, memory = cost(tool, folder, *parameters)
            if seconds > 4 * normal + 0.5 or memory > 400:
                print(f"the attack succeeded: N = 2^{parameters[0]}, r = {parameters[1]}, p = {parameters[2]} cost "
                      f"{seconds:.1f} s and {memory:.0f} MB; normal are {normal:.1f} s", file=sys.stderr)
                return 1
            assert time.monotonic() - start < 60
    return 0


sys.exit(main())
