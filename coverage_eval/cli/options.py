"""Options that several commands share, and the printing that belongs to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from coverage_eval.metrics.base import Metric, Statistics
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    bootstrap_interval,
)
from coverage_eval.report.scores import render_scores, render_segments
from coverage_eval.report.tables import FORMATS
from coverage_eval.text.files import atomic_write
from coverage_eval.text.tokenizers import TOKENIZERS

__all__ = [
    "FiniteRange",
    "Output",
    "echo",
    "format_option",
    "jobs_option",
    "output_option",
    "print_score",
    "scoring_options",
    "tokenize_option",
    "width_option",
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


def _width_option(digits: int) -> Callable[[F], F]:
    return click.option(
        "-w", "--width", default=digits, show_default=True, type=click.IntRange(0, 15),
        help="Digits after the decimal point.",
    )  # fmt: skip


width_option = _width_option(2)
format_option = click.option(
    "-f", "--format", "output_format", default="text", show_default=True,
    type=click.Choice(FORMATS), help="Form of the output.",
)  # fmt: skip
output_option = click.option(
    "-o", "--output", type=click.Path(), help="Write to this file instead of standard output."
)
tokenize_option = click.option(
    "--tokenize", default="none", show_default=True, type=click.Choice(TOKENIZERS),
    help="Apply one of sacreBLEU's tokenisers to every side.",
)  # fmt: skip
jobs_option = click.option(
    "-j", "--jobs", default=1, show_default=True, type=click.IntRange(1, 1024),
    help="Number of processes; the result does not depend on it.",
)  # fmt: skip


@dataclass(frozen=True)
class Output:
    """The common options of commands that print a score."""

    score_only: bool
    width: int
    output_format: str
    sentence_level: bool
    confidence: bool
    bootstrap: int
    seed: int
    output: str | None


def scoring_options(command: F, *, width: int = 2) -> Callable[..., Any]:
    """Add the common options of a score; the command receives them as one ``output``.

    Args:
        command: What the options are added to.
        width: Digits after the decimal point unless ``-w`` says otherwise.
    """
    names = [item.name for item in fields(Output)]

    @wraps(command)
    def with_output(**values: Any) -> Any:
        output = Output(**{name: values.pop(name) for name in names})
        if output.confidence and output.sentence_level:
            raise click.UsageError("--confidence is about the corpus score: no --sentence-level")
        _refuse_to_overwrite_input(output.output, values.values())
        return command(output=output, **values)

    options = [
        click.option("-b", "--score-only", is_flag=True, help="Print only the number (text)."),
        _width_option(width),
        format_option,
        click.option("--sentence-level", is_flag=True, help="One score a segment, with evidence."),
        click.option("--confidence", is_flag=True, help="Add a 95 % bootstrap interval."),
        click.option(
            "--bootstrap", default=DEFAULT_RESAMPLES, show_default=True,
            type=click.IntRange(1), help="Resamples for --confidence.",
        ),
        click.option(
            "--seed", default=DEFAULT_SEED, show_default=True,
            type=click.IntRange(0), help="Seed of the resampling.",
        ),
        output_option,
    ]  # fmt: skip
    wrapped: Callable[..., Any] = with_output
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def _refuse_to_overwrite_input(target: str | None, inputs: Iterable[object]) -> None:
    """A usage error if the output is one of the files that the command names as input."""
    if target is None or not Path(target).is_file():
        return
    names = [name for name in inputs if isinstance(name, str) and Path(name).is_file()]
    if any(Path(name).samefile(target) for name in names):
        raise click.UsageError(f"--output {target} is one of the input files")


def echo(text: str, output: str | None = None) -> None:
    """Print to standard output, or write a file that appears only when it is complete."""
    if output is None or output == "-":
        click.echo(text)
        return
    with atomic_write(output) as file:
        file.write(text + "\n")


def print_score(
    metric: Metric,
    statistics: Statistics,
    output: Output,
    *,
    evidence: Iterable[dict[str, Any]] | None = None,
) -> None:
    """Print the corpus score, or one score a segment with its evidence."""
    interval = None
    if output.confidence:
        interval = bootstrap_interval(
            metric, statistics, resamples=output.bootstrap, seed=output.seed
        )
    score = metric.corpus_score(statistics, interval=interval)
    if output.sentence_level:
        text = render_segments(
            score,
            metric.sentence_scores(statistics),
            output.output_format,
            evidence=evidence,
            width=output.width,
            score_only=output.score_only,
        )
    else:
        text = render_scores(
            [score], output.output_format, width=output.width, score_only=output.score_only
        )
    echo(text, output.output)
