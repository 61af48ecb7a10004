"""What ``--help`` shows: an example first, then options in groups, the usual ones before others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from inspect import cleandoc
from typing import Any

import click

GROUPS = ("Options", "Input", "Alignment", "Metrics", "Statistics", "Output", "Advanced")
"""Titles of the groups in their order; the usual options of a command are in the first."""

_EXAMPLE = "\b\nExample:\n"


class Option(click.Option):
    """An option that stands in a group of the help, and may still have an old name.

    Args:
        *names: As of :class:`click.Option`.
        group: One of :data:`GROUPS`.
        old: Names that it had in the version before, which work and are not shown.
        **attributes: As of :class:`click.Option`.
    """

    def __init__(
        self,
        *names: Any,
        group: str = GROUPS[0],
        old: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        # click's own default is a mark of its own, which the site would show.
        if not attributes.get("required"):  # a default would count as given
            attributes.setdefault("default", False if attributes.get("is_flag") else None)
        super().__init__(*names, **attributes)
        self.group = group
        self._old = list(old)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """As click does, with the old names, too."""
        shown = self.opts
        self.opts = [*shown, *self._old]
        super().add_to_parser(parser, ctx)
        self.opts = shown


option = partial(click.option, cls=Option)
"""As :func:`click.option`, with the arguments of :class:`Option`."""


class HelpFormat(click.Command):
    """A command, or a group of commands, whose help begins with an example."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The example, then the text that stands before it in the docstring."""
        text, mark, example = cleandoc(self.help or "").partition(_EXAMPLE)
        for part in (mark + example, text):
            if part:
                formatter.write_paragraph()
                with formatter.indentation():
                    formatter.write_text(part)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """As click makes it, with a default that can be shown."""
        found = super().get_help_option(ctx)
        if found is not None:
            found.default = False
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by group."""
        shown: dict[str, list[tuple[str, str]]] = {title: [] for title in GROUPS}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and isinstance(item, click.Option):
                shown[getattr(item, "group", GROUPS[0])].append(record)
        for title, records in shown.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
        if isinstance(self, click.Group):
            self.format_commands(ctx, formatter)
