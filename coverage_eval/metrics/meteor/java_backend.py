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

import numpy as np
from numpy.typing import NDArray

from coverage_eval.corpus import Segment
from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.metrics.meteor.resources import jar_path, paraphrase_path
from coverage_eval.metrics.meteor.statistics import FIELDS, score_parts

__all__ = ["JavaResult", "run_jar"]

_SEGMENT = re.compile(r"^Segment (\d+) score:\t(\S+)$", re.MULTILINE)
_FINAL = re.compile(r"^Final score:\s+(\S+)$", re.MULTILINE)
_LINE_ENDS = re.compile("[\n\r\f]")

_START_SECONDS, _SEGMENT_SECONDS = 300.0, 0.25
"""The time limit: what starting may take on a slow machine, and what each segment may add."""


@dataclass(frozen=True)
class JavaResult:
    """What the jar says of a corpus.

    Attributes:
        statistics: The 23 counts of each segment, ``[segments, 23]``.
        segment_scores: One score a segment.
        corpus_score: The final score.
    """

    statistics: NDArray[np.int64]
    segment_scores: NDArray[np.float64]
    corpus_score: float


def run_jar(
    rows: Sequence[tuple[Segment, ...]],
    *,
    modules: Sequence[str] | None = None,
    norm: bool = False,
    lower: bool = False,
) -> JavaResult:
    """Score hypotheses against references with the stock Meteor 1.5 jar, ``-l en``.

    The program prints either statistics or scores, so it runs twice, and what it says the second
    time is compared with the score of what it said the first.

    Args:
        rows: Hypothesis and reference of each segment; at least one.
        modules: Names of the matchers; all by default.
        norm: Pass ``-norm``.
        lower: Pass ``-lower``.

    Raises:
        MissingDependencyError: There is no Java, or the ``meteor`` extra is not installed.
        DataError: The program failed, took too long, or its output does not fit the input.
    """
    options = ["-l", "en", *(["-norm"] if norm else []), *(["-lower"] if lower else [])]
    if modules is None:
        options += ["-a", str(paraphrase_path())]
    else:
        options += ["-m", " ".join(modules)]
    limit = 2 * (_START_SECONDS + _SEGMENT_SECONDS * len(rows))
    with tempfile.TemporaryDirectory(prefix="coverage-eval-") as folder:
        files = [Path(folder) / name for name in ("hypotheses", "references")]
        for column, file in enumerate(files):
            lines = [_line(row[column]) + "\n" for row in rows]
            file.write_text("".join(lines), encoding="utf-8", newline="\n")
        arguments = [*map(str, files), *options]
        statistics = _parse_statistics(_run([*arguments, "-ssOut"], limit), len(rows))
        scores, final = _parse_scores(_run(arguments, limit), len(rows))
    if not np.allclose(score_parts(statistics).score, scores, rtol=0, atol=1e-9):
        raise DataError("the Meteor jar's statistics and scores contradict each other")
    return JavaResult(statistics, scores, final)


def _line(segment: Segment) -> str:
    """A segment as one line of a file: Meteor takes all of these marks as the ends of words."""
    text = segment if isinstance(segment, str) else " ".join(segment)
    return _LINE_ENDS.sub(" ", text)


def _run(arguments: list[str], limit: float) -> str:
    java = shutil.which("java")
    if java is None:
        raise MissingDependencyError(
            "--backend java needs a Java runtime (no program java was found); install one, "
            "or leave the option out: the scores are the same"
        )
    locale = ["-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    command = [java, *locale, "-Xmx2G", "-jar", str(jar_path()), *arguments]
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
