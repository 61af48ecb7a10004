"""The Meteor 1.5 program itself: one run over whole files, its figures read back.

File mode is used because the program's pipe protocol breaks on blank lines, carriage returns and
``|||`` in the text. The locale is set because with others (Turkish, decimal commas) scores change.
"""

from __future__ import annotations

import gzip
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

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


class JarResults(NamedTuple):
    """What the jar prints for the one hypothesis of each row, of which there is at least one.

    Attributes:
        counts: The statistics, ``[rows, 23]``.
        scores: The score of each segment, 0 to 1.
        final: The final score, 0 to 1.
    """

    counts: NDArray[np.int64]
    scores: NDArray[np.float64]
    final: float


def run_jar(rows: Sequence[Row], metric: METEOR) -> JarResults:
    """Run the jar twice on files with these segments: for statistics and for scores."""
    hypotheses = [text for row in rows for text in row.hypotheses]
    references = [text for row in rows for text in row.references]
    words = ["-l", "en", "-r", str(len(rows[0].references))]
    words += ["-norm"] * metric.norm + ["-lower"] * metric.lower
    java = ["java", "-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    java += ["-Xmx2G", "-XX:+UseSerialGC", "-jar", str(data_file(JAR))]
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("hypotheses", "references")]
        for file, segments in zip(files, (hypotheses, references), strict=True):
            lines = [_LINE_ENDS.sub(" ", str(segment)) + "\n" for segment in segments]
            file.write_text("".join(lines), encoding="utf-8", newline="\n")
        if metric.variant == "exact-stem":
            words += ["-m", "exact stem"]
        else:
            table = Path(folder, "paraphrases.gz")
            _write_paraphrases_of({*hypotheses, *references}, table)
            words += ["-a", str(table)]
        command = [*java, *map(str, files), *words]
        statistics, output = (
            subprocess.run(
                [*command, *more], capture_output=True, check=True, encoding="utf-8"
            ).stdout
            for more in (["-ssOut"], [])
        )
    counts = np.array([[float(item) for item in line.split()] for line in statistics.splitlines()])
    assert counts.shape == (len(rows), len(FIELDS))
    found, final = _SEGMENT.findall(output), _FINAL.search(output)
    assert [int(number) for number, _ in found] == list(range(1, len(rows) + 1))
    assert final is not None
    scores = np.array([float(score) for _, score in found])
    return JarResults(counts.astype(np.int64), scores, float(final.group(1)))


def _write_paraphrases_of(texts: Iterable[object], path: Path) -> None:
    """Write Meteor's table without the phrases that these texts lack.

    The jar takes ten seconds to read all of it. ``coverage_eval`` does so, so a phrase that is
    missed here shows as a difference.
    """
    known = {word for text in texts for word in f"{text} {str(text).lower()}".split()}
    with (
        gzip.open(data_file(PARAPHRASES), "rt", encoding="utf-8", newline="\n") as table,
        gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="\n") as kept,
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
