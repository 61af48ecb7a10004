"""A comparison as an HTML report: sentences, tables, and the data of the browser of segments."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any
from urllib.parse import urlencode

import numpy as np

from coverage_eval.comparison.breakdowns import (
    Options,
    available_breakdowns,
    break_down,
    length_classes,
    segment_scores,
)
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.comparison.evidence import find_metric
from coverage_eval.comparison.presentation import (
    comparison_as_dict,
    comparison_notes,
    error_share,
    find_differences,
    present_comparison,
    share_in_words,
)
from coverage_eval.report.page import (
    CardSegment,
    Document,
    MarkedWords,
    Report,
    ReportBreakdown,
    SystemCard,
    Topic,
    render_report,
)
from coverage_eval.report.segments import (
    Record,
    ReportOptions,
    agreement,
    check_labels,
    segment_records,
)
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import ScoreCell, Table, format_figure, tables_as_dicts
from coverage_eval.version import __version__

MOST_OUTPUTS = 1_000_000
"""The most outputs of segments in a report; with more, browsers open it too slowly."""

BLOCK = 100
"""Segments in a block of data; the page unpacks a whole block to show one."""

TOP = 10
"""Words or n-grams in each list."""

WORST = 3
"""Worst segments on each system's card."""

MOSTLY = 0.5
"""Coverage that a source word must lose to be marked on a card."""

EXCERPT = 40
"""Words of a text on a card."""


def shown_segments(comparison: Comparison) -> int:
    """How many segments, from the first on, the report's browser of segments shows."""
    return min(comparison.segments, MOST_OUTPUTS // len(comparison.rows))


def make_document(comparison: Comparison, options: ReportOptions) -> Document:
    """The report of a comparison.

    Raises:
        ValueError: There are only statistics, or maps or labels belong to an unknown system or to
            other segments.
    """
    result = comparison.measured
    check_labels(comparison, options.labels)
    _check_sizes(comparison, "attention", options.attention)
    _check_sizes(comparison, "suspects", options.suspects)
    available = [name for name in available_breakdowns(result) if name != "differences"]
    # All words are asked for, because punctuation is listed apart.
    most = result.segments * 1_000_000
    names = [name for name in available if name != _TELLING]
    tables = break_down(result, names, Options(most, options.frequencies, comparison.baseline))
    parts = (part for table in tables for part in _words_and_punctuation(table))
    telling = [name for name in available if name == _TELLING and comparison.others]
    best = break_down(result, telling, Options(TOP, baseline=comparison.baseline))
    breakdowns = [_linked(table) for table in (*parts, *best) if table.rows]
    # Lists of words, then of punctuation, then charts.
    breakdowns.sort(key=lambda item: (item.wide or bool(item.measures), item.folded))
    scores = present_comparison(comparison).tables[0]
    return Document(
        title=options.title or f"Coverage errors of {', '.join(comparison.rows)}",
        verdict=list(_verdict(comparison)),
        cards=list(_cards(comparison, options, scores)),
        scores=scores,
        breakdowns=breakdowns,
        agreement=agreement(comparison, options.labels) if options.labels else None,
        topics=list(_topics(comparison, options)),
        notice=_notice(comparison),
        blocks=_blocks(comparison, options, breakdowns),
    )


_SIZES = {
    "real": "Real differences",
    "untested": "Differences, not tested",
    "small": "Significant, but smaller than one in 200",
    "none": "Not significant",
}


def _verdict(comparison: Comparison) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """The sentences under a heading for each size of difference."""
    found = find_differences(comparison)
    for size, heading in _SIZES.items():
        sentences = [(item.system, item.text) for item in found if item.size == size]
        if sentences:
            yield (heading if comparison.others else "Scores"), size, sentences


def _shares(comparison: Comparison, system: str) -> dict[str, float]:
    """A system's share of errors by each metric that has one."""
    shares = {
        name: error_share(comparison, name, system)
        for name, metric in comparison.metrics.items()
        if not metric.higher_is_better
    }
    return {name: share for name, share in shares.items() if share is not None}


def _worst(comparison: Comparison) -> tuple[str, str]:
    """The metric and the system with the largest share of errors; the browser opens there."""
    shares = {
        (share, name, system)
        for system in comparison.rows
        for name, share in _shares(comparison, system).items()
    }
    if shares:
        _, name, system = max(shares)
    else:
        name, metric = next(iter(comparison.metrics.items()))
        choose = min if metric.higher_is_better else max
        system = choose(comparison.rows, key=lambda who: comparison.rows[who][name].score.score)
    return comparison.metrics[name].name, system


def _cards(comparison: Comparison, options: ReportOptions, scores: Table) -> Iterator[SystemCard]:
    """Each system with its figures and its worst segments."""
    systems, shown = list(comparison.rows), shown_segments(comparison)
    worst = {system: list(_worst_segments(comparison, system, shown)) for system in systems}
    wanted = sorted({index for found in worst.values() for index, _, _ in found})
    records = dict(zip(wanted, segment_records(comparison, options, set(wanted)), strict=True))
    for number, (system, row) in enumerate(zip(systems, scores.rows, strict=True)):
        figures = [
            (metric.name, cell, share_in_words(comparison, name, system) or "")
            for (name, metric), cell in zip(comparison.metrics.items(), row[1:], strict=True)
            if isinstance(cell, ScoreCell)
        ]
        segments = [
            _card_segment(comparison, records[index], number, index, name, score)
            for index, name, score in worst[system]
        ]
        yield SystemCard(system, system == comparison.baseline, figures, segments)


def _worst_segments(
    comparison: Comparison, system: str, shown: int
) -> Iterator[tuple[int, str, float]]:
    """Index, metric and score of a system's worst segments, beginning with its worst metric."""
    shares = _shares(comparison, system)
    names = sorted(shares, key=lambda name: -shares[name]) or list(comparison.metrics)[:1]
    seen: set[int] = set()
    for name in names:
        metric = comparison.metrics[name]
        scores = segment_scores(comparison.measured, name, system)[:shown]
        order = np.argsort(scores if metric.higher_is_better else -scores, kind="stable")
        for index in order.tolist():  # NaN comes last
            if len(seen) == WORST or not (metric.higher_is_better or scores[index] > 0):
                break
            if index not in seen and not np.isnan(scores[index]):
                seen.add(index)
                yield index, name, float(scores[index])


def _card_segment(
    comparison: Comparison, record: Record, number: int, index: int, name: str, score: float
) -> CardSegment:
    output, metric = record["outputs"][number], comparison.metrics[name]
    marked: dict[str, dict[int, str]] = {"source": {}, "output": {}}
    for mark in output["marks"]:
        if mark["kind"] == "repeated":
            marked["output"] |= dict.fromkeys(range(mark["start"], mark["end"]), "repeated")
        elif mark["kind"] == "dropped":
            marked["source"][mark["position"]] = "dropped"
        elif mark["kind"] == "suspected":
            for position in range(mark["start"], mark["end"]):
                marked["source"].setdefault(position, "suspected")
        elif mark["kind"] == "lost" and mark["amount"] >= MOSTLY:
            marked["source"].setdefault(mark["position"], "lost")
    view = {
        "sort": metric.name,
        "whose": list(comparison.rows)[number],
        "descending": "" if metric.higher_is_better else "yes",
        "segment": index + 1,
    }
    return CardSegment(
        index + 1,
        urlencode(view),
        f"{metric.name} {format_figure(score)}",
        _excerpt(record["source"] or [], marked["source"]),
        _excerpt(output["words"], marked["output"]),
    )


def _excerpt(words: Sequence[str], marks: Mapping[int, str]) -> MarkedWords:
    """The words around the first mark, each with its kind of mark."""
    first = min(marks, default=0)
    start = max(0, min(first - EXCERPT // 4, len(words) - EXCERPT))
    end = start + EXCERPT
    shown = [(word, marks.get(start + i, "")) for i, word in enumerate(words[start:end])]
    return [*([("…", "")] if start else []), *shown, *([("…", "")] if end < len(words) else [])]


def _digest(comparison: Comparison) -> str:
    """Identifies the texts, so that a web browser keeps labels for each report."""
    digest = hashlib.sha256(repr(list(comparison.rows)).encode())
    for row in comparison.measured.rows:
        texts = (row.source, row.references, row.hypotheses)
        digest.update(repr(texts).encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


def _check_sizes(comparison: Comparison, what: str, items: Mapping[str, Sequence[Any]]) -> None:
    """Raise for unknown systems, or another number of segments."""
    for system, found in items.items():
        if system not in comparison.rows:
            raise ValueError(f"{what} of {system!r}, which is not one of the systems")
        if len(found) != comparison.segments:
            raise ValueError(
                f"{what} of {system}: {len(found)} segments, but there are {comparison.segments}"
            )


def _notice(comparison: Comparison) -> str:
    shown = shown_segments(comparison)
    if shown == comparison.segments:
        return ""
    return (
        f"Only the first {shown:,} of {comparison.segments:,} segments can be read here, because "
        f"a report holds {MOST_OUTPUTS:,} outputs. All figures above are of the whole text. To "
        "read the other segments, make reports of fewer systems or of parts of the text."
    )


# The column that a breakdown's chart shows; charts of other breakdowns show the scores.
_MEASURES = {
    "frequency": "% dropped",
    "source-position": "% dropped",
    "output-position": "part of REP",
    "word-frequency": "F1",
}
_TELLING = "telling-ngrams"
_LISTS = {"dropped-words", "dropped-by-one", "repeated-ngrams"}


def _words_and_punctuation(table: Table) -> Iterator[Table]:
    """Split a list of words: the commonest words, and the commonest entries with punctuation."""
    if table.name not in _LISTS:
        yield table
        return
    entry = next(name for name in table.header if name not in {"system", "but not"})
    column = table.header.index(entry)
    rows: dict[bool, list[tuple[Any, ...]]] = {False: [], True: []}
    counts: Counter[tuple[Any, ...]] = Counter()
    for row in table.rows:
        punctuation = any(not any(map(str.isalnum, word)) for word in str(row[column]).split())
        key = (punctuation, *row[:column])
        counts[key] += 1
        if counts[key] <= TOP:
            rows[punctuation].append(row)
    yield replace(table, rows=rows[False])
    title = f"{table.title}: punctuation"
    yield replace(table, rows=rows[True], title=title, name=f"{table.name}{_PUNCTUATION}")


_PUNCTUATION = "-punctuation"
"""Ending of the name of a list of punctuation."""


def _linked(table: Table) -> ReportBreakdown:
    """A breakdown whose rows lead to their segments."""
    measures: tuple[str, ...] = ()
    if table.name in _MEASURES:
        measures = (_MEASURES[table.name],)
    elif table.name.removesuffix(_PUNCTUATION) not in {*_LISTS, _TELLING}:
        measures = table.header[3:]
    entry = next(name for name in table.header if name not in {"system", "but not"})
    rows = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    name = table.name.removesuffix(_PUNCTUATION)
    folded = bool(measures) or name != table.name
    links = [_view(name, entry, row) for row in rows]
    wide = len(measures) > 1 or name == _TELLING
    return ReportBreakdown(table, entry, links, measures, folded, wide)


def _view(breakdown: str, entry: str, row: Mapping[str, Any]) -> str:
    """The page's fragment for the segments that a row counts; empty if there are none.

    There is none for words that are right, because most segments have some; an n-gram that one
    system gets right more often opens its example.
    """
    if 0 in {row.get("dropped"), row.get("repetitions")} or breakdown == "word-frequency":
        return ""
    if breakdown == _TELLING:
        return urlencode({"segment": row["segment"]})
    view = {"found": breakdown, "entry": row[entry], "of": row["system"]}
    if "but not" in row:
        view["not"] = row["but not"]
    return urlencode(view)


_SUSPECTS = (
    "Spans of the source that, by the model's probabilities, the output covers less than the "
    "reference and other systems do, or less than is normal; their strength is the sum of what "
    "each word loses. A free translation can look like an omission; a part of the source that the "
    "reference and all systems leave out is not found."
)


def _topics(comparison: Comparison, options: ReportOptions) -> Iterator[Topic]:
    """How each score was measured."""
    for name, metric in comparison.metrics.items():
        score = comparison.rows[comparison.baseline][name].score
        yield Topic(metric.name, [metric.limits] if metric.limits else [], [str(score.signature)])
    if options.finder:
        yield Topic("Suspected omissions", [_SUSPECTS], [options.finder])
    yield Topic("Intervals and tests", comparison_notes(comparison))
    yield Topic("Empty segments", [_empty_segments(comparison)])
    if options.model:
        shares = [f"{name.replace('_', ' ')}: {100 * share:.1f}%" for name, share in
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
    return f"{listed}; they are scored like all others." if listed else "There are none."


def _blocks(
    comparison: Comparison, options: ReportOptions, breakdowns: Sequence[ReportBreakdown]
) -> Iterator[tuple[str, Any]]:
    """The page's data by name: tables, segments, and the columns for filters and sorting."""
    yield "comparison", comparison_as_dict(comparison)
    yield "scores.csv", render(present_comparison(comparison), "csv")
    tables = tables_as_dicts([item.table for item in breakdowns])
    measures = [{"measures": list(item.measures)} for item in breakdowns]
    yield "breakdowns", [one | table for one, table in zip(measures, tables, strict=True)]
    yield "contents", _contents(comparison, options)
    yield from _segment_blocks(comparison, options)
    yield from _segment_columns(comparison)


def _contents(comparison: Comparison, options: ReportOptions) -> dict[str, Any]:
    metric, system = _worst(comparison)
    return {
        "id": _digest(comparison),
        "worst": {"metric": metric, "system": system},
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
    """The segments that are shown, in blocks, and how many marks of each kind they have."""
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
    """Scores and length classes of the segments that are shown."""
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
    """The kind of each mark and label; a label without a mark on it is also ``missed``."""
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
