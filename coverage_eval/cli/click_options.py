"""Options of commands: in groups of the help, and several at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

GROUPS = ("Options", "Input", "Alignment", "Metrics", "Statistics", "Output", "Advanced")
"""Titles of the groups in their order; the first has a command's usual options."""


class Option(click.Option):
    """An option in a group of the help, which shows its default.

    Args:
        *declared: Names, as for :class:`click.Option`.
        group: One of :data:`GROUPS`.
        **attributes: As for :class:`click.Option`.
    """

    def __init__(self, *declared: Any, group: str = GROUPS[0], **attributes: Any) -> None:
        super().__init__(*declared, **{"show_default": True, **attributes})
        if isinstance(self.type, click.Choice) and len("|".join(map(str, self.type.choices))) > 36:
            # Click would write them into one word beside the option's name.
            self.metavar = self.metavar or "NAME"
            choices = ", ".join(map(str, self.type.choices))
            if choices not in (self.help or ""):
                self.help = f"{self.help} One of {choices}."
        if isinstance(self.type, click.IntRange):
            self.metavar = self.metavar or "INTEGER"
        self.group = group


Decorator = Callable[[Any], Any]
"""Adds an option, or several, to the function of a command."""


def option(*declared: Any, **attributes: Any) -> Decorator:
    """Call :func:`click.option`, with the arguments of :class:`Option`."""
    return click.option(*declared, cls=Option, **attributes)


def option_group(*options: Decorator) -> Decorator:
    """One decorator that adds several options, in the order of ``--help``."""

    def add(command: Any) -> Any:
        for add_option in reversed(options):
            command = add_option(command)
        return command

    return add
