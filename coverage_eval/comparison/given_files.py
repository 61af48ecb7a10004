"""Files of segment scores of other programs, for ``compare --scores``.

CSV (or TSV) has a column ``segment`` (from 1), perhaps ``system``, and a column of numbers, as
``--sentence-level -f csv`` prints it. JSON from ``comet-score --to_json`` can be read, too.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coverage_eval.data.files import Source, read_segments, source_name
from coverage_eval.data.json_objects import check_object, parse_object
from coverage_eval.data.numbers import parse_number
from coverage_eval.errors import DataError
from coverage_eval.metrics.given_scores import GivenScores
from coverage_eval.metrics.registry import METRICS, metric_class

Scores = Mapping[str, dict[int, float | None]]
"""System (empty if the file names none) → segment, from 1 → score."""

_ERRORS = {"ter", "wer", "cer", "metricx"}
"""Other metrics that count errors: lower is better."""


def read_given(name: str, file: Source, systems: Sequence[str], *, lower: bool) -> GivenScores:
    """Another program's scores, as a metric of some systems.

    The file names a system by its name, or by its file's name with or without folder and ending. A
    file that names no system has the scores of a single one.

    Args:
        name: The metric's name.
        file: A file of scores. From several columns, the one named ``score`` or like the metric is
            used.
        systems: The systems to compare.
        lower: Whether lower scores are better, even if the metric is known for the opposite.

    Raises:
        DataError: There is no column of segments, a segment occurs twice, a value is not a finite
            number, several columns have other names, a system has no scores, or segments are not
            numbered from 1.
    """
    first = next(read_segments(file), "")
    scores = _of_comet(file) if first.startswith("{") else _of_csv(file, name)
    values: dict[str, list[float | None]] = {}
    for system in systems:
        found = _of_system(system, scores, alone=len(systems) == 1)
        if found is None:
            named = ", ".join(filter(None, scores)) or "no system"
            raise DataError(f"{source_name(file)}: no scores of {system}; it names {named}")
        if set(found) != set(range(1, len(found) + 1)):
            raise DataError(
                f"{source_name(file)}: the segments of {system} are not 1 to {len(found)}"
            )
        values[system] = [found[number] for number in range(1, len(found) + 1)]
    better = _is_better(name) and not lower
    return GivenScores(name, values, source_name(file), higher_is_better=better)


def _of_csv(file: Source, name: str) -> Scores:
    lines = [f"{line}\n" for line in read_segments(file)]
    tabs = bool(lines) and "\t" in lines[0]
    reader = csv.DictReader(lines, delimiter="\t" if tabs else ",", strict=True)
    scores: dict[str, dict[int, float | None]] = {}
    try:
        header = list(reader.fieldnames or ())
        if "segment" not in header:
            raise DataError(
                f"{source_name(file)}: line 1: no column 'segment'; print scores with "
                "--sentence-level -f csv, or number the segments from 1"
            )
        rows = list(_rows(file, reader))
        column = _score_column(file, name, header, [row for _, row in rows])
        for where, row in rows:
            cell = row[column]
            value = None if cell == "" else parse_number(cell, f"{where}, column {column!r}")
            own = scores.setdefault(row.get("system") or "", {})
            if not re.fullmatch("[1-9][0-9]{0,8}", row["segment"]):
                raise DataError(f"{where}: segment {row['segment']!r:.60} is not a number from 1")
            if int(row["segment"]) in own:
                raise DataError(f"{where}: segment {row['segment']} occurs twice")
            own[int(row["segment"])] = value
    except csv.Error as error:
        raise DataError(f"{source_name(file)}: line {reader.reader.line_num}: {error}") from error
    if not scores:
        raise DataError(f"{source_name(file)}: has no score of segments")
    return scores


def _rows(file: Source, reader: csv.DictReader[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in reader:
        where = f"{source_name(file)}: line {reader.line_num}"
        if None in row or None in row.values():
            raise DataError(f"{where}: not as many fields as line 1")
        yield where, row


def _score_column(
    file: Source, name: str, header: Sequence[str], rows: Sequence[Mapping[str, str]]
) -> str:
    """The column named ``score`` or like the metric, or the only one of numbers."""
    for wanted in ("score", name):
        if wanted in header:
            return wanted
    others = [column for column in header if column not in {"segment", "system", "marks"}]
    found = [
        column
        for column in others
        if re.match(r"[-+.\d]", next((row[column] for row in rows if row[column]), ""))
    ]
    if len(found) == 1:
        return found[0]
    what = f"has several scores: {', '.join(found)}" if found else "has no score of segments"
    raise DataError(
        f"{source_name(file)}: {what}; give a file with one of them, or name the column 'score'"
    )


def _of_comet(file: Source) -> Scores:
    """For each system's file, a list with an object per segment."""
    whole = parse_object("\n".join(read_segments(file)), f"{source_name(file)}: the file")
    scores: dict[str, dict[int, float | None]] = {}
    for system, segments in whole.items():
        if not isinstance(segments, list):
            raise DataError(
                f"{source_name(file)}: is not JSON of comet-score; give CSV with the columns "
                "segment and score"
            )
        for number, segment in enumerate(segments, start=1):
            where = f"{source_name(file)}: {system}, segment {number}"
            values = check_object(segment, where)
            if "COMET" not in values:
                raise DataError(f"{where}: no score 'COMET'")
            scores.setdefault(system, {})[number] = parse_number(values["COMET"], where)
    return scores


def _is_better(name: str) -> bool:
    """Whether higher values of the metric or figure with this name are better."""
    metrics = {metric_class(key).name.lower(): metric_class(key) for key in METRICS}
    if name.lower() in metrics:
        return metrics[name.lower()].higher_is_better is not False
    return name.lower() not in _ERRORS


def _of_system(system: str, scores: Scores, *, alone: bool) -> dict[int, float | None] | None:
    """The scores of a system, by the closest match of its name; None if there are none."""
    if alone and list(scores) == [""]:
        return scores[""]
    for write in (str, lambda name: Path(name).name, lambda name: Path(name).stem):
        matching = [found for name, found in scores.items() if write(name) == write(system)]
        if len(matching) == 1:
            return matching[0]
    return None
