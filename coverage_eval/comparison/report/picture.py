"""The scores of a report as a picture: a row for each system, a dot and a bar for each score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np

from coverage_eval.comparison.pairs import systems_as_references
from coverage_eval.comparison.table import Comparison, column_label
from coverage_eval.core.report import format_number, format_p
from coverage_eval.core.score import interval_ends

BINS = 12
"""Bars of a histogram of segment scores."""


@dataclass(frozen=True)
class Axis:
    """The common scale of a column.

    Attributes:
        metric: The column's metric, as the page's script calls it.
        name: What the column is called, with an arrow in the better direction.
        ticks: The figures at its left end, in its middle and at its right end, as printed.
        first: The order in which a click on its name sorts: ``ascending`` or ``descending``.
    """

    metric: str
    name: str
    ticks: Sequence[str]
    first: str


@dataclass(frozen=True)
class DrawnScore:
    """A score in its column. Positions are percent of the axis.

    Attributes:
        figure: The score as it is printed.
        value: The score.
        dot: Where it is; None outside the axis.
        low: Where its interval starts; None without one.
        high: Where its interval ends.
        best: Whether no system is better, in a column that has a say.
        change: ``worse`` or ``better`` than the baseline, if that is significant; or empty.
        detail: Interval and p-value in words.
    """

    figure: str
    value: float
    dot: float | None
    low: float | None
    high: float | None
    best: bool
    change: str
    detail: str


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, in percent of its height.

    Attributes:
        height: The whole bar.
        flagged: Its flagged part, at the bottom.
        low: The lowest score in it.
        high: The score below which it ends; None for the last bar.
        number: How many segments it has.
    """

    height: float
    flagged: float
    low: float
    high: float | None
    number: int


@dataclass(frozen=True)
class DrawnTable:
    """All scores.

    Attributes:
        axes: The columns, the deciding one first.
        rows: The scores of each system, the best system by the deciding column first; systems that
            are a reference last.
        references: By system, the reference that it is word for word.
        histograms: By system, the segment scores of the deciding column.
    """

    axes: Sequence[Axis]
    rows: Mapping[str, Sequence[DrawnScore]]
    references: Mapping[str, str]
    histograms: Mapping[str, Sequence[Bar]]


def draw_scores(
    comparison: Comparison, deciding: str, flags: Mapping[str, Sequence[bool]] | None
) -> DrawnTable:
    """The scores of all systems, on a common axis for each metric.

    Args:
        comparison: The systems.
        deciding: The key of the metric by which they are sorted.
        flags: By system, whether it flags each segment; None if it flags none.
    """
    metrics = comparison.metrics
    references = systems_as_references(comparison.result)
    # The deciding column stands first, then those of whole documents, and of errors.
    names = sorted(
        metrics,
        key=lambda name: (
            name != deciding,
            "documents" not in metrics[name].needs,
            not metrics[name].presentation.more_errors,
        ),
    )
    on_axes = [system for system in comparison.rows if system not in references] or [
        *comparison.rows
    ]
    ends = {name: _axis_ends(comparison, name, on_axes) for name in names}
    axes = [
        Axis(
            metrics[name].presentation.name,
            column_label(metrics[name]),
            [f"{tick:.6g}" for tick in (start, (start + end) / 2, end)],
            "descending" if metrics[name].presentation.higher_is_better else "ascending",
        )
        for name, (start, end) in ends.items()
    ]
    return DrawnTable(
        axes,
        {
            system: [
                _draw(comparison, name, system, ends[name], on_axis=system in on_axes)
                for name in names
            ]
            for system in comparison.order
        },
        references,
        _histograms(comparison, deciding, on_axes, flags),
    )


def _histograms(
    comparison: Comparison,
    name: str,
    systems: Sequence[str],
    flags: Mapping[str, Sequence[bool]] | None,
) -> dict[str, list[Bar]]:
    """How many segments of each system have which scores; heights are roots of numbers."""
    columns = {
        system: np.array(comparison.result.segment_scores(name, system), dtype=np.float64)
        for system in systems
    }
    known = np.concatenate([column[~np.isnan(column)] for column in columns.values()])
    if not len(known) or known.min() == known.max():
        return {}
    edges = np.linspace(known.min(), known.max(), BINS + 1)
    counted = {}
    for system, column in columns.items():
        flagged = np.array(flags[system] if flags else [False] * len(column))
        counts = np.histogram(column[~np.isnan(column)], edges)[0]
        marked = np.histogram(column[flagged & ~np.isnan(column)], edges)[0]
        counted[system] = list(zip(counts.tolist(), marked.tolist(), strict=True))
    most = max(count for bars in counted.values() for count, _ in bars)

    def bars(numbers: Sequence[tuple[int, int]]) -> Iterator[Bar]:
        for (low, high), (count, marked) in zip(pairwise(edges.tolist()), numbers, strict=True):
            height = 100 * sqrt(count / most)
            share = marked / count if count else 0.0
            end = None if high == edges[-1] else high
            yield Bar(round(height, 2), round(height * share, 2), low, end, count)

    return {system: [*bars(numbers)] for system, numbers in counted.items()}


def shared_ending(names: Sequence[str]) -> str:
    """What all names of several files end with, from a dot on.

    >>> shared_ending(["a.out.de", "b.out.de"]), shared_ending(["a.de"]), shared_ending(["a", "b"])
    ('.out.de', '', '')
    """
    if len(names) < 2:
        return ""
    _, *pieces = names[0].split(".")
    endings = ("".join(f".{piece}" for piece in pieces[n:]) for n in range(len(pieces)))
    shared = (ending for ending in endings if all(name.endswith(ending) for name in names))
    return next(shared, "")


def _axis_ends(comparison: Comparison, name: str, systems: Sequence[str]) -> tuple[float, float]:
    """Round figures around the scores and intervals of a metric; errors start at 0."""
    from matplotlib.ticker import MaxNLocator  # slow to import

    found = []
    for system in systems:
        score = comparison.rows[system][name].score
        found += [score.score, *(end for end in interval_ends(score.interval) if end is not None)]
    if comparison.result.metrics[name].presentation.higher_is_better is False:
        found.append(0.0)
    ticks = MaxNLocator(nbins=4).tick_values(min(found), max(found))
    return float(ticks[0]), float(ticks[-1])


def _draw(
    comparison: Comparison,
    name: str,
    system: str,
    ends: tuple[float, float],
    *,
    on_axis: bool,
) -> DrawnScore:
    cell, (start, end), details = comparison.score_cell(name, system), ends, []
    dot, left, right = (
        None if value is None or not on_axis else round(100 * (value - start) / (end - start), 2)
        for value in (cell.value, cell.low, cell.high)
    )
    if cell.low is not None and cell.high is not None:
        details.append(f"95% interval {format_number(cell.low)} to {format_number(cell.high)}")
    if cell.p is not None:
        details.append(f"{format_p(cell.p)} against {comparison.baseline}")
    has_say, change = on_axis and name in comparison.statements.metrics, ""
    if has_say and cell.significant and cell.better is not None:
        change = "better" if cell.better else "worse"
    return DrawnScore(
        format_number(cell.value, cell.digits()),
        cell.value,
        dot,
        left,
        right,
        has_say and cell.best,
        change,
        ", ".join(details),
    )
