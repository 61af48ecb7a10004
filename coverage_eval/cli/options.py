"""Options that several commands share, and the printing that belongs to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from coverage_eval.cli import output as printing
from coverage_eval.cli.output import output_options, show
from coverage_eval.metrics.base import Metric, Score, Statistics
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    bootstrap_interval,
)
from coverage_eval.report.scores import present_scores, present_segments
from coverage_eval.text.tokenizers import TOKENIZERS

__all__ = [
    "FiniteRange",
    "Output",
    "jobs_option",
    "print_score",
    "print_scores",
    "scoring_options",
    "tokenize_option",
]

F = TypeVar("F", bound=Callable[..., Any])


class FiniteRange(click.FloatRange):
    """A range of numbers that NaN and infinity, which pass every comparison, are not part of."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or a usage error."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


tokenize_option = click.option(
    "--tokenize", default="none", show_default=True, type=click.Choice(TOKENIZERS),
    help="Apply one of sacreBLEU's tokenisers to every side.",
)  # fmt: skip
jobs_option = click.option(
    "-j", "--jobs", default=1, show_default=True, type=click.IntRange(1, 1024),
    help="Number of processes; the result does not depend on it.",
)  # fmt: skip


@dataclass(frozen=True)
class Output(printing.Output):
    """The common options of commands that print a score."""

    sentence_level: bool = False
    confidence: bool = False
    bootstrap: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED


def scoring_options(command: F, *, width: int = 2) -> Callable[..., Any]:
    """Add the common options of a score; the command receives them as one ``output``.

    Args:
        command: What the options are added to.
        width: Digits after the decimal point unless ``-w`` says otherwise.
    """
    names = ("sentence_level", "confidence", "bootstrap", "seed")

    @wraps(command)
    def with_output(output: Any, **values: Any) -> Any:
        ours = Output(**vars(output), **{name: values.pop(name) for name in names})
        if ours.confidence and ours.sentence_level:
            raise click.UsageError("--confidence is about the corpus score: no --sentence-level")
        return command(output=ours, **values)

    options = [
        click.option(
            "--sentence-level", is_flag=True,
            help="One score a segment, with evidence: positions from 1, in JSON from 0.",
        ),
        click.option("--confidence", is_flag=True, help="Add a 95 % bootstrap interval."),
        click.option(
            "--bootstrap", default=DEFAULT_RESAMPLES, show_default=True,
            type=click.IntRange(1), help="Resamples for --confidence.",
        ),
        click.option(
            "--seed", default=DEFAULT_SEED, show_default=True,
            type=click.IntRange(0), help="Seed of the resampling.",
        ),
    ]  # fmt: skip
    wrapped: Callable[..., Any] = output_options(with_output, width=width)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def print_score(
    metric: Metric,
    statistics: Statistics,
    output: Output,
    *,
    evidence: Iterable[dict[str, Any]] | None = None,
) -> None:
    """Print the corpus score, or one score a segment with its evidence."""
    score = corpus_score(metric, statistics, output)
    if output.sentence_level:
        values = metric.sentence_scores(statistics)
        show(present_segments(score, values, evidence=evidence), output)
    else:
        show(present_scores([score]), output)


def print_scores(counted: Sequence[tuple[Metric, Statistics]], output: Output) -> None:
    """Print figures of one corpus; the first alone, or with the others as evidence of segments."""
    (metric, statistics), *others = counted
    if output.score_only or output.sentence_level:
        columns = {other.name: other.sentence_scores(rows) for other, rows in others}
        rows = zip(*columns.values(), strict=True)
        evidence = [dict(zip(columns, row, strict=True)) for row in rows]
        print_score(metric, statistics, output, evidence=evidence)
        return
    show(present_scores([corpus_score(*item, output) for item in counted]), output)


def corpus_score(metric: Metric, statistics: Statistics, output: Output) -> Score:
    """The corpus score, with its interval if one was asked for."""
    interval = None
    if output.confidence:
        interval = bootstrap_interval(
            metric, statistics, resamples=output.bootstrap, seed=output.seed
        )
    return metric.corpus_score(statistics, interval=interval)
