"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

import click

from coverage_eval.cli import output as printing
from coverage_eval.metrics.significance import DEFAULT_RESAMPLES, DEFAULT_SEED
from coverage_eval.text.tokenizers import TOKENIZERS

__all__ = [
    "FiniteRange",
    "ScoreOutput",
    "case_option",
    "jobs_option",
    "parse_list",
    "scoring_options",
    "strict_option",
    "tokenize_options",
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


jobs_option = click.option(
    "-j", "--jobs", default=1, show_default=True, type=click.IntRange(1, 1024),
    help="Number of processes; the result does not depend on it.",
)  # fmt: skip
strict_option = click.option(
    "--strict", is_flag=True, help="End with an error where there would be a warning."
)
case_option = click.option("--lowercase", is_flag=True, help="Lowercase every side.")


def tokenize_options(command: F) -> F:
    """Add ``--tokenize`` and ``--src-tokenize``, whose defaults are a model's own."""
    for option in (
        click.option(
            "--src-tokenize", type=click.Choice(TOKENIZERS),
            help="Another tokeniser for the source.",
        ),
        click.option(
            "--tokenize", type=click.Choice(TOKENIZERS),
            help="Apply one of sacreBLEU's tokenisers to every side.  "
            "[default: none, or the model's]",
        ),
    ):  # fmt: skip
        command = option(command)
    return command


def parse_list(what: str, known: Collection[str]) -> Callable[..., list[str] | None]:
    """A callback for names separated by commas."""

    def parse(_: click.Context, __: click.Parameter, value: str | None) -> list[str] | None:
        if value is None:
            return None
        names = [name.strip() for name in value.split(",")]
        for name in names:
            if name not in known:
                raise click.BadParameter(f"unknown {what} {name!r}; one of {', '.join(known)}")
        if len(set(names)) < len(names):
            raise click.BadParameter(f"a {what} is named twice in {value!r}")
        return names

    return parse


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

    @property
    def resamples(self) -> int:
        """Bootstrap resamples; 0 if no interval is wanted."""
        return self.bootstrap if self.confidence else 0


def scoring_options(command: F) -> Callable[..., Any]:
    """Add the common options of a score; the command receives them as one ``output``."""
    names = ("sentence_level", "errors_only", "confidence", "bootstrap", "seed")

    @wraps(command)
    def with_output(output: Any, **values: Any) -> Any:
        ours = ScoreOutput(**vars(output), **{name: values.pop(name) for name in names})
        if ours.confidence and ours.sentence_level:
            raise click.UsageError("--confidence is about the corpus score: no --sentence-level")
        if ours.errors_only and not ours.sentence_level:
            raise click.UsageError("--errors-only goes with --sentence-level")
        return command(output=ours, **values)

    options = [
        click.option("--sentence-level", is_flag=True, help="One score a segment, with evidence."),
        click.option("--errors-only", is_flag=True, help="Only the segments with an error."),
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
    wrapped: Callable[..., Any] = printing.output_options(with_output)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped
