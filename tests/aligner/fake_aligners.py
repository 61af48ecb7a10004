"""Executables that stand in for fast_align: someone else's, and broken ones."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

OUR_VERSION = "fast_align (coverage-eval) 0.1.0"


def write_script(path: Path, body: str) -> Path:
    """An executable Python script."""
    path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


def someone_elses(path: Path, real: Path) -> Path:
    """Our aligner behind a script that accepts only the original's options.

    Like the original, it gives only blank lines if a training pair has an empty side, fails at one
    in forced alignment, splits parameters at any ASCII white space, favours the diagonal if a
    tension is given, and prints lines without links with a single space.
    """
    return write_script(
        path,
        f"""
import re, subprocess
arguments = sys.argv[1:]
if any(a.startswith("--") or (a.startswith("-") and a[1:2] not in "-idovrIqNaTpfmtsb0123456789")
       for a in arguments):
    sys.stderr.write("fast_align: unrecognized option\\nUsage: ...\\n")
    sys.exit(1)
if "-T" in arguments:
    arguments.append("-d")
def is_empty(line):
    return any(not side.strip(b" ") for side in line.rstrip(b"\\n").split(b" ||| "))
if "-f" in arguments:
    table = open(arguments[arguments.index("-f") + 1], "rb").read()
    assert len(re.split(rb"[ \\t\\n\\v\\f\\r]+", table.strip())) == 3 * table.count(b"\\n"), "table"
    lines = sys.stdin.buffer.readlines()
    assert not any(map(is_empty, lines)), "empty side"
    done = subprocess.run([{str(real)!r}, *arguments], input=b"".join(lines), capture_output=True)
    sys.stdout.buffer.write(done.stdout.replace(b" |||  ||| ", b" ||| ||| "))
    sys.stderr.buffer.write(done.stderr)
    sys.exit(done.returncode)
lines = open(arguments[arguments.index("-i") + 1], "rb").readlines()
if any(map(is_empty, lines)):
    print("\\n" * len(lines), end="")
    sys.exit(0)
os.execv({str(real)!r}, ["fast_align", *arguments])
""",
    )


def pretender(path: Path, body: str) -> Path:
    """A program that claims to be our aligner, then does something else."""
    return write_script(
        path,
        f'if sys.argv[1:] == ["--version"]:\n    print({OUR_VERSION!r})\n    sys.exit()\n{body}',
    )


def all_gone(processes: Iterable[int]) -> bool:
    """Whether all processes end within ten seconds."""
    left = list(processes)
    for _ in range(100):
        left = [process for process in left if is_running(process)]
        if not left:
            return True
        time.sleep(0.1)
    return False


def is_running(process: int) -> bool:
    """Whether a process exists and is not a zombie."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # it ended just now, or this system has no such file
        return not Path("/proc/self/stat").exists()
    return state != "Z"
