"""Files of segment scores of other programs, for ``compare --scores``.

A table has a column of numbers, perhaps ``segment`` (from 1; by default the rows' order) and
``system``, as ``--sentence-level -f csv`` prints it. ``.json`` of ``comet-score --to_json`` can be
read, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coverage_eval.compare.given_scores import GivenScores
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import (
    Column,
    Source,
    Text,
    check_columns,
    read_segments,
    source_name,
)
from coverage_eval.core.json_objects import check_object, parse_number, parse_object
from coverage_eval.core.text import TextTable, find_text
from coverage_eval.registry import METRICS, metric_class

Scores = Mapping[str, dict[int, float | None]]
"""System (empty if the file names none) → segment, from 1 → score."""

_ERRORS = {"ter", "wer", "cer", "metricx"}
"""Other metrics that count errors: lower is better."""


def read_given(name: str, file: Text, systems: Sequence[str], *, lower: bool) -> GivenScores:
    """Another program's scores, as a metric of some systems.

    The file names a system by its name, or by its file's name with or without folder and ending. A
    file that names no system has the scores of a single one.

    Args:
        name: The metric's name.
        file: A table of scores, or a column of it or its name, such as ``s.csv:comet``. From
            several columns, the one named ``score`` or like the metric is used.
        systems: The systems to compare.
        lower: Whether lower scores are better, even if the metric is known for the opposite.

    Raises:
        DataError: A segment occurs twice, a value is not a finite number, several columns have
            other names, a system has no scores, or segments are not numbered from 1.
    """
    text = file if isinstance(file, Column) else find_text(file)
    if isinstance(text, Column):
        scores = _of_table(text, name)
    elif Path(text).suffix == ".json":
        scores = _of_comet(text)
    else:
        scores = _of_table(Column(TextTable(text), ""), name)
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


def _of_table(text: Column, name: str) -> Scores:
    table, where = text.columns, source_name(text.columns.source)
    assert isinstance(table, TextTable)
    rows = list(table.records())
    column = text.name or _score_column(where, name, table.names(), rows)
    scores: dict[str, dict[int, float | None]] = {}
    for number, row in enumerate(rows, start=1):
        here = f"{where}: row {number}"
        check_columns(here, list(row), [column])
        cell = row[column]
        value = None if cell in {"", None} else parse_number(cell, f"{here}, column {column!r}")
        own = scores.setdefault(str(row.get("system") or ""), {})
        segment = str(row.get("segment", len(own) + 1))
        if not re.fullmatch("[1-9][0-9]{0,8}", segment):
            raise DataError(f"{here}: segment {segment!r:.60} is not a number from 1")
        if int(segment) in own:
            raise DataError(f"{here}: segment {segment} occurs twice")
        own[int(segment)] = value
    if not scores:
        raise DataError(f"{where}: has no score of segments")
    return scores


def _score_column(
    where: str, name: str, header: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> str:
    """The column named ``score`` or like the metric, or the only one of numbers."""
    for wanted in ("score", name):
        if wanted in header:
            return wanted
    others = [column for column in header if column not in {"segment", "system", "marks"}]
    found = [
        column
        for column in others
        if re.match(r"[-+.\d]", str(next((row[column] for row in rows if row.get(column)), "")))
    ]
    if len(found) == 1:
        return found[0]
    what = f"has several scores: {', '.join(found)}" if found else "has no score of segments"
    raise DataError(f"{where}: {what}; name one of its columns: {name}={where}:COLUMN")


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
