"""Systems compared, as in the paper's Table 1: scores, intervals, p-values against a baseline."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import Aligner, GivenLinks, ModelAligner
from coverage_eval.comparison.breakdowns import DEFAULT_TOP, Options, break_down
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.data.input_checks import Finding, is_untokenised, warn_of
from coverage_eval.data.sample import SampledText
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import require_integer
from coverage_eval.metrics.measure import Metric, Result, TokenMetric, measure
from coverage_eval.metrics.registry import default_metrics, make_metric, metric_class
from coverage_eval.metrics.score import Interval, Score, Statistics, interval_ends
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MOST_RESAMPLES,
    TESTS,
    Difference,
    holm,
    paired_tests,
    percentile_interval,
    sample_scores,
)
from coverage_eval.tables.formats import render
from coverage_eval.tables.table import SIGNIFICANT, LazyRows
from coverage_eval.tables.table import Cell as Value
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from coverage_eval.report.page import Report
    from coverage_eval.tables.table import Table


@dataclass(frozen=True)
class Testing:
    """The significance test of differences.

    Attributes:
        test: ``"randomization"``, or sacreBLEU's ``"bootstrap"``, which has too many false
            positives (:func:`coverage_eval.metrics.significance.paired_test`).
        resamples: Resamples for intervals and test; 0 for neither.
        seed: Seed of the random numbers.

    Raises:
        TypeError: The number of resamples or the seed is not a whole number.
        ValueError: An unknown test, or a number out of range.
    """

    __test__ = False  # pytest would collect it

    test: str = "randomization"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"test must be one of {TESTS}, not {self.test!r}")
        require_integer("resamples", self.resamples, 0, MOST_RESAMPLES)
        require_integer("seed", self.seed, 0)


@dataclass(frozen=True)
class Cell:
    """One system by one metric.

    Attributes:
        score: The corpus score, with its interval.
        difference: The score minus the baseline's; None for the baseline.
        difference_interval: Its 95% interval, from resamples of the same segments for both; None
            for the baseline and without resamples.
        p_value: The p-value of the paired test against the baseline; None for the baseline.
        adjusted: The p-value after Holm's correction over all systems of the metric.
        best: Whether no other system is better.
        merit: False where a score of errors is low only because the output is nearly empty; it is
            neither best nor tested.
    """

    score: Score
    difference: float | None = None
    p_value: float | None = None
    adjusted: float | None = None
    best: bool = False
    merit: bool = True
    difference_interval: Interval | None = None


@dataclass(frozen=True)
class Comparison:
    """Systems compared by several metrics; :func:`compare` makes one.

    >>> import coverage_eval as ce
    >>> references = ["a red house", "the dog sleeps"]
    >>> systems = {"good": references, "bad": ["a red red house", "the dog the dog"]}
    >>> comparison = ce.compare(systems, references, metrics=["rep"], resamples=0)
    >>> comparison.baseline, comparison.to_frame()["REP"]["score"].to_list()
    ('good', [0.0, 50.0])
    >>> comparison.break_down(["repeated-ngrams"])[0].rows[0][:2]
    ('bad', 'red red')

    Attributes:
        metrics: The metrics by name, columns of the table.
        rows: Cells by system, then metric.
        baseline: The system that others are tested against.
        testing: The significance test.
        segments: Size of the test set.
        result: The counts, with the texts for breakdowns; None if there are only statistics.
    """

    metrics: Mapping[str, Metric]
    rows: Mapping[str, Mapping[str, Cell]]
    baseline: str
    testing: Testing
    segments: int
    result: Result | None = field(default=None, repr=False, compare=False)

    @property
    def others(self) -> list[str]:
        """The systems except the baseline."""
        return [system for system in self.rows if system != self.baseline]

    @property
    def silent(self) -> list[str]:
        """The systems whose outputs are blank or far too short, as the input checks found."""
        findings = self.result.findings if self.result else ()
        return [item.text for item in findings if item.check == "says-little"]

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric, by its name."""
        first = next(iter(self.rows.values()))
        return {cell.score.metric: str(cell.score.signature) for cell in first.values()}

    @property
    def measured(self) -> Result:
        """The counts and texts.

        Raises:
            ValueError: The comparison was made from statistics alone.
        """
        if self.result is None:
            raise ValueError("this needs the texts, but there are only statistics")
        return self.result

    def segment_rows(self) -> tuple[tuple[str, ...], LazyRows[tuple[Value, ...]]]:
        """Column names, and a row for each segment (from 1) and system with its scores.

        Raises:
            ValueError: The comparison was made from statistics alone.
        """
        result = self.measured
        systems = list(self.rows)
        scores = [
            [result.segment_scores(name, system) for system in systems] for name in self.metrics
        ]

        def row(number: int) -> tuple[Value, ...]:
            segment, system = divmod(number, len(systems))
            return (segment + 1, systems[system], *(each[system][segment] for each in scores))

        header = ("segment", "system", *(metric.name for metric in self.metrics.values()))
        return header, LazyRows(row, range(len(systems) * self.segments))

    def to_frame(self, what: str = "systems") -> pd.DataFrame:
        """A data frame with a row for each system and two levels of columns, metric and figure.

        The figures are ``score``, ``low``, ``high`` (95% interval), ``difference``, ``p`` and
        ``p (Holm)``, in the metric's unit; those of the test are NaN for the baseline.

        Args:
            what: ``"systems"``, or ``"segments"`` for a row for each segment (from 1) and system,
                with the columns ``segment``, ``system`` and one for each metric.

        Raises:
            ValueError: An unknown word, or segments of a comparison made from statistics alone.
        """
        import pandas as pd

        if what == "segments":
            header, found = self.segment_rows()
            scores = dict.fromkeys(header[2:], "float64")
            return pd.DataFrame(list(found), columns=list(header)).astype(scores)
        if what != "systems":
            raise ValueError(f"what is 'systems' or 'segments', not {what!r}")
        labels = [metric.name for metric in self.metrics.values()]
        columns = pd.MultiIndex.from_product([labels, _FIGURES], names=["metric", "figure"])
        rows = [
            [value for cell in cells.values() for value in _figures(cell)]
            for cells in self.rows.values()
        ]
        systems = pd.Index(self.rows, name="system")
        return pd.DataFrame(np.array(rows, dtype=np.float64), index=systems, columns=columns)

    def to_latex(self, width: int = 2) -> str:
        """A LaTeX table in booktabs style.

        Args:
            width: Digits after the decimal point.
        """
        return self._render("latex", width)

    def plot(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw each system's scores and intervals as bars, a panel for each metric.

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
            labels=[
                f"{m.name} ({direction[m.higher_is_better]})" if m.has_better else m.name
                for m in self.metrics.values()
            ],
            baseline=self.baseline,
            significant=values[..., -1] < SIGNIFICANT,
            axes=axes,
        )

    def plot_differences(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw differences from the baseline with their intervals, a panel for each metric.

        Args:
            axes: Where to draw, one for each metric; a new figure if None.

        Raises:
            DataError: There is no system besides the baseline.
        """
        from coverage_eval.plotting.scores import plot_differences

        rows = self.rows.values()
        cells = [[row[name] for row in rows] for name in self.metrics]
        figures = [
            [(cell.difference or 0.0, *interval_ends(cell.difference_interval)) for cell in column]
            for column in cells
        ]
        values = np.array(figures, dtype=np.float64)
        stars = [[(cell.adjusted or 1) < SIGNIFICANT for cell in column] for column in cells]
        direction = {True: "higher is better", False: "lower is better"}
        return plot_differences(
            list(self.rows),
            *np.moveaxis(values, -1, 0),
            labels=[f"{m.name} ({direction[m.higher_is_better]})" for m in self.metrics.values()],
            baseline=self.baseline,
            significant=stars,
            axes=axes,
        )

    def break_down(
        self,
        names: Sequence[str] | None = None,
        *,
        top: int = DEFAULT_TOP,
        frequencies: Mapping[str, int] | None = None,
        target_frequencies: Mapping[str, int] | None = None,
        word_labels: Sequence[Sequence[str]] | None = None,
    ) -> list[Table]:
        """Tables of where the systems differ: by length, frequency and position, commonest errors.

        Args:
            names: Names of ``coverage_eval.comparison.breakdowns.BREAKDOWNS``, such as
                ``dropped-words``; by default all that the metrics allow.
            top: Words, n-grams or segments in each list.
            frequencies: How often each source word occurs in the training text; by default, in the
                source itself.
            target_frequencies: The same for target words; by default, in the reference itself.
            word_labels: For each segment, a label of each word of the first reference.

        Raises:
            ValueError: An unknown name, ``top`` below 1, or a metric or text that a breakdown needs
                is missing.
        """
        options = Options(top, frequencies, self.baseline, target_frequencies, word_labels)
        return break_down(self.measured, names, options)

    def to_report(self, **settings: Any) -> Report:
        """One HTML file to read, with a browser of segments; a notebook shows it.

        >>> import coverage_eval as ce
        >>> systems = {"good": ["a house"], "bad": ["a house house"]}
        >>> report = ce.compare(systems, ["a house"], metrics=["rep"]).to_report()
        >>> "No system repeats significantly more or less than good" in report.html
        True

        Its ``save`` writes the file.

        Args:
            **settings: What the report shows besides the scores: the fields of
                :class:`coverage_eval.report.html.ReportOptions`, such as ``attention`` (maps
                of each segment by system), ``labels`` (known errors by system) or ``title``.

        Raises:
            ValueError: The comparison was made from statistics alone, or maps or labels are of an
                unknown system or of other segments.
        """
        # Imported by name: the report is built on comparisons, not the other way round.
        room = import_module("coverage_eval.report.html")
        report: Report = room.make_report(self, **settings)
        return report

    def _render(self, output_format: str, width: int = 2) -> str:
        # Imported by name, too.
        present = import_module("coverage_eval.comparison.presentation").present_comparison
        text: str = render(present(self), output_format, width=width)
        return text

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
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    metrics: Sequence[str | Metric] | None = None,
    baseline: str | None = None,
    test: str = "randomization",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    tokenize: str | None = None,
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
        references: Reference segments, or a list of several references; None to compare without.
        sources: Source segments, for DROP, soft DROP and all comparisons without references.
        aligner: What links them, for the same metrics.
        metrics: Names of ``coverage_eval.metrics.registry.METRICS`` (or one name), or metrics with
            settings, in the order of the columns; by default BLEU and REP, DROP with an
            aligner and soft DROP with a model; without references, repetitions and lengths, and
            omissions and additions with a model.
        baseline: The system to test against; by default the first.
        test: ``"randomization"``, or sacreBLEU's ``"bootstrap"``.
        resamples: Resamples for intervals and test; 0 for neither.
        seed: Their seed.
        tokenize: The tokeniser of REP; an aligner has its own, and so have BLEU, chrF and METEOR.
            By default tokenised text is left as it is, and other text is tokenised as
            :func:`fit_words` says.
        lowercase: Whether REP lowercases the text.
        jobs: Processes for metrics of text.

    Raises:
        DataError: Unequal texts, links of other systems, or a metric's score is undefined.
        TypeError: Systems without names, a metric that is neither name nor object, or a metric
            needs texts that are None.
        ValueError: An unknown metric or baseline, two metrics with one name, or DROP without an
            aligner.
        MissingDependencyError: METEOR without its extra.
        AlignerError: The aligner failed.
    """
    _check_names(systems)
    if isinstance(metrics, str):
        metrics = [metrics]
    if metrics is None:
        modelled = isinstance(aligner, ModelAligner)
        metrics = ["bleu", "rep", *(["drop"] if aligner else [])]
        metrics += ["softdrop"] if modelled else []
        if references is None:
            metrics, _ = default_metrics(aligned=modelled, referenced=False, modelled=modelled)
    if not metrics:
        raise ValueError("no metric to compare by")
    dataset = Dataset.of_lists(systems, references, sources)
    cut: list[Finding] = []
    if tokenize is None:
        tokenize, aligner, cut = fit_words(dataset.rows(), aligner)
    settings = {"aligner": aligner, "tokenize": tokenize, "lowercase": lowercase}
    named = [_named_metric(metric, settings) for metric in metrics]
    chosen = dict(named)
    if len(chosen) < len(named):
        names = ", ".join(name for name, _ in named)
        raise ValueError(f"two metrics have one name: {names}; compare by them one after the other")
    chosen = {name: metric.for_systems(list(systems)) for name, metric in chosen.items()}
    for metric in chosen.values():
        metric.check_needs(references, sources)
    result = measure(dataset, chosen, jobs=jobs, evidence=True, checks=True)
    warn_of(result.findings)
    tokens = Tokenizer(tokenize, lowercase)
    source_tokens = aligner.source_tokens if aligner else tokens
    findings = [*result.findings, *cut]
    result = replace(result, tokens=tokens, source_tokens=source_tokens, findings=findings)
    return compare_result(result, baseline=baseline, testing=Testing(test, resamples, seed))


LOOKED_AT = 2000
"""Segments that decide whether texts are tokenised."""


def fit_words(
    rows: Iterable[Row], aligner: Aligner | None
) -> tuple[str, Aligner | None, list[Finding]]:
    """The tokeniser of REP and DROP where nobody chose one.

    Tokenised text, and text of fewer than twenty segments, is split at spaces. Other text gets the
    tokeniser of the aligner's model; without a model, or with a model that names no tokeniser,
    ``13a``. A model whose training text was already tokenised aligns with ``13a``, too, if it
    then knows more words.

    Args:
        rows: The texts, some of them or all.
        aligner: What links them; given links count words separated by spaces.

    Returns:
        The tokeniser's name, the aligner with it, and a note if text is tokenised.
    """
    none = Tokenizer()
    rows = list(islice(rows, LOOKED_AT))
    texts = zip(*((*row.hypotheses, *row.references) for row in rows), strict=True)
    is_raw = any(is_untokenised(SampledText("", [none(s) for s in text])) for text in texts)
    if isinstance(aligner, GivenLinks) or not is_raw:
        return "none", aligner, []
    name = "13a"
    if isinstance(aligner, ModelAligner):
        if aligner.tokens.name != "none":
            name = aligner.tokens.name
        else:
            cut, known = replace(aligner.tokens, name=name), aligner.model.vocabulary()[1]
            unknown = [
                sum(token not in known for row in rows for token in tokens(row.hypotheses[0]))
                for tokens in (cut, aligner.tokens)
            ]
            aligner = aligner.cut_by(name) if unknown[0] < unknown[1] else aligner
    said = f"the texts are not tokenised: REP and DROP tokenise them with {name}"
    return name, aligner, [Finding("words-cut", f"{said} (none leaves them as they are)")]


def _check_names(systems: Mapping[str, Sequence[Segment]]) -> None:
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems must map names to segments, such as {'mine': hypotheses}, not "
            f"{type(systems).__name__}"
        )
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"the name of a system must be a string, not {name!r}")


def _named_metric(metric: str | Metric, settings: Mapping[str, Any]) -> tuple[str, Metric]:
    if not isinstance(metric, (str, Metric)):
        raise TypeError(
            f"a metric must be a name such as 'rep' or an object such as REP(), not {metric}"
        )
    if not isinstance(metric, str):
        return metric.name.lower(), metric
    # BLEU has its own tokeniser under the same name.
    is_of_tokens = issubclass(metric_class(metric), TokenMetric)
    own = settings if is_of_tokens else {"aligner": settings["aligner"]}
    return metric, make_metric(metric, own)


def compare_result(
    result: Result, *, baseline: str | None = None, testing: Testing | None = None
) -> Comparison:
    """Compare systems that were measured, as :func:`compare` does."""
    statistics = {
        name: dict(zip(result.systems, block, strict=True))
        for name, block in result.statistics.items()
    }
    comparison = compare_statistics(
        statistics, result.metrics, baseline=baseline, testing=testing, references=result.references
    )
    comparison = replace(comparison, result=result)
    return _without_false_merit(comparison) if comparison.silent else comparison


def _without_false_merit(comparison: Comparison) -> Comparison:
    """Remove marks and tests from outputs that have few errors because they are nearly empty."""
    rows = {system: dict(cells) for system, cells in comparison.rows.items()}
    for name, metric in comparison.metrics.items():
        if metric.higher_is_better or not metric.has_better:
            continue
        speaking = [
            cells[name].score.score for s, cells in rows.items() if s not in comparison.silent
        ]
        for system, cells in rows.items():
            cell, difference = cells[name], cells[name].difference or 0.0
            better = system if difference < 0 else comparison.baseline
            best = system not in comparison.silent and cell.score.score == min(speaking)
            if better in comparison.silent and (difference or system == better):
                cell = replace(cell, p_value=None, adjusted=None, merit=False)
            cells[name] = replace(cell, best=best)
    return replace(comparison, rows=rows)


def compare_statistics(
    statistics: Mapping[str, Mapping[str, Statistics]],
    metrics: Mapping[str, Metric],
    *,
    baseline: str | None = None,
    testing: Testing | None = None,
    references: int = 1,
) -> Comparison:
    """Compare systems by statistics ``[segments, k]`` by metric, then system.

    Intervals and bootstrap tests of all metrics come from the same resamples. See
    :func:`compare`.
    """
    testing = testing or Testing()
    if not metrics:
        raise ValueError("no metric to compare by")
    pairs = [(metric, statistics[name]) for name, metric in metrics.items()]
    systems = list(pairs[0][1])
    baseline = systems[0] if baseline is None else baseline
    if baseline not in systems:
        raise ValueError(
            f"the baseline {baseline!r} is not one of the systems {', '.join(systems)}"
        )
    scores = [
        {
            system: metric.score(values, references=references, system=system)
            for system, values in statistics[name].items()
        }
        for name, metric in metrics.items()
    ]
    sampled: list[dict[str, NDArray[np.float64]]] = [{} for _ in pairs]
    found: list[dict[str, Difference]] = [{} for _ in pairs]
    if testing.resamples:
        sampled = sample_scores(pairs, testing.resamples, testing.seed)
        found = paired_tests(
            pairs,
            baseline,
            test=testing.test,
            resamples=testing.resamples,
            seed=testing.seed,
            sampled=sampled,
        )
    cells = {
        name: _column(values, drawn, differences, baseline, testing.seed)
        for name, values, drawn, differences in zip(metrics, scores, sampled, found, strict=True)
    }
    for name, metric in metrics.items():
        if not metric.has_better:
            cells[name] = {who: replace(cell, best=False) for who, cell in cells[name].items()}
    rows = {system: {name: cells[name][system] for name in metrics} for system in systems}
    return Comparison(metrics, rows, baseline, testing, len(pairs[0][1][baseline]))


def _column(
    scores: Mapping[str, Score],
    sampled: Mapping[str, NDArray[np.float64]],
    found: Mapping[str, Difference],
    baseline: str,
    seed: int,
) -> dict[str, Cell]:
    """One metric for all systems, with intervals and p-values if there are resamples."""
    base = scores[baseline]
    values = [score.score for score in scores.values()]
    best = max(values) if base.higher_is_better else min(values)
    adjusted = dict(zip(found, holm([item.p_value for item in found.values()]), strict=True))
    cells = {}
    for system, score in scores.items():
        difference_interval = None
        if system in sampled:
            if system != baseline:
                differences = sampled[system] - sampled[baseline]
                difference_interval = percentile_interval(differences, seed=seed)
            score = replace(score, interval=percentile_interval(sampled[system], seed=seed))  # noqa: PLW2901
        cells[system] = Cell(
            score,
            None if system == baseline else score.score - base.score,
            found[system].p_value if system in found else None,
            adjusted.get(system),
            best=score.score == best,
            difference_interval=difference_interval,
        )
    return cells
