"""What ``--help`` shows: an example first, then options in groups, the usual ones before others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import cleandoc
from pathlib import Path
from typing import Any

import click

GROUPS = ("Options", "Input", "Alignment", "Metrics", "Statistics", "Output", "Advanced")
"""Titles of the groups in their order; the usual options of a command are in the first."""

_EXAMPLE = "\b\nExample:\n"


class Option(click.Option):
    """An option that stands in a group of the help, and may still have an old name.

    Args:
        *declared: Names, as of :class:`click.Option`.
        group: One of :data:`GROUPS`.
        old: Names that it had in the version before, or that other tools have; they work and are
            not shown.
        names: Names of which the value is a list: those that follow the option, separated by
            spaces as sacreBLEU has them, are joined by commas.
        **attributes: As of :class:`click.Option`.
    """

    def __init__(
        self,
        *declared: Any,
        group: str = GROUPS[0],
        old: Sequence[str] = (),
        names: Collection[str] = (),
        **attributes: Any,
    ) -> None:
        # click's own default is a mark of its own, which the site would show.
        attributes.setdefault("default", False if attributes.get("is_flag") else None)
        super().__init__(*declared, **attributes)
        self.group = group
        self.names = names
        self._old = list(old)

    def value_is_missing(self, value: Any) -> bool:
        """As click does, which takes a default of None for a value."""
        return value is None or super().value_is_missing(value)

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """As click does, with the old names, too."""
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
    "--errors-only": "it is for scores that find single errors, such as rep and drop",
}
"""Options of other tools, and what does the same here."""


def suggest(name: str, known: Iterable[str]) -> str:
    """A question to append to an error, ``; did you mean …?``; empty if nothing is near.

    Args:
        name: What was typed.
        known: What there is.
    """
    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.66)
    return f"; did you mean {near[0]}?" if near else ""


def explain(error: click.ClickException) -> click.ClickException:
    """The same error; about an unknown option, it names the right one, or none."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    name = error.option_name
    known = {flag for item in error.ctx.command.get_params(error.ctx) for flag in item.opts}
    said = f": {_ELSEWHERE[name]}" if name in _ELSEWHERE else suggest(name, known)
    return click.UsageError(f"there is no option {name}{said}", error.ctx)


class HelpFormat(click.Command):
    """A command, or a group of commands, whose help begins with an example."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, after lists that are separated by spaces are joined."""
        lists = {
            flag: item.names
            for item in self.params
            if isinstance(item, Option)
            for flag in item.opts
            if item.names
        }
        return super().parse_args(ctx, list(_join_lists(args, lists)) if lists else args)

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


def _join_lists(args: Sequence[str], lists: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Join the names that follow an option: ``-m bleu rep`` is ``-m bleu,rep``.

    A file that has the name of a metric is taken for a file.
    """
    held: list[str] = []
    known: Collection[str] | None = None
    for arg in args:
        if held and known is not None and arg.lower() in known and not Path(arg).exists():
            held.append(arg)
            continue
        if known is not None and not held:
            held = [arg]
            continue
        if held:
            yield ",".join(held)
        held, known = [], lists.get(arg)
        yield arg
    if held:
        yield ",".join(held)
