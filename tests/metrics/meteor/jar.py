"""The Meteor 1.5 program itself: one run over whole files, its figures read back.

File mode is used because the program's pipe protocol breaks on blank lines, carriage returns and
``|||`` in the text. The locale is set because with others (Turkish, decimal commas) scores change.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.dataset import Row
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.statistics import FIELDS
from coverage_eval.metrics.meteor.words import JAR, PARAPHRASES, data_file

_SEGMENT = re.compile(r"^Segment (\d+) score:\t(\S+)$", re.MULTILINE)
_FINAL = re.compile(r"^Final score:\s+(\S+)$", re.MULTILINE)
# Meteor takes all of these marks as the ends of words.
_LINE_ENDS = re.compile("[\n\r\f]")


def jar_statistics(rows: Sequence[Row], metric: METEOR) -> NDArray[np.int64]:
    """The 23 counts that the jar prints for the one hypothesis of each row, ``[rows, 23]``."""
    lines = _run(rows, metric, "-ssOut").splitlines()
    counts = np.array([[float(item) for item in line.split()] for line in lines])
    assert counts.shape == (len(rows), len(FIELDS))
    return counts.astype(np.int64)


def jar_scores(rows: Sequence[Row], metric: METEOR) -> tuple[NDArray[np.float64], float]:
    """The jar's score of each segment, and its final score, 0 to 1."""
    output = _run(rows, metric)
    found, final = _SEGMENT.findall(output), _FINAL.search(output)
    assert [int(number) for number, _ in found] == list(range(1, len(rows) + 1))
    assert final is not None
    return np.array([float(score) for _, score in found]), float(final.group(1))


def as_added_up(printed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Printed counts ``[rows, 23]`` as Meteor adds them up, without the chunk of perfect segments.

    A segment is perfect if both of its sides are matched as a whole in one chunk.
    """
    counts = printed.copy()
    perfect = (counts[:, 20] == 1) & (counts[:, 21:] == counts[:, :2]).all(axis=1)
    counts[perfect, 20] = 0
    return counts


def _run(rows: Sequence[Row], metric: METEOR, *more: str) -> str:
    """What the jar prints on files with these segments, of which there is at least one."""
    hypotheses = [text for row in rows for text in row.hypotheses]
    references = [text for row in rows for text in row.references]
    matchers = ["-a", str(data_file(PARAPHRASES))]
    if metric.variant == "exact-stem":
        matchers = ["-m", "exact stem"]
    words = ["-l", "en", *matchers, "-r", str(len(rows[0].references))]
    words += ["-norm"] * metric.norm + ["-lower"] * metric.lower
    locale = ["-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("hypotheses", "references")]
        for file, segments in zip(files, (hypotheses, references), strict=True):
            lines = [_LINE_ENDS.sub(" ", str(segment)) + "\n" for segment in segments]
            file.write_text("".join(lines), encoding="utf-8", newline="\n")
        cheap = ["-Xmx2G", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command = ["java", *locale, *cheap, "-jar", str(data_file(JAR)), *map(str, files)]
        done = subprocess.run(
            [*command, *words, *more], capture_output=True, check=True, encoding="utf-8"
        )
    return done.stdout
