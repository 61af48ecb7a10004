"""What every command does before its own work: refuse to write over a file that it reads."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click


class OutputFile(click.Path):
    """The name of a file that a command writes."""


class NoFile(click.types.StringParamType):
    """A name of something else than a file, such as a column."""


class Command(click.Command):
    """A command that does nothing where one of its outputs would destroy a file."""

    def invoke(self, ctx: click.Context) -> Any:
        """Check the names of files, then run."""
        _refuse_overwriting(ctx)
        return super().invoke(ctx)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command


def _refuse_overwriting(context: click.Context) -> None:
    """Refuse a command line by which a file to write is an input, or is written twice.

    Files are told apart by what they are, whatever links lead to them.

    Raises:
        click.UsageError: The first such file.
    """
    inputs = [_Place(name) for name in _inputs(context)]
    written = [("standard output", _Place("-", sys.stdout))]
    for parameter in context.command.params:
        name = context.params.get(parameter.name or "")
        if isinstance(parameter.type, OutputFile) and name not in {None, "-"}:
            written.append((parameter.opts[-1], _Place(name)))
    for number, (option, place) in enumerate(written):
        shown = option if place.name == "-" else f"{option} {place.name}"
        if any(place.is_same_file(other) for other in inputs):
            raise click.UsageError(f"{shown} is one of the input files")
        for other_option, other in written[:number]:
            if place.is_same_file(other):
                raise click.UsageError(f"{other_option} and {option} both write to {place.name}")


class _Place:
    """A file that there is or will be.

    Args:
        name: Its name, or ``-`` for a stream.
        stream: That stream, by default standard input.
    """

    def __init__(self, name: str, stream: Any = None) -> None:
        self.name = name
        self._real = os.path.realpath(name)
        self._state: os.stat_result | None = None
        with suppress(OSError, ValueError, AttributeError):  # no such file yet; a closed stream
            is_stream = name == "-"
            self._state = (
                os.fstat((stream or sys.stdin).fileno()) if is_stream else Path(name).stat()
            )

    def is_same_file(self, other: _Place) -> bool:
        """Whether writing to one would change the other; pipes and devices take everything."""
        if self._state is None or other._state is None:
            both_missing = self._state is other._state and "-" not in {self.name, other.name}
            return both_missing and self._real == other._real
        return stat.S_ISREG(self._state.st_mode) and os.path.samestat(self._state, other._state)


def _inputs(context: click.Context) -> Iterator[str]:
    """Every text that the command line gives that may be a file to read."""
    for parameter in context.command.params:
        if isinstance(parameter.type, (OutputFile, NoFile, click.Choice)):
            continue
        value = context.params.get(parameter.name or "")
        if isinstance(value, dict):
            yield from value.values()
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, str))
        elif isinstance(value, str):
            yield value
