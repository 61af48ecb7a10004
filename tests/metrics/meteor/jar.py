"""Runs the Meteor 1.5 program itself on whole files and reads the figures that it prints.

It gets files because its pipe protocol breaks on blank lines, carriage returns and ``|||`` in the
text. The locale is set because others (Turkish, decimal commas) change the scores.
"""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.dataset import Row
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.meteor.statistics import FIELDS
from coverage_eval.metrics.meteor.words import JAR, PARAPHRASES, data_file

_SEGMENT = re.compile(r"^Segment (\d+) score:\t(\S+)$", re.MULTILINE)
_FINAL = re.compile(r"^Final score:\s+(\S+)$", re.MULTILINE)
# To Meteor, all of these marks end words; in a file, they would end lines.
_LINE_ENDS = re.compile("[\n\r\f]")


def jar_statistics(rows: Sequence[Row], metric: METEOR, table: Path) -> NDArray[np.int64]:
    """The statistics ``[rows, 23]`` that the jar prints for rows with one hypothesis each.

    Args:
        rows: The segments, at least one.
        metric: The settings.
        table: The paraphrases, all or those of :func:`write_paraphrases_of`.
    """
    lines = _run(rows, metric, table, "-ssOut").splitlines()
    counts = np.array([[float(item) for item in line.split()] for line in lines])
    assert counts.shape == (len(rows), len(FIELDS))
    return counts.astype(np.int64)


def jar_scores(
    rows: Sequence[Row], metric: METEOR, table: Path
) -> tuple[NDArray[np.float64], float]:
    """The jar's score of each segment, and its final score, 0 to 1."""
    output = _run(rows, metric, table)
    found, final = _SEGMENT.findall(output), _FINAL.search(output)
    assert [int(number) for number, _ in found] == list(range(1, len(rows) + 1))
    assert final is not None
    return np.array([float(score) for _, score in found]), float(final.group(1))


def _run(rows: Sequence[Row], metric: METEOR, table: Path, *more: str) -> str:
    hypotheses = [text for row in rows for text in row.hypotheses]
    references = [text for row in rows for text in row.references]
    matchers = ["-a", str(table)]
    if metric.variant == "exact-stem":
        matchers = ["-m", "exact stem"]
    words = ["-l", "en", *matchers, "-r", str(len(rows[0].references))]
    words += ["-norm"] * metric.norm + ["-lower"] * metric.lower
    java = ["java", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8", "-Xmx2G"]
    java += ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]  # less work for short runs
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("hypotheses", "references")]
        for file, segments in zip(files, (hypotheses, references), strict=True):
            lines = [_LINE_ENDS.sub(" ", str(segment)) + "\n" for segment in segments]
            file.write_text("".join(lines), encoding="utf-8", newline="\n")
        command = [*java, "-jar", str(data_file(JAR)), *map(str, files), *words, *more]
        done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    return done.stdout


def write_paraphrases_of(rows: Iterable[Row], path: Path) -> None:
    """Write Meteor's table without the phrases that these texts lack.

    The jar takes ten seconds to read the whole table. ``coverage_eval`` uses all of it, so a phrase
    that is wrongly left out here shows as a difference.
    """
    texts = [str(text) for row in rows for text in (*row.hypotheses, *row.references)]
    known = {word for text in texts for word in f"{text} {text.lower()}".encode().split()}
    with (
        io.BufferedReader(gzip.open(data_file(PARAPHRASES)), 1 << 20) as table,
        gzip.open(path, "wb", compresslevel=1) as kept,
    ):
        for entry in zip(table, table, table, strict=True):
            if known.issuperset(entry[1].split()) and known.issuperset(entry[2].split()):
                kept.writelines(entry)


def as_added_up(printed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Printed counts ``[rows, 23]`` as Meteor adds them up, without the chunk of perfect segments.

    A segment is perfect if both of its sides are matched as a whole in one chunk.
    """
    counts = printed.copy()
    perfect = (counts[:, 20] == 1) & (counts[:, 21:] == counts[:, :2]).all(axis=1)
    counts[perfect, 20] = 0
    return counts
