"""How commands print: the options of output, and the printing itself."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from coverage_eval.tables.formats import FORMATS, render
from coverage_eval.tables.printout import Printout
from coverage_eval.text.files import atomic_write

__all__ = [
    "Output",
    "OutputFile",
    "echo",
    "output_option",
    "output_options",
    "print_lines",
    "refuse_overwriting",
    "show",
]

F = TypeVar("F", bound=Callable[..., Any])


class OutputFile(click.Path):
    """The name of a file that a command writes."""


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=OutputFile(),
    help="Write to this file instead of standard output.",
)


@dataclass(frozen=True)
class Output:
    """Where a command prints, and in which form.

    Attributes:
        output_format: A name of :data:`coverage_eval.tables.formats.FORMATS`.
        output: The file; None or ``-`` for standard output.
        width: Digits after the decimal point.
        score_only: Print the numbers alone.
    """

    output_format: str = "text"
    output: str | None = None
    width: int = 2
    score_only: bool = False

    def require_several(self, what: str) -> None:
        """Refuse a format that holds one table, before any work is done.

        Raises:
            click.UsageError: It is such a format; ``what`` names what makes several tables.
        """
        if not FORMATS[self.output_format].several:
            name = self.output_format.upper()
            raise click.UsageError(f"{what} makes several tables, and {name} is one: use -f json")


def output_options(
    command: F | None = None, *, width: int = 2, figures: bool = True, file: bool = True
) -> Callable[..., Any]:
    """Add ``-f``, ``-o``, ``-w`` and ``-b``; the command receives them as one ``output``.

    Args:
        command: What the options are added to; without it, a decorator is returned.
        width: Digits after the decimal point unless ``-w`` says otherwise.
        figures: Whether the command prints figures, which ``-w`` and ``-b`` are about.
        file: Whether ``-o`` is for what is printed; a command that writes another file there has an
            ``-o`` of its own.
    """
    if command is None:
        return partial(output_options, width=width, figures=figures, file=file)
    options = {
        "output_format": click.option(
            "-f", "--format", "output_format", default="text", show_default=True,
            type=click.Choice(list(FORMATS)), help="Print in this form.",
        ),
    }  # fmt: skip
    if figures:
        options["width"] = click.option(
            "-w", "--width", default=width, show_default=True, type=click.IntRange(0, 15),
            help="Print so many digits after the decimal point.",
        )  # fmt: skip
        options["score_only"] = click.option(
            "-b", "--score-only", is_flag=True, help="Print only the numbers, one a line (text)."
        )
    if file:
        options["output"] = output_option

    @wraps(command)
    def with_output(**values: Any) -> Any:
        output = Output(**{name: values.pop(name) for name in options})
        refuse_overwriting()
        return command(output=output, **values)

    wrapped: Callable[..., Any] = with_output
    for option in reversed(options.values()):
        wrapped = option(wrapped)
    return wrapped


def refuse_overwriting() -> None:
    """Refuse, before any work is done, a command line whose outputs would destroy a file.

    Raises:
        click.UsageError: A file to write is one of the input files, or is to be written twice.
    """
    context = click.get_current_context()
    inputs = {os.path.realpath(name) for name in _inputs(context) if Path(name).is_file()}
    written: dict[str, str] = {}
    for parameter in context.command.params:
        name = context.params.get(parameter.name or "")
        if not isinstance(parameter.type, OutputFile) or name in {None, "-"}:
            continue
        target, option = os.path.realpath(name), parameter.opts[-1]
        if target in inputs:
            raise click.UsageError(f"{option} {name} is one of the input files")
        if target in written and (Path(name).is_file() or not Path(name).exists()):
            raise click.UsageError(f"{written[target]} and {option} both write to {name}")
        written[target] = option


def _inputs(context: click.Context) -> Iterator[str]:
    """Every text that the command line gives that may be a file to read."""
    for parameter in context.command.params:
        if isinstance(parameter.type, (OutputFile, click.Choice)):
            continue
        value = context.params.get(parameter.name or "")
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, str))
        elif isinstance(value, str):
            yield value


def show(printout: Printout, output: Output) -> None:
    """Print it in the format and at the place that the options ask for."""
    text = render(
        printout,
        output.output_format,
        width=output.width,
        columns=_terminal_columns(output.output),
        score_only=output.score_only,
    )
    echo(text, output.output)


def _terminal_columns(output: str | None) -> int | None:
    """The width that text must fit: of the terminal, or COLUMNS; None for files and pipes."""
    if output not in {None, "-"}:
        return None
    if os.environ.get("COLUMNS") or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    return None


def echo(text: str, output: str | None = None) -> None:
    """Print to standard output, or write a file that appears only when it is complete."""
    print_lines([text], output)


def print_lines(lines: Iterable[str], output: str | None = None) -> None:
    """Print lines as they come, or write a file that appears only when it is complete."""
    if output is None or output == "-":
        for line in lines:
            click.echo(line)
        return
    refuse_overwriting()
    with atomic_write(output) as file:
        file.writelines(f"{line}\n" for line in lines)
