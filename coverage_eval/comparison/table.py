"""Table 1 for one's own systems: scores, intervals, and p-values against a baseline."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from coverage_eval.alignment import model_settings
from coverage_eval.comparison.systems import Counted, TestSet, count_systems
from coverage_eval.corpus import Segment
from coverage_eval.metrics.base import Metric, Score
from coverage_eval.metrics.registry import Settings, make_metrics
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    bootstrap_intervals,
    holm,
    paired_test,
)

if TYPE_CHECKING:
    import pandas as pd

    from fast_align_wrapper import FastAlign

__all__ = ["Cell", "Comparison", "Testing", "compare", "compare_counted"]


@dataclass(frozen=True)
class Testing:
    """How differences are tested.

    Attributes:
        test: ``"bootstrap"`` or ``"randomization"``.
        resamples: Resamples of intervals and test.
        seed: Seed of the random numbers.
    """

    __test__ = False  # not a test for pytest, whatever its name

    test: str = "bootstrap"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED


@dataclass(frozen=True)
class Cell:
    """One system by one metric.

    Attributes:
        score: The corpus score, with its interval.
        difference: The score minus the baseline's; None for the baseline.
        p_value: Of the paired test against the baseline; None for the baseline.
        adjusted: The same, by Holm over all systems of the metric.
        best: Whether no other system is better by this metric.
    """

    score: Score
    difference: float | None = None
    p_value: float | None = None
    adjusted: float | None = None
    best: bool = False


@dataclass(frozen=True)
class Comparison:
    """Systems compared by several metrics.

    Attributes:
        metrics: The metrics by name, columns of the table.
        rows: Cells by system, then metric.
        baseline: The system that others are tested against.
        testing: How.
        segments: Size of the test set.
    """

    metrics: Mapping[str, Metric]
    rows: Mapping[str, Mapping[str, Cell]]
    baseline: str
    testing: Testing
    segments: int

    def to_frame(self) -> pd.DataFrame:
        """A table: a row a system; columns of two levels, metric and figure.

        The figures are ``score``, ``low``, ``high`` (95 % interval), ``difference``, ``p`` and
        ``p (Holm)``; those of the test are missing for the baseline.
        """
        import pandas as pd

        labels = [metric.name for metric in self.metrics.values()]
        columns = pd.MultiIndex.from_product([labels, _FIGURES], names=["metric", "figure"])
        rows = [
            [value for cell in cells.values() for value in _figures(cell)]
            for cells in self.rows.values()
        ]
        systems = pd.Index(self.rows, name="system")
        return pd.DataFrame(np.array(rows, dtype=np.float64), index=systems, columns=columns)

    def _repr_html_(self) -> str:
        signatures = "<br>".join(html.escape(str(m.signature())) for m in self.metrics.values())
        return f"{self.to_frame().to_html(float_format='{:.2f}'.format)}<small>{signatures}</small>"


_FIGURES = ("score", "low", "high", "difference", "p", "p (Holm)")


def _figures(cell: Cell) -> tuple[float | None, ...]:
    interval = cell.score.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return cell.score.value, low, high, cell.difference, cell.p_value, cell.adjusted


def compare(
    systems: Mapping[str, Sequence[Segment]],
    references: Sequence[Segment],
    *,
    sources: Sequence[Segment] | None = None,
    model: FastAlign | None = None,
    metrics: Sequence[str] = ("bleu", "rep"),
    baseline: str | None = None,
    testing: Testing | None = None,
    symmetrize: str = "grow-diag-final-and",
    jobs: int = 1,
) -> Comparison:
    """Compare systems on one test set.

    Args:
        systems: Outputs by name, the order of the rows.
        references: Reference segments.
        sources: Source segments, for DROP and soft DROP.
        model: A frozen alignment model, for the same.
        metrics: Names of :data:`coverage_eval.metrics.registry.METRICS`, the order of the columns.
        baseline: The system to test against; by default the first.
        testing: Which test, with how many resamples and which seed.
        symmetrize: How links of both directions are joined.
        jobs: Processes for metrics of text.

    Raises:
        DataError: Unequal texts, or a metric's score is undefined.
        ValueError: An unknown metric or baseline, or DROP without a model.
        MissingDependencyError: METEOR without its extra.
    """
    alignment = model_settings(model, symmetrize=symmetrize) if model is not None else None
    chosen = make_metrics(tuple(metrics), Settings(alignment=alignment))
    counted = count_systems(TestSet(references, systems, sources), chosen, model=model, jobs=jobs)
    return compare_counted(counted, chosen, baseline=baseline, testing=testing)


def compare_counted(
    counted: Counted,
    metrics: Mapping[str, Metric],
    *,
    baseline: str | None = None,
    testing: Testing | None = None,
) -> Comparison:
    """Compare systems whose statistics are counted; otherwise as :func:`compare`."""
    testing = testing or Testing()
    columns = {name: counted.statistics[name] for name in metrics}
    systems = list(next(iter(columns.values())))
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(f"the baseline {baseline!r} is none of the systems {', '.join(systems)}")
    cells = {
        name: _column(metric, columns[name], baseline, testing) for name, metric in metrics.items()
    }
    rows = {system: {name: cells[name][system] for name in metrics} for system in systems}
    segments = len(columns[next(iter(metrics))][baseline])
    return Comparison(metrics, rows, baseline, testing, segments)


def _column(
    metric: Metric, statistics: Mapping[str, np.ndarray], baseline: str, testing: Testing
) -> dict[str, Cell]:
    """One metric for all systems."""
    options = {"resamples": testing.resamples, "seed": testing.seed}
    intervals = bootstrap_intervals(metric, statistics, **options)
    scores = {
        system: metric.corpus_score(values, interval=intervals[system], system=system)
        for system, values in statistics.items()
    }
    found = paired_test(metric, statistics, baseline, test=testing.test, **options)
    adjusted = dict(zip(found, holm([item.p_value for item in found.values()]), strict=True))
    values = [score.value for score in scores.values()]
    best = max(values) if metric.higher_is_better else min(values)
    return {
        system: Cell(
            score,
            found[system].difference if system in found else None,
            found[system].p_value if system in found else None,
            adjusted.get(system),
            best=score.value == best,
        )
        for system, score in scores.items()
    }
