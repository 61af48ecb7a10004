"""Options that several commands share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import click

from coverage_eval.data.files import CorpusWarning
from coverage_eval.data.tokenizers import TOKENIZERS
from coverage_eval.metrics.registry import METRICS
from coverage_eval.metrics.significance import DEFAULT_SEED

F = TypeVar("F", bound=Callable[..., Any])


_MOST = 1_000_000_000
"""No number of an option is greater: sums and products of it stay finite, and loops end."""


class WholeRange(click.IntRange):
    """A range of whole numbers that ends at :data:`_MOST` unless told otherwise."""

    def __init__(self, least: int | None = None, most: int = _MOST) -> None:
        super().__init__(least, most)


class FiniteRange(click.FloatRange):
    """A range of numbers that NaN, which passes every comparison, is not part of."""

    def __init__(
        self,
        least: float | None = None,
        most: float = _MOST,
        *,
        min_open: bool = False,
        max_open: bool = False,
    ) -> None:
        super().__init__(least, most, min_open, max_open)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """The number, or a usage error."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


def add_options(
    command: Callable[..., Any], options: Sequence[Callable[[Any], Any]]
) -> Callable[..., Any]:
    """Decorate a command by options, which ``--help`` lists in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def gathered(
    name: str, make: Callable[..., Any], options: Sequence[Callable[[Any], Any]]
) -> Callable[[F], Callable[..., Any]]:
    """A decorator that adds options, which the command receives as one object.

    Args:
        name: The parameter by which it receives it.
        make: Makes the object, such as a dataclass; its parameters have the names of the options'
            parameters, and those for which there is no option keep their defaults.
        options: The options, as ``--help`` lists them.
    """
    names = list(signature(make).parameters)

    def add(command: F) -> Callable[..., Any]:
        @wraps(command)
        def with_one(**values: Any) -> Any:
            made = make(**{item: values.pop(item) for item in names if item in values})
            return command(**{name: made}, **values)

        return add_options(with_one, options)

    return add


def given_options() -> set[str]:
    """The options that the command line names, by their parameters' names."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) == source}


def listed_options(names: Iterable[str]) -> str:
    """Options by their parameters' names, as a message names them: ``--model and --src``."""
    return " and ".join(f"--{name.replace('_', '-')}" for name in sorted(names))


references_option = click.option(
    "--ref", multiple=True, metavar="FILE",
    help="Read the reference from this file; give it once for each of several references.",
)  # fmt: skip

seed_option = click.option(
    "--seed", default=DEFAULT_SEED, show_default=True, type=WholeRange(0),
    help="Seed the resampling with this number.",
)  # fmt: skip

jobs_option = click.option(
    "-j", "--jobs", default=1, show_default=True, type=WholeRange(1, 1024),
    help="Count in so many processes; the result does not depend on it.",
)  # fmt: skip


def _raise_warnings(context: click.Context, _: click.Parameter, strict: bool) -> bool:
    """What readers and aligners warn of becomes an error, as long as the command runs."""
    if strict:
        context.with_resource(warnings.catch_warnings())
        warnings.simplefilter("error", CorpusWarning)
    return strict


strict_option = click.option(
    "--strict", is_flag=True, callback=_raise_warnings,
    help="End with an error where there would be a warning.",
)  # fmt: skip


def word_options(sides: str = "every side") -> Callable[[Any], Any]:
    """``--tokenize``, ``--src-tokenize`` and ``--lowercase``, whose defaults are a model's own.

    Args:
        sides: What they apply to, in the words of the help.
    """
    options = (
        click.option(
            "--tokenize", type=click.Choice(TOKENIZERS),
            help=f"Apply one of sacreBLEU's tokenisers to {sides}.  "
            "[default: none, or the model's]",
        ),
        click.option(
            "--src-tokenize", type=click.Choice(TOKENIZERS),
            help="Apply another tokeniser to the source.",
        ),
        click.option("--lowercase", is_flag=True, help=f"Lowercase {sides}."),
    )  # fmt: skip
    return partial(add_options, options=options)


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


def parse_differences(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> dict[str, float] | None:
    """A callback for metrics separated by commas, each perhaps with a number, as ``drop=0.5``."""
    if value is None:
        return None
    pairs = [item.partition("=") for item in value.split(",")]
    names = ",".join(name for name, _, _ in pairs)
    known = parse_list("metric", METRICS)(context, parameter, names) or []
    numbers = FiniteRange(0)
    return {
        name: numbers.convert(number, parameter, context) if equals else 0.0
        for name, (_, equals, number) in zip(known, pairs, strict=True)
    }


def parse_named_files(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> dict[str, str]:
    """A callback for files by name, from ``NAME=FILE`` or from ``FILE``, whose own name it is."""
    files: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or _is_file(value):
            name, path = Path(value).name, value
        if not (name and path):
            raise click.BadParameter(f"{value!r} is neither a file nor of the form NAME=FILE")
        if not name.isprintable():
            raise click.BadParameter(f"the name {name!r} has characters that cannot be printed")
        if name in files:
            raise click.BadParameter(f"the name {name!r} is given twice; give names: NAME=FILE")
        files[name] = path
    return files


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # such as a name that is too long for a file
        return False
