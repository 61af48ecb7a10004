"""Arguments and options that name a command's texts: files of lines, or columns of tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.options import add_options, parse_named_files
from coverage_eval.cli.unaligned import UNALIGNED_OPTIONS, document_settings, how_to_segment
from coverage_eval.core.checks import is_reference_name
from coverage_eval.core.errors import DataError, UnequalLinesError
from coverage_eval.core.text import TextTable, column_for, find_text, is_table
from coverage_eval.registry import metric_class

F = TypeVar("F", bound=Callable[..., Any])


class _Side(NamedTuple):
    """A text that a command reads, by position or by option.

    Attributes:
        shown: Its name in the usage line.
        flags: The option for it.
        help: The option's help.
    """

    shown: str
    flags: tuple[str, ...]
    help: str


_SIDES = {
    "hyp": _Side("HYP", ("-i", "--hyp"), "The output."),
    "systems": _Side("[NAME=]TEXT...", ("-i", "--hyp"), "A system's output."),
    "src": _Side("SRC", ("-s", "--src"), "The source."),
    "tgt": _Side("TGT", ("--tgt",), "The target text."),
    "ref": _Side(
        "REF", ("-r", "--ref"), "The reference; give it once for each of several references."
    ),
}
"""Texts by the parameters that receive them."""

_ROLES = {"systems": "hyp", "peers": "hyp"}
"""What the texts of a parameter are, if it is called otherwise."""

_LINKS = {"--links": "links", "--ref-links": "ref_links"}
"""Options for texts of links."""


def corpus_options(
    *positional: str, options: Sequence[str] = (), needed: Sequence[str] | None = None
) -> Callable[[F], Callable[..., Any]]:
    """Add a command's texts, which are named by position or by option.

    The command receives those of ``hyp``, ``systems``, ``src``, ``tgt`` and ``ref`` that it has,
    and ``documents`` if it has references: how outputs of other lines are cut, or None. Put this
    above all options that make or read these parameters.

    Args:
        *positional: The texts that may be named without an option, in their order.
        options: The texts that only an option names. The source that ``alignment_options`` adds
            need not be named here.
        needed: The texts that must be there, such as ``ref|src`` for one of these two; by default
            the positional ones.
    """
    cuts = "ref" in {*positional, *options}

    def add(command: F) -> Callable[..., Any]:
        own = {item.name for item in command.__click_params__}  # type: ignore[attr-defined]
        sides = [side for side in _SIDES if side in {*positional, *options, *own}]

        @wraps(command)
        def with_texts(files: Any, **values: Any) -> Any:
            if "hyp" in sides:
                values["hyp"] = _only_one(values["hyp"])
            _place(files, positional, values)
            for alternatives in positional if needed is None else needed:
                first, *others = alternatives.split("|")
                given = any(values[side] for side in (first, *others))
                if not given and not (others and _need_nothing(values.get("metrics"))):
                    raise _missing(first, positional, values, list(files))
            further = ("peers", "scores", *_LINKS.values())
            texts = [*sides, *(name for name in further if name in values)]
            values |= named_texts({side: values[side] for side in texts})
            if cuts:
                values["documents"] = document_settings(values)
            try:
                return command(**values)
            except UnequalLinesError as error:
                hint = how_to_segment(error, values) if cuts and not values["documents"] else ""
                raise DataError(f"{error}{hint}") from error

        named = parse_named_files if "systems" in positional else None
        shown = " ".join(_SIDES[side].shown for side in positional)
        added = [
            click.argument("files", nargs=-1, metavar=shown, callback=named),
            *(_text_option(side) for side in sides if side not in own),
            *(UNALIGNED_OPTIONS if cuts else ()),
        ]
        return add_options(with_texts, added)

    return add


def _text_option(name: str) -> Callable[[Any], Any]:
    side = _SIDES[name]
    several: dict[str, Any] = {"multiple": name in {"hyp", "systems", "ref"}, "metavar": "TEXT"}
    if name == "systems":
        several |= {"callback": parse_named_files, "metavar": "[NAME=]TEXT"}
    return option(*side.flags, name, help=side.help, **several)


def named_texts(named: Mapping[str, Any]) -> dict[str, Any]:
    """The texts of each parameter, by their names; columns of one table are read together.

    Raises:
        click.UsageError: A table without a column.
        DataError: As :func:`~coverage_eval.core.text.find_text`.
    """
    tables: dict[str, TextTable] = {}
    roles: dict[str, list[str]] = {}
    for side, names in named.items():
        for name in names.values() if isinstance(names, Mapping) else _several(names):
            roles.setdefault(str(name), []).append(_ROLES.get(side, side))
    for name, its in roles.items():
        if is_table(name) and its != ["scores"]:  # whose columns are found by their names
            raise _without_column(name, roles)

    def found(names: Any) -> Any:
        if isinstance(names, Mapping):
            return {label: find_text(name, tables) for label, name in names.items()}
        if isinstance(names, tuple):
            return tuple(find_text(name, tables) for name in names)
        return None if names is None else find_text(names, tables)

    return {side: found(names) for side, names in named.items()}


def _several(names: Any) -> Sequence[Any]:
    return names if isinstance(names, tuple) else [] if names is None else [names]


def _without_column(table: str, roles: Mapping[str, list[str]]) -> click.UsageError:
    """The error for a table without a column: its columns, and the line to type."""
    tables = [name for name, its in roles.items() if is_table(name) and its != ["scores"]]
    there = {name: TextTable(name).names() for name in tables}
    flags = {flag: name for name, side in _SIDES.items() for flag in side.flags} | _LINKS
    line: list[str] = []
    for word in click.get_current_context().find_root().obj or sys.argv[1:]:
        before, equals, name = word.rpartition("=")
        file = word if word in there else name
        if file in there:
            role = flags.get(line[-1]) or next(iter(roles[file]))
            roles[file].remove(_ROLES.get(role, role))
            column = column_for(_ROLES.get(role, role), there[file]) or "COLUMN"
            word = f"{before}{equals if file == name else ''}{file}:{column}"  # noqa: PLW2901
        line.append(word)
    listed = ", ".join(there[table])
    return click.UsageError(
        f"{table} is a table: name a column of it, as {table}:COLUMN. It has: {listed}. Type: "
        f"{shlex.join(['coverage-eval', *line])}"
    )


def _only_one(outputs: Sequence[str]) -> str | None:
    """The only one of some outputs, None if there is none; a usage error if there are several."""
    if len(outputs) > 1:
        raise click.UsageError(
            f"one output is scored, but there are {', '.join(outputs)}: 'compare' takes several"
        )
    return next(iter(outputs), None)


def _place(files: Any, positional: Sequence[str], values: dict[str, Any]) -> None:
    """Give the files that are named without an option to the texts that are still missing.

    Raises:
        click.UsageError: There are more files than texts, or it is not clear what they are.
    """
    if "systems" in positional:
        if twice := values["systems"].keys() & files.keys():
            raise click.UsageError(f"the name {min(twice)!r} is given twice; give names: NAME=FILE")
        values["systems"] = {**values["systems"], **files}
        return
    left = list(files)
    for side in positional:
        if left and not values[side]:
            values[side] = left.pop(0)
            if side == "ref":
                values[side] = (values[side], *left)
                left = []
    references = values.get("ref") or ()
    if "hyp" in positional and "ref" in positional:
        _ask_about_order(files, values["hyp"], references)
    if "ref" in positional and references == files[1:] and len(references) > 1:
        *outputs, last = files
        path = click.get_current_context().command_path
        of_references = " ".join(f"--ref {file}" for file in references)
        source = f" The source: --src {last}." if "src" in values and len(files) == 3 else ""
        raise click.UsageError(
            f"HYP and REF are two files, but there are {len(files)}.{source} Several references: "
            f"{path} {files[0]} {of_references}. Several outputs: coverage-eval compare --ref "
            f"{last} {' '.join(outputs)}"
        )
    if left:
        flags = " or ".join(_SIDES[side].flags[-1] for side in ("ref", "src") if side in values)
        raise click.UsageError(f"{left[0]} is one file too many; say what it is: {flags}")


def _ask_about_order(files: Any, hyp: Any, references: Sequence[Any]) -> None:
    """Refuse a file in the place of HYP that is called like a reference, beside one that is not.

    sacreBLEU has the reference first, and a score of swapped files is plausible.

    Raises:
        click.UsageError: The names say so, and the files were not named by options.
    """
    is_named = [is_reference_name(Path(str(file)).name) for file in files]
    if [hyp, *references] == list(files) and is_named == [True, False]:
        path = click.get_current_context().command_path
        first, second = files
        raise click.UsageError(
            f"the order is HYP REF, but {first} is called like a reference. Type: {path} {second} "
            f"{first}. If {first} is the output: {path} --hyp {first} --ref {second}"
        )


def _need_nothing(metrics: Sequence[str] | None) -> bool:
    """Whether metrics were chosen that need neither references nor the source."""
    return bool(metrics) and not any(metric_class(name).needs for name in metrics or ())


def _missing(
    side: str, positional: Sequence[str], values: Mapping[str, Any], files: Sequence[str]
) -> click.UsageError:
    """The error for a text that is not named; where systems are compared, with the line to type."""
    flag = _SIDES[side].flags[-1]
    if side in positional:
        if side == "ref":
            return click.UsageError(
                "the reference is missing: name it as REF or with --ref. Without one, "
                "'compare' finds repetitions, and 'omissions' what the output leaves out"
            )
        hint = f"'{_SIDES[side].shown}'"
        return click.MissingParameter(param_hint=hint, param_type="argument")
    systems = values.get("systems") or {}
    if side == "ref" and len(systems) > 1:
        path = click.get_current_context().command_path
        # Beside systems that -i names, a file without an option is the reference, as in sacreBLEU.
        first = str(systems[files[0]] if files else next(iter(systems.values())))
        others = [str(file) for file in systems.values() if str(file) != first]
        return click.UsageError(
            f"{flag} is missing, or --src to compare without it. If {first} is the reference, "
            f"type: {path} {flag} {first} {' '.join(others)}"
        )
    if side == "ref" and "systems" in values:
        return click.UsageError(f"{flag} is missing, or --src to compare without a reference")
    return click.MissingParameter(param_hint=f"'{flag}'", param_type="option")
