"""What the commands of single scores show: corpus scores, or segments with their evidence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

from coverage_eval.cli.input_rows import free_names, input_rows, plain_value
from coverage_eval.core.batches import Texts
from coverage_eval.core.lists import DiskList, LazyRows
from coverage_eval.core.mark import MarkKind, list_findings, plain_columns
from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    Report,
    ScoreCell,
    Table,
)
from coverage_eval.core.result import Result
from coverage_eval.core.score import Score, interval_ends


def score_report(scores: Sequence[Score]) -> Report:
    """Corpus scores, a row each; in text, one line ``signature = score``."""
    rows = []
    for score in scores:
        cell = ScoreCell(score.score, *interval_ends(score.interval))
        rows.append((score.metric, cell, score.segments))
    signatures = tuple(str(score.signature) for score in scores)
    table = Table(("metric", "score", "segments"), rows, signatures=signatures, as_score_lines=True)
    return Report((table,), {"scores": scores})


@dataclass(frozen=True, eq=False)
class SegmentTable:
    """Segments of one system.

    Attributes:
        scores: One score per segment, None where it is undefined.
        evidence: One mapping of further columns per segment, all with the same keys. A list of
            findings is text in tables, with words counted from 1, and objects in JSON, with
            characters from 0; a tuple is in JSON only. Each format reads it again.
        kinds: The kinds of the marks in ``evidence``; None if it has no marks.
        texts: The texts of one system; None if there are none, but links.
        lines: A function that gives the texts of a segment with errors in brackets, by its index.
        figure: What the score of a segment is called, if not as the corpus score is.
    """

    scores: Sequence[float | None]
    evidence: Sequence[Mapping[str, Any]]
    kinds: Sequence[MarkKind] | None = None
    texts: Texts | None = None
    lines: Callable[[int], Sequence[str]] | None = None
    figure: str = ""

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns of evidence in tables."""
        hidden = {"score"} if self.kinds else {"score", "marks"}  # the score has a column already
        first = self.evidence[0] if self.evidence else {}
        shown = [name for name in first if name not in hidden]
        return [name for name in shown if not isinstance(first[name], tuple)]

    def cells(self, index: int) -> tuple[Any, ...]:
        """A segment's row in tables: its number from 1, score and evidence."""
        evidence = self.evidence[index]
        row: list[Any] = [index + 1, self.scores[index]]
        for name in self.columns:
            cell = evidence[name]
            row.append(list_findings(cell) if isinstance(cell, list) else cell)
        return tuple(row)

    def explained(self, index: int) -> dict[str, Any]:
        """A segment in JSON: its number from 1, score and evidence."""
        named = {"segment": index + 1, "score": self.scores[index]}
        return named | plain_columns(self.evidence[index])

    def with_input_row(self, index: int) -> dict[str, Any]:
        """A segment in JSON Lines: as in JSON, then its texts, or its row in the user's table."""
        named = self.explained(index)
        if self.texts is not None:
            for name, value in self._input_rows[index].items():
                named[self._free_names[name]] = plain_value(value)
        return named

    @cached_property
    def _input_rows(self) -> Sequence[dict[str, Any]]:
        """The texts or the user's rows, read when they are first asked for."""
        assert self.texts is not None
        return DiskList(input_rows(self.texts))

    @cached_property
    def _free_names(self) -> dict[str, str]:
        """The name of each of the user's columns beside ours."""
        ours = ["segment", "score", *self.evidence[0]]
        return free_names(dict.fromkeys(chain.from_iterable(self._input_rows)), ours)


def segment_table(result: Result) -> SegmentTable:
    """The segments of one system with their scores by one metric, and with their evidence.

    Args:
        result: The result of an evaluation that kept the texts.
    """
    from coverage_eval.comparison.evidence import segment_lines

    ((name, metric),) = result.metrics.items()
    return SegmentTable(
        result.segment_scores(name),
        LazyRows(lambda systems: systems[0].columns, result.explanations(name)),
        metric.presentation.kinds,
        result.texts,
        lambda index: list(segment_lines(result, name, index)),
        metric.presentation.segment_unit,
    )


def segment_report(
    corpus: Score,
    segments: SegmentTable,
    *,
    worst: int | None = None,
    has_error: Sequence[bool] | None = None,
    show_texts: bool = False,
    digits: int = 2,
) -> Report:
    """Segment scores; segments count from 1, and an undefined score is empty (null in JSON).

    Args:
        corpus: The corpus score, whose signature the segments share.
        segments: The segments.
        worst: How many of the worst segments to show; None for all segments.
        has_error: Which segments have an error, where lower is better; by default those that have
            evidence, or a score other than 0.
        show_texts: Whether people see the texts of each segment in place of a row.
        digits: Decimals of the score above these texts.
    """
    shown: Sequence[int] = range(len(segments.scores))
    if worst is not None:
        shown = _worst(corpus, segments, has_error)[:worst]
    header, rows = ("segment", "score", *segments.columns), LazyRows(segments.cells, shown)
    records = Table(
        header, rows, formats=ROW_FORMATS, objects=LazyRows(segments.with_input_row, shown)
    )
    scores = Table(("score",), [(segments.scores[i],) for i in shown], formats=NUMBER_FORMATS)
    signatures = (str(corpus.signature),)
    for_people = [Table(header, rows, signatures=signatures, formats=HUMAN_FORMATS)]
    if show_texts and segments.lines is not None:
        figure = segments.figure or corpus.metric
        for_people = _texts_for_people(figure, segments, shown, digits)
    score = corpus.to_dict()
    if segments.kinds is not None:
        score["kinds"] = [kind.to_dict() for kind in segments.kinds]
    score["sentences"] = LazyRows(segments.explained, shown)
    return Report((*for_people, records, scores), {"scores": [score]}, signatures=signatures)


def _worst(corpus: Score, segments: SegmentTable, has_error: Sequence[bool] | None) -> list[int]:
    """The segments, the worst first; where lower is better, only those with an error."""
    scores = segments.scores
    if corpus.higher_is_better is not False:
        return sorted(range(len(scores)), key=lambda i: (scores[i] is None, scores[i] or 0.0))
    if has_error is None:
        has_error = [
            bool(score) or any(isinstance(cell, list) and cell for cell in evidence.values())
            for score, evidence in zip(scores, segments.evidence, strict=True)
        ]
    numbers = [i for i, flag in enumerate(has_error) if flag]
    return sorted(numbers, key=lambda i: (scores[i] is None, -(scores[i] or 0.0)))


def _texts_for_people(
    metric: str, segments: SegmentTable, shown: Sequence[int], digits: int
) -> list[Table]:
    """The texts of each segment below its number and score."""
    assert segments.lines is not None
    tables = []
    for index in shown:
        value = segments.scores[index]
        score = "undefined" if value is None else f"{value:.{digits}f}"
        notes = (f"segment {index + 1}  {metric} {score}", *segments.lines(index))
        tables.append(Table((), (), notes=notes, formats=HUMAN_FORMATS))
    return tables or [Table((), (), notes=("no segment has an error",), formats=HUMAN_FORMATS)]
