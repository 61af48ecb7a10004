"""Scores of segments, as the commands of this package print them, or as any table has them.

CSV: a column ``segment`` (from 1), perhaps ``system``, and columns of numbers; what prints it is
``--sentence-level -f csv``. JSON of ``--sentence-level -f json`` also has the source words that a
score points at, and JSON Lines of ``compare --details`` have every system.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coverage_eval.errors import DataError
from coverage_eval.metrics.profile.figures import FIGURES
from coverage_eval.metrics.registry import METRICS, metric_class
from coverage_eval.text.corpus import Source, read_segments, source_name
from coverage_eval.text.json_text import check_object, parse_object, read_objects

__all__ = ["Key", "ScoreColumn", "pointed_words", "read_scores"]

Key = tuple[str, int]
"""System, or nothing, and number of a segment from 1."""


_NUMBER = re.compile("[0-9]{1,9}")

_OTHER_FORM = (AttributeError, KeyError, TypeError, ValueError, OverflowError)
"""What goes wrong where evidence has another form."""

_OF_SOURCE_WORDS = ("dropped", "lost", "spans")
"""Evidence that names source words: of DROP, soft DROP and omissions."""


@dataclass(frozen=True)
class ScoreColumn:
    """One score of every segment.

    Attributes:
        name: What tables call it.
        origin: The file it is from, for messages.
        values: By system and segment; None where it is undefined.
        higher_is_better: Whether high values speak against an error.
        probability: Whether it is the probability of an error.
        words: By system and segment, the source positions from 0 that it points at, with their
            strength; None if it points at none.
    """

    name: str
    origin: str
    values: Mapping[Key, float | None]
    higher_is_better: bool = False
    probability: bool = False
    words: Mapping[Key, Mapping[int, float]] | None = None

    @property
    def by_system(self) -> bool:
        """Whether the file names systems."""
        return any(system for system, _ in self.values)


def read_scores(source: Source, name: str | None = None) -> list[ScoreColumn]:
    """Read the scores of a file.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked).
        name: What its column ``score`` is called, and stands before the others' names; by default
            the file's own, and the others keep theirs.

    Raises:
        DataError: No column of segments, a segment twice, a number that is none or not finite.
    """
    first = next(read_segments(source), "")
    read = _json_columns if first.startswith("{") else _csv_columns
    if first.startswith('{"kind"'):
        read = _detail_columns
    label = name or Path(source).name.removesuffix(".gz").rpartition(".")[0] or str(source)
    columns = list(read(source, label, "" if name is None else f"{name}."))
    if not columns:
        raise DataError(f"{source_name(source)}: has no score of segments")
    return columns


def _finite(source: Source, place: str, value: Any) -> float | None:
    """A cell as a number; None for an empty one."""
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{source_name(source)}: {place}: {value!r:.60} is not a finite number")
    return number


def _segment(source: Source, place: str, value: Any, system: Any, seen: Mapping[Key, Any]) -> Key:
    text = str(value)
    if not (_NUMBER.fullmatch(text) and int(text) >= 1):
        said = f"segment {value!r:.60} is no number from 1"
        raise DataError(f"{source_name(source)}: {place}: {said}")
    key = str(system or ""), int(text)
    if key in seen:
        said = f"segment {text} is there twice"
        raise DataError(f"{source_name(source)}: {place}: {said}")
    return key


def _csv_columns(source: Source, label: str, prefix: str) -> Iterator[ScoreColumn]:
    lines = [f"{line}\n" for line in read_segments(source)]
    tabs = bool(lines) and "\t" in lines[0]
    reader = csv.DictReader(lines, delimiter="\t" if tabs else ",", strict=True)
    rows: dict[Key, tuple[str, Mapping[str, Any]]] = {}
    try:
        if "segment" not in (reader.fieldnames or ()):
            raise DataError(
                f"{source_name(source)}: line 1: no column 'segment'; print scores with "
                "--sentence-level -f csv, or number the segments from 1"
            )
        for row in reader:
            place = f"line {reader.line_num}"
            if None in row or None in row.values():
                raise DataError(f"{source_name(source)}: {place}: not as many fields as line 1")
            rows[_segment(source, place, row["segment"], row.get("system"), rows)] = place, row
    except csv.Error as error:
        raise DataError(f"{source_name(source)}: line {reader.reader.line_num}: {error}") from error
    for column in _numeric(reader.fieldnames or (), [row for _, row in rows.values()]):
        cells = rows.items()
        values = {
            key: _finite(source, f"{place}, column {column!r}", row[column])
            for key, (place, row) in cells
        }
        yield _column(source, label, prefix, column, values)


def _numeric(header: Sequence[str], rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Columns of scores: ``score``, and those that begin with a number and are no evidence."""
    evidence = {metric_class(name).evidence_name for name in METRICS} | {*_OF_SOURCE_WORDS}
    for column in header:
        if column in {"segment", "system", *evidence}:
            continue
        cells = (row[column] for row in rows if row[column])
        if column == "score" or _is_number(next(cells, "")):
            yield column


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _column(
    source: Source,
    label: str,
    prefix: str,
    column: str,
    values: Mapping[Key, float | None],
    *,
    higher_is_better: bool | None = None,
    words: Mapping[Key, Mapping[int, float]] | None = None,
) -> ScoreColumn:
    name = label if column == "score" else prefix + column
    better = _better(label if column == "score" else column)
    known = [value for value in values.values() if value is not None]
    probability = column.lower().startswith(("p(", "prob"))
    if probability and not all(0 <= value <= 1 for value in known):
        raise DataError(f"{source_name(source)}: column {column!r} is not a probability")
    if not known:
        raise DataError(f"{source_name(source)}: column {column!r} has no number")
    higher = better if higher_is_better is None else higher_is_better
    return ScoreColumn(name, str(source), values, higher, probability, words)


def _better(name: str) -> bool:
    """Whether a metric or figure of this name is better when higher; of others, lower is."""
    figures = {figure.key.lower(): figure.better for figure in FIGURES}
    metrics = {metric_class(key).name.lower(): metric_class(key) for key in METRICS}
    if name.lower() in metrics:
        return metrics[name.lower()].higher_is_better
    # The figure without a better direction is the length ratio, which omissions lower.
    return figures.get(name.lower(), "↓") != "↓"


def _json_columns(source: Source, label: str, prefix: str) -> Iterator[ScoreColumn]:
    text = "\n".join(read_segments(source))
    scores = parse_object(text, f"{source_name(source)}: the file").get("scores")
    listed = scores if isinstance(scores, list) else []
    with_segments = [s for s in listed if isinstance(s, dict) and s.get("sentences")]
    if not with_segments:
        raise DataError(
            f"{source_name(source)}: has no scores of segments; print them with --sentence-level"
        )
    for score in with_segments:
        rows: dict[Key, Mapping[str, Any]] = {}
        sentences = score["sentences"]
        for number, sentence in enumerate(sentences if isinstance(sentences, list) else [None], 1):
            place = f"sentence {number}"
            check_object(sentence, f"{source_name(source)}: {place}")
            key = _segment(source, place, sentence.get("segment"), score.get("system"), rows)
            rows[key] = sentence
        if score.get("metric") == "Additions":  # their spans are of the target
            rows = {key: {**row, "spans": None} for key, row in rows.items()}
        yield from _fields(source, label, prefix, rows, score.get("higher_is_better"))


def _fields(
    source: Source,
    label: str,
    prefix: str,
    rows: Mapping[Key, Mapping[str, Any]],
    higher_is_better: bool | None,
) -> Iterator[ScoreColumn]:
    """The numbers of sentences by name; the words go with the score."""
    first = next(iter(rows.values()))
    for name in first:
        is_score = name == "score"
        numbers = isinstance(first[name], (int, float)) and name != "segment"
        if not (is_score or numbers):
            continue
        yield _column(
            source, label, prefix, name,
            {k: _finite(source, f"segment {k[1]}", row.get(name)) for k, row in rows.items()},
            higher_is_better=higher_is_better if is_score else None,
            words=_words(source, rows) if is_score else None,
        )  # fmt: skip


def _words(
    source: Source, rows: Mapping[Key, Mapping[str, Any]]
) -> dict[Key, Mapping[int, float]] | None:
    """The source words that the evidence of each segment names; None if it names none."""
    found = {}
    for key, row in rows.items():
        try:
            found[key] = pointed_words(row)
        except _OTHER_FORM as error:  # noqa: PERF203 (names the segment)
            said = f"segment {key[1]}: no evidence of source words: {error}"
            raise DataError(f"{source_name(source)}: {said}") from None
    known = {key: words for key, words in found.items() if words is not None}
    return known if len(known) == len(found) else None


def pointed_words(evidence: Mapping[str, Any]) -> Mapping[int, float] | None:
    """The source words that evidence names, by position from 0, with their strength.

    Args:
        evidence: Of one segment, as JSON has it.

    Returns:
        None if it is not evidence of source words, such as repetitions are not.

    Raises:
        AttributeError, KeyError, TypeError, ValueError, OverflowError: Evidence of another form.
    """
    for name in _OF_SOURCE_WORDS:
        if isinstance(evidence.get(name), list):
            return dict(_strengths(evidence[name]))
    return None


def _strengths(items: Iterable[Any]) -> Iterator[tuple[int, float]]:
    """The positions that pieces of evidence name: a word's, or all of a span."""
    for item in items:
        strength = float(item.get("strength", item.get("loss", 1.0)))
        start = item["start"] if "start" in item else item["position"]
        positions = range(start, item.get("end", start + 1))
        words = item.get("words")  # as many, so that a few letters cannot name any number of them
        if len(positions) != (1 if words is None else len(words)) or not math.isfinite(strength):
            raise ValueError(f"a span from {start} of other words")
        for position in positions:
            yield position, strength


def _detail_columns(source: Source, label: str, prefix: str) -> Iterator[ScoreColumn]:
    del label  # each metric has its name
    by_metric: dict[str, dict[Key, Mapping[str, Any]]] = {}
    for number, (where, record) in enumerate(read_objects(source), start=1):
        for name, cell in check_object(record.get("metrics", {}), f"{where}: 'metrics'").items():
            check_object(cell, f"{where}: {name!r:.60}")
            rows = by_metric.setdefault(name, {})
            segment, system = record.get("segment"), record.get("system")
            key = _segment(source, f"line {number}", segment, system, rows)
            rows[key] = cell
    for name, rows in by_metric.items():
        yield from _fields(source, prefix + name, prefix, rows, None)
