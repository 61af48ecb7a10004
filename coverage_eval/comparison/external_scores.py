"""Segment scores from another program, such as COMET, as a metric; and files of them.

A table has a column of numbers, perhaps ``segment`` (from 1; by default the rows' order) and
``system``, as ``--sentence-level -f csv`` prints it; or a column for each system, under its name.
Segments with other names, as in ``seg_id``, are in the order of the first rows.
What comet-score prints or writes ``--to_json``, BLEURT's file of a number a line, and WMT's
``seg.score`` (system and score, or last in a line system, segment and score) are read as they are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch, Request, Row, RowSample
from coverage_eval.core.errors import DataError, Finding
from coverage_eval.core.files import FileText, Text, zip_lines
from coverage_eval.core.metric import FittedMetric, Metric, Presentation, Statistics
from coverage_eval.core.score import Signature
from coverage_eval.core.tables import (
    SYSTEM,
    ColumnText,
    TextTable,
    find_systems,
    list_names,
    read_value,
)
from coverage_eval.core.texts import open_text
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.registry import METRICS, metric_class

MIN_PAIRED = 5
"""Segments with a score of every system, at least; fewer are not compared."""

MIN_UNEQUAL = 5
"""Equal outputs with unequal scores, at least, that are told of, and half of all equal ones."""

_MAX_SCORE = 1e100

ROUNDING = 1e-3
"""By how much of the range of all scores those of equal outputs may differ and count as equal: a
neural metric gives others in another batch, by 1e-4 at most."""

_LOWER = "cer|hter|metricx|perplexity|ppl|ter|wer"
_HIGHER = (
    "bertscore|bleu|bleurt|chrf|comet|cometkiwi|meteor|prism|rouge|sacrebleu|spbleu|unite|xcomet|"
    "yisi"
)
"""Families of metrics of other programs, whose names begin so: those that count errors, of which
lower is better and none is below 0, and the others. MQM is on no list: some give penalties, some
100 minus penalties, some negated ones."""


def known_direction(name: str) -> bool | None:
    """Whether higher is better by a score of this name; None if nobody knows.

    >>> known_direction("MetricX-24"), known_direction("wmt22-comet"), known_direction("ours")
    (False, None, None)
    """
    kinds = map(metric_class, METRICS)
    own = {kind.presentation.name.lower(): kind.presentation.higher_is_better for kind in kinds}
    if name.lower() in own:
        return own[name.lower()]
    for is_higher, families in ((False, _LOWER), (True, _HIGHER)):
        if re.match(rf"(?:{families})(?![a-z])", name.lower()):
            return is_higher
    return None


@dataclass(frozen=True, eq=False)
class ExternalScores(Metric):
    """The mean of segment scores of another program; intervals and tests resample these scores.

    >>> import coverage_eval as ce
    >>> comet = ExternalScores("COMET", {"a": [0.8, 0.9], "b": [0.7, 0.8]})
    >>> systems = {"a": ["a house", "a dog"], "b": ["house", "dog"]}
    >>> comparison = ce.compare(systems, ["a house", "a dog"], metrics=["rep", comet], resamples=0)
    >>> round(comparison.rows["b"]["comet"].difference, 3)
    -0.1

    Args:
        name: The metric's name.
        values: The scores of each segment by system; None for a missing score.
        higher_is_better: Whether a higher score is better; by default, what is known of the name
            (:func:`known_direction`), unless the scores are below 0 where a metric of this name
            has none, as mt-metrics-eval negates errors. Scores of which nobody knows are only
            shown.
        origin: The file that the scores come from, for messages.
    """

    name: str
    values: Mapping[str, Sequence[float | None]]
    higher_is_better: bool | None = field(default=None, kw_only=True)
    origin: str = "the given scores"

    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("sum", "scored_segments")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    factor: ClassVar[float] = 1.0  # the mean, in the scores' own unit

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.higher_is_better is None:
            known = known_direction(self.name)
            given = (score for scores in self.values.values() for score in scores)
            if known is False and any(score is not None and score < 0 for score in given):
                known = None
            object.__setattr__(self, "higher_is_better", known)

    @property
    def presentation(self) -> Presentation:  # type: ignore[override]  # others have one per class
        """The given name and direction, and what is unknown of the scores."""
        return Presentation(
            self.name,
            self.higher_is_better,
            undefined="no segment has a score",
            caveat=(
                "Another program computed these segment scores; its version and settings are "
                "unknown here. Their mean may differ from that program's own corpus score."
            ),
        )

    def check(self, sample: RowSample) -> Sequence[Finding]:
        """How many segments lack a score, and that nobody knows which scores are better."""
        fitted = self.fit(sample)
        return [
            *_missing_scores(self, fitted.values),
            *_unknown_direction(self),
            *_unequal_scores(fitted, sample),
        ]

    def fit(self, sample: RowSample) -> FittedScores:
        """Return the scores of the systems, in their order.

        A segment that lacks the score of one of them has none for the others either.

        Raises:
            DataError: A system has no scores, or several systems have too few in common.
        """
        if not sample.is_named:
            return FittedScores(self, self.values)
        for system in sample.systems:
            if system not in self.values:
                known = ", ".join(self.values)
                raise DataError(f"{self.origin}: no scores of {system}; there are: {known}")
        chosen = {system: list(self.values[system]) for system in sample.systems}
        # Means over different segments differ whatever the systems are.
        shared = [None not in scores for scores in zip(*chosen.values(), strict=False)]
        if len(chosen) > 1 and MIN_PAIRED > sum(shared) < len(shared):
            raise DataError(
                f"{self.origin}: only {sum(shared)} of {len(shared)} segments have a score of "
                f"every system; fewer than {MIN_PAIRED} are not compared"
            )
        values = {
            system: [
                *(score if both else None for score, both in zip(scores, shared, strict=False)),
                *scores[len(shared) :],
            ]
            for system, scores in chosen.items()
        }
        return FittedScores(self, values)

    def signature_for(self, *, references: int) -> Signature:  # noqa: ARG002 (unknown here)
        """The metric's name and the first 8 hexadecimal digits of the hash of the scores."""
        return _sign(self.name, self.values)


class FittedScores(FittedMetric):
    """Scores of the systems of a test set.

    Args:
        metric: The settings.
        values: The scores of each segment by system, in the order of the systems; None for a
            missing score.
    """

    def __init__(
        self, metric: ExternalScores, values: Mapping[str, Sequence[float | None]]
    ) -> None:
        self.metric: ExternalScores = metric
        self.values = values
        known = [score for scores in values.values() for score in scores if score is not None]
        self.rounding = ROUNDING * (max(known, default=0.0) - min(known, default=0.0))

    def signature_for(self, *, references: int) -> Signature:  # noqa: ARG002 (unknown here)
        """The metric's name and the first 8 hexadecimal digits of the hash of the scores."""
        return _sign(self.metric.name, self.values)

    def requests(self) -> Sequence[Request]:
        """The scores of each segment."""
        return (Request(("external scores", id(self)), self._scores_of_rows),)

    def _scores_of_rows(self, rows: Iterable[Row]) -> Iterator[tuple[float | None, ...]]:
        columns = zip_lines(
            ["the text", *(f"{self.metric.origin}, {system}" for system in self.values)],
            [rows, *(((score,) for score in scores) for scores in self.values.values())],
        )
        return (tuple(score for (score,) in scores) for _, *scores in columns)

    def count(self, batch: Batch) -> Statistics:
        """Each segment's score and 1, or two zeros; ``[systems, segments, 2]``.

        Equal outputs whose scores differ by no more than rounding have the mean of these.
        """
        scores: NDArray[Any] = np.array(batch.get(*self.requests()), dtype=np.float64).T
        for column, row in zip(scores.T, batch.rows, strict=True):
            texts = [*map(segment_text, row.hypotheses)]
            for text in {text for text in texts if texts.count(text) > 1}:
                equal = [index for index, other in enumerate(texts) if other == text]
                if np.ptp(column[equal]) <= self.rounding:
                    column[equal] = column[equal].mean()
        known = ~np.isnan(scores)
        return np.stack([np.where(known, scores, 0.0), known], axis=-1)


def _sign(name: str, values: Mapping[str, Sequence[float | None]]) -> Signature:
    scores = repr([list(of_system) for of_system in values.values()])
    return Signature.of(name, given=sha256(scores.encode()).hexdigest()[:8])


def _missing_scores(
    metric: ExternalScores, values: Mapping[str, Sequence[float | None]]
) -> list[Finding]:
    """How many segments lack a score, so that they are left out for every system."""
    segments = max(map(len, values.values()), default=0)
    scored = sum(None not in scores for scores in zip(*values.values(), strict=False))
    if scored == segments:
        return []
    of_all = " of every system" if len(values) > 1 else ""
    message = (
        f"{metric.origin}: {scored:,} of {segments:,} segments have a score{of_all}; only these "
        f"count for {metric.name}"
    )
    return [Finding(message)]


def _unequal_scores(fitted: FittedScores, sample: RowSample) -> Iterator[Finding]:
    """Systems whose equal outputs have unequal scores, as if one were a row early or late."""
    if len(fitted.values) != len(sample.systems):
        return
    scores = {name: np.array(of, dtype=np.float64) for name, of in fitted.values.items()}
    for (one, first), (two, second) in combinations(enumerate(scores), 2):
        rows = [
            line - 1
            for line, row in zip(sample.lines, sample.rows, strict=True)
            if row.hypotheses[one] == row.hypotheses[two]
        ]
        differ = {
            lag: np.abs(scores[first] - np.roll(scores[second], -lag))[rows] > fitted.rounding
            for lag in (0, -1, 1)
        }
        if differ[0].sum() < MIN_UNEQUAL or 2 * differ[0].sum() <= len(rows):
            continue
        why = "one of them has other scores, or its texts or scores are in another order"
        for lag, how in ((-1, "early"), (1, "late")):
            if 2 * differ[lag].sum() < len(rows):
                why = f"those of {second} seem to be a row {how}, or those of {first} the other way"
        yield Finding(
            f"{fitted.metric.origin}: {differ[0].sum():,} of {len(rows):,} equal outputs of "
            f"{first} and {second} have unequal scores: {why}"
        )


def _unknown_direction(metric: ExternalScores) -> list[Finding]:
    if metric.higher_is_better is not None:
        return []
    why = "nobody knows whether higher is better by a metric of this name"
    if known_direction(metric.name) is False:
        why = f"has scores below 0, which no {metric.name} has, so they seem to be negated"
    return [
        Finding(
            f"{metric.name}: {why}; it is only shown: say --higher-is-better or --lower-is-better"
        )
    ]


Scores = dict[str, dict[int, float | None]]
"""System (empty if the file names none) → segment, from 1 → score."""


def read_external_scores(
    name: str, file: Text, systems: Sequence[str], *, higher_is_better: bool | None = None
) -> ExternalScores:
    """Another program's scores, as a metric of some systems.

    The file names a system by its name, or by its file's name with or without folder and ending. A
    file that names no system has the scores of a single one.

    Args:
        name: The metric's name.
        file: A table of scores, or a column of it or its name, such as ``s.csv:comet``. Without
            a name, it is ``score`` or that of the metric.
        systems: The systems to compare.
        higher_is_better: As of :class:`ExternalScores`.

    Raises:
        DataError: A segment occurs twice, a value is not a finite number, several columns have
            other names, a system has no scores, or segments are not numbered from 1.
    """
    text = file if isinstance(file, Text) else open_text(file)
    scores: Scores | None = None
    column, table = "", None
    if isinstance(text, ColumnText):
        column, table = text.column, text.table
    elif isinstance(text, FileText):
        table = TextTable(str(text), file=text)
        scores = _read_bare(text)
    table = table or TextTable(str(text))
    scores = scores or _read_by_system(table.file, [column, "score", name, "COMET"])
    scores = scores or _read_table(table, column, name, systems)
    values: dict[str, list[float | None]] = {}
    for system in systems:
        is_unnamed = len(systems) == 1 and list(scores) == [""]
        given = "" if is_unnamed else _match(system, scores)
        if given is None:
            named = ", ".join(filter(None, scores)) or "no system"
            raise DataError(f"{text.name}: no scores of {system}; it names {named}")
        found = scores[given]
        if set(found) != set(range(1, len(found) + 1)):
            raise DataError(f"{text.name}: the segments of {system} are not 1 to {len(found)}")
        values[system] = [found[number] for number in range(1, len(found) + 1)]
    return ExternalScores(name, values, text.name, higher_is_better=higher_is_better)


_PREFIX = re.compile(r"^(?:Segment |score: )")
"""What comet-score prints before a segment's number, from 0, and before its score."""


def _read_bare(file: FileText) -> Scores | None:
    """Scores in lines without names of columns; None for a table.

    The last field is the score, the one before it the segment, and before that the system; with two
    fields the first is the system. Lines with fewer fields than the first have scores of a corpus.
    """
    if Path(file.path).suffix.lower() == ".parquet":
        return None
    first = next(filter(str.strip, file.first_lines), "")
    width = len(_fields(first))
    if not _NUMBER.fullmatch(_fields(first)[-1]):
        return None
    if width > 1 and all(map(_NUMBER.fullmatch, _fields(first))):
        raise DataError(
            f"{file.name}: its first line has no names of columns, such as those of the systems; "
            f"add it: (echo 'A,B'; cat {shlex.quote(str(file.path))}) > NEW.csv"
        )
    found: dict[str, list[tuple[str, float | None]]] = {}
    for number, line in enumerate(file.lines(), start=1):
        fields = _fields(line)
        if len(fields) != width:
            continue
        where = f"{file.name}: line {number}"
        value = None if fields[-1] in {"", "None"} else parse_number(fields[-1], where)
        system = "" if width == 1 else fields[-2 if width == 2 else -3]
        found.setdefault(system, []).append((fields[-2] if width > 2 else "", value))
    scores: Scores = {}
    for system, rows in found.items():
        of_system = scores.setdefault(system, {})
        is_from_0 = any(segment == "0" for segment, _ in rows)
        for index, (segment, value) in enumerate(rows, start=1):
            key = int(segment) + is_from_0 if segment.isdecimal() else index
            if key in of_system:
                raise DataError(f"{file.name}: segment {segment} of {system} occurs twice")
            of_system[key] = value
    return scores


def _read_by_system(file: FileText, columns: Sequence[str]) -> Scores | None:
    """Scores of ``comet-score --to_json``: an object with the segments of each system.

    Args:
        file: The file.
        columns: What the scores may be called, in any case; the first that there is counts.
    """
    value = read_value(file) if Path(file.path).suffix.lower() == ".json" else None
    if not isinstance(value, dict) or not all(map(_are_records, value.values())):
        return None
    first = {name.lower(): name for rows in value.values() for name in rows[0]}
    column = next((first[name.lower()] for name in columns if name.lower() in first), None)
    if column is None:
        return None
    return {
        system: {
            number: _score(row.get(column), f"{file.name}: {system}, row {number}")
            for number, row in enumerate(rows, start=1)
        }
        for system, rows in value.items()
    }


def _are_records(rows: object) -> bool:
    return isinstance(rows, list) and bool(rows) and all(isinstance(row, dict) for row in rows)


def _fields(line: str) -> list[str]:
    fields = line.rstrip().split("\t" if "\t" in line else ",")
    return [_PREFIX.sub("", field.strip()) for field in fields]


def _read_table(table: TextTable, column: str, name: str, systems: Sequence[str]) -> Scores:
    where, names = table.name, table.names
    if not table.rows:
        raise DataError(f"{where}: has no score of segments")
    by_name = {each.lower(): each for each in reversed(names)}
    column = column if column in names else by_name.get(column.lower(), column)
    column = column or next(
        (by_name[usual] for usual in ("score", name.lower()) if usual in by_name), ""
    )
    of_system, of_segment = by_name.get(SYSTEM, SYSTEM), by_name.get("segment", "segment")
    if not column and SYSTEM not in by_name:
        columns = [_match(system, names) for system in systems]
        if len(systems) > 1 and None not in columns:
            return {
                each: {
                    row: _score(cell, f"{where}: {at}, column {each!r}")
                    for row, (at, cell) in enumerate(table.cells(each), start=1)
                }
                for each in filter(None, columns)
            }
    if not column:
        there = list_names(names)
        raise DataError(f"{where}: name the scores: {name}={where}:COLUMN; there are: {there}")
    scores: Scores = {}
    # Segments with other names are in the order in which texts of such a table are read.
    long = None if of_segment in names else find_systems(table, of_system)
    order = {} if long is None or not long.keys else long.segments
    numbers = {row: number for number, rows in enumerate(order.values(), 1) for row in rows}
    for index, (row, (at, cell)) in enumerate(zip(table.rows, table.cells(column), strict=True)):
        if numbers and index not in numbers:
            continue  # not all systems have the segment
        here = f"{where}: {at}"
        value = _score(cell, f"{here}, column {column!r}")
        found = scores.setdefault(str(row.get(of_system) or ""), {})
        segment = str(row.get(of_segment, numbers.get(index, len(found) + 1)))
        if not re.fullmatch("[1-9][0-9]{0,8}", segment):
            raise DataError(f"{here}: segment {segment!r:.60} is not a number from 1")
        if int(segment) in found:
            raise DataError(f"{here}: segment {segment} occurs twice")
        found[int(segment)] = value
    return scores


def _score(cell: object, where: str) -> float | None:
    return None if cell in {"", None} else parse_number(cell, where)


_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
"""Python's own ``float`` also reads ``1_0``, digits of other scripts, and booleans; none of them
stands in a file on purpose."""


def parse_number(value: object, where: str) -> float:
    """A score, from a text or a number of JSON.

    Raises:
        DataError: It is something else, or not finite, or so large that sums would overflow.
    """
    is_text = isinstance(value, str) and _NUMBER.fullmatch(value)
    if is_text or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        with suppress(OverflowError):
            number = float(value)  # type: ignore[arg-type]
            if abs(number) < _MAX_SCORE:
                return number
    raise DataError(f"{where}: {value!r:.60} is not a finite number below 1e100")


def _match(system: str, names: Iterable[str]) -> str | None:
    """The name that matches that of a system best; None if none does."""
    for write in (str, lambda name: Path(name).name, lambda name: Path(name).stem):
        matching = [name for name in names if write(name) == write(system)]
        if len(matching) == 1:
            return matching[0]
    return None
