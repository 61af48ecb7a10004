"""Where a command prints, and how: the options, and the value that the command gets of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.click_options import Decorator, Option, option, option_group
from coverage_eval.cli.parameters import OutputFile
from coverage_eval.core.formats import FORMATS
from coverage_eval.core.report import ROW_FORMATS
from coverage_eval.core.significance import DEFAULT_RESAMPLES, MAX_RESAMPLES
from coverage_eval.core.writing import open_file_number

_ENDINGS = {
    ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".tex": "latex",
    ".tsv": "tsv", ".txt": "text",
}  # fmt: skip
"""The formats that the ending of an output file stands for."""


@dataclass
class OutputOptions:
    """Where a command prints, and how.

    Attributes:
        output: The file; None or ``-`` for standard output.
        output_format: The format.
        digits: Number of decimals.
        score_only: Whether only numbers are printed.
    """

    output: str | None = None
    output_format: str = "text"
    digits: int = 2
    score_only: bool = False

    def require_several(self, what: str) -> None:
        """Raise a usage error for a format that holds one table, before any work.

        Args:
            what: The option or command that makes several tables.
        """
        if self.output_format in ROW_FORMATS:
            name = self.output_format.upper()
            raise click.UsageError(f"{what} makes several tables, but {name} is one: use -f json")


@dataclass
class ScoreOutputOptions(OutputOptions):
    """Where a command prints a score, and how.

    Attributes:
        sentence_level: Whether to print one score per segment.
        worst: How many of the worst segments to print; None for all.
        confidence: Whether the corpus score gets an interval.
        resamples: Number of resamples for it; 0 without an interval.
        by_segment: Whether segments are printed instead of a corpus score.

    Raises:
        click.UsageError: An interval of segments, or resamples of nothing.
    """

    sentence_level: bool = False
    worst: int | None = None
    confidence: bool = False
    resamples: int = DEFAULT_RESAMPLES
    by_segment: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.by_segment = self.sentence_level or self.worst is not None
        if self.confidence and self.by_segment:
            flag = "--sentence-level" if self.sentence_level else "--worst"
            raise click.UsageError(f"--confidence is for the corpus score; leave {flag} out")
        if not self.confidence and self.resamples != DEFAULT_RESAMPLES:
            raise click.UsageError("--resamples goes with --confidence")
        if not self.confidence:
            self.resamples = 0


class OutputOption(Option):
    """``-o`` of a command that gets an :class:`OutputOptions`, of this and other options.

    Args:
        *args: As for :class:`~coverage_eval.cli.click_options.Option`.
        kind: The class of the value, whose fields are the names of the options.
        **attributes: As for :class:`~coverage_eval.cli.click_options.Option`.
    """

    def __init__(self, *args: Any, kind: type[OutputOptions], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.kind = kind

    def collect(self, ctx: click.Context) -> None:
        """Replace the values of these options by one :class:`OutputOptions`."""
        names = [item.name for item in fields(self.kind) if item.init]
        values = {name: ctx.params.pop(name) for name in names}
        with click.core.augment_usage_errors(ctx):
            ctx.params["output"] = self.kind(**values)


def output_to(help_text: str, *, required: bool = True, no_stdout: str | None = None) -> Decorator:
    """The option for the only file that a command writes; the command gets its name.

    Args:
        help_text: The option's help.
        required: Whether the option must be given.
        no_stdout: The message for ``-``; None if standard output will do.
    """
    return option(
        "-o", "--output", metavar="FILE", type=OutputFile(no_stdout), required=required,
        help=help_text,
    )  # fmt: skip


output_option = output_to("Write to this file instead of standard output.", required=False)


def _options_of(kind: type[OutputOptions]) -> Decorator:
    """The options of an :class:`OutputOptions`."""
    return option_group(
        option(
            "-f", "--format", "output_format", default="text", type=click.Choice(list(FORMATS)),
            help="Print in this format.",
        ),
        option(
            "-w", "--digits", default=2, type=click.IntRange(0, 15), group="Output",
            help="Print this many decimals.",
        ),
        option(
            "-b", "--score-only", is_flag=True, group="Output",
            help="Print only the numbers, one per line.",
        ),
        click.option(
            "-o", "--output", cls=OutputOption, kind=kind, metavar="FILE", type=OutputFile(),
            help="Write to this file; its ending says the format: .json, .jsonl, .csv, .tsv, .tex, "
            ".md.",
        ),
    )  # fmt: skip


output_options = _options_of(OutputOptions)
"""Adds ``-f``, ``-w``, ``-b`` and ``-o``; the command gets an ``output`` of them."""


strict_option = option_group(
    option("--strict", is_flag=True, group="Advanced", help="Turn warnings into errors."),
    option(
        "-v", "--verbose", is_flag=True, group="Advanced", expose_value=False,
        help="Show all warnings and notes in a window; by default three at most.",
    ),
)  # fmt: skip
"""Adds ``--strict``, which the command gets, and ``-v``, which warnings ask for."""

scoring_options = option_group(
    _options_of(ScoreOutputOptions),
    option("--sentence-level", is_flag=True, help="Print one score per segment, with evidence."),
    option(
        "--worst", type=click.IntRange(1),
        help="Print this many of the worst segments: their texts with the errors in brackets, or "
        "rows with --sentence-level.",
    ),
    option(
        "--confidence", is_flag=True,
        help="Add a 95% bootstrap interval; of errors, it allows for one more.",
    ),
    option(
        "--resamples", default=DEFAULT_RESAMPLES, type=click.IntRange(1, MAX_RESAMPLES),
        group="Output", help="Number of resamples for --confidence.",
    ),
    strict_option,
)  # fmt: skip
"""Adds these and the options of a score; the command gets an ``output``, and ``strict``."""


def infer_format(ctx: click.Context, endings: tuple[str, ...], *, any_ending: bool) -> None:
    """Without ``--format``, ``-o table.tex`` is LaTeX.

    Args:
        ctx: The command, and the values of its options.
        endings: Endings of ``--output`` beside those of its formats.
        any_ending: Whether it writes text to files with other endings.

    Raises:
        click.UsageError: An ending that the command does not write, or another ``--format``.
    """
    output = ctx.params.get("output") or ""
    ending, chosen = Path(output).suffix.lower(), ctx.params.get("output_format")
    types = (item.type for item in ctx.command.params if item.name == "output_format")
    choices = next((kind.choices for kind in types if isinstance(kind, click.Choice)), ())
    formats = {end: form for end, form in _ENDINGS.items() if form in choices}
    if not ending or not (formats or endings) or is_device(output):
        return
    is_chosen = "output_format" in options_on_command_line(ctx)
    if ending in formats and not (is_chosen and formats[ending] != chosen):
        ctx.params["output_format"] = formats[ending]
    elif is_chosen and (ending in formats or ending in endings):
        raise click.UsageError(f"-o {output} is not -f {chosen}: leave -f out", ctx)
    elif not (any_ending or ending in endings):
        hint = "; a page is made by 'coverage-eval report'" if ending == ".html" else ""
        raise click.UsageError(
            f"-o {output}: the ending says what is written: "
            f"{', '.join([*formats, *endings])}{hint}",
            ctx,
        )


def options_on_command_line(ctx: click.Context | None = None) -> set[str]:
    """Parameter names of the options that are on the command line."""
    ctx = ctx or click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    names = [item.name for item in ctx.command.params if item.name]
    return {name for name in names if ctx.get_parameter_source(name) == source}


def signatures_file(output: str | None, output_format: str | None) -> str | None:
    """The file for the signatures of tables that have no place for them.

    Args:
        output: The table's file; None or ``-`` for standard output, which has no such file.
        output_format: The table's format.
    """
    if output is None or output == "-" or output_format not in {"csv", "jsonl", "tsv"}:
        return None
    # Nothing stands beside a pipe, /dev/null or /dev/stdout.
    is_stream = is_device(output) or open_file_number(output) is not None
    return None if is_stream else f"{output}.signatures"


def is_device(name: str) -> bool:
    """Whether this is something else than a file, such as a pipe."""
    return os.path.exists(name) and not os.path.isfile(name)  # noqa: PTH110, PTH113
