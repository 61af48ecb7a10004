"""Systems compared, as in the paper's Table 1: scores, intervals, p-values against a baseline.

The table is presented here, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.align.aligner import Aligner
from coverage_eval.comparison.breakdowns import DEFAULT_TOP, break_down, most_different
from coverage_eval.comparison.columns import Columns
from coverage_eval.comparison.facts import Facts, collect_facts, statistics_by_system
from coverage_eval.comparison.sentences import write_verdict
from coverage_eval.comparison.verdict import ComparisonVerdict, decide
from coverage_eval.core.batches import Texts
from coverage_eval.core.checks import MIN_SEGMENTS
from coverage_eval.core.errors import Severity, require_integer, warn_of
from coverage_eval.core.formats import render
from coverage_eval.core.machine import LazyRows
from coverage_eval.core.metric import Floats, Interval, Metric, Score, interval_ends
from coverage_eval.core.report import NUMBERS, PEOPLE, ROWS, Cell, Report, ScoreCell, Table
from coverage_eval.core.result import Result
from coverage_eval.core.significance import (
    Difference,
    Pair,
    SignificanceTest,
    holm,
    pair_tests,
    percentile_interval,
    sample_scores,
)
from coverage_eval.core.tokenizers import Segment
from coverage_eval.coverage.trust import Trust, gauge_result
from coverage_eval.documents.feature import Documents

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class ComparedScore:
    """One system by one metric.

    Attributes:
        score: The corpus score, with its interval.
        difference: The score minus the baseline's; None for the baseline.
        difference_interval: Its 95% interval, from resamples of the same segments for both; None
            for the baseline and without resamples.
        p_value: The p-value of the paired test against the baseline; None for the baseline, and
            where a score of errors is low only because an output is nearly empty.
        adjusted: The p-value after Holm's correction over all systems of the metric.
        best: Whether there are other systems, and none is better.
    """

    score: Score
    difference: float | None = None
    p_value: float | None = None
    adjusted: float | None = None
    best: bool = False
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
        rows: Cells by system, then metric.
        baseline: The system that others are tested against.
        test: The significance test.
        measured: The counts, and for breakdowns the texts.
        trust: How far the metrics that flag segments can be believed on these texts, by their keys.
    """

    rows: Mapping[str, Mapping[str, ComparedScore]]
    baseline: str
    test: SignificanceTest
    measured: Result = field(repr=False, compare=False)
    trust: Mapping[str, Trust] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        names = ", ".join(metric.name for metric in self.metrics.values())
        return f"<Comparison of {', '.join(self.rows)} by {names}, {self.segments:,} segments>"

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name, columns of the table."""
        return self.measured.metrics

    @property
    def segments(self) -> int:
        """Size of the test set."""
        return self.measured.segments

    @property
    def others(self) -> list[str]:
        """The systems except the baseline."""
        return [system for system in self.rows if system != self.baseline]

    @cached_property
    def facts(self) -> Facts:
        """What the verdict is made from."""
        return collect_facts(self.measured, self.rows, self.test, self.trust)

    @property
    def verdict(self) -> ComparisonVerdict:
        """Which system to take, as far as the tests can tell, and why."""
        return decide(self.facts)

    @property
    def verdict_sentences(self) -> tuple[str, ...]:
        """The verdict in at most three sentences; the first that names no fault is the headline."""
        facts = self.facts
        return write_verdict(decide(facts), facts)

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric, by its name."""
        first = next(iter(self.rows.values()))
        return {cell.score.metric: str(cell.score.signature) for cell in first.values()}

    def segment_rows(self) -> tuple[tuple[str, ...], LazyRows[tuple[Cell, ...]]]:
        """Column names, and a row for each segment (from 1) and system with its scores."""
        systems = list(self.rows)
        columns = [
            [self.measured.segment_scores(name, s) for s in systems] for name in self.metrics
        ]

        def row(number: int) -> tuple[Cell, ...]:
            segment, system = divmod(number, len(systems))
            return (segment + 1, systems[system], *(scores[system][segment] for scores in columns))

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
            ValueError: An unknown word.
        """
        import pandas as pd

        if what == "segments":
            header, rows = self.segment_rows()
            frame = pd.DataFrame(list(rows), columns=list(header))
            return frame.astype(dict.fromkeys(header[2:], "float64"))
        if what != "systems":
            raise ValueError(f"what is 'systems' or 'segments', not {what!r}")
        labels = [metric.name for metric in self.metrics.values()]
        columns = pd.MultiIndex.from_product([labels, _FIGURES], names=["metric", "figure"])
        figures = [[_figures(cell) for cell in cells.values()] for cells in self.rows.values()]
        values = np.array(figures, dtype=np.float64).reshape(len(self.rows), -1)
        return pd.DataFrame(values, index=pd.Index(self.rows, name="system"), columns=columns)

    def to_latex(self, width: int = 2) -> str:
        """A LaTeX table in booktabs style.

        Args:
            width: Digits after the decimal point.
        """
        return render(comparison_report(self), "latex", digits=width)

    def plot_differences(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw differences from the baseline with their intervals, a panel for each metric.

        A difference has a star as in the table.

        Args:
            axes: Where to draw, one for each metric; a new figure if None.

        Raises:
            DataError: There is no system besides the baseline.
        """
        from coverage_eval.plotting.scores import plot_differences

        columns = [
            (metric, [cells[name] for cells in self.rows.values()])
            for name, metric in self.metrics.items()
        ]
        figures = [
            [(c.difference or 0.0, *interval_ends(c.difference_interval)) for c in cells]
            for _, cells in columns
        ]
        return plot_differences(
            list(self.rows),
            *np.moveaxis(np.array(figures, dtype=np.float64), -1, 0),
            labels=[
                f"{m.name} ({'higher' if m.higher_is_better else 'lower'} is better)"
                if m.higher_is_better is not None
                else m.name
                for m in self.metrics.values()
            ],
            baseline=self.baseline,
            significant=[
                [_measured(c, metric).significant for c in cells] for metric, cells in columns
            ],
            axes=axes,
        )

    def break_down(
        self,
        names: Sequence[str] | None = None,
        *,
        top: int = DEFAULT_TOP,
    ) -> list[Table]:
        """Tables of where the systems differ: by length and position, and the commonest errors.

        Args:
            names: Names of ``coverage_eval.comparison.breakdowns.BREAKDOWNS``, such as
                ``dropped-words``; by default all that the metrics allow.
            top: Words or n-grams in each list.

        Raises:
            ValueError: An unknown name, ``top`` below 1, or a metric or text that a breakdown needs
                is missing.
        """
        return break_down(self.measured, names, top)

    def most_different(self, top: int) -> Table:
        """The segments whose scores differ most from the baseline's, with texts and marks.

        Args:
            top: Segments of each metric and system.

        Raises:
            ValueError: ``top`` is below 1.
        """
        require_integer("top", top, 1)
        return most_different(self.measured, self.baseline, top)

    def __str__(self) -> str:
        return render(comparison_report(self, signature=False), "text")

    def _repr_markdown_(self) -> str:
        title = " ".join(_sentences(self))
        return render(Report((comparison_table(self),), title=title), "markdown")


_FIGURES = ("score", "low", "high", "difference", "p", "p (Holm)")


def _figures(cell: ComparedScore) -> tuple[float | None, ...]:
    ends = interval_ends(cell.score.interval)
    return (cell.score.score, *ends, cell.difference, cell.p_value, cell.adjusted)


_TESTS = {
    "bootstrap": "sacreBLEU's paired bootstrap, with about 10% false positives at 0.05",
    "randomization": "approximate randomisation, two-sided",
}
_RECORDS = (
    "system", "metric", "score", "low", "high", "difference", "p", "p_holm", "best", "better",
    "baseline", "signature",
)  # fmt: skip


def comparison_report(
    comparison: Comparison, breakdowns: Sequence[Table] = (), *, signature: bool = True
) -> Report:
    """The verdict, the table with its notes, and breakdowns.

    CSV is one table and has no breakdowns.

    Args:
        comparison: The systems.
        breakdowns: Further tables.
        signature: Whether tables have all notes and the metrics' signatures; otherwise one line
            says what the figures are, and each sentence of the verdict is a line. Data for
            programs always have them.
    """
    table = comparison_table(comparison)
    sentences = _sentences(comparison)
    tables = [replace(table, formats=PEOPLE), *(replace(t, formats=PEOPLE) for t in breakdowns)]
    if not signature:
        note = brief_note(comparison, comparison.baseline)
        tables[0] = replace(tables[0], notes=(note,), signatures=())
        if sentences:
            tables.insert(0, Table((), (), notes=sentences, formats=PEOPLE))
    records = list(_records(comparison))
    scores = [(record[_RECORDS.index("score")],) for record in records]
    tables += [Table(_RECORDS, records, formats=ROWS), Table(("score",), scores, formats=NUMBERS)]
    values = comparison_as_dict(comparison)
    if breakdowns:
        values["breakdowns"] = [table.to_dict() for table in breakdowns]
    return Report(tuple(tables), values, " ".join(sentences) if signature else "")


def _sentences(comparison: Comparison) -> tuple[str, ...]:
    """The sentences of the verdict, if systems were tested."""
    is_tested = comparison.others and comparison.test.resamples
    return comparison.verdict_sentences if is_tested else ()


def comparison_table(comparison: Comparison) -> Table:
    """The table of systems and metrics, with its notes and signatures."""
    metrics = comparison.metrics
    arrows = {True: " ↑", False: " ↓", None: ""}
    names = [metric.name for metric in metrics.values()]
    return Table(
        ("system", *(f"{m.name}{arrows[m.higher_is_better]}" for m in metrics.values())),
        tuple(
            (
                system,
                *(_measured(cell, metrics[name]) for name, cell in cells.items()),
            )
            for system, cells in comparison.rows.items()
        ),
        notes=tuple(comparison_notes(comparison)),
        signatures=tuple(comparison.signatures.values()),
        caption=f"{' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} scores.",
    )


def _measured(cell: ComparedScore, metric: Metric) -> ScoreCell:
    better = None
    if cell.difference and metric.higher_is_better is not None:
        better = (cell.difference > 0) == metric.higher_is_better
    p = cell.adjusted if metric.decides_verdicts else None  # a hint gets no star
    return ScoreCell(cell.score.score, *interval_ends(cell.score.interval), p, cell.best, better)


def comparison_as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, its scores in the schema of single scores."""
    test = comparison.test
    return {
        "baseline": comparison.baseline,
        "segments": comparison.segments,
        "test": test.test if test.resamples else None,
        "resamples": test.resamples,
        "seed": test.seed,
        "verdict": {
            "kind": comparison.verdict.kind,
            "systems": comparison.verdict.systems,
            "sentences": comparison.verdict_sentences,
        },
        "notes": comparison_notes(comparison),
        "trust": {
            name: asdict(trust) | {"is_low": trust.is_low}
            for name, trust in comparison.trust.items()
        },
        "scores": [
            {
                **cell.score.to_dict(),
                "best": cell.best,
                "difference": cell.difference,
                "difference_interval": (interval := cell.difference_interval)
                and {"low": interval.low, "high": interval.high},
                "p_value": cell.p_value,
                "p_value_holm": cell.adjusted,
            }
            for cells in comparison.rows.values()
            for cell in cells.values()
        ],
    }


def _records(comparison: Comparison) -> Iterator[tuple[Cell, ...]]:
    better = {True: "higher", False: "lower", None: "neither"}
    for system, cells in comparison.rows.items():
        for cell in cells.values():
            yield (
                system,
                cell.score.metric,
                *_figures(cell),
                "yes" if cell.best else "no",
                better[cell.score.higher_is_better],
                comparison.baseline,
                str(cell.score.signature),
            )


def brief_note(comparison: Comparison, baseline: str) -> str:
    """What the figures are, in one line, with a name for the baseline."""
    parts = [_segments(comparison)]
    if comparison.test.resamples:
        parts.append("low–high: 95% interval")
        if comparison.others:
            corrected = ", Holm-corrected" * (len(comparison.others) > 1)
            parts.append(f"p: against {baseline}, for each column{corrected}")
    return f"{'; '.join(parts)}."


def _segments(comparison: Comparison) -> str:
    is_few = comparison.segments < MIN_SEGMENTS and comparison.test.resamples > 0
    few = ": too few for intervals and tests to say much" * is_few
    return f"{comparison.segments:,} segments{few}"


def comparison_notes(comparison: Comparison) -> list[str]:
    """What a reader must know about the figures, a sentence each."""
    test, metrics = comparison.test, comparison.metrics.values()
    notes = [f"{_segments(comparison)}."]
    if test.resamples:
        drawn = f"{test.resamples:,} resamples, seed {test.seed}"
        notes.append(f"low–high: 95% interval (percentile bootstrap, {drawn}).")
        if comparison.others:
            notes.append(
                f"p: against {comparison.baseline} ({_TESTS[test.test]}, {drawn}; Holm-corrected "
                "in each metric over the systems, in the verdict over all pairs and metrics)."
            )
    notes += [metric.table_limits for metric in metrics if metric.table_limits]
    return notes + [
        f"{comparison.metrics[name].name}: do not go by this column: {trust.doubt}."
        for name, trust in comparison.trust.items()
        if trust.is_low
    ]


def compare(
    systems: Mapping[str, Sequence[Segment]],
    references: Sequence[Any] | None = None,
    sources: Sequence[Segment] | None = None,
    aligner: Aligner | None = None,
    *,
    metrics: Sequence[str | Metric] | None = None,
    baseline: str | None = None,
    test: str = SignificanceTest.test,
    resamples: int = SignificanceTest.resamples,
    seed: int = SignificanceTest.seed,
    tokenize: str | None = None,
    lowercase: bool = False,
    jobs: int = 1,
    unaligned: bool = False,
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
        metrics: Names of ``coverage_eval.registry.METRICS`` (or one name), or metrics with
            settings, in the order of the columns; by default BLEU, METEOR if it fits the texts and
            its packages are installed, REP, DROP with an aligner and soft DROP with a model;
            without references, repetitions and lengths, and omissions with a model.
        baseline: The system to test against; by default the first.
        test: ``"randomization"``, or sacreBLEU's ``"bootstrap"``.
        resamples: Resamples for intervals and test; 0 for neither.
        seed: Their seed.
        tokenize: The tokeniser of REP; an aligner has its own, and so have BLEU, chrF and METEOR.
            By default tokenised text is left as it is, and other text is tokenised as
            :func:`coverage_eval.comparison.columns.fit_words` says.
        lowercase: Whether REP lowercases the text.
        jobs: Processes for metrics of text.
        unaligned: Whether outputs are translations of one document with any lines, each a text or
            its lines, to be cut first by the lines of the sources, or without an aligner of the
            first reference; see :func:`coverage_eval.segment`.

    Raises:
        DataError: Unequal texts, links of other systems, or a metric's score is undefined; an
            output of a document that is no translation of its source.
        TypeError: Systems without names, a metric that is neither name nor object, or a metric
            needs texts that are None.
        ValueError: An unknown metric or baseline, two metrics with one name, or DROP without an
            aligner.
        MissingDependencyError: METEOR without its extra.
        AlignerError: The aligner failed.
    """
    if not isinstance(systems, Mapping):
        raise TypeError(
            "systems must map names to segments, such as {'mine': hypotheses}, not "
            f"{type(systems).__name__}"
        )
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"the name of a system must be a string, not {name!r}")
    how = SignificanceTest(test, resamples, seed, baseline)
    texts = Texts.from_lists(systems, references, sources, unaligned=unaligned)
    documents = [Documents(tokenize or "none", aligner, jobs=jobs)] if unaligned else []
    columns = Columns(
        texts, aligner, metrics, tokenize=tokenize, lowercase=lowercase, documents=documents
    )
    result = columns.evaluate(jobs=jobs)
    warn_of(result.findings)
    return compare_result(result, how)


def compare_result(result: Result, test: SignificanceTest | None = None) -> Comparison:
    """Compare systems that were measured, as :func:`compare` does.

    Intervals and bootstrap tests of all metrics come from the same resamples.

    Raises:
        ValueError: No metric, or an unknown baseline.
    """
    test, metrics, systems = test or SignificanceTest(), result.metrics, result.systems
    if not metrics:
        raise ValueError("no metric to compare by")
    baseline = systems[0] if test.baseline is None else test.baseline
    if baseline not in systems:
        raise ValueError(
            f"the baseline {baseline!r} is not one of the systems {', '.join(systems)}"
        )
    columns = statistics_by_system(result, metrics)
    sampled: Sequence[Mapping[str, Floats]] = [{}] * len(columns)
    tested: Sequence[Mapping[Pair, Difference]] = [{}] * len(columns)
    if test.resamples:
        sampled = sample_scores(columns, test.resamples, test.seed)
        tested = pair_tests(
            columns,
            [(system, baseline) for system in systems if system != baseline],
            test=test.test,
            resamples=test.resamples,
            seed=test.seed,
            sampled=sampled,
        )
    cells = {
        name: _compare_scores(result, name, baseline, draws, differences, test.seed)
        for name, draws, differences in zip(metrics, sampled, tested, strict=True)
    }
    rows = {system: {name: cells[name][system] for name in metrics} for system in systems}
    trust = gauge_result(result) if result.kept and len(systems) > 1 else {}
    return Comparison(rows, baseline, test, result, trust)


def unusable_systems(result: Result) -> list[str]:
    """The systems whose low scores mean nothing, such as those that say far too little."""
    texts = [item.texts for item in result.findings if item.severity == Severity.UNUSABLE]
    return list(dict.fromkeys(chain.from_iterable(texts)))


def _compare_scores(
    result: Result,
    name: str,
    baseline: str,
    sampled: Mapping[str, Floats],
    tested: Mapping[Pair, Difference],
    seed: int,
) -> dict[str, ComparedScore]:
    """One metric for all systems, with intervals and p-values if there are resamples."""
    scores = {system: result.score(name, system) for system in result.systems}
    higher_is_better = scores[baseline].higher_is_better
    # Few errors of an output that is nearly empty are no merit.
    unusable = unusable_systems(result) if higher_is_better is False else []
    best = None
    usable = [score.score for system, score in scores.items() if system not in unusable]
    if usable and len(scores) > 1 and higher_is_better is not None:
        best = max(usable) if higher_is_better else min(usable)
    p_values = [pair.p_value for pair in tested.values()]
    adjusted = dict(zip(tested, holm(p_values), strict=True))
    cells = {}
    for system, score in scores.items():
        interval = percentile_interval(sampled[system], seed=seed) if sampled else None
        is_best = score.score == best and system not in unusable
        cell = ComparedScore(replace(score, interval=interval), best=is_best)
        if system != baseline:
            difference = score.score - scores[baseline].score
            cell = replace(cell, difference=difference)
            if sampled:
                changes = sampled[system] - sampled[baseline]
                cell = replace(cell, difference_interval=percentile_interval(changes, seed=seed))
            lower = system if difference < 0 else baseline
            if tested and not (difference and lower in unusable):
                pair = (system, baseline)
                cell = replace(cell, p_value=tested[pair].p_value, adjusted=adjusted[pair])
        cells[system] = cell
    return cells
