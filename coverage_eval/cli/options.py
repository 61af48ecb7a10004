"""Options: how dataclasses declare them, the types of their values, and options that many share."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import wraps
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeVar

import click

from coverage_eval.cli.help import GROUPS, HelpFormat, option, suggest
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import CorpusWarning, check_stdin, check_target
from coverage_eval.core.metric import output_file_setting, setting
from coverage_eval.core.show.formats import FORMATS, OF_ONE_TABLE
from coverage_eval.core.significance import DEFAULT_RESAMPLES, MAX_RESAMPLES
from coverage_eval.core.text import file_named
from coverage_eval.registry import METRICS
from fast_align_wrapper.files import open_file_number

F = TypeVar("F", bound=Callable[..., Any])

Option = Callable[[Any], Any]

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


_LIMITS = ("min", "max", "min_open", "max_open")
_RANGES = {"int": click.IntRange, "float": FiniteRange}
"""The range of the numbers of a field, by its type."""


class Percentage(FiniteRange):
    """A range of percentages, with or without the sign."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a usage error."""
        return super().convert(str(value).removesuffix("%"), param, ctx)


PACKED = (".gz", ".zst")
"""Endings of the names of archives, which are read but not written."""


class OutputFile(click.Path):
    """The name of a file that the command writes."""


class Command(HelpFormat):
    """A command that refuses to overwrite its input, or to read a pipe twice.

    Its files are checked here, before any work: every file that it writes is the value of an
    :class:`OutputFile`, or the :func:`signatures_file`.

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
        """Check the names of files, then run."""
        try:
            self._heed_ending(ctx)
        finally:  # the name of an input is the graver mistake
            _refuse_overwriting(ctx)
        try:
            check_stdin(*_inputs(ctx))
        except DataError as error:
            raise click.UsageError(str(error)) from None
        return super().invoke(ctx)

    def _heed_ending(self, context: click.Context) -> None:
        """Without ``--format``, ``-o table.tex`` is LaTeX.

        Raises:
            click.UsageError: An ending that the command does not write, or another ``--format``.
        """
        output = context.params.get("output") or ""
        ending, chosen = Path(output).suffix.lower(), context.params.get("output_format")
        kinds = (item.type for item in self.params if item.name == "output_format")
        choices = next((kind.choices for kind in kinds if isinstance(kind, click.Choice)), ())
        known = {end: form for end, form in _ENDINGS.items() if form in choices}
        if not ending or not (known or self.endings) or _is_device(output):
            return
        is_given = "output_format" in given_options()
        if ending in known and not (is_given and known[ending] != chosen):
            context.params["output_format"] = known[ending]
        elif is_given and (ending in known or ending in self.endings):
            raise click.UsageError(f"-o {output} is not -f {chosen}: leave -f out", context)
        elif not (self.any_ending or ending in self.endings):
            hint = "; a page is made by 'coverage-eval report'" if ending == ".html" else ""
            raise click.UsageError(
                f"-o {output}: the ending says what is written: "
                f"{', '.join([*known, *self.endings])}{hint}",
                context,
            )


_ENDINGS = {
    ".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".tex": "latex",
    ".tsv": "tsv", ".txt": "text",
}  # fmt: skip
"""The formats that the ending of an output file stands for."""


class Group(HelpFormat, click.Group):
    """A group of such commands."""

    command_class = Command


def _refuse_overwriting(context: click.Context) -> None:
    """Raise a usage error if an output file is also an input, is named twice, or is packed."""
    read = {os.path.realpath(file_named(name)) for name in _inputs(context)}
    written: dict[str, str] = {}
    for flag, name in _outputs(context):
        check_target(name)
        path = os.path.realpath(name)
        if _is_device(path):
            continue  # several may write to a pipe or a device
        if name.endswith(PACKED):
            raise click.UsageError(
                f"{flag} {name}: files are written unpacked; choose a name without it"
            )
        if path in read:
            raise click.UsageError(f"{flag} {name} is one of the input files")
        if path in written:
            raise click.UsageError(f"{written[path]} and {flag} both write to {name}")
        written[path] = flag


def _outputs(context: click.Context) -> Iterator[tuple[str, str]]:
    """Every file that the command writes, and the option that says so."""
    for parameter in context.command.params:
        name = context.params.get(parameter.name or "")
        if isinstance(parameter.type, OutputFile) and name not in {None, "-"}:
            yield parameter.opts[-1], name
    output, output_format = (context.params.get(name) for name in ("output", "output_format"))
    if beside := signatures_file(output, output_format):
        yield "the signatures, beside --output,", beside


def signatures_file(output: str | None, output_format: str | None) -> str | None:
    """The file for the signatures of tables that have no place for them.

    Args:
        output: The table's file; None or ``-`` for standard output, which has no such file.
        output_format: The table's format.
    """
    if output in {None, "-"} or output_format not in {"csv", "jsonl", "tsv"}:
        return None
    if _is_device(str(output)) or open_file_number(str(output)) is not None:
        return None  # nothing stands beside a pipe, /dev/null or /dev/stdout
    return f"{output}.signatures"


def _is_device(name: str) -> bool:
    """Whether this is something else than a file, such as a pipe."""
    return os.path.exists(name) and not os.path.isfile(name)  # noqa: PTH110, PTH113


def _inputs(context: click.Context) -> Iterator[str]:
    """Every value on the command line that may name a file to read."""
    for parameter in context.command.params:
        if isinstance(parameter.type, (OutputFile, click.Choice)):
            continue
        value = context.params.get(parameter.name or "")
        if isinstance(value, dict):
            value = tuple(value.values())
        several = value if isinstance(value, tuple) else (value,)
        yield from (item for item in several if isinstance(item, str))


def add_options(
    command: Callable[..., Any], options: Sequence[Callable[[Any], Any]]
) -> Callable[..., Any]:
    """Decorate a command with options, in the order of ``--help``."""
    for add in reversed(options):
        command = add(command)
    return command


def click_option(
    item: Field[Any], further_choice: str | None = None, group: str = GROUPS[0]
) -> Option:
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
    names = [f"{flag}/--no{flag[1:]}" if default is True else attributes.pop("flag", flag)]
    names = attributes.pop("flags", names)
    attributes["help"] = cleandoc(attributes["help"])
    choices = attributes.pop("choices", None)
    limits = {name: attributes.pop(name) for name in _LIMITS if name in attributes}
    kind = str(item.type).removesuffix(" | None")
    if attributes.pop("is_output", False):
        attributes["type"] = OutputFile()
    if isinstance(default, bool):
        attributes["is_flag"] = True
    elif choices is not None:
        attributes["type"] = click.Choice([*choices, *filter(None, [further_choice])])
    elif "type" not in attributes and kind in _RANGES:
        attributes["type"] = _RANGES[kind](**limits)
    if not (attributes.get("multiple") or attributes.get("required")):
        attributes["default"] = default
    return option(*names, item.name, **attributes)


def options_as(
    name: str,
    kind: type[Any],
    *first: Option,
    without: Collection[str] = (),
    group: str = GROUPS[0],
) -> Callable[[F], Callable[..., Any]]:
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

    def add(command: F) -> Callable[..., Any]:
        @wraps(command)
        def with_object(**values: Any) -> Any:
            made = kind(**{field: values.pop(field) for field in names if field in values})
            return command(**{name: made}, **values)

        return add_options(with_object, [*first, *options])

    return add


def given_options() -> set[str]:
    """Parameter names of the options that are on the command line."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return {name for name in context.params if context.get_parameter_source(name) == source}


def refuse(mistakes: Mapping[str, object]) -> None:
    """Raise a usage error for the first mistake that was made.

    Args:
        mistakes: For each message, whether it applies.
    """
    for message, applies in mistakes.items():
        if applies:
            raise click.UsageError(message)


@dataclass(frozen=True)
class Output:
    """Where a command prints, and in which format."""

    output_format: str = setting(
        "text",
        "Print in this format.",
        flags=("-f", "--format"),
        choices=tuple(FORMATS),
    )
    digits: int = setting(
        2, "Print this many decimals.", flags=("-w", "--digits"), min=0, max=15, group="Output"
    )
    score_only: bool = setting(
        False, "Print only the numbers, one per line.", flags=("-b", "--score-only"), group="Output"
    )
    output: str | None = output_file_setting(
        "Write to this file; its ending says the format: .json, .jsonl, .csv, .tsv, .tex, .md.",
        flags=("-o", "--output"),
    )

    def require_several(self, what: str) -> None:
        """Raise a usage error for a format that holds one table, before any work.

        Args:
            what: The option or command that makes several tables.
        """
        if self.output_format in OF_ONE_TABLE:
            name = self.output_format.upper()
            raise click.UsageError(f"{what} makes several tables, but {name} is one: use -f json")


@dataclass(frozen=True)
class ScoreOutput(Output):
    """Where and how a command prints a score."""

    sentence_level: bool = setting(False, "Print one score per segment, with evidence.")
    worst: int | None = setting(
        None,
        "Print this many of the worst segments: their texts with the errors in brackets, or rows "
        "with --sentence-level.",
        min=1,
    )
    confidence: bool = setting(False, "Add a 95% bootstrap interval.")
    resamples: int = setting(
        DEFAULT_RESAMPLES,
        "Number of resamples for --confidence.",
        min=1,
        max=MAX_RESAMPLES,
        group="Output",
    )

    def __post_init__(self) -> None:
        if self.confidence and self.by_segment:
            flag = "--sentence-level" if self.sentence_level else "--worst"
            raise click.UsageError(f"--confidence is for the corpus score; leave {flag} out")
        if not self.confidence and self.resamples != DEFAULT_RESAMPLES:
            raise click.UsageError("--resamples goes with --confidence")

    @property
    def by_segment(self) -> bool:
        """Whether segments are printed instead of a corpus score."""
        return self.sentence_level or self.worst is not None

    def choose(
        self,
        shown: Sequence[int],
        values: Sequence[float | None],
        *,
        higher_is_better: bool | None = False,
    ) -> Sequence[int]:
        """The worst of some segments, worst first; all of them without ``--worst``.

        Args:
            shown: Indices of the segments.
            values: The scores of all segments; those that are undefined come last.
            higher_is_better: Whether low scores are bad.
        """
        if self.worst is None:
            return shown
        sign = -1 if higher_is_better is False else 1
        order = sorted(shown, key=lambda i: (values[i] is None, sign * (values[i] or 0.0)))
        return order[: self.worst]

    @property
    def drawn(self) -> int:
        """Number of bootstrap resamples; 0 for no interval."""
        return self.resamples if self.confidence else 0


output_options = options_as("output", Output)
"""Adds ``-f``, ``-w``, ``-b`` and ``-o``; the command receives them as one ``output``."""

scoring_options = options_as("output", ScoreOutput)
"""Adds these and the options of a score; the command receives them as one ``output``."""

output_option = option(
    "-o", "--output", metavar="FILE", type=OutputFile(),
    help="Write to this file instead of standard output.",
)  # fmt: skip

signature_option = option(
    "--signature", is_flag=True, group="Output",
    help="Print signatures, too: they list every setting that affects a score. Files and JSON "
    "always have them.",
)  # fmt: skip

jobs_option = option(
    "-j", "--jobs", default=1, type=click.IntRange(1, 1024), group="Advanced",
    help="Number of processes; the result does not depend on it.",
)  # fmt: skip


def _raise_warnings(context: click.Context, _: click.Parameter, strict: bool) -> bool:
    """--strict turns warnings into errors."""
    if strict:
        context.with_resource(warnings.catch_warnings())
        warnings.simplefilter("error", CorpusWarning)
    return strict


strict_option = option(
    "--strict", is_flag=True, callback=_raise_warnings, group="Advanced",
    help="Turn warnings into errors.",
)  # fmt: skip


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


def parse_differences(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> dict[str, float] | None:
    """A callback for a list of metrics such as ``rep,drop=0.5``; a number is 0 if it is missing."""
    if value is None:
        return None
    pairs = [item.partition("=") for item in value.split(",")]
    names = ",".join(name for name, _, _ in pairs)
    columns = (*METRICS, *context.params.get("scores", ()))  # the eager --scores
    known = parse_list("metric", columns)(context, parameter, names) or []
    numbers = FiniteRange(0)
    return {
        name: numbers.convert(number, parameter, context) if equals else 0.0
        for name, (_, equals, number) in zip(known, pairs, strict=True)
    }


def parse_named_files(
    _: click.Context, __: click.Parameter, values: Sequence[str]
) -> dict[str, str]:
    """A callback for ``NAME=TEXT`` or ``TEXT``: texts by name, which may be the file's own.

    A column of a table gives its own name.
    """
    files: dict[str, str] = {}
    for value in values:
        name, equals, path = value.partition("=")
        if not equals or os.path.isfile(value):  # noqa: PTH113 (a name may be too long for a file)
            file = file_named(value)
            name, path = value[len(file) + 1 :] or Path(value).name, value
        if not (name and path):
            raise click.BadParameter(f"{value!r} is neither a file nor of the form NAME=FILE")
        if not name.isprintable():
            raise click.BadParameter(f"the name {name!r} has characters that cannot be printed")
        if name in files:
            raise click.BadParameter(f"the name {name!r} is given twice; give names: NAME=FILE")
        files[name] = path
    return files
