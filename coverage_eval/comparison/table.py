"""Table 1 for one's own systems: scores, intervals, and p-values against a baseline."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.comparison.breakdown import DEFAULT_TOP, Options, break_down
from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.comparison.systems import Counted, TestSet, count_systems
from coverage_eval.comparison.testing import SIGNIFICANT, Cell, Testing
from coverage_eval.metrics.aligned import AlignedMetric
from coverage_eval.metrics.base import Metric, Statistics, TokenMetric
from coverage_eval.metrics.registry import make_metric, metric_class
from coverage_eval.metrics.score import Score, interval_ends
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    Difference,
    holm,
    paired_tests,
    percentile_interval,
    sample_scores,
)
from coverage_eval.text.rows import make_rows
from coverage_eval.text.tokenizers import Tokenizer
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from coverage_eval.html_report.rendering import Report
    from coverage_eval.tables.table import Table


@dataclass(frozen=True)
class Comparison(Compared):
    """Systems compared by several metrics; :func:`compare` makes one.

    >>> import coverage_eval as ce
    >>> references = ["a red house", "the dog sleeps"]
    >>> systems = {"good": references, "bad": ["a red red house", "the dog the dog"]}
    >>> comparison = ce.compare(systems, references, metrics=["rep"], resamples=0)
    >>> comparison.baseline, comparison.to_frame()["REP"]["score"].to_list()
    ('good', [0.0, 50.0])
    >>> comparison.break_down(["repeated-ngrams"])[0].rows[0][:2]
    ('bad', 'red red')

    Its attributes are those of :class:`~coverage_eval.comparison.compared.Compared`.
    """

    def to_frame(self) -> pd.DataFrame:
        """A table: a row a system; columns of two levels, metric and figure.

        The figures are ``score``, ``low``, ``high`` (95 % interval), ``difference``, ``p`` and
        ``p (Holm)``, each in the metric's own unit; those of the test are missing for the baseline.
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

    def to_latex(self, width: int = 2) -> str:
        """A table in LaTeX, in the style of booktabs.

        Args:
            width: Digits after the decimal point.
        """
        return self._render("latex", width)

    def plot(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Bars of every system's scores with their intervals, a panel for each metric.

        Args:
            axes: Where to draw, one for each metric; a new figure if None.
        """
        from coverage_eval.plotting.scores import plot_comparison

        figures = [[_figures(cells[name]) for cells in self.rows.values()] for name in self.metrics]
        values = np.array(figures, dtype=np.float64)
        direction = {True: "higher is better", False: "lower is better"}
        return plot_comparison(
            list(self.rows),
            values[..., 0],
            values[..., 1],
            values[..., 2],
            labels=[f"{m.name} ({direction[m.higher_is_better]})" for m in self.metrics.values()],
            baseline=self.baseline,
            significant=values[..., -1] < SIGNIFICANT,
            axes=axes,
        )

    def break_down(
        self,
        names: Sequence[str] | None = None,
        *,
        top: int = DEFAULT_TOP,
        frequencies: Mapping[str, int] | None = None,
    ) -> list[Table]:
        """Tables of where the systems differ: by length, frequency and position, commonest errors.

        Args:
            names: Names of ``coverage_eval.comparison.breakdown.BREAKDOWNS``, such as
                ``dropped-words``; by default all that the metrics allow.
            top: Words, n-grams or segments in each list.
            frequencies: How often each source word stands in the training text; by default, how
                often it stands in the source itself.

        Raises:
            ValueError: An unknown name, ``top`` below 1, a metric that a breakdown needs is not
                among the columns, or the source is not there.
        """
        return break_down(self, names, Options(top, frequencies))

    def to_report(self, **settings: Any) -> Report:
        """One HTML file that a person reads, with a browser of segments; a notebook shows it.

        >>> import coverage_eval as ce
        >>> systems = {"good": ["a house"], "bad": ["a house house"]}
        >>> report = ce.compare(systems, ["a house"], metrics=["rep"]).to_report()
        >>> "bad repeats most" in report.html
        True

        Its ``save`` writes the file.

        Args:
            **settings: What the report may be told beside the scores, the fields of
                :class:`~coverage_eval.comparison.extras.Extras`, such as ``attention`` (maps
                of each segment by system), ``labels`` (known errors by system) or ``title``.

        Raises:
            ValueError: The comparison was made from statistics alone, or maps or labels are of an
                unknown system or of other segments.
        """
        from coverage_eval.comparison.extras import Extras
        from coverage_eval.comparison.report_data import make_document
        from coverage_eval.html_report.rendering import render_report

        return render_report(make_document(self, Extras(**settings)))

    def _render(self, output_format: str, width: int = 2) -> str:
        from coverage_eval.tables.formats import render

        return render(present_comparison(self), output_format, width=width)

    def __str__(self) -> str:
        return self._render("text")

    def _repr_html_(self) -> str:
        signatures = "<br>".join(map(html.escape, self.signatures.values()))
        frame = self.to_frame().to_html(float_format=lambda value: f"{value:.3f}", na_rep="")
        return f"{frame}<small>{signatures}</small>"


_FIGURES = ("score", "low", "high", "difference", "p", "p (Holm)")


def _figures(cell: Cell) -> tuple[float | None, ...]:
    ends = interval_ends(cell.score.interval)
    return (cell.score.score, *ends, cell.difference, cell.p_value, cell.adjusted)


def compare(
    systems: Mapping[str, Sequence[Segment]],
    references: Sequence[Any],
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    metrics: Sequence[str | Metric[Any]] | None = None,
    baseline: str | None = None,
    test: str = "randomization",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    tokenize: str = "none",
    lowercase: bool = False,
    jobs: int = 1,
) -> Comparison:
    """Compare systems on one test set.

    >>> references = ["a red house", "the dog sleeps"]
    >>> systems = {"good": references, "bad": ["a red red house", "the dog the dog"]}
    >>> comparison = compare(systems, references, metrics=["rep"])
    >>> [float(cells["rep"].score) for cells in comparison.rows.values()]
    [0.0, 50.0]

    Args:
        systems: Outputs by name, the order of the rows; strings or lists of tokens.
        references: Reference segments, or a list of several references.
        sources: Source segments, for DROP and soft DROP.
        aligner: What links them, for the same.
        metrics: Names of ``coverage_eval.metrics.registry.METRICS`` (or one), or metrics with
            settings of their own, the order of the columns; by default BLEU and REP, and DROP with
            an aligner.
        baseline: The system to test against; by default the first.
        test: ``"randomization"``, or ``"bootstrap"`` as sacreBLEU has it.
        resamples: Resamples of intervals and test; 0 for neither.
        seed: Their seed.
        tokenize: The tokeniser of REP; an aligner has its own, and so have BLEU, chrF and METEOR.
        lowercase: Whether REP lowercases the text.
        jobs: Processes for metrics of text.

    Raises:
        DataError: Unequal texts, links of other systems, or a metric's score is undefined.
        TypeError: Systems without names, a metric that is neither name nor object, or texts that a
            metric needs are None.
        ValueError: An unknown metric or baseline, two metrics of one name, or DROP without an
            aligner.
        MissingDependencyError: METEOR without its extra.
        AlignerError: The aligner failed.
    """
    _check_names(systems)
    if isinstance(metrics, str):
        metrics = [metrics]
    if metrics is None:
        metrics = ["bleu", "rep", *(["drop"] if aligner else [])]
    settings = {"aligner": aligner, "tokenize": tokenize, "lowercase": lowercase}
    named = [_named_metric(metric, settings) for metric in metrics]
    chosen = dict(named)
    if len(chosen) < len(named):
        names = ", ".join(name for name, _ in named)
        raise ValueError(f"two metrics have one name: {names}; compare by them one after the other")
    chosen = {name: _of_systems(metric, list(systems)) for name, metric in chosen.items()}
    for metric in chosen.values():
        metric.check_needs(references, sources)
    tokens = Tokenizer(tokenize, lowercase)
    texts = TestSet(
        tuple(systems),
        make_rows(systems, references, sources),
        tokens,
        aligner.source_tokens if aligner else tokens,
    )
    counted = count_systems(texts, chosen, jobs=jobs)
    return compare_counted(counted, baseline=baseline, testing=Testing(test, resamples, seed))


def _check_names(systems: Mapping[str, Sequence[Segment]]) -> None:
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems are a mapping from a name to its segments, such as {'mine': hypotheses}, not "
            f"{type(systems).__name__}"
        )
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"the name of a system is a string, not {name!r}")


def _of_systems(metric: Metric[Any], systems: Sequence[str]) -> Metric[Any]:
    """The metric with the links of the systems in their order."""
    if not isinstance(metric, AlignedMetric):
        return metric
    return replace(metric, aligner=metric.aligner.for_systems(systems))


def _named_metric(
    metric: str | Metric[Any], settings: Mapping[str, Any]
) -> tuple[str, Metric[Any]]:
    if not isinstance(metric, (str, Metric)):
        raise TypeError(
            f"a metric is a name such as 'rep' or an object such as REP(), not {metric}"
        )
    if not isinstance(metric, str):
        return metric.name.lower(), metric
    # BLEU's tokeniser, which has the same name, is its own.
    is_of_tokens = issubclass(metric_class(metric), TokenMetric)
    own = settings if is_of_tokens else {"aligner": settings["aligner"]}
    return metric, make_metric(metric, own)


def compare_counted(
    counted: Counted, *, baseline: str | None = None, testing: Testing | None = None
) -> Comparison:
    """Compare systems that are counted; otherwise as :func:`compare`."""
    return compare_statistics(
        counted.statistics, counted.metrics, baseline=baseline, testing=testing, counted=counted
    )


def compare_statistics(
    statistics: Mapping[str, Mapping[str, Statistics]],
    metrics: Mapping[str, Metric[Any]],
    *,
    baseline: str | None = None,
    testing: Testing | None = None,
    counted: Counted | None = None,
    references: int = 1,
) -> Comparison:
    """Compare systems by statistics ``[segments, k]`` by metric, then system.

    All intervals and bootstrap tests, of every metric, come from the same resamples. Otherwise as
    :func:`compare`.
    """
    testing = testing or Testing()
    if not metrics:
        raise ValueError("no metric to compare by")
    pairs = [(metric, statistics[name]) for name, metric in metrics.items()]
    systems = list(pairs[0][1])
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(f"the baseline {baseline!r} is none of the systems {', '.join(systems)}")
    references = len(counted.texts.rows[0].references) if counted else references
    scores = [_corpus_scores(*pair, references) for pair in pairs]
    sampled, found = _resample(pairs, baseline, testing)
    cells = {
        name: _column(_with_intervals(values, drawn, testing), baseline, differences)
        for name, values, drawn, differences in zip(metrics, scores, sampled, found, strict=True)
    }
    rows = {system: {name: cells[name][system] for name in metrics} for system in systems}
    segments = len(pairs[0][1][baseline])
    return Comparison(metrics, rows, baseline, testing, segments, counted)


_Column = tuple[Metric[Any], Mapping[str, Statistics]]
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


def _corpus_scores(
    metric: Metric[Any], statistics: Mapping[str, Statistics], references: int
) -> dict[str, Score]:
    return {
        system: metric.score(values, references=references, system=system)
        for system, values in statistics.items()
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
    values = [score.score for score in scores.values()]
    higher_is_better = scores[baseline].higher_is_better
    best = max(values) if higher_is_better else min(values)
    adjusted = dict(zip(found, holm([item.p_value for item in found.values()]), strict=True))
    return {
        system: Cell(
            score,
            None if system == baseline else score.score - scores[baseline].score,
            found[system].p_value if system in found else None,
            adjusted.get(system),
            best=score.score == best,
        )
        for system, score in scores.items()
    }
