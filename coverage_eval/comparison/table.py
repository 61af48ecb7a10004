"""Table 1 for one's own systems: scores, intervals, and p-values against a baseline."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from coverage_eval.alignment.aligner import model_settings
from coverage_eval.comparison.systems import Counted, TestSet, count_systems
from coverage_eval.metrics.base import Metric, Score, Statistics
from coverage_eval.metrics.registry import Settings, make_metrics, table_factor
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    TESTS,
    Difference,
    holm,
    paired_tests,
    percentile_interval,
    sample_scores,
)
from coverage_eval.metrics.stopwords import StopWords
from coverage_eval.text.corpus import Segment

if TYPE_CHECKING:
    import pandas as pd

    from fast_align_wrapper import FastAlign

__all__ = ["Cell", "Comparison", "Testing", "compare", "compare_counted", "compare_statistics"]


@dataclass(frozen=True)
class Testing:
    """How differences are tested.

    Attributes:
        test: ``"randomization"``, or ``"bootstrap"`` as sacreBLEU has it, which finds more
            differences than there are (:func:`coverage_eval.metrics.significance.paired_test`).
        resamples: Resamples of intervals and test; with 0 there is neither.
        seed: Seed of the random numbers.

    Raises:
        ValueError: An unknown test, or a negative number of resamples.
    """

    __test__ = False  # not a test for pytest, whatever its name

    test: str = "randomization"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"test must be one of {TESTS}, not {self.test!r}")
        if self.resamples < 0:
            raise ValueError(f"resamples must not be negative: {self.resamples}")


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
        counted: Texts, statistics and alignments, for breakdowns; None if there are only
            statistics.
    """

    metrics: Mapping[str, Metric]
    rows: Mapping[str, Mapping[str, Cell]]
    baseline: str
    testing: Testing
    segments: int
    counted: Counted | None = field(default=None, repr=False, compare=False)

    def to_frame(self) -> pd.DataFrame:
        """A table: a row a system; columns of two levels, metric and figure.

        The figures are ``score``, ``low``, ``high`` (95 % interval), ``difference``, ``p`` and
        ``p (Holm)``, each in the metric's own unit (METEOR from 0 to 1); those of the test are
        missing for the baseline.
        """
        return self._frame(dict.fromkeys(self.metrics, 1.0))

    def _frame(self, factors: Mapping[str, float]) -> pd.DataFrame:
        import pandas as pd

        labels = [
            metric.name if factors[name] == 1 else f"{metric.name} × {factors[name]:g}"
            for name, metric in self.metrics.items()
        ]
        columns = pd.MultiIndex.from_product([labels, _FIGURES], names=["metric", "figure"])
        rows = [
            [value for name, cell in cells.items() for value in _figures(cell, factors[name])]
            for cells in self.rows.values()
        ]
        systems = pd.Index(self.rows, name="system")
        return pd.DataFrame(np.array(rows, dtype=np.float64), index=systems, columns=columns)

    def __str__(self) -> str:
        frame = self._frame({name: table_factor(name) for name in self.metrics})
        signatures = [str(metric.signature()) for metric in self.metrics.values()]
        return "\n".join([frame.to_string(float_format=_short, na_rep=""), "", *signatures])

    def _repr_html_(self) -> str:
        frame = self._frame({name: table_factor(name) for name in self.metrics})
        signatures = "<br>".join(html.escape(str(m.signature())) for m in self.metrics.values())
        return f"{frame.to_html(float_format=_short, na_rep='')}<small>{signatures}</small>"


_FIGURES = ("score", "low", "high", "difference", "p", "p (Holm)")


def _short(value: float) -> str:
    return f"{value:.3f}"


def _figures(cell: Cell, factor: float) -> tuple[float | None, ...]:
    interval = cell.score.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    scaled = (cell.score.value, low, high, cell.difference)
    tested = (cell.p_value, cell.adjusted)
    return (*(None if value is None else factor * value for value in scaled), *tested)


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
    sink: bool = False,
    stopwords: StopWords | None = None,
    tok: str = "none",
    jobs: int = 1,
) -> Comparison:
    """Compare systems on one test set.

    >>> references = ["a red house", "the dog sleeps"]
    >>> systems = {"good": references, "bad": ["a red red house", "the dog the dog"]}
    >>> comparison = compare(systems, references, metrics=["rep"])
    >>> [round(cells["rep"].score.value, 2) for cells in comparison.rows.values()]
    [0.0, 50.0]

    Args:
        systems: Outputs by name, the order of the rows.
        references: Reference segments.
        sources: Source segments, for DROP and soft DROP.
        model: A frozen alignment model, for the same.
        metrics: Names of :data:`coverage_eval.metrics.registry.METRICS`, the order of the columns.
        baseline: The system to test against; by default the first.
        testing: Which test, with how many resamples and which seed.
        symmetrize: How links of both directions are joined.
        sink: Append ``<SINK>`` to every source; it does not count.
        stopwords: Source words that DROP and soft DROP leave out of account.
        tok: The tokeniser to apply for REP and DROP; BLEU, chrF and METEOR have their own.
        jobs: Processes for metrics of text.

    Raises:
        DataError: Unequal texts, or a metric's score is undefined.
        ValueError: An unknown metric or baseline, or DROP without a model.
        MissingDependencyError: METEOR without its extra.
        AlignerError: The aligner failed.
    """
    alignment = None
    if model is not None:
        alignment = model_settings(model, symmetrize=symmetrize, sink=sink, tok=tok)
    settings = Settings(tok=tok, alignment=alignment, stopwords=stopwords or StopWords())
    chosen = make_metrics(tuple(metrics), settings)
    texts = TestSet(references, systems, sources)
    counted = count_systems(texts, chosen, model=model, tok=tok, jobs=jobs)
    return compare_counted(counted, chosen, baseline=baseline, testing=testing)


def compare_counted(
    counted: Counted,
    metrics: Mapping[str, Metric],
    *,
    baseline: str | None = None,
    testing: Testing | None = None,
) -> Comparison:
    """Compare systems that are counted; otherwise as :func:`compare`."""
    return compare_statistics(
        counted.statistics, metrics, baseline=baseline, testing=testing, counted=counted
    )


def compare_statistics(
    statistics: Mapping[str, Mapping[str, Statistics]],
    metrics: Mapping[str, Metric],
    *,
    baseline: str | None = None,
    testing: Testing | None = None,
    counted: Counted | None = None,
) -> Comparison:
    """Compare systems by statistics ``[segments, k]`` by metric, then system.

    All intervals and bootstrap tests, of every metric, come from the same resamples. Otherwise as
    :func:`compare`.
    """
    testing = testing or Testing()
    columns = {name: statistics[name] for name in metrics}
    if not columns:
        raise ValueError("no metric to compare by")
    systems = list(next(iter(columns.values())))
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(f"the baseline {baseline!r} is none of the systems {', '.join(systems)}")
    pairs = [(metric, columns[name]) for name, metric in metrics.items()]
    scores = [_corpus_scores(*pair) for pair in pairs]
    sampled, found = _resample(pairs, baseline, testing)
    cells = {
        name: _column(_with_intervals(values, drawn, testing), baseline, differences)
        for name, values, drawn, differences in zip(metrics, scores, sampled, found, strict=True)
    }
    rows = {system: {name: cells[name][system] for name in metrics} for system in systems}
    segments = len(columns[next(iter(metrics))][baseline])
    return Comparison(metrics, rows, baseline, testing, segments, counted)


_Column = tuple[Metric, Mapping[str, Statistics]]
_Scores = Mapping[str, np.ndarray]


def _resample(
    columns: Sequence[_Column], baseline: str, testing: Testing
) -> tuple[Sequence[_Scores], Sequence[Mapping[str, Difference]]]:
    """Resampled scores, and tests against the baseline, of each metric; empty without resamples."""
    if testing.resamples == 0:
        return [{} for _ in columns], [{} for _ in columns]
    sampled = sample_scores(columns, testing.resamples, testing.seed)
    found = paired_tests(
        columns,
        baseline,
        test=testing.test,
        resamples=testing.resamples,
        seed=testing.seed,
        sampled=sampled,
    )
    return sampled, found


def _corpus_scores(metric: Metric, statistics: Mapping[str, Statistics]) -> dict[str, Score]:
    return {
        system: metric.corpus_score(values, system=system) for system, values in statistics.items()
    }


def _with_intervals(
    scores: Mapping[str, Score], sampled: _Scores, testing: Testing
) -> dict[str, Score]:
    """The scores, with intervals where resampled scores are there."""
    return {
        system: replace(score, interval=percentile_interval(sampled[system], seed=testing.seed))
        if system in sampled
        else score
        for system, score in scores.items()
    }


def _column(
    scores: Mapping[str, Score], baseline: str, found: Mapping[str, Difference]
) -> dict[str, Cell]:
    """One metric for all systems."""
    values = [score.value for score in scores.values()]
    higher_is_better = scores[baseline].higher_is_better
    best = max(values) if higher_is_better else min(values)
    adjusted = dict(zip(found, holm([item.p_value for item in found.values()]), strict=True))
    return {
        system: Cell(
            score,
            None if system == baseline else score.value - scores[baseline].value,
            found[system].p_value if system in found else None,
            adjusted.get(system),
            best=score.value == best,
        )
        for system, score in scores.items()
    }
