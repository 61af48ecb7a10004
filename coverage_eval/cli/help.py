"""How help looks: an example, what the command does, then the options in groups."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from inspect import cleandoc
from textwrap import fill
from types import MappingProxyType
from typing import Any

import click

from coverage_eval.cli.click_options import GROUPS, Option

MAX_LINES = 40
"""Longer help shows the usual options, and only the names of the others; --help-all shows all."""

_EXAMPLE = "\b\nExample:\n"


class HelpCommand(click.Command):
    """A command, or a group of commands, whose help begins with an example.

    Args:
        *args: As for :class:`click.Command`.
        lists: Lists at the end of the whole help: title → term → explanation.
        **attributes: As for :class:`click.Command`.
    """

    def __init__(
        self, *args: Any, lists: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
        **attributes: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **attributes)
        self.lists = lists
        self.params.append(_HELP_ALL)

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write all of the help, or on one screen the usual options and the others' names."""
        if isinstance(self, click.Group) or ctx.meta.get(_ALL):
            super().format_help(ctx, formatter)
            return
        whole = ctx.make_formatter()
        super().format_help(ctx, whole)
        text = whole.getvalue()
        usual, *others = self._records(ctx).items()
        if text.count("\n") <= MAX_LINES or not others:
            formatter.write(text)
            return
        self.format_usage(ctx, formatter)
        _, mark, example = cleandoc(self.help or "").partition(_EXAMPLE)
        _write_parts(formatter, mark + example, _first_paragraph(self))
        with formatter.section(usual[0]):
            formatter.write_dl([(flags, _first_sentence(text)) for flags, text in usual[1]])
        room = formatter.width - max(map(len, GROUPS)) - 6
        names = [
            (title, "\b\n" + fill(", ".join(_long_name(flags) for flags, _ in records), room,
                                  break_on_hyphens=False))
            for title, records in others
        ]  # fmt: skip
        with formatter.section("More (--help-all explains them)"):
            formatter.write_dl(names)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The example, then the text before it in the docstring."""
        text, mark, example = cleandoc(self.help or "").partition(_EXAMPLE)
        _write_parts(formatter, mark + example, text)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The lists."""
        for title, items in self.lists.items():
            with formatter.section(title):
                formatter.write_dl(list(items.items()))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by group."""
        for title, records in self._records(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)
        if isinstance(self, click.Group):
            for title, commands in self.sections().items():
                with formatter.section(title):
                    formatter.write_dl(commands)

    def _records(self, ctx: click.Context) -> dict[str, list[tuple[str, str]]]:
        """The options by group: names and help; groups without options are left out."""
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in GROUPS}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and isinstance(item, click.Option):
                groups[getattr(item, "group", GROUPS[0])].append(record)
        return {title: records for title, records in groups.items() if records}

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """The commands of a group under titles, each with the first paragraph of its help."""
        commands: dict[str, click.Command] = getattr(self, "commands", {})
        lines = [(name, _first_paragraph(command)) for name, command in commands.items()]
        return {"Commands": lines}


def _first_paragraph(command: click.Command) -> str:
    return cleandoc(command.help or "").partition("\n\n")[0]


def _write_parts(formatter: click.HelpFormatter, *parts: str) -> None:
    """Write paragraphs, indented by two columns."""
    for part in filter(None, parts):
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(part)


_ALL = "coverage_eval.help_all"


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the whole help, of a group with that of its commands, and end."""
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_ALL] = True
        click.echo("\n\n\n".join(_whole(ctx)), color=ctx.color)
        ctx.exit()


def _whole(ctx: click.Context) -> Iterator[str]:
    yield ctx.get_help()
    if isinstance(ctx.command, click.Group):
        for name in ctx.command.list_commands(ctx):
            if command := ctx.command.get_command(ctx, name):
                yield from _whole(click.Context(command, info_name=name, parent=ctx))


_HELP_ALL = Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_all,
    help="Show every option and exit.",
)


def _long_name(flags: str) -> str:
    """The last name of an option: ``-w, --digits INTEGER`` is ``--digits``."""
    return flags.split(" / ", maxsplit=1)[0].rsplit(", ", maxsplit=1)[-1].split(" ", maxsplit=1)[0]


def _first_sentence(text: str) -> str:
    """The first sentence of an option's help, without its default."""
    return re.split(r"(?<=[.)])\s|; there are:|; it is|  \[", text, maxsplit=1)[0]
