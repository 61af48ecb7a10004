"""What the commands of single scores show: corpus scores, or segments with their evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from coverage_eval.core.machine import LazyRows
from coverage_eval.core.mark import MarkKind, list_findings, plain_columns
from coverage_eval.core.metric import Score
from coverage_eval.core.report import NUMBERS, PEOPLE, ROWS, Report, ScoreCell, Table
from coverage_eval.core.result import Result


def score_report(scores: Sequence[Score]) -> Report:
    """Corpus scores, a row each; in text, one line ``signature = score``."""
    rows = []
    for score in scores:
        low, high = (score.interval.low, score.interval.high) if score.interval else (None, None)
        rows.append((score.metric, ScoreCell(score.score, low, high), score.segments))
    signatures = tuple(str(score.signature) for score in scores)
    table = Table(("metric", "score", "segments"), rows, signatures=signatures, lines=True)
    return Report((table,), {"scores": scores})


def segment_report(
    result: Result,
    *,
    worst: int | None = None,
    show_texts: bool = False,
    has_error: Sequence[bool] | None = None,
    reasons: Sequence[str] | None = None,
) -> Report:
    """Segments of one system with their scores by one metric, and with their evidence.

    Args:
        result: What was measured, with evidence.
        worst: As for :func:`segments_report`.
        show_texts: Whether people see texts with errors in brackets in place of rows.
        has_error: As for :func:`segments_report`.
        reasons: Why each segment has an error, empty for those without; a column of segments.
    """
    from coverage_eval.comparison.evidence import segment_lines

    ((name, metric),) = result.metrics.items()
    evidence = LazyRows(lambda row: row[0].columns, result.evidence(name))
    if reasons is not None:
        evidence = LazyRows(lambda own, why: {**own, "reason": why}, evidence, reasons)
    texts = None
    if show_texts:
        texts = LazyRows(
            lambda index: list(segment_lines(result, name, index)), range(result.segments)
        )
    return segments_report(
        result.score(name),
        result.segment_scores(name),
        evidence,
        worst=worst,
        has_error=has_error,
        texts=texts,
        kinds=metric.kinds,
    )


def segments_report(
    corpus: Score,
    values: Sequence[float | None],
    evidence: Sequence[Mapping[str, Any]],
    *,
    worst: int | None = None,
    has_error: Sequence[bool] | None = None,
    texts: Sequence[Sequence[str]] | None = None,
    kinds: Sequence[MarkKind] | None = None,
) -> Report:
    """Segment scores; segments count from 1, and an undefined score is empty (null in JSON).

    Args:
        corpus: The corpus score, whose signature the segments share.
        values: One score per segment, None where it is undefined.
        evidence: One mapping of further columns per segment, all with the same keys. A list of
            findings is text in tables, with words counted from 1, and objects in JSON, with
            characters from 0; a tuple is in JSON only. Each format reads it again.
        worst: How many of the worst segments to show; None for all segments.
        has_error: Which segments have an error, where lower is better; by default those that have
            evidence, or a score other than 0.
        texts: The lines that people see of each segment in place of a row.
        kinds: The kinds of the marks in ``evidence``; None if it has no marks.
    """
    shown: Sequence[int] = range(len(values))
    if worst is not None:
        shown = _worst(corpus, values, evidence, has_error)[:worst]
    hidden = {"score"} if kinds else {"score", "marks"}  # the score has a column already
    first = evidence[0] if evidence else {}
    columns = [k for k, cell in first.items() if k not in hidden and not isinstance(cell, tuple)]

    def cells(index: int) -> tuple[Any, ...]:
        row = (evidence[index][name] for name in columns)
        as_text = (list_findings(cell) if isinstance(cell, list) else cell for cell in row)
        return index + 1, values[index], *as_text

    def plain(index: int) -> dict[str, Any]:
        return {"segment": index + 1, "score": values[index], **plain_columns(evidence[index])}

    signatures = (str(corpus.signature),)
    score = corpus.to_dict()
    if kinds is not None:
        score["kinds"] = [kind.to_dict() for kind in kinds]
    score["sentences"] = LazyRows(plain, shown)
    header, rows = ("segment", "score", *columns), LazyRows(cells, shown)
    return Report(
        (
            *_tables_for_people(corpus, header, rows, texts, shown),
            Table(header, rows, formats=ROWS),
            Table(("score",), [(values[index],) for index in shown], formats=NUMBERS),
        ),
        {"scores": [score]},
        signatures=signatures,
    )


def _worst(
    corpus: Score,
    values: Sequence[float | None],
    evidence: Sequence[Mapping[str, Any]],
    has_error: Sequence[bool] | None,
) -> list[int]:
    """The segments, the worst first; where lower is better, only those with an error."""
    numbers: Sequence[int] = range(len(values))
    sign = 1
    if corpus.higher_is_better is False:
        sign = -1
        flags = has_error or [_has_error(*item) for item in zip(values, evidence, strict=True)]
        numbers = [i for i, flag in enumerate(flags) if flag]
    return sorted(numbers, key=lambda i: (values[i] is None, sign * (values[i] or 0.0)))


def _has_error(value: float | None, evidence: Mapping[str, Any]) -> bool:
    return any(isinstance(cell, list) and cell for cell in evidence.values()) or bool(value)


def _tables_for_people(
    corpus: Score,
    header: tuple[str, ...],
    rows: Sequence[tuple[Any, ...]],
    texts: Sequence[Sequence[str]] | None,
    shown: Sequence[int],
) -> list[Table]:
    """Rows, or the texts of each segment below its number and score."""
    if texts is None:
        return [Table(header, rows, signatures=(str(corpus.signature),), formats=PEOPLE)]
    if not shown:
        return [Table((), (), notes=("no segment has an error",), formats=PEOPLE)]
    tables = []
    for index, (number, value, *_) in zip(shown, rows, strict=True):
        score = "undefined" if value is None else f"{value:.2f}"
        heading = f"segment {number}  {corpus.metric} {score}"
        tables.append(Table((), (), notes=(heading, *texts[index]), formats=PEOPLE))
    return tables
