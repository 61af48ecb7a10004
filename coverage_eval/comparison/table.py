"""A comparison, and how it is shown: a table as in the paper's Table 1, data, a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.comparison.breakdowns import DEFAULT_TOP, break_down, most_different
from coverage_eval.comparison.pairs import PairTests, systems_as_references
from coverage_eval.comparison.statements import Statements, best_first, make_statements, remarks
from coverage_eval.core.errors import require_integer
from coverage_eval.core.formats import render
from coverage_eval.core.lists import LazyRows
from coverage_eval.core.metric import Metric
from coverage_eval.core.report import (
    HUMAN_FORMATS,
    NUMBER_FORMATS,
    ROW_FORMATS,
    SIGNIFICANT,
    Cell,
    Report,
    ScoreCell,
    Table,
)
from coverage_eval.core.result import Result
from coverage_eval.core.sampled_texts import MIN_SEGMENTS
from coverage_eval.core.score import Interval, Score, interval_ends
from coverage_eval.core.significance import SignificanceTest
from coverage_eval.plotting import drawing

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
        adjusted: The p-value after Holm's correction over all pairs of systems and all columns.
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
    """Systems compared by several metrics; ``coverage_eval.compare`` makes one.

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
        result: The counts, and for breakdowns the texts.
        tests: The tests of all pairs of systems.
    """

    rows: Mapping[str, Mapping[str, ComparedScore]]
    baseline: str
    test: SignificanceTest
    result: Result = field(repr=False, compare=False)
    tests: PairTests = field(repr=False, compare=False)

    def __repr__(self) -> str:
        systems, labels = ", ".join(self.rows), ", ".join(self.labels)
        return f"<Comparison of {systems} by {labels}, {self.segments:,} segments>"

    if not TYPE_CHECKING:  # which finds names that do not exist

        def __getitem__(self, key: object) -> Any:
            raise TypeError(f"{key!r:.60}: a comparison is no table; comparison.to_frame() is one")

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(
                f"a comparison has no {name!r}; comparison.to_frame() is a table of pandas"
            )

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """The metrics by name, columns of the table."""
        return self.result.metrics

    @property
    def labels(self) -> list[str]:
        """The metrics as tables call them."""
        return [metric.presentation.name for metric in self.metrics.values()]

    @property
    def segments(self) -> int:
        """Size of the test set."""
        return self.result.segments

    @property
    def others(self) -> list[str]:
        """The systems except the baseline."""
        return [system for system in self.rows if system != self.baseline]

    @cached_property
    def order(self) -> Sequence[str]:
        """The systems by the score that decides, the best first; those that are a reference last.

        They are as they were given if tests tell nothing apart.
        """
        references, item = systems_as_references(self.result), self.statements.deciding
        ranked = self._ranked(item.metric) if item else self.rows
        return sorted(ranked, key=references.__contains__)

    def _ranked(self, name: str) -> Sequence[str]:
        scores = {system: cells[name].score.score for system, cells in self.rows.items()}
        return best_first(self.metrics[name], scores, self.rows)

    def is_bold(self, name: str, system: str) -> bool:
        """Whether a figure is the best, and a test, if there was one, tells it from the next."""
        tests = self.tests.by_metric.get(name)
        if not tests or not self.rows[system][name].best:
            return self.rows[system][name].best
        following = next(other for other in self._ranked(name) if other != system)
        return tests[frozenset((system, following))].adjusted < SIGNIFICANT

    def score_cell(self, name: str, system: str) -> ScoreCell:
        """A system's score by a metric as tables have it, with its interval and its p-value."""
        cell, presentation = self.rows[system][name], self.metrics[name].presentation
        better = None
        if cell.difference and presentation.higher_is_better is not None:
            better = (cell.difference > 0) == presentation.higher_is_better
        told_from = (
            self.rows[other][name].score.score
            for pair, test in self.tests.by_metric.get(name, {}).items()
            if system in pair and test.adjusted < SIGNIFICANT
            for other in pair - {system}
        )
        return ScoreCell(
            cell.score.score,
            *interval_ends(cell.score.interval),
            cell.adjusted,
            self.is_bold(name, system),
            better,
            tuple(told_from),
        )

    @cached_property
    def statements(self) -> Statements:
        """What the tests tell apart; its ``write`` gives at most four lines."""
        return make_statements(self.result, self.tests)

    @cached_property
    def remarks(self) -> tuple[str, ...]:
        """What else is wrong: tests at the level, systems that are references or of odd lengths."""
        pairs = [  # by scores, so that the names of systems order nothing
            (name, sorted((self.rows[system][name].score.score, system) for system in pair))
            for name, pair in self.tests.unsure
        ]
        named = (
            f"{self.metrics[name].presentation.name} of {first} and {second}: p is within its "
            f"Monte-Carlo error of {SIGNIFICANT:g}."
            for name, ((_, first), (_, second)) in sorted(pairs)
        )
        return (*named, *remarks(self.result))

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric, by its name."""
        first = next(iter(self.rows.values()))
        return {cell.score.metric: str(cell.score.signature) for cell in first.values()}

    def segment_rows(self) -> tuple[tuple[str, ...], LazyRows[tuple[Cell, ...]]]:
        """Column names, and a row for each segment (from 1) and system with its scores."""
        systems = list(self.rows)
        columns = [[self.result.segment_scores(name, s) for s in systems] for name in self.metrics]

        def row(number: int) -> tuple[Cell, ...]:
            segment, system = divmod(number, len(systems))
            return (segment + 1, systems[system], *(scores[system][segment] for scores in columns))

        header = ("segment", "system", *self.labels)
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
        columns = pd.MultiIndex.from_product([self.labels, _FIGURES], names=["metric", "figure"])
        figures = [[_figures(cell) for cell in cells.values()] for cells in self.rows.values()]
        values = np.array(figures, dtype=np.float64).reshape(len(self.rows), -1)
        return pd.DataFrame(values, index=pd.Index(self.rows, name="system"), columns=columns)

    def to_latex(self, width: int = 2, *, signatures: bool = True) -> str:
        """A LaTeX table in booktabs style.

        Args:
            width: Digits after the decimal point.
            signatures: Whether the signatures are printed below; otherwise they are comments,
                because they take much of a column.
        """
        return render(comparison_report(self), "latex", digits=width, signatures=signatures)

    @drawing
    def plot_differences(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw differences from the baseline with their intervals, a panel for each metric.

        A difference is that of the figures in the table, and has its star.

        Args:
            axes: Where to draw, one for each metric; a new figure if None.

        Raises:
            DataError: There is no system besides the baseline, or no metric with scores.
        """
        from coverage_eval.plotting.scores import plot_differences

        self.result.require_scores()
        figures, stars = [], []
        for name in self.metrics:
            cells = {system: self.score_cell(name, system) for system in self.rows}
            stars.append([cell.significant for cell in cells.values()])
            figures.append([
                (
                    cell.printed - cells[self.baseline].printed,
                    *interval_ends(self.rows[system][name].difference_interval),
                )
                for system, cell in cells.items()
            ])  # fmt: skip
        return plot_differences(
            list(self.rows),
            *np.moveaxis(np.array(figures, dtype=np.float64), -1, 0),
            labels=[
                f"{shown.name} ({'higher' if shown.higher_is_better else 'lower'} is better)"
                if shown.higher_is_better is not None
                else shown.name
                for shown in (metric.presentation for metric in self.metrics.values())
            ],
            baseline=self.baseline,
            significant=stars,
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
        return break_down(self.result, names, top)

    def most_different(self, top: int) -> Table:
        """The segments whose scores differ most from the baseline's, with texts and marks.

        Args:
            top: Segments of each metric and system.

        Raises:
            ValueError: ``top`` is below 1.
        """
        require_integer("top", top, 1)
        return most_different(self.result, self.baseline, top)

    def __str__(self) -> str:
        return render(comparison_report(self, signature=False), "text")

    def _repr_markdown_(self) -> str:
        return render(comparison_report(self), "markdown")


_FIGURES = ("score", "low", "high", "difference", "p", "p (Holm)")


def _figures(cell: ComparedScore) -> tuple[float | None, ...]:
    """The numbers of :data:`_FIGURES`."""
    ends = interval_ends(cell.score.interval)
    return (cell.score.score, *ends, cell.difference, cell.p_value, cell.adjusted)


_TESTS = {
    "bootstrap": "sacreBLEU's paired bootstrap, with about 10% false positives at 0.05",
    "randomization": "approximate randomisation, two-sided",
}
_COLUMNS = (
    "system", "metric", "score", "low", "high", "difference", "p", "p_holm", "best", "better",
    "baseline", "signature",
)  # fmt: skip


def comparison_report(
    comparison: Comparison, breakdowns: Sequence[Table] = (), *, signature: bool = True
) -> Report:
    """The statements, the table with its notes, and breakdowns.

    CSV is one table and has no breakdowns.

    Args:
        comparison: The systems.
        breakdowns: Further tables.
        signature: Whether tables have all notes and the metrics' signatures; otherwise one line
            says what the figures are, and the statements are lines. Data for
            programs always have them.
    """
    values = comparison_as_dict(comparison)
    is_tested = len(comparison.rows) > 1 and comparison.test.resamples
    sentences = comparison.statements.write() if is_tested else ()
    table, tables = comparison_table(comparison), []
    if signature:
        signatures = tuple(comparison.signatures.values())
        table = replace(table, notes=tuple(values["notes"]), signatures=signatures)
    else:
        table = replace(
            table, notes=(brief_note(comparison, comparison.baseline), *comparison.remarks)
        )
        if sentences:
            tables.append(Table((), (), notes=sentences, formats=HUMAN_FORMATS))
    # A paper's caption says what the figures are, and gives no advice.
    printed = replace(table, notes=(_measured_note(comparison),))
    tables += [
        replace(table, formats=HUMAN_FORMATS - {"latex"}),
        replace(printed, formats=frozenset({"latex"})),
    ]
    tables += [replace(shown, formats=HUMAN_FORMATS) for shown in breakdowns]
    records = list(_records(comparison))
    scores = [(record[_COLUMNS.index("score")],) for record in records]
    tables += [
        Table(_COLUMNS, records, formats=ROW_FORMATS),
        Table(("score",), scores, formats=NUMBER_FORMATS),
    ]
    if breakdowns:
        values["breakdowns"] = [table.to_dict() for table in breakdowns]
    return Report(tuple(tables), values, " ".join(sentences) if signature else "")


def comparison_table(comparison: Comparison) -> Table:
    """The table of systems and metrics, the system with the best deciding score first.

    A figure is bold if it is the best, and a test tells it from the next.
    """
    metrics = comparison.result.metrics
    columns = [*metrics.values(), *comparison.result.refused]
    names = [metric.presentation.name for metric in columns]
    dashes = ["–"] * len(comparison.result.refused)
    rows: list[tuple[Cell, ...]] = []
    for system in comparison.order:
        scores = (comparison.score_cell(name, system) for name in metrics)
        rows.append((system, *scores, *dashes))
    return Table(
        ("system", *map(column_label, columns)),
        rows,
        caption=f"{' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} scores.",
    )


def column_label(metric: Metric) -> str:
    """What the column of a metric is called, with an arrow in the better direction."""
    arrows = {True: " ↑", False: " ↓", None: ""}
    return f"{metric.presentation.name}{arrows[metric.presentation.higher_is_better]}"


def comparison_as_dict(comparison: Comparison) -> dict[str, Any]:
    """The comparison as plain values, its scores in the schema of single scores."""
    test = comparison.test
    scores = []
    for cells in comparison.rows.values():
        for cell in cells.values():
            interval = cell.difference_interval
            ends = None if interval is None else {"low": interval.low, "high": interval.high}
            scores.append(
                cell.score.to_dict()
                | {"best": cell.best, "difference": cell.difference, "difference_interval": ends}
                | {"p_value": cell.p_value, "p_value_holm": cell.adjusted}
            )
    for system, metric in product(comparison.rows, comparison.result.refused):
        scores.append({"metric": metric.presentation.name, "system": system, "score": None})
    return {
        "baseline": comparison.baseline,
        "segments": comparison.result.segments,
        "test": test.test if test.resamples else None,
        "resamples": test.resamples,
        "seed": test.seed,
        "statements": comparison.statements.to_dicts(),
        "notes": comparison_notes(comparison),
        "scores": scores,
    }


def _records(comparison: Comparison) -> Iterator[tuple[Cell, ...]]:
    """A row for each system and metric, with all figures."""
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
        for metric in comparison.result.refused:
            shown, no_figures = metric.presentation, [None] * len(_FIGURES)
            direction = better[shown.higher_is_better]
            yield (system, shown.name, *no_figures, "no", direction, comparison.baseline, "")


def brief_note(comparison: Comparison, baseline: str) -> str:
    """What the figures are, in one line, with a name for the baseline."""
    segments, *more = _common_notes(comparison)
    parts = [segments]
    if comparison.test.resamples:
        parts.append("low–high: 95% interval")
        if len(comparison.rows) > 1:
            number = comparison.tests.number
            corrected = f", Holm-corrected for {number:,} tests" if number > 1 else ""
            parts.append(f"p: against {baseline}{corrected}")
    return f"{'; '.join([*parts, *more])}."


def _measured_note(comparison: Comparison) -> str:
    """What the figures of a paper's table are."""
    test, tests = comparison.test, comparison.tests
    _, *more = _common_notes(comparison)
    parts = [f"{comparison.segments:,} segments"]
    if test.resamples:
        parts.append(f"low–high: 95% interval (bootstrap, {test.resamples:,} resamples)")
        if len(comparison.rows) > 1:
            parts.append(
                f"tests against {comparison.baseline} ({_TESTS[test.test]}, {tests.resamples:,} "
                "resamples, Holm-corrected)"
            )
    return f"{'; '.join([*parts, *more])}."


def _common_notes(comparison: Comparison) -> list[str]:
    """How many segments there are, and what figures of columns are."""
    result = comparison.result
    is_few = result.segments < MIN_SEGMENTS and comparison.test.resamples > 0
    few = ": too few for intervals and tests to say much" if is_few else ""
    notes = [f"{result.segments:,} segments{few}"]
    fitted = result.fitted.values()
    return notes + [
        f"{item.metric.presentation.name}: {item.footnote}" for item in fitted if item.footnote
    ]


def comparison_notes(comparison: Comparison) -> list[str]:
    """What a reader must know about the figures, a sentence each."""
    test, metrics = comparison.test, comparison.result.metrics
    segments, *more = _common_notes(comparison)
    notes = [f"{segments}."]
    if test.resamples:
        resamples = f"{test.resamples:,} resamples, seed {test.seed}"
        of_errors = [
            metric.presentation.name
            for metric in metrics.values()
            if metric.one_more_error is not None
        ]
        upper = f"; upper end of {', '.join(of_errors)}: with one more error" if of_errors else ""
        notes.append(f"low–high: 95% interval (percentile bootstrap, {resamples}{upper}).")
        if len(comparison.rows) > 1:
            notes.append(
                f"p: against {comparison.baseline} ({_TESTS[test.test]}, "
                f"{comparison.tests.resamples:,} resamples, seed {test.seed}; Holm-corrected over "
                "all pairs of systems and all columns)."
            )
    notes += [f"{note}." for note in more]
    notes += [metric.table_caveat for metric in metrics.values() if metric.table_caveat]
    return [*notes, *comparison.remarks]
