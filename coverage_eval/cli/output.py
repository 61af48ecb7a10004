"""How commands print: reports in the format of the user's choice, findings, and lines."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from tempfile import SpooledTemporaryFile
from typing import Any

import click

from coverage_eval.cli.messages import discard, has_colours, say, tolerate_closed_pipe
from coverage_eval.cli.output_options import (
    OutputOptions,
    options_on_command_line,
    signatures_file,
)
from coverage_eval.core.errors import DataError, Finding, Severity
from coverage_eval.core.formats import FORMATS, numbers
from coverage_eval.core.report import Report, Style
from coverage_eval.core.writing import write_lines

GATE_CLOSED_STATUS = 3
"""The exit status where a gate is closed."""

PIPE_COLUMNS = 120
"""Width of text in a pipe, where nothing says how wide the reader's window is."""

_MAX_WRAPPED = 2000
"""Rows in a pipe that are wrapped; longer tables are for programs, and keep one row a line."""

_MAX_FEW = 2
"""Warnings and notes that a terminal shows if there are more than one more."""

_HELD_IN_MEMORY = 1 << 24
"""Bytes of output; more than this is held on the disk until it is complete."""


def echo_findings(findings: Sequence[Finding], *, strict: bool = False) -> None:
    """Print warnings about the texts, the most serious first, or end the run.

    Raises:
        DataError: There is a warning, with ``strict``.
        click.exceptions.Exit: A finding makes scores meaningless.
    """
    refuse_fatal(findings, strict=strict)
    warn(findings)


def refuse_fatal(findings: Sequence[Finding], *, strict: bool) -> None:
    """End the run where a finding is fatal, or with ``strict`` where one is a warning.

    Raises:
        DataError: There is a warning, with ``strict``.
        click.exceptions.Exit: A finding makes scores meaningless.
    """
    if strict and (found := [item for item in findings if item.severity < Severity.NOTE]):
        raise DataError("; ".join(item.message for item in found))
    if fatal := [item.message for item in findings if item.severity == Severity.FATAL]:
        say(f"{'; '.join(fatal)}; a score would mean nothing", "error")
        warn(findings)
        raise click.exceptions.Exit(1)


def warn(findings: Sequence[Finding]) -> None:
    """Print warnings about the texts, the most serious first; below a table they stay in sight.

    So are notes of checks; other notes stand with the scores. Of more than three, a terminal shows
    two and the number of the rest, unless the user asked for all.
    """
    said = [
        (item.message, "warning" if item.severity < Severity.NOTE else "note")
        for item in findings  # in the order of their severity
        if item.severity == Severity.WARNING or (item.severity == Severity.NOTE and item.kind)
    ]
    are_many = len(said) > _MAX_FEW + 1 and sys.stderr.isatty()
    shown = said[:_MAX_FEW] if are_many and "verbose" not in options_on_command_line() else said
    for message, kind in shown:
        say(message, kind)
    if rest := len(said) - len(shown):
        say(f"{rest} more notes; see them with -v, or in JSON")


def with_findings(
    report: Report, findings: Sequence[Finding], *, model: Mapping[str, float] | None = None
) -> Report:
    """Add warnings, notes, and how well a model knows the texts to JSON."""
    values: dict[str, Any] = {
        "warnings": [item.message for item in findings if item.severity < Severity.NOTE]
    }
    if model:
        values["model"] = model
    if notes := [item.message for item in findings if item.severity == Severity.NOTE]:
        values["remarks"] = notes
    return report.with_values(**values)


def show(report: Report, output: OutputOptions, *, signatures: bool = True) -> None:
    """Print in the format and to the file that the options name; with colours on a terminal.

    Args:
        report: What is printed.
        output: The options.
        signatures: Whether text on standard output has signatures; other formats and files have
            them.
    """
    form, file = output.output_format, output.output
    if form == "text" and output.score_only:
        print_lines(numbers(report, output.digits), file)
        return
    style = Style(output.digits)
    if file is None or file == "-":
        is_terminal, width = sys.stdout.isatty(), _width(report)
        console = None
        if form == "text" and file is None and has_colours(sys.stdout):
            from rich.console import Console

            console = Console(width=width, highlight=False, markup=False, emoji=False)
        style = Style(output.digits, width, signatures, is_terminal=is_terminal, console=console)
    print_lines(FORMATS[form](report, style), file)
    if report.signatures and (beside := signatures_file(file, form)):
        write_lines(beside, report.signatures)


def _width(report: Report) -> int | None:
    """The width for text, of the terminal, of COLUMNS or of a pipe; None for long tables there."""
    if os.environ.get("COLUMNS") or sys.stdout.isatty():
        return shutil.get_terminal_size().columns
    rows = sum(len(table.rows) for table in report.tables if "text" in table.formats)
    return None if rows > _MAX_WRAPPED else PIPE_COLUMNS


def print_lines(lines: Iterable[str], output: str | None = None, *, as_is: bool = False) -> None:
    """Print lines, or write them to a file; print nothing if one of them cannot be made.

    Args:
        lines: Lines without their line ends, except in quoted cells of CSV.
        output: The file; None or ``-`` for standard output.
        as_is: The lines are text for other programs: print UTF-8 whatever the terminal's encoding.

    Raises:
        DataError: The lines cannot be written.
    """
    if output is not None and output != "-":
        write_lines(output, lines)
        return
    with SpooledTemporaryFile(_HELD_IN_MEMORY, "w+", encoding="utf-8", newline="\n") as held:
        held.writelines(f"{line}\n" for line in lines)
        held.seek(0)
        try:
            with tolerate_closed_pipe(sys.stdout):
                sys.stdout.flush()
                if as_is and sys.stdout.encoding != "utf-8":
                    sys.stdout.buffer.writelines(line.encode() for line in held)
                else:
                    sys.stdout.writelines(held)
                sys.stdout.flush()
        except OSError as error:
            discard(sys.stdout)
            raise DataError(f"standard output: cannot be written: {error.strerror}") from error
