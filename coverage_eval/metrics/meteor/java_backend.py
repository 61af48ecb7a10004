"""The Java program itself, as a cross-check: one run over whole files, its figures read back.

File mode is used because the program's pipe protocol breaks on blank lines, carriage returns and
``|||`` in the text. The locale is set because with others (Turkish, decimal commas) scores change.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.metrics.meteor.resources import jar_path, paraphrase_path
from coverage_eval.metrics.meteor.statistics import (
    FIELDS,
    score_parts,
    without_perfect_chunks,
)
from coverage_eval.text.corpus import Segment

__all__ = ["JarSettings", "checked_statistics", "jar_scores", "jar_statistics"]

Rows: TypeAlias = "Sequence[tuple[Segment, ...]]"
"""Hypothesis and reference of each segment; at least one segment."""

_SEGMENT = re.compile(r"^Segment (\d+) score:\t(\S+)$", re.MULTILINE)
_FINAL = re.compile(r"^Final score:\s+(\S+)$", re.MULTILINE)
_LINE_ENDS = re.compile("[\n\r\f]")

_START_SECONDS, _SEGMENT_SECONDS = 300.0, 0.25
"""The time limit: what starting may take on a slow machine, and what each segment may add."""


@dataclass(frozen=True)
class JarSettings:
    """What the jar is told.

    Attributes:
        modules: Names of the matchers; all if None.
        norm: Pass ``-norm``.
        lower: Pass ``-lower``.
    """

    modules: tuple[str, ...] | None = None
    norm: bool = False
    lower: bool = False

    def options(self) -> list[str]:
        """The options on the jar's command line.

        Raises:
            MissingDependencyError: The ``meteor`` extra is not installed.
        """
        options = ["-l", "en"]
        if self.modules is None:
            options += ["-a", str(paraphrase_path())]
        else:
            options += ["-m", " ".join(self.modules)]
        return options + ["-norm"] * self.norm + ["-lower"] * self.lower


def checked_statistics(rows: Rows, settings: JarSettings) -> NDArray[np.int64]:
    """The jar's 23 counts of each segment, ``[segments, 23]``, checked against the jar's scores.

    The program prints either statistics or scores, so it runs twice; the scores that it gives the
    second time must be those of the statistics that it gave the first.

    Raises:
        MissingDependencyError: There is no Java, or the ``meteor`` extra is not installed.
        DataError: The program failed, took too long, or its output does not fit the input.
    """
    statistics = jar_statistics(rows, settings)
    scores, final = jar_scores(rows, settings)
    summed = without_perfect_chunks(statistics).sum(axis=0)
    ours = np.append(score_parts(statistics).score, score_parts(summed).score)
    if not np.allclose(ours, np.append(scores, final), rtol=0, atol=1e-9):
        raise DataError("the Meteor jar's statistics and scores contradict each other")
    return statistics


def jar_statistics(rows: Rows, settings: JarSettings) -> NDArray[np.int64]:
    """The jar's 23 counts of each segment, ``[segments, 23]``; errors as above."""
    return _parse_statistics(_run(rows, [*settings.options(), "-ssOut"]), len(rows))


def jar_scores(rows: Rows, settings: JarSettings) -> tuple[NDArray[np.float64], float]:
    """The jar's score of each segment, and its final score; errors as above."""
    return _parse_scores(_run(rows, settings.options()), len(rows))


def _line(segment: Segment) -> str:
    """A segment as one line of a file: Meteor takes all of these marks as the ends of words."""
    text = segment if isinstance(segment, str) else " ".join(segment)
    return _LINE_ENDS.sub(" ", text)


def _run(rows: Rows, options: list[str]) -> str:
    """What the jar prints on files with these segments."""
    java = shutil.which("java")
    if java is None:
        raise MissingDependencyError(
            "--backend java needs a Java runtime (no program java was found); install one, "
            "or leave the option out: the scores are the same"
        )
    locale = ["-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    with tempfile.TemporaryDirectory(prefix="coverage-eval-") as folder:
        files = [Path(folder) / name for name in ("hypotheses", "references")]
        for column, file in enumerate(files):
            lines = [_line(row[column]) + "\n" for row in rows]
            file.write_text("".join(lines), encoding="utf-8", newline="\n")
        command = [java, *locale, "-Xmx2G", "-jar", str(jar_path()), *map(str, files), *options]
        return _output(command, limit=_START_SECONDS + _SEGMENT_SECONDS * len(rows))


def _output(command: list[str], limit: float) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, check=False, encoding="utf-8", timeout=limit
        )
    except subprocess.TimeoutExpired as error:
        raise DataError(f"the Meteor jar did not end within {limit:.0f} seconds") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise DataError(f"the Meteor jar failed with status {done.returncode}, saying: {said}")
    return done.stdout


def _parse_statistics(output: str, segments: int) -> NDArray[np.int64]:
    lines = output.splitlines()
    try:
        counts = np.array([[float(item) for item in line.split()] for line in lines])
    except ValueError as error:
        raise DataError(f"the Meteor jar printed no statistics but: {lines[-1]}") from error
    if counts.shape != (segments, len(FIELDS)):
        raise DataError(f"the Meteor jar gave {len(lines)} lines of statistics for {segments}")
    return counts.astype(np.int64)


def _parse_scores(output: str, segments: int) -> tuple[NDArray[np.float64], float]:
    found = _SEGMENT.findall(output)
    final = _FINAL.search(output)
    if [int(number) for number, _ in found] != list(range(1, segments + 1)) or final is None:
        raise DataError(f"the Meteor jar gave {len(found)} scores for {segments} segments")
    return np.array([float(score) for _, score in found]), float(final.group(1))
