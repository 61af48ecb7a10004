"""What the value of an option or an argument may be: numbers, lists, texts, files."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coverage_eval.core.texts import is_text, open_text, split_name

if TYPE_CHECKING:
    from coverage_eval.core.files import Text
    from coverage_eval.core.tables import TextTable

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # it takes the type of its values from click 8.4 on

_MAX = 1_000_000_000
"""The greatest number of any option, so that sums and products stay finite and loops end."""


class FiniteRange(click.FloatRange):
    """A range of finite numbers."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a usage error."""
        number = super().convert(value, param, ctx)
        if not abs(number) <= _MAX:  # NaN fails every comparison
            self.fail(f"{value} is not a number that can be used.", param, ctx)
        return number


class Percentage(FiniteRange):
    """A range of percentages, with or without the sign."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a usage error."""
        return super().convert(str(value).removesuffix("%"), param, ctx)


class NameList(ParamType):
    """A list of names separated by commas, in any case.

    Args:
        what: What a name stands for, in messages.
        known: The names that may be in the list; empty to accept any.
    """

    name = "list"

    def __init__(self, what: str, known: Collection[str] = ()) -> None:
        self.what, self.known = what, known

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[str]:
        """The names as they are known, or a usage error."""
        names = [name.strip() for name in value.split(",")]
        names = [name.lower() if name.lower() in self.known else name for name in names]
        for name in names:
            if self.known and name not in self.known:
                hint = f"; one of {', '.join(self.known)}"
                flags = [flag for item in ctx.command.params for flag in item.opts] if ctx else []
                if self.what == "metric" and "--scores" in flags:
                    hint += "; for scores of another tool, such as COMET: --scores NAME=FILE"
                self.fail(f"unknown {self.what} {name!r}{hint}", param, ctx)
        if len(set(names)) < len(names):
            self.fail(f"a {self.what} is named twice in {value!r}", param, ctx)
        return names

    def join(
        self, ctx: click.Context, param: click.Parameter, lists: Sequence[str]
    ) -> list[str] | None:
        """A callback of an option with several lists: their names, or None without any list."""
        return self.convert(",".join(lists), param, ctx) if lists else None


class TextType(ParamType):
    """The name of a text: a file of lines, ``-``, or a column of a table; its value is the text."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Text:  # noqa: ARG002
        """The text; columns of one table, or of one pipe, are read together."""
        return open_text(value, _tables(ctx))


class NamedText(ParamType):
    """``NAME=TEXT`` or ``TEXT``; its value is a pair of name and text.

    A text has the name of its file or of its column.

    Args:
        allow_table: Whether a table may be named without a column, since its readers look for
            columns by their names.
    """

    name = "text"

    def __init__(self, *, allow_table: bool = False) -> None:
        self.allow_table = allow_table

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, Text]:
        """The pair, or a usage error."""
        name, equals, path = value.partition("=")
        if not equals or is_text(value):
            name, path = split_name(value)[1] or Path(value).name, value
        if not (name and path):
            self.fail(f"{value!r} is neither a file nor of the form NAME=FILE", param, ctx)
        return name, open_text(path, _tables(ctx))


def _tables(ctx: click.Context | None) -> MutableMapping[str, TextTable]:
    """The tables that the command line names, each to be read once."""
    tables: MutableMapping[str, TextTable] = {}
    return ctx.meta.setdefault("coverage_eval.tables", tables) if ctx else tables


def by_name(
    _: click.Context, __: click.Parameter, pairs: Sequence[tuple[str, Text]]
) -> dict[str, Text]:
    """A callback of several :class:`NamedText`: texts by name."""
    texts: dict[str, Text] = {}
    for name, text in pairs:
        if name in texts:
            raise click.BadParameter(f"the name {name!r} is given twice; give names: NAME=FILE")
        texts[name] = text
    return texts


class InputFile(ParamType):
    """The name of a file that the command reads, and that is no text of segments."""

    name = "file"


class OutputFile(ParamType):
    """The name of a file that the command writes; :class:`~.command.Command` checks it.

    Args:
        no_stdout: The message for ``-``; None if standard output will do.
    """

    name = "file"

    def __init__(self, no_stdout: str | None = None) -> None:
        self.no_stdout = no_stdout

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """The name, or a usage error."""
        if value == "-" and self.no_stdout:
            raise click.UsageError(self.no_stdout, ctx)
        return str(value)
