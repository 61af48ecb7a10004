"""Commands and options of click as all commands have them; needs no NumPy.

Options are declared by fields of dataclasses, or one by one. Help has an example, what the command
does, then the options in groups.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from functools import partial, wraps
from inspect import cleandoc
from textwrap import fill
from types import MappingProxyType
from typing import Any

import click

GROUPS = ("Options", "Input", "Alignment", "Metrics", "Statistics", "Output", "Advanced")
"""Titles of the groups in their order; the first has a command's usual options."""

MAX_LINES = 40
"""Longer help shows the usual options, and only the names of the others; --help-all shows all."""

_EXAMPLE = "\b\nExample:\n"


class Option(click.Option):
    """An option in a group of the help, which shows its default.

    Args:
        *declared: Names, as for :class:`click.Option`.
        group: One of :data:`GROUPS`.
        names: The words that a list may have. Those that follow the option, separated by spaces as
            sacreBLEU has them, are joined by commas.
        **attributes: As for :class:`click.Option`.
    """

    def __init__(
        self, *declared: Any, group: str = GROUPS[0], names: Collection[str] = (), **attributes: Any
    ) -> None:
        super().__init__(*declared, **{"show_default": True, **attributes})
        if isinstance(self.type, click.Choice) and len("|".join(map(str, self.type.choices))) > 36:
            # Click would write them into one word beside the option's name.
            self.metavar = self.metavar or "NAME"
            named = ", ".join(map(str, self.type.choices))
            self.help = self.help if named in (self.help or "") else f"{self.help} One of {named}."
        if isinstance(self.type, click.IntRange):
            self.metavar = self.metavar or "INTEGER"
        self.group = group
        self.names = names


option = partial(click.option, cls=Option)
"""As :func:`click.option`, with the arguments of :class:`Option`."""


Decorator = Callable[[Any], Any]
"""Adds an option, or several, to a command."""

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


_RANGES = {"int": click.IntRange, "float": FiniteRange}
"""The range of the numbers of a field, by its type."""


class Percentage(FiniteRange):
    """A range of percentages, with or without the sign."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a usage error."""
        return super().convert(str(value).removesuffix("%"), param, ctx)


class OutputFile(click.Path):
    """The name of a file that the command writes."""


def add_options(command: Callable[..., Any], options: Sequence[Decorator]) -> Callable[..., Any]:
    """Decorate a command with options, in the order of ``--help``."""
    for add in reversed(options):
        command = add(command)
    return command


def click_option(
    item: Field[Any], further_choice: str | None = None, group: str = GROUPS[0]
) -> Decorator:
    """The option that a field of a dataclass declares.

    A field made by :func:`~coverage_eval.core.metric.setting` gives an option's name, help and
    range, and may give further arguments of :func:`click.option`.

    Args:
        item: The field.
        further_choice: One more choice than the field has.
        group: The group of ``--help`` if the field names none.
    """
    attributes = {"group": group, **item.metadata}
    default = None if item.default is MISSING else item.default
    flag = f"--{item.name.replace('_', '-')}"
    flags = attributes.pop("flags", [attributes.pop("flag", flag)])
    choices = attributes.pop("choices", None)
    limits = {name: attributes.pop(name) for name in ("min", "max") if name in attributes}
    kind = str(item.type).removesuffix(" | None")
    if attributes.pop("is_output", False):
        attributes["type"] = OutputFile()
    if isinstance(default, bool):
        attributes["is_flag"] = True
    elif choices is not None:
        attributes["type"] = click.Choice([*choices, *filter(None, [further_choice])])
    elif "type" not in attributes and kind in _RANGES:
        attributes["type"] = _RANGES[kind](**limits)
    return option(*flags, item.name, default=default, **attributes)


def as_object(
    name: str,
    kind: type[Any],
    *first: Decorator,
    without: Collection[str] = (),
    group: str = GROUPS[0],
) -> Decorator:
    """A decorator that adds the options that a dataclass declares.

    The command receives them as one object.

    Args:
        name: The command's parameter for the object.
        kind: The dataclass.
        *first: Arguments and options of the command that stand before those that it declares.
        without: Fields that get no option.
        group: The group of ``--help`` for fields that name none.
    """
    options = [
        click_option(item, group=group)
        for item in fields(kind)
        if "help" in item.metadata and item.name not in without
    ]
    names = [item.name for item in fields(kind)]

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def with_object(**values: Any) -> Any:
            made = kind(**{field: values.pop(field) for field in names if field in values})
            return command(**{name: made}, **values)

        return add_options(with_object, [*first, *options])

    return add


HINTS = {
    "--bootstrap": "The interval of one score: --confidence --resamples N",
    "--html": "A page is made by: coverage-eval report --ref REF FILE... -o PAGE.html",
    "--lowercase": "Words are aligned without regard to capitals; to lowercase a file: "
    r"sed 's/.*/\L&/' FILE > LOWER",
    "--plot": "The ending of -o says what is written: coverage-eval compare ... -o PICTURE.svg",
    "--prepare-for": "It is for training: coverage-eval align train SRC TGT --prepare-for "
    "omissions -o MODEL",
    "--reference": "The option is -r, --ref.",
    "--resamples": "The interval of one score: --confidence --resamples N",
    "--seed": "It is 12345 in every run, as in sacreBLEU; functions of Python have seed=.",
    "--sort": "The worst segments: --worst N",
    "--threshold": "Segments are flagged by: coverage-eval omissions HYP --src SRC --model MODEL "
    "--false-alarms PERCENT",
    "train": "coverage-eval align train SRC TGT -o MODEL",
    "-m": "A model is --model MODEL; columns are chosen by: coverage-eval compare -m bleu,rep "
    "--ref REF FILE...",
}
"""Options and commands that people type although there are none here, and what to type."""


def suggest(name: str, known: Iterable[str]) -> str:
    """``; did you mean …?``, to append to an error; empty if no known name is near."""
    near = get_close_matches(name.lower(), list(known), n=1, cutoff=0.66)
    return f"; did you mean {near[0]}?" if near else ""


def parse_list(what: str, known: Collection[str]) -> Callable[..., list[str] | None]:
    """A callback for a list of names separated by commas, in any case.

    Args:
        what: What the names stand for, for messages.
        known: The known names; empty to accept any.
    """

    def parse(ctx: click.Context, _: click.Parameter, value: str | None) -> list[str] | None:
        if value is None:
            return None
        names = [name.strip() for name in value.split(",")]
        names = [name.lower() if name.lower() in known else name for name in names]
        for name in names:
            if known and name not in known:
                said = suggest(name, known) or f"; one of {', '.join(known)}"
                if what == "metric" and any("--scores" in item.opts for item in ctx.command.params):
                    said += "; for scores of another tool, such as COMET: --scores NAME=FILE"
                raise click.BadParameter(f"unknown {what} {name!r}{said}")
        if len(set(names)) < len(names):
            raise click.BadParameter(f"a {what} is named twice in {value!r}")
        return names

    return parse


class HelpFormat(click.Command):
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, after joining lists that are separated by spaces."""
        # Click would take a column of standard input, such as -:mt, for an option.
        args = [f"/dev/stdin{arg[1:]}" if arg.startswith("-:") else arg for arg in args]
        named = [item for item in self.params if isinstance(item, Option) and item.names]
        lists = {flag: item.names for item in named for flag in item.opts}
        return super().parse_args(ctx, _join_lists(args, lists))

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """All of it, or on one screen the usual options and the names of the others."""
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
        first = cleandoc(self.help or "").partition("\n\n")[0]
        _write_parts(formatter, mark + example, first)
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
        shown: dict[str, list[tuple[str, str]]] = {title: [] for title in GROUPS}
        for item in self.get_params(ctx):
            record = item.get_help_record(ctx)
            if record is not None and isinstance(item, click.Option):
                shown[getattr(item, "group", GROUPS[0])].append(record)
        return {title: records for title, records in shown.items() if records}

    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """The commands of a group under titles, each with the first paragraph of its help."""
        commands: dict[str, click.Command] = getattr(self, "commands", {})
        firsts = {n: cleandoc(one.help or "").partition("\n\n")[0] for n, one in commands.items()}
        return {"Commands": list(firsts.items())}


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


def _join_lists(args: Sequence[str], lists: Mapping[str, Collection[str]]) -> list[str]:
    """Join the names that follow an option: ``-m bleu rep`` is ``-m bleu,rep``."""
    joined: list[str] = []
    for arg in args:
        flag = joined[-2] if len(joined) > 1 else ""
        if arg.lower() in lists.get(flag, ()):
            joined[-1] += f",{arg}"
        else:
            joined.append(arg)
    return joined
