"""A command of click that first looks at the names of its files, and at the texts it was given."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import click

from coverage_eval.cli.help import HelpCommand
from coverage_eval.cli.messages import say
from coverage_eval.cli.output_options import (
    OutputOption,
    infer_format,
    is_device,
    signatures_file,
)
from coverage_eval.cli.parameters import InputFile, NamedText, OutputFile, TextType
from coverage_eval.cli.texts import TextArguments, check_columns, values_of
from coverage_eval.core.errors import CorpusWarning, DataError, UnequalLinesError
from coverage_eval.core.files import FileText
from coverage_eval.core.texts import check_stdin, split_name
from coverage_eval.core.writing import check_target

PACKED = (".gz", ".zst")
"""Endings of the names of archives, which are read but not written."""


class Command(HelpCommand):
    """A command that refuses to overwrite its input, or to read a pipe twice.

    Every file that it writes is the value of an :class:`OutputFile`, or the
    :func:`~.output_options.signatures_file`; every file that it reads is the value of a
    :class:`TextType`, :class:`NamedText` or :class:`InputFile`.

    Args:
        *args: As for :class:`click.Command`.
        endings: Endings of ``--output`` beside those of its formats.
        any_ending: Whether it writes text to files with other endings.
        **attributes: As for :class:`click.Command`.
    """

    def __init__(
        self, *args: Any, endings: Sequence[str] = (), any_ending: bool = False, **attributes: Any
    ) -> None:
        super().__init__(*args, **attributes)
        self.endings, self.any_ending = endings, any_ending

    def invoke(self, ctx: click.Context) -> Any:
        """Check the names of files, assign the texts, and run the command.

        Raises:
            click.UsageError: The command line is wrong.
            DataError: A file cannot be written, or whatever the command raises.
        """
        try:
            infer_format(ctx, tuple(self.endings), any_ending=self.any_ending)
        except click.UsageError:
            _check_outputs(ctx)  # to write to an input is the graver mistake, which is told
            raise
        _check_outputs(ctx)
        try:
            check_stdin(map(FileText, _inputs(ctx)))
        except DataError as error:
            raise click.UsageError(str(error)) from None
        texts = [item for item in self.params if isinstance(item, TextArguments)]  # one at most
        for argument in texts:
            argument.assign(ctx)
        check_columns(ctx)
        for argument in texts:
            argument.split_by_system(ctx)
        written = [name for _, name in _outputs(ctx)]
        for option in self.params:
            if isinstance(option, OutputOption):
                option.collect(ctx)
        if ctx.params.get("strict"):
            ctx.with_resource(warnings.catch_warnings())
            warnings.simplefilter("error", CorpusWarning)
        try:
            done = super().invoke(ctx)
            _say_written(written)
            return done
        except click.exceptions.Exit as end:
            if end.exit_code != 1:  # such as a closed gate; after an error, no file is written
                _say_written(written)
            raise
        except UnequalLinesError as error:
            # There may be no such option, or it is given.
            if error.is_explained or ctx.params.get("unaligned") is not False:
                raise
            raise DataError(
                f"{error}. If sentences of a document were joined, cut or left out, add --unaligned"
            ) from error


def _say_written(names: Sequence[str]) -> None:
    """Tell the user of a terminal which files were written."""
    for name in names if sys.stderr.isatty() else ():
        say(f"→ {name}")


class Group(HelpCommand, click.Group):
    """A group of commands that check their files."""

    command_class = Command


def _inputs(ctx: click.Context) -> Iterator[str]:
    """The name of every file or column that the command reads."""
    for parameter in ctx.command.params:
        if isinstance(parameter.type, (TextType, NamedText, InputFile)):
            yield from map(str, values_of(ctx, parameter))


def _outputs(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """Every file that the command writes, and the option that says so."""
    for parameter in ctx.command.params:
        name = ctx.params.get(parameter.name or "")
        if isinstance(parameter.type, OutputFile) and name not in {None, "-"}:
            yield parameter.opts[-1], name
    beside = signatures_file(ctx.params.get("output"), ctx.params.get("output_format"))
    if beside:
        yield "the signatures, beside --output,", beside


def _check_outputs(ctx: click.Context) -> None:
    """Refuse files that cannot be written.

    Raises:
        click.UsageError: A file is also an input, is named twice, or is packed.
        DataError: A file cannot be written where it is.
    """
    inputs = {os.path.realpath(split_name(name)[0]) for name in _inputs(ctx)}
    written: dict[str, str] = {}
    for flag, name in _outputs(ctx):
        check_target(name)
        path = os.path.realpath(name)
        if is_device(path):  # several may write to a pipe or a device
            continue
        if name.endswith(PACKED):
            raise click.UsageError(
                f"{flag} {name}: files are written unpacked; choose a name without it"
            )
        if path in inputs:
            raise click.UsageError(f"{flag} {name} is one of the input files")
        if path in written:
            raise click.UsageError(f"{written[path]} and {flag} both write to {name}")
        written[path] = flag
