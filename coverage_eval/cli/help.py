"""What ``--help`` shows: an example, what the command does, then the options in groups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

GROUPS = ("Options", "Input", "Alignment", "Metrics", "Statistics", "Output", "Advanced")
"""Titles of the groups in their order; the first has a command's usual options."""

_EXAMPLE = "\b\nExample:\n"


class Option(click.Option):
    """An option in a group of the help, which shows its default and may have hidden names.

    Args:
        *declared: Names, as for :class:`click.Option`.
        group: One of :data:`GROUPS`.
        old: Hidden names: of the previous version, or of other tools.
        names: The words that a list may have. Those that follow the option, separated by spaces as
            sacreBLEU has them, are joined by commas.
        **attributes: As for :class:`click.Option`.
    """

    def __init__(
        self,
        *declared: Any,
        group: str = GROUPS[0],
        old: Sequence[str] = (),
        names: Collection[str] = (),
        **attributes: Any,
    ) -> None:
        # Without a default, click sets a mark that the site would show.
        default = attributes.setdefault("default", False if attributes.get("is_flag") else None)
        attributes.setdefault("show_default", default is not None and default is not False)
        super().__init__(*declared, **attributes)
        self.group = group
        self.names = names
        self._old = list(old)

    def value_is_missing(self, value: Any) -> bool:
        """As click does; a default of None is no value."""
        return value is None or super().value_is_missing(value)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """As click does, also for the hidden names."""
        shown = self.opts
        self.opts = [*shown, *self._old]
        super().add_to_parser(parser, ctx)
        self.opts = shown


option = partial(click.option, cls=Option)
"""As :func:`click.option`, with the arguments of :class:`Option`."""


_ELSEWHERE = {
    "--paired-bs": "'compare' tests all systems against the first, or against --baseline",
    "--paired-ar": "'compare' tests all systems against the first, or against --baseline",
    "--num-refs": "name each reference by --ref",
    "--metric": "the option is -m, --metrics, of 'compare'; single metrics are commands",
    "--json": "the option is -f json",
    "--detail": "the option is -f json",
    "--target": "the option is --hyp, or --tgt for a text to train on",
    "--systems": "systems are named without an option, or by -i",
    "--key-col": "it is for commands with --sentence-level",
    "--errors-only": "it is for scores that find single errors, such as rep and drop",
}
"""Options of other tools or commands, and what to use here."""


def suggest(name: str, known: Iterable[str]) -> str:
    """``; did you mean …?``, to append to an error; empty if no known name is near."""
    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.66)
    return f"; did you mean {near[0]}?" if near else ""


def explain(error: click.ClickException) -> click.ClickException:
    """The error; for an unknown option or subcommand, with the right ones where they are known."""
    if isinstance(error, click.UsageError) and error.ctx and hasattr(error, "command_name"):
        group = error.ctx.command
        names = group.list_commands(error.ctx) if isinstance(group, click.Group) else []
        said = suggest(error.command_name, names) or f"; there are: {', '.join(names)}"
        wrong = f"{error.ctx.info_name} {error.command_name}"
        return click.UsageError(f"there is no command {wrong!r}{said}", error.ctx)
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    name = error.option_name
    known = {flag for item in error.ctx.command.get_params(error.ctx) for flag in item.opts}
    said = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else suggest(name, known)
    return click.UsageError(f"there is no option {name}{said}", error.ctx)


class HelpFormat(click.Command):
    """A command, or a group of commands, whose help begins with an example."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, after joining lists that are separated by spaces."""
        named = [item for item in self.params if isinstance(item, Option) and item.names]
        lists = {flag: item.names for item in named for flag in item.opts}
        return super().parse_args(ctx, list(_join_lists(args, lists)) if lists else args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The example, then the text before it in the docstring."""
        text, mark, example = cleandoc(self.help or "").partition(_EXAMPLE)
        for part in (mark + example, text):
            if part:
                formatter.write_paragraph()
                with formatter.indentation():
                    formatter.write_text(part)

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """As click makes it, with a default that the site can show."""
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
            with formatter.section("Commands"):
                formatter.write_dl(self.summaries())

    def summaries(self) -> list[tuple[str, str]]:
        """The commands of a group, each with the first paragraph of its help."""
        commands: dict[str, click.Command] = getattr(self, "commands", {})
        return [
            (name, cleandoc(item.help or "").partition("\n\n")[0])
            for name, item in commands.items()
            if not item.hidden
        ]


def _join_lists(args: Sequence[str], lists: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Join the names that follow an option: ``-m bleu rep`` is ``-m bleu,rep``.

    An existing file is a file, even if a metric has its name.
    """
    left = list(args)
    while left:
        arg = left.pop(0)
        yield arg
        if left and (known := lists.get(arg)):
            held = [left.pop(0)]
            while left and left[0].lower() in known and not Path(left[0]).exists():
                held.append(left.pop(0))
            yield ",".join(held)
