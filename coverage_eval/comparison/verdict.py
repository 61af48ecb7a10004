"""What a comparison says, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.testing import SIGNIFICANT, Cell
from coverage_eval.metrics.base import Metric
from coverage_eval.tables.table import format_figure, format_p


class _Words(NamedTuple):
    """How a metric of errors is spoken of."""

    most: str
    less: str
    more: str
    subject: str


_WORDS = {
    "repetitions": _Words("repeats most", "repeats less", "repeats more", "repetitions"),
    "dropped": _Words("drops most words", "drops fewer words", "drops more words", "dropped words"),
    "lost": _Words(
        "loses most of the source", "loses less of the source", "loses more of the source",
        "lost coverage",
    ),
}  # fmt: skip
"""By the evidence of the metric."""


def plain_verdict(comparison: Compared) -> list[str]:
    """Which system repeats or drops most, and for each other system what differs and what does not.

    A difference counts as one at p < 0.05, corrected as in the table; without resamples there is
    no test, and the sentences say so. Metrics of errors come before all others.
    """
    if not comparison.others:
        return [_alone(comparison)]
    worst = "; ".join(_worst(comparison, name, metric) for name, metric in _metrics(comparison))
    return [f"{worst}.", *(_against_baseline(comparison, system) for system in comparison.others)]


def _metrics(comparison: Compared) -> list[tuple[str, Metric[Any]]]:
    """Metrics of errors first, otherwise in their order."""
    return sorted(comparison.metrics.items(), key=lambda item: item[1].evidence_name not in _WORDS)


def _alone(comparison: Compared) -> str:
    ((system, cells),) = comparison.rows.items()
    figures = [f"{cells[name].score.metric} {_figure(cells[name])}" for name in cells]
    return f"{system} has {', '.join(figures)}."


def _worst(comparison: Compared, name: str, metric: Metric[Any]) -> str:
    scores = {system: cells[name] for system, cells in comparison.rows.items()}
    choose = min if metric.higher_is_better else max
    worst = choose(scores, key=lambda system: scores[system].score.score)
    figure = f"{metric.name} {_figure(scores[worst])}"
    if len({_figure(cell) for cell in scores.values()}) == 1:
        return f"all have {figure}"
    words = _WORDS.get(metric.evidence_name or "")
    return f"{worst} {words.most} ({figure})" if words else f"{worst} is worst by {figure}"


def _against_baseline(comparison: Compared, system: str) -> str:
    """What a system does more or less than the baseline, then what does not differ."""
    baseline = comparison.baseline
    found, not_found = [], []
    for name, metric in _metrics(comparison):
        cell, base = comparison.rows[system][name], comparison.rows[baseline][name]
        figures = f"{_figure(cell)} against {_figure(base)}"
        if cell.adjusted is not None:
            figures += f", {format_p(cell.adjusted)}"
        if _differs(cell):
            found.append(f"{_relation(metric, cell)} than {baseline}: {figures}")
        else:
            not_found.append(f"{_subject(metric)} ({figures})")
    parts = list(_joined(system, baseline, found, not_found))
    if not comparison.testing.resamples:
        parts.append("nothing was tested")
    return f"{'; '.join(parts)}."


def _joined(system: str, baseline: str, found: list[str], not_found: list[str]) -> Iterator[str]:
    if found:
        yield f"{system} {'; '.join(found)}"
    if not_found:
        none = f"no real difference was found in {' and '.join(not_found)}"
        yield none if found else f"{system} and {baseline}: {none}"


def _differs(cell: Cell) -> bool:
    if cell.adjusted is None:
        return bool(cell.difference)
    return cell.adjusted < SIGNIFICANT


def _relation(metric: Metric[Any], cell: Cell) -> str:
    assert cell.difference is not None  # it is not the baseline
    words = _WORDS.get(metric.evidence_name or "")
    if words:
        return words.more if cell.difference > 0 else words.less
    better = (cell.difference > 0) == metric.higher_is_better
    return f"has a {'better' if better else 'worse'} {metric.name}"


def _subject(metric: Metric[Any]) -> str:
    words = _WORDS.get(metric.evidence_name or "")
    return words.subject if words else metric.name


def _figure(cell: Cell) -> str:
    return format_figure(cell.score.score)
