"""A comparison as an HTML report: sentences, tables, and the data of the browser of segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from coverage_eval.comparison.breakdowns import (
    Options,
    available_breakdowns,
    break_down,
    length_classes,
)
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.evidence import find_metric
from coverage_eval.comparison.presentation import (
    comparison_as_dict,
    comparison_notes,
    plain_verdict,
    present_comparison,
)
from coverage_eval.report.page import Document, Report, ReportBreakdown, Topic, render_report
from coverage_eval.report.segments import (
    Record,
    ReportOptions,
    agreement,
    check_labels,
    segment_records,
)
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import Table, tables_as_dicts
from coverage_eval.version import __version__

MOST_OUTPUTS = 1_000_000
"""Outputs of segments that a report holds; a browser is slow to open more."""

BLOCK = 100
"""Segments in a block of data: what the page unpacks to show one of them."""

TOP = 10
"""Words or n-grams in each list."""


def shown_segments(comparison: Comparison) -> int:
    """How many segments, from the first on, the browser of a report has."""
    return min(comparison.segments, MOST_OUTPUTS // len(comparison.rows))


def make_document(comparison: Comparison, options: ReportOptions) -> Document:
    """The report of a comparison.

    Raises:
        ValueError: There are only statistics, or maps or labels are of an unknown system or of
            other segments.
    """
    result = comparison.measured
    check_labels(comparison, options.labels)
    _check_sizes(comparison, "attention", options.attention)
    _check_sizes(comparison, "suspects", options.suspects)
    names = [name for name in available_breakdowns(result) if name not in _NOT_SHOWN]
    names.sort(key=lambda name: name not in _LISTS)  # words say more than classes of words
    tables = break_down(result, names, Options(TOP, options.frequencies, comparison.baseline))
    breakdowns = [_linked(table) for table in tables if table.rows]
    return Document(
        title=options.title or f"Coverage errors of {', '.join(comparison.rows)}",
        verdict=plain_verdict(comparison),
        scores=present_comparison(comparison).tables[0],
        breakdowns=breakdowns,
        agreement=agreement(comparison, options.labels) if options.labels else None,
        topics=list(_topics(comparison, options)),
        notice=_notice(comparison),
        blocks=_blocks(comparison, options, breakdowns),
    )


def _check_sizes(comparison: Comparison, what: str, items: Mapping[str, Sequence[Any]]) -> None:
    """Refuse what is of other systems, or of more or fewer segments."""
    for system, found in items.items():
        if system not in comparison.rows:
            raise ValueError(f"{what} of {system!r}, which is none of the systems")
        if len(found) != comparison.segments:
            raise ValueError(
                f"{what} of {system}: of {len(found)} segments, and there are {comparison.segments}"
            )


def _notice(comparison: Comparison) -> str:
    shown = shown_segments(comparison)
    if shown == comparison.segments:
        return ""
    return (
        f"The browser of segments has the first {shown:,} of {comparison.segments:,} segments: a "
        f"report holds {MOST_OUTPUTS:,} outputs. All figures above are of the whole text. For the "
        "other segments, make reports of fewer systems or of parts of the text."
    )


# Column of each breakdown that its charts show; where there is none, its figures are the scores.
_MEASURES = {
    "frequency": "% dropped",
    "source-position": "% dropped",
    "output-position": "part of REP",
}
_NOT_SHOWN = {"differences", "word-frequency", "telling-ngrams"}
"""Breakdowns whose rows the browser of segments cannot look up."""
_LISTS = {"dropped-words", "dropped-by-one", "repeated-ngrams"}


def _linked(table: Table) -> ReportBreakdown:
    """A breakdown whose rows lead to their segments."""
    measures: tuple[str, ...] = ()
    if table.name in _MEASURES:
        measures = (_MEASURES[table.name],)
    elif table.name not in _LISTS:
        measures = table.header[3:]
    entry = next(name for name in table.header if name not in {"system", "but not"})
    rows = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    return ReportBreakdown(table, entry, [_view(table.name, entry, row) for row in rows], measures)


def _view(breakdown: str, entry: str, row: Mapping[str, Any]) -> str:
    """The page's fragment for the segments that a row counts; empty where it counts none."""
    if 0 in {row.get("dropped"), row.get("repetitions")}:
        return ""
    view = {"found": breakdown, "entry": row[entry], "of": row["system"]}
    if "but not" in row:
        view["not"] = row["but not"]
    return urlencode(view)


_SUSPECTS = (
    "Spans of the source that the output covers less than the reference and other systems do, or "
    "than is normal, under the model's probabilities; their strength sums what each word loses. A "
    "free translation can look so, too, and what all systems leave out is not found by them."
)


def _topics(comparison: Comparison, options: ReportOptions) -> Iterator[Topic]:
    """How it was measured."""
    for name, metric in comparison.metrics.items():
        score = comparison.rows[comparison.baseline][name].score
        yield Topic(metric.name, [metric.limits] if metric.limits else [], [str(score.signature)])
    if options.finder:
        yield Topic("Suspected omissions", [_SUSPECTS], [options.finder])
    yield Topic("Intervals and tests", comparison_notes(comparison))
    yield Topic("Empty segments", [_empty_segments(comparison)])
    if options.model:
        shares = [f"{name.replace('_', ' ')}: {100 * share:.1f} %" for name, share in
                  options.model.items()]  # fmt: skip
        yield Topic("Words that the aligner's model does not know", shares)
    yield Topic("Warnings", list(options.warnings) or ["There were none."])
    command = [options.command] if options.command else []
    yield Topic("Made by", [f"coverage-eval {__version__}"], command)


def _empty_segments(comparison: Comparison) -> str:
    result = comparison.measured
    rows, tokens = result.rows, result.tokens
    counts = {}
    if result.references:
        counts["the reference"] = sum(not any(map(tokens, row.references)) for row in rows)
    if result.has_source:
        counts["the source"] = sum(not result.source_tokens(row.source or "") for row in rows)
    for index, system in enumerate(result.systems):
        counts[system] = sum(not tokens(row.hypotheses[index]) for row in rows)
    listed = ", ".join(f"{count:,} in {name}" for name, count in counts.items() if count)
    return f"Scored like all others: {listed}." if listed else "There are none."


def _blocks(
    comparison: Comparison, options: ReportOptions, breakdowns: Sequence[ReportBreakdown]
) -> Iterator[tuple[str, Any]]:
    """The data of the page by name: tables, segments, and columns that filters and sorting need."""
    yield "comparison", comparison_as_dict(comparison)
    yield "scores.csv", render(present_comparison(comparison), "csv")
    tables = tables_as_dicts([item.table for item in breakdowns])
    measures = [{"measures": list(item.measures)} for item in breakdowns]
    yield "breakdowns", [one | table for one, table in zip(measures, tables, strict=True)]
    yield "contents", _contents(comparison, options)
    yield from _segment_blocks(comparison, options)
    yield from _segment_columns(comparison)


def _contents(comparison: Comparison, options: ReportOptions) -> dict[str, Any]:
    return {
        "systems": list(comparison.rows),
        "baseline": comparison.baseline,
        "metrics": [
            {"name": metric.name, "higherIsBetter": metric.higher_is_better}
            for metric in comparison.metrics.values()
        ],
        "kinds": [kind for kind, there in _kinds(comparison, options).items() if there],
        "segments": shown_segments(comparison),
        "block": BLOCK,
    }


def _segment_blocks(comparison: Comparison, options: ReportOptions) -> Iterator[tuple[str, Any]]:
    """The segments that are shown, some in a block, and how many marks of each kind they have."""
    shown, systems = shown_segments(comparison), list(comparison.rows)
    counts: Counter[tuple[str, str, int]] = Counter()
    records = enumerate(islice(segment_records(comparison, options), shown))
    for number, numbered in enumerate(iter(lambda: list(islice(records, BLOCK)), [])):
        for index, record in numbered:
            for system, output in zip(systems, record["outputs"], strict=True):
                for kind in _kinds_of(output):
                    counts[kind, system, index] += 1
        yield f"segments/{number}", [record for _, record in numbered]
    for kind, system in dict.fromkeys(key[:2] for key in counts):
        yield f"count/{kind}/{system}", [counts[kind, system, i] for i in range(shown)]


def _segment_columns(comparison: Comparison) -> Iterator[tuple[str, Any]]:
    """Scores and classes of length of the segments that are shown."""
    result, shown = comparison.measured, shown_segments(comparison)
    for name, metric in comparison.metrics.items():
        for system in comparison.rows:
            scores = result.segment_scores(name, system)[:shown]
            yield f"score/{metric.name}/{system}", scores
    for side in ("source", "reference"):
        if result.references if side == "reference" else result.has_source:
            yield f"{side}-length", length_classes(result, side)[:shown]


def _kinds(comparison: Comparison, options: ReportOptions) -> dict[str, bool]:
    """The kinds of marks, and whether this report can have them."""
    return {
        "repeated": find_metric(comparison.measured, "repetitions") is not None,
        "dropped": find_metric(comparison.measured, "dropped") is not None,
        "lost": find_metric(comparison.measured, "lost") is not None,
        "suspected": bool(options.suspects),
        "label": bool(options.labels),
        "missed": bool(options.labels),
    }


def _kinds_of(output: Record) -> Iterator[str]:
    """The kind of each mark and label; a label that no mark touches is also missed."""
    for mark in output["marks"]:
        yield mark["kind"]
    for label in output.get("labels", ()):
        yield "label"
        if not label["marked"]:
            yield "missed"


def make_report(comparison: Comparison, **settings: Any) -> Report:
    """The report of a comparison.

    Args:
        comparison: The systems.
        **settings: The fields of :class:`ReportOptions`.

    Raises:
        ValueError: As :func:`make_document`.
    """
    return render_report(make_document(comparison, ReportOptions(**settings)))
