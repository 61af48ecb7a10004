"""Read the reference's files and compare with them."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

METHODS = ["intersect", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and"]


def read_golden(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def assert_same_lines(actual: list[str], expected: list[str], *, tolerated: float = 1e-4) -> None:
    """All lines are equal, except a tolerated share, for floating-point ties."""
    assert len(actual) == len(expected)
    differing = [pair for pair in zip(actual, expected, strict=True) if pair[0] != pair[1]]
    assert len(differing) <= tolerated * len(expected), differing[:5]


_ORIGINALS_OWN = re.compile(r"ARG=.|\.+|  \d  model al-feat: .*|conditional probabilities: .*")


def comparable_log(log: str) -> list[str]:
    """The lines of a log, without file names and lines that only the original prints.

    Those are the options, a dot for each thousand lines, and the steps of the search for the
    tension.
    """
    return [line for line in log.splitlines() if not _ORIGINALS_OWN.fullmatch(line)]
