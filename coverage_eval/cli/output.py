"""How commands print: the options of output, and the printing itself."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Any, TypeVar

import click

from coverage_eval.cli.options import gathered
from coverage_eval.cli.overwriting import OutputFile
from coverage_eval.data.files import write_lines
from coverage_eval.errors import DataError
from coverage_eval.tables.formats import FORMATS, render_lines
from coverage_eval.tables.table import Printable

_HELD_IN_MEMORY = 1 << 24
"""Bytes of output above which they wait on the disk until all are there."""

F = TypeVar("F", bound=Callable[..., Any])


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
    add = gathered("output", Output, list_options(width=width, figures=figures, file=file))
    return add if command is None else add(command)


def list_options(
    *, width: int = 2, figures: bool = True, file: bool = True
) -> list[Callable[[Any], Any]]:
    """The options that :func:`output_options` adds."""
    options = [
        click.option(
            "-f", "--format", "output_format", default="text", show_default=True,
            type=click.Choice(list(FORMATS)), help="Print in this form.",
        ),
    ]  # fmt: skip
    if figures:
        options += [
            click.option(
                "-w", "--width", default=width, show_default=True, type=click.IntRange(0, 15),
                help="Print so many digits after the decimal point.",
            ),
            click.option(
                "-b", "--score-only", is_flag=True,
                help="Print only the numbers, one a line (text).",
            ),
        ]  # fmt: skip
    if file:
        options.append(output_option)
    return options


def show(printable: Printable, output: Output) -> None:
    """Print it in the format and at the place that the options ask for."""
    lines = render_lines(
        printable,
        output.output_format,
        width=output.width,
        columns=_terminal_columns(output.output),
        score_only=output.score_only,
    )
    print_lines(lines, output.output)


def _terminal_columns(output: str | None) -> int | None:
    """The width that text must fit: of the terminal, or COLUMNS; None for files and pipes."""
    if output not in {None, "-"}:
        return None
    if os.environ.get("COLUMNS") or is_terminal():
        return shutil.get_terminal_size().columns
    return None


def is_terminal() -> bool:
    """Whether standard output is a terminal; a shell's ``>&-`` leaves none at all."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_lines(lines: Iterable[str], output: str | None = None) -> None:
    """Print lines, or write a file; either way nothing of them is seen if one cannot be made.

    Raises:
        DataError: Standard output is closed, or the lines cannot be written.
    """
    if output is not None and output != "-":
        write_lines(output, lines)
        return
    if sys.stdout is None:  # a shell's >&-, which click takes for a wish to print nothing
        raise DataError("standard output is closed; name a file with -o, or say > /dev/null")
    with SpooledTemporaryFile(_HELD_IN_MEMORY, "w+", encoding="utf-8", newline="\n") as held:
        held.writelines(f"{line}\n" for line in lines)
        held.seek(0)
        _copy_to_stdout(held)


def _copy_to_stdout(lines: Iterable[str]) -> None:
    try:
        sys.stdout.writelines(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        raise  # who reads has read enough
    except OSError as error:
        # Python would try to write what is left at exit, and say so in lines of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise DataError(f"standard output: cannot be written: {error.strerror}") from error
