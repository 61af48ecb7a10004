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
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.metrics.meteor.candidates import MODULES, PARAPHRASE
from coverage_eval.metrics.meteor.counting import MatchOptions, Row
from coverage_eval.metrics.meteor.resources import jar_path, paraphrase_path
from coverage_eval.metrics.meteor.statistics import FIELDS, score_parts, without_perfect_chunks
from fast_align_wrapper.text import Segment

_SEGMENT = re.compile(r"^Segment (\d+) score:\t(\S+)$", re.MULTILINE)
_FINAL = re.compile(r"^Final score:\s+(\S+)$", re.MULTILINE)
_LINE_ENDS = re.compile("[\n\r\f]")

_START_SECONDS, _SEGMENT_SECONDS = 300.0, 0.25
"""The time limit: what starting may take on a slow machine, and what each segment may add."""


def _jar_options(options: MatchOptions, references: int) -> list[str]:
    """The options on the jar's command line.

    Raises:
        MissingDependencyError: The ``meteor`` extra is not installed.
    """
    if PARAPHRASE in options.modules:
        matchers = ["-a", str(paraphrase_path())]
    else:
        matchers = ["-m", " ".join(MODULES[module] for module in options.modules)]
    words = ["-l", "en", *matchers, "-r", str(references)]
    return words + ["-norm"] * options.norm + ["-lower"] * options.lower


def checked_statistics(rows: Sequence[Row], options: MatchOptions) -> NDArray[np.int64]:
    """The jar's 23 counts of each segment, ``[segments, 23]``, checked against the jar's scores.

    The counts are those with the best of a segment's references. The program prints either
    statistics or scores, so it runs twice; the scores that it gives the second time must be those
    of the statistics that it gave the first.

    Raises:
        MissingDependencyError: There is no Java, or the ``meteor`` extra is not installed.
        DataError: The program failed, took too long, or its output does not fit the input; or not
            all segments have equally many references, as the program demands.
    """
    statistics = jar_statistics(rows, options)
    scores, final = jar_scores(rows, options)
    summed = without_perfect_chunks(statistics).sum(axis=0)
    ours = np.append(score_parts(statistics).score, score_parts(summed).score)
    if not np.allclose(ours, np.append(scores, final), rtol=0, atol=1e-9):
        raise DataError("the Meteor jar's statistics and scores contradict each other")
    return statistics


def jar_statistics(rows: Sequence[Row], options: MatchOptions) -> NDArray[np.int64]:
    """The jar's 23 counts of each segment, ``[segments, 23]``; errors as above."""
    lines = _run(rows, options, "-ssOut").splitlines()
    try:
        counts = np.array([[float(item) for item in line.split()] for line in lines])
    except ValueError as error:
        raise DataError(f"the Meteor jar printed no statistics but: {lines[-1]}") from error
    if counts.shape != (len(rows), len(FIELDS)):
        raise DataError(f"the Meteor jar gave {len(lines)} lines of statistics for {len(rows)}")
    return counts.astype(np.int64)


def jar_scores(rows: Sequence[Row], options: MatchOptions) -> tuple[NDArray[np.float64], float]:
    """The jar's score of each segment, and its final score; errors as above."""
    output = _run(rows, options)
    found, final = _SEGMENT.findall(output), _FINAL.search(output)
    if [int(number) for number, _ in found] != list(range(1, len(rows) + 1)) or final is None:
        raise DataError(f"the Meteor jar gave {len(found)} scores for {len(rows)} segments")
    return np.array([float(score) for _, score in found]), float(final.group(1))


def _line(segment: Segment) -> str:
    """A segment as one line of a file: Meteor takes all of these marks as the ends of words."""
    text = segment if isinstance(segment, str) else " ".join(segment)
    return _LINE_ENDS.sub(" ", text)


def _run(rows: Sequence[Row], options: MatchOptions, *more: str) -> str:
    """What the jar prints on files with these segments, of which there is at least one."""
    java = shutil.which("java")
    if java is None:
        raise MissingDependencyError(
            "--backend java needs a Java runtime (no program java was found); install one, "
            "or leave the option out: the scores are the same"
        )
    hypotheses = [hypothesis for hypothesis, _ in rows]
    references = [reference for _, several in rows for reference in several]
    number = len(rows[0][1])
    if any(len(several) != number for _, several in rows):
        raise DataError("the Meteor jar needs as many references for each segment as for any other")
    locale = ["-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    with tempfile.TemporaryDirectory(prefix="meteor-jar-") as name:
        folder = Path(name)
        files = [folder / name for name in ("hypotheses", "references")]
        for file, segments in zip(files, (hypotheses, references), strict=True):
            lines = [_line(segment) + "\n" for segment in segments]
            file.write_text("".join(lines), encoding="utf-8", newline="\n")
        command = [java, *locale, "-Xmx2G", "-jar", str(jar_path()), *map(str, files)]
        command += [*_jar_options(options, number), *more]
        return _output(command, limit=_START_SECONDS + _SEGMENT_SECONDS * len(references))


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
