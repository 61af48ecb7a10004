"""The report's breakdowns: lists of words that lead to their segments, and charts by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import numpy as np

from coverage_eval.comparison.breakdowns import (
    Options,
    available_breakdowns,
    break_down,
    length_classes,
)
from coverage_eval.comparison.comparison import Comparison
from coverage_eval.metrics.significance import percentile_interval, sample_scores
from coverage_eval.report.page import ReportBreakdown
from coverage_eval.tables.table import Table

TOP = 10
"""Words or n-grams in each list."""

Ends = tuple[float, float]
"""The lower and the upper end of an interval."""

# Breakdowns whose charts show the last column, or the one named; other charts show the scores.
_OF_CLASSES = {"frequency", "source-position", "output-position"}
_MEASURES = {"word-frequency": "F1"}
_TELLING = "telling-ngrams"
LISTS = {"dropped-words", "dropped-by-one", "repeated-ngrams"}


def report_breakdowns(
    comparison: Comparison, frequencies: Mapping[str, int] | None = None
) -> list[ReportBreakdown]:
    """All that texts and metrics allow: lists of words, then of punctuation, then charts.

    Args:
        comparison: The systems.
        frequencies: How often each source word occurs in the training text; by default, in the
            source itself.
    """
    result = comparison.measured
    available = [name for name in available_breakdowns(result) if name != "differences"]
    # All words are asked for, because punctuation is listed apart.
    most = result.segments * 1_000_000
    names = [name for name in available if name != _TELLING]
    tables = break_down(result, names, Options(most, frequencies, comparison.baseline))
    parts = (part for table in tables for part in _words_and_punctuation(table))
    telling = [name for name in available if name == _TELLING and comparison.others]
    best = break_down(result, telling, Options(TOP, baseline=comparison.baseline))
    found = [_linked(table, comparison) for table in (*parts, *best) if table.rows]
    return sorted(found, key=lambda item: (item.wide or bool(item.measures), item.folded))


def length_intervals(comparison: Comparison, side: str) -> dict[tuple[str, str], dict[str, Ends]]:
    """95% intervals of the scores by length, as bootstrapped as those of the whole text.

    Args:
        comparison: The systems, tested with resamples.
        side: ``"source"`` or ``"reference"``.

    Returns:
        For each class of length and system, the ends of each metric's interval by its name; those
        of undefined scores are left out.
    """
    result, test = comparison.measured, comparison.test
    found: dict[tuple[str, str], dict[str, Ends]] = {}
    names = np.array(length_classes(result, side))
    for name in sorted(set(names)):
        columns = [
            (metric, {who: result.statistics_of(key, who)[names == name] for who in result.systems})
            for key, metric in result.metrics.items()
        ]
        sampled = sample_scores(columns, test.resamples, test.seed)
        for (metric, _), scores in zip(columns, sampled, strict=True):
            for system, own in scores.items():
                if not np.isnan(own).all():
                    ends = percentile_interval(own, seed=test.seed)
                    found.setdefault((name, system), {})[metric.name] = (ends.low, ends.high)
    return found


def _words_and_punctuation(table: Table) -> Iterator[Table]:
    """Split a list of words: the commonest words, and the commonest entries with punctuation."""
    if table.name not in LISTS:
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


def _linked(table: Table, comparison: Comparison) -> ReportBreakdown:
    """A breakdown whose rows lead to their segments."""
    measures: tuple[str, ...] = ()
    if table.name in _OF_CLASSES:
        measures = table.header[-1:]
    elif table.name in _MEASURES:
        measures = (_MEASURES[table.name],)
    elif table.name.removesuffix(_PUNCTUATION) not in {*LISTS, _TELLING}:
        measures = table.header[3:]
    entry = next(name for name in table.header if name not in {"system", "but not"})
    rows = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    name = table.name.removesuffix(_PUNCTUATION)
    folded = bool(measures) or name != table.name
    links = [_view(name, entry, row) for row in rows]
    wide = len(measures) > 1 or name == _TELLING
    intervals: list[Mapping[str, Ends]] = []
    side = name.removesuffix("-length")
    if side != name and comparison.test.resamples:
        ends = length_intervals(comparison, side)
        intervals = [ends.get((str(row[0]), str(row[2])), {}) for row in table.rows]
    return ReportBreakdown(table, entry, links, measures, folded, wide, intervals)


def _view(breakdown: str, entry: str, row: Mapping[str, Any]) -> str:
    """The page's fragment for the segments that a row counts; empty if there are none.

    There is none for words that are right, because most segments have some; an n-gram that one
    system gets right more often opens its example.
    """
    is_empty = breakdown in _OF_CLASSES and list(row.values())[-2] == 0  # the count before a share
    if is_empty or breakdown == "word-frequency":
        return ""
    if breakdown == _TELLING:
        return urlencode({"segment": row["segment"]})
    view = {"found": breakdown, "entry": row[entry], "of": row["system"]}
    if "but not" in row:
        view["not"] = row["but not"]
    return urlencode(view)
