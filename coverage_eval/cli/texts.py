"""Arguments and options that name a command's texts and links: files of lines, or columns."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from coverage_eval.align.aligner import AlignerSettings
from coverage_eval.cli.help import option
from coverage_eval.cli.options import PACKED, add_options, options_as, parse_named_files, refuse
from coverage_eval.core.checks import is_reference_name
from coverage_eval.core.errors import DataError, UnequalLinesError
from coverage_eval.core.files import STDIN, Text, source_name
from coverage_eval.core.metric import file_setting
from coverage_eval.core.text import TextTable, column_for, find_text, is_table
from coverage_eval.documents.settings import DocumentSettings

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
    *positional: str, options: Sequence[str] = (), needed: Sequence[str] = ()
) -> Callable[[F], Callable[..., Any]]:
    """Add a command's texts, which are named by position or by option.

    The command receives those of ``hyp``, ``systems``, ``src``, ``tgt`` and ``ref`` that it has,
    and ``documents`` if it has references: how outputs of other lines are cut, or None. Put this
    above all options that make or read these parameters.

    Args:
        *positional: The texts that may be named without an option, in their order. They must be
            there.
        options: The texts that only an option names. The source that ``alignment_options`` adds
            need not be named here.
        needed: Those of them that must be there.
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
            for side in (*positional, *needed):
                if not values[side]:
                    raise _missing(side, positional)
            texts = (*sides, "peers", "scores", *_LINKS.values())
            values |= named_texts({side: values[side] for side in texts if side in values})
            documents = None
            if cuts:
                values["documents"] = documents = _document_settings(values)
            try:
                return command(**values)
            except UnequalLinesError as error:
                hint = _how_to_segment(error, values) if cuts and documents is None else ""
                raise DataError(f"{error}{hint}") from error

        named = parse_named_files if "systems" in positional else None
        shown = " ".join(_SIDES[side].shown for side in positional)
        added = [
            click.argument("files", nargs=-1, metavar=shown, callback=named),
            *(_text_option(side) for side in sides if side not in own),
            *([_unaligned_option] if cuts else []),
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
        given = names.values() if isinstance(names, Mapping) else names
        for name in [given] if isinstance(given, str) else given or ():
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
            values[side] = tuple(left) if side == "ref" else left.pop(0)
            left = [] if side == "ref" else left
    path = click.get_current_context().command_path
    if "ref" in positional and len(files) > 1 and files == (values["hyp"], *values["ref"]):
        _ask_about_order(path, files, has_source="src" in values)
    if left:
        flags = " or ".join(_SIDES[side].flags[-1] for side in ("ref", "src") if side in values)
        raise click.UsageError(f"{left[0]} is one file too many; say what it is: {flags}")


def _ask_about_order(path: str, files: Sequence[str], *, has_source: bool) -> None:
    """Refuse several references, or a file in the place of HYP that is called like a reference.

    sacreBLEU has the reference first, and a score of swapped files is plausible.
    """
    first, second, *_ = files
    if len(files) > 2:
        *outputs, last = files
        references = " ".join(f"--ref {file}" for file in files[1:])
        source = f" The source: --src {last}." if len(files) == 3 and has_source else ""
        raise click.UsageError(
            f"HYP and REF are two files, but there are {len(files)}.{source} Several references: "
            f"{path} {first} {references}. Several outputs: coverage-eval compare --ref {last} "
            f"{' '.join(outputs)}"
        )
    if [is_reference_name(Path(file).name) for file in files] == [True, False]:
        raise click.UsageError(
            f"the order is HYP REF, but {first} is called like a reference. Type: {path} {second} "
            f"{first}. If {first} is the output: {path} --hyp {first} --ref {second}"
        )


def _missing(side: str, positional: Sequence[str]) -> click.UsageError:
    """The error for a text that is not named."""
    if side == "ref":
        return click.UsageError(
            "the reference is missing: name it as REF or with --ref. Without one, "
            "'compare' finds repetitions, and 'omissions' what the output leaves out"
        )
    if side in positional:
        return click.MissingParameter(param_hint=f"'{_SIDES[side].shown}'", param_type="argument")
    return click.MissingParameter(param_hint=f"'{_SIDES[side].flags[-1]}'", param_type="option")


_unaligned_option = option(
    "--unaligned", is_flag=True, group="Input",
    help="The lines of the outputs do not match: first cut each by the lines of the source with "
    "--model, or of the reference, as 'segment' does. A file is one document, and so is each row "
    "of a table.",
)  # fmt: skip


def _document_settings(values: dict[str, Any]) -> DocumentSettings | None:
    """Take --unaligned from a command's values: how outputs are cut, or None if lines match."""
    if not values.pop("unaligned"):
        return None
    if not (values["ref"] or (values.get("model") and values.get("src"))):
        raise click.UsageError("--unaligned needs --src with --model M, or --ref")
    return DocumentSettings.of(values.get("tokenize"))


def _how_to_segment(error: UnequalLinesError, values: Mapping[str, Any]) -> str:
    """What to type if an output has other lines than the source; empty if that cannot be known."""
    whole: Any = next(iter(values["ref"]), None)
    by: list[Any] = ["--ref", whole]
    if values.get("model") and isinstance(values["src"], str):
        whole = values["src"]
        by = ["--src", whole, "--model", values["model"]]
    outputs = values["systems"].values() if "systems" in values else [values["hyp"]]
    for output in outputs if isinstance(whole, str) and whole != STDIN else ():
        if not isinstance(output, str) or output == STDIN:
            continue
        counts = [error.counts.get(source_name(name)) for name in (output, whole)]
        if None not in counts and counts[0] != counts[1]:
            path = Path(output)
            path = path.with_suffix("") if path.suffix in PACKED else path
            cut = path.with_name(f"{path.stem}.lines{path.suffix}")
            command = shlex.join(["coverage-eval", "segment", output, *by, "-o", str(cut)])
            return (
                ". If sentences of a document were joined, cut or left out, add --unaligned, or "
                f"cut the output first: {command}"
            )
    return ""


@dataclass(frozen=True)
class AlignmentOptions(AlignerSettings):
    """Where links come from: a model, or files of links."""

    src: Text | None = file_setting(
        "Read the source text from this file.", flags=("-s", "--src"), group="Options"
    )

    def check(self) -> None:
        """Raise a usage error for options that do not go together."""
        refuse({
            "give only one of: --model; --ref-links with --links": self.model and self.has_links,
            "--ref-links and --links go together": bool(self.ref_links) != bool(self.links),
            "--src is needed to align the texts": self.model and self.src is None,
        })  # fmt: skip

    def require(self, label: str, needs: Collection[str], purpose: str = "") -> None:
        """Raise a usage error if there are no links, or not those that a metric needs.

        Args:
            label: The metric, for the message.
            needs: What it needs.
            purpose: An option of the training, followed by a space.
        """
        if "coverages" in needs and self.has_links:
            raise click.UsageError(f"{label} needs a model: links have no probabilities")
        if not self.is_given:
            files = "" if "coverages" in needs else "; or --ref-links A with --links B"
            raise click.UsageError(
                f"{label} needs {'' if self.src else '--src, and '}--model M, made by "
                f"'coverage-eval align train SRC TGT {purpose}-o M'{files}"
            )


OF_DROP = {"sink", "symmetrize"}
"""Options that only the command of DROP has."""


def alignment_options(without: Set[str] = frozenset()) -> Callable[[F], Callable[..., Any]]:
    """Add the options; the command receives them as one ``alignment``.

    Args:
        without: Fields without an option.
    """
    return options_as("alignment", AlignmentOptions, without=without, group="Alignment")
