"""What a comparison says, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from coverage_eval.comparison.testing import SIGNIFICANT, Cell
from coverage_eval.metrics.base import Metric
from coverage_eval.tables.table import format_figure, format_p

if TYPE_CHECKING:
    from coverage_eval.comparison.table import Comparison

__all__ = ["plain_verdict"]

# Evidence → what a system with a lower score does, with a higher one, and what is counted.
_WORDS: Mapping[str | None, tuple[str, str, str]] = {
    "repetitions": ("repeats less than", "repeats more than", "repetitions"),
    "dropped": ("drops fewer words than", "drops more words than", "dropped words"),
    "lost": ("loses less of the source than", "loses more of the source than", "lost coverage"),
}


def plain_verdict(comparison: Comparison) -> list[str]:
    """Which system repeats or drops most, and for each other system what differs and what does not.

    A difference counts as one at p < 0.05, corrected as in the table; without resamples there is
    no test, and the sentences say so.
    """
    others = [system for system in comparison.rows if system != comparison.baseline]
    sentences = [_most(comparison)] if others else [_alone(comparison)]
    return [*sentences, *(_against_baseline(comparison, system) for system in others)]


def _alone(comparison: Comparison) -> str:
    ((system, cells),) = comparison.rows.items()
    figures = [f"{cell.score.metric} {_figure(cell)}" for cell in cells.values()]
    return f"{system} has {', '.join(figures)}."


def _most(comparison: Comparison) -> str:
    """The worst system by each metric."""
    parts = []
    for name, metric in comparison.metrics.items():
        scores = {system: cells[name] for system, cells in comparison.rows.items()}
        choose = min if metric.higher_is_better else max
        worst = choose(scores, key=lambda system: scores[system].score.score)
        if len({_figure(cell) for cell in scores.values()}) == 1:
            parts.append(f"all have {metric.name} {_figure(scores[worst])}")
        else:
            parts.append(f"{worst} {_most_of(metric)} ({metric.name} {_figure(scores[worst])})")
    return f"{'; '.join(parts)}."


def _most_of(metric: Metric[Any]) -> str:
    known = {
        "repetitions": "repeats most",
        "dropped": "drops most words",
        "lost": "loses most of the source",
    }
    return known.get(metric.evidence_name or "", "is worst")


def _against_baseline(comparison: Comparison, system: str) -> str:
    """What a system does more or less than the baseline, then what does not differ."""
    found, not_found = [], []
    for name, metric in comparison.metrics.items():
        cell, base = comparison.rows[system][name], comparison.rows[comparison.baseline][name]
        figures = f"{_figure(cell)} against {_figure(base)}"
        if cell.adjusted is not None:
            figures += f", {format_p(cell.adjusted)}"
        if _differs(cell):
            found.append(f"{_relation(metric, cell, comparison.baseline)}: {figures}")
        else:
            not_found.append(f"{_subject(metric)} ({figures})")
    parts = list(_joined(system, comparison.baseline, found, not_found))
    if not comparison.testing.resamples:
        parts.append("nothing was tested")
    return f"{'; '.join(parts)}."


def _joined(system: str, baseline: str, found: list[str], not_found: list[str]) -> Iterator[str]:
    if found:
        yield f"{system} {'; '.join(found)}"
    if not_found:
        subjects = " and ".join(not_found)
        verb = "no real difference was found in"
        yield f"{verb} {subjects}" if found else f"{system} and {baseline}: {verb} {subjects}"


def _differs(cell: Cell) -> bool:
    if cell.adjusted is None:
        return bool(cell.difference)
    return cell.adjusted < SIGNIFICANT


def _relation(metric: Metric[Any], cell: Cell, baseline: str) -> str:
    assert cell.difference is not None
    if metric.evidence_name in _WORDS:
        lower, higher, _ = _WORDS[metric.evidence_name]
        return f"{higher if cell.difference > 0 else lower} {baseline}"
    better = (cell.difference > 0) == metric.higher_is_better
    return f"is {'better' if better else 'worse'} than {baseline} by {metric.name}"


def _subject(metric: Metric[Any]) -> str:
    return _WORDS[metric.evidence_name][2] if metric.evidence_name in _WORDS else metric.name


def _figure(cell: Cell) -> str:
    return format_figure(cell.score.score)
