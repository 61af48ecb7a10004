"""The table of a report as a picture: a line for each system, a dot and a bar for each score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from coverage_eval.comparison.evidence import flagged_segments, flags_segments
from coverage_eval.comparison.table import ComparedScore, Comparison
from coverage_eval.core.report import SIGNIFICANT, format_number, format_p
from coverage_eval.core.score import interval_ends


@dataclass(frozen=True)
class Axis:
    """The common scale of a column.

    Attributes:
        name: What the column is called, with an arrow in the better direction.
        start: The figure at its left end, as it is printed.
        end: The figure at its right end.
    """

    name: str
    start: str
    end: str


@dataclass(frozen=True)
class DrawnScore:
    """A score in its column. Positions are percent of the axis.

    Attributes:
        figure: The score as it is printed.
        dot: Where it is.
        low: Where its interval starts; None without one.
        high: Where its interval ends.
        best: Whether no system is better, in a column that has a say.
        flagged: How many segments are flagged, such as ``20/52``; empty if the metric flags none.
        p: The p-value, such as ``p = 0.008``, of a significant difference from the baseline.
        detail: Interval and p-value in words.
    """

    figure: str
    dot: float | None
    low: float | None
    high: float | None
    best: bool
    flagged: str
    p: str
    detail: str


@dataclass(frozen=True)
class DrawnTable:
    """All scores.

    Attributes:
        axes: The columns.
        rows: The scores of each system, the best system by the deciding column first.
    """

    axes: Sequence[Axis]
    rows: Mapping[str, Sequence[DrawnScore]]


def draw_scores(comparison: Comparison, deciding: str) -> DrawnTable:
    """The scores of all systems, on a common axis for each metric.

    Args:
        comparison: The systems.
        deciding: The key of the metric by which they are sorted.
    """
    result = comparison.result
    metrics = result.metrics
    ends = {name: _axis_ends(comparison, name) for name in metrics}
    arrows = {True: " ↑", False: " ↓", None: ""}
    axes = [
        Axis(
            f"{metric.presentation.name}{arrows[metric.presentation.higher_is_better]}",
            *(f"{end:g}" for end in ends[name]),
        )
        for name, metric in metrics.items()
    ]
    sign = -1 if metrics[deciding].presentation.higher_is_better else 1
    systems = sorted(
        comparison.rows, key=lambda system: sign * comparison.rows[system][deciding].score.score
    )
    rows: dict[str, list[DrawnScore]] = {system: [] for system in systems}
    for system, name in product(systems, metrics):
        flagged = ""
        if flags_segments(metrics[name]):
            number = int(flagged_segments(result, name, system).sum())
            flagged = f"{number:,}/{result.segments:,}"
        has_say = name in comparison.statements.metrics
        cell = comparison.rows[system][name]
        rows[system].append(_draw(cell, ends[name], flagged, has_say=has_say))
    return DrawnTable(axes, rows)


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


def _axis_ends(comparison: Comparison, name: str) -> tuple[float, float]:
    """Round figures around all scores and intervals of a metric; errors start at 0."""
    from matplotlib.ticker import MaxNLocator  # slow to import

    found = []
    for cells in comparison.rows.values():
        score = cells[name].score
        found += [score.score, *(end for end in interval_ends(score.interval) if end is not None)]
    if comparison.result.metrics[name].presentation.higher_is_better is False:
        found.append(0.0)
    ticks = MaxNLocator(nbins=4).tick_values(min(found), max(found))
    return float(ticks[0]), float(ticks[-1])


def _draw(
    cell: ComparedScore, ends: tuple[float, float], flagged: str, *, has_say: bool
) -> DrawnScore:
    start, end = ends
    low, high = interval_ends(cell.score.interval)
    dot, left, right = (
        None if value is None else round(100 * (value - start) / (end - start), 2)
        for value in (cell.score.score, low, high)
    )
    p_value, details = cell.adjusted, []
    if low is not None and high is not None:
        details.append(f"95% interval {format_number(low)} to {format_number(high)}")
    if p_value is not None:
        details.append(f"{format_p(p_value)} against the baseline")
    is_significant = has_say and p_value is not None and p_value < SIGNIFICANT
    return DrawnScore(
        format_number(cell.score.score),
        dot,
        left,
        right,
        cell.best and has_say,
        flagged,
        format_p(p_value) if p_value is not None and is_significant else "",
        ", ".join(details),
    )
