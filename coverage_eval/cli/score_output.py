"""The options of commands that print a score, and the printing of scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from coverage_eval.cli import output as printing
from coverage_eval.cli.options import WholeRange, gathered, seed_option
from coverage_eval.metrics.score import Formula, Score, Statistics
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MOST_RESAMPLES,
    bootstrap_interval,
)
from coverage_eval.report.scores import present_scores, present_segments
from coverage_eval.tables.table import LazyRows, Printable

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class ScoreOutput(printing.Output):
    """Where and how a command prints a score.

    Attributes:
        sentence_level: One score a segment, with evidence.
        errors_only: Of these, only segments with an error.
        confidence: Add a bootstrap interval.
        bootstrap: Its resamples.
        seed: Their seed.
    """

    sentence_level: bool = False
    errors_only: bool = False
    confidence: bool = False
    bootstrap: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if self.confidence and self.sentence_level:
            raise click.UsageError("--confidence is about the corpus score: no --sentence-level")
        if self.errors_only and not self.sentence_level:
            raise click.UsageError("--errors-only goes with --sentence-level")

    @property
    def resamples(self) -> int:
        """Bootstrap resamples; 0 if no interval is wanted."""
        return self.bootstrap if self.confidence else 0


def scoring_options(command: F) -> Callable[..., Any]:
    """Add the common options of a score; the command receives them as one ``output``."""
    options = [
        click.option(
            "--sentence-level", is_flag=True, help="Print one score a segment, with evidence."
        ),
        click.option("--errors-only", is_flag=True, help="Print only the segments with an error."),
        click.option("--confidence", is_flag=True, help="Add a 95 % bootstrap interval."),
        click.option(
            "--bootstrap", default=DEFAULT_RESAMPLES, show_default=True,
            type=WholeRange(1, MOST_RESAMPLES), help="Draw so many resamples for --confidence.",
        ),
        seed_option,
        *printing.list_options(),
    ]  # fmt: skip
    return gathered("output", ScoreOutput, options)(command)


def present_counted(
    counted: Sequence[tuple[Formula, Statistics]], output: ScoreOutput
) -> Printable:
    """Figures of one corpus; the first alone, or with the others as evidence of segments."""
    (formula, statistics), *others = counted
    if not (output.score_only or output.sentence_level):
        return present_scores([_corpus_score(*item, output) for item in counted])
    score = _corpus_score(formula, statistics, output)
    if not output.sentence_level:
        return present_scores([score])
    columns = {other.name: other.segment_scores(rows) for other, rows in others}
    evidence = LazyRows(lambda *row: dict(zip(columns, row, strict=True)), *columns.values())
    values = formula.segment_scores(statistics)
    return present_segments(score, values, evidence=evidence, errors_only=output.errors_only)


def _corpus_score(formula: Formula, statistics: Statistics, output: ScoreOutput) -> Score:
    interval = None
    if output.confidence:
        interval = bootstrap_interval(
            formula, statistics, resamples=output.bootstrap, seed=output.seed
        )
    return formula.score(statistics, interval=interval)
