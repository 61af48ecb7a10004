"""Options that name a command's texts: files, columns of tables, systems of a table, test sets."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from coverage_eval.cli.help import option
from coverage_eval.cli.options import (
    add_options,
    given_options,
    listed_options,
    options_as,
    parse_named_files,
)
from coverage_eval.cli.unaligned import UNALIGNED_OPTIONS, document_settings, how_to_segment
from coverage_eval.data.files import (
    STDIN,
    Column,
    check_columns,
    check_readable_again,
    find_test_set,
    read_segments,
)
from coverage_eval.data.input_checks import is_reference_name
from coverage_eval.data.tables import ColumnFile, SystemTexts
from coverage_eval.errors import DataError, UnequalLinesError
from coverage_eval.metrics.registry import metric_class
from coverage_eval.settings import name_setting, names_setting, setting

F = TypeVar("F", bound=Callable[..., Any])


class _Side(NamedTuple):
    """A text that a command reads: a file by position or by option, or a column of a table.

    Attributes:
        column: The field of :class:`TextOptions` that names its column.
        shown: Its name in the usage line.
        flags: The option for its file.
        help: The option's help.
    """

    column: str
    shown: str
    flags: tuple[str, ...]
    help: str


_SIDES = {
    "hyp": _Side(
        "hyp_col", "HYP", ("-i", "--hyp"), "Read HYP from this file."
    ),
    "systems": _Side(
        "hyp_col", "[NAME=]FILE...", ("-i", "--hyp"), "Read a system's output from this file.",
    ),
    "src": _Side("src_col", "SRC", ("-s", "--src"), "Read the source text from this file."),
    "tgt": _Side("tgt_col", "TGT", ("--tgt",), "Read the target text from this file."),
    "ref": _Side(
        "ref_col", "REF", ("-r", "--ref"),
        "Read the reference from this file; give it once for each of several references.",
    ),
}  # fmt: skip
"""Texts by the parameters that receive them."""

KEYS = "coverage-eval.keys"
"""The context's entry for columns that are carried into tables of segments."""


@dataclass(frozen=True)
class TextOptions:
    """Where texts are that have no separate files."""

    table: str | None = setting(
        None,
        "Read texts from columns of this file: TSV, CSV, JSON Lines, Parquet or Excel with one "
        "segment per row.",
        flag="--from",
        metavar="FILE",
        group="Options",
    )
    src_col: str | None = name_setting("Read the source from this column.")
    tgt_col: str | None = name_setting("Read the target text from this column.")
    hyp_col: tuple[str, ...] = names_setting("{hypothesis}")
    peer_col: tuple[str, ...] = names_setting(
        "Expect HYP to cover what this column covers, as --peer does; a list of candidates in JSON "
        "is several peers, as many as the first row has."
    )
    ref_col: tuple[str, ...] = names_setting(
        "Read the reference from this column; give it once for each of several references."
    )
    system_col: str | None = name_setting(
        "Each row is a segment of one system, and this column names the system."
    )
    segment_col: str | None = name_setting(
        "This column identifies each segment of a system.  [default: the order of the rows]",
        goes_with=("system_col",),
    )
    system: tuple[str, ...] = names_setting(
        "Read this system; give it once for each system.  [default: all]"
    )
    ref_system: tuple[str, ...] = names_setting(
        "Use this system's output as the reference; give it once for each of several references."
    )
    key_col: tuple[str, ...] = names_setting(
        "Copy this column, such as an identifier, into --sentence-level; give it once for each "
        "column.",
        goes_with=("sentence_level", "show"),
    )
    quoted: bool | None = setting(
        None,
        "Whether fields of a TSV file are quoted, as spreadsheets and pandas write them.  "
        "[default: detected]",
        flag="--quoted/--unquoted",
    )
    no_header: bool = setting(
        False, "The TSV or CSV file has no header: its columns are named 1, 2, 3 and so on."
    )
    test_set: str | None = name_setting(
        "Read source and reference from this test set of sacreBLEU, such as wmt23; it is "
        "downloaded once.",
        flags=("-t", "--test-set"),
    )
    languages: str | None = name_setting(
        "Languages of the test set, such as de-en.", flags=("-l", "--langpair"), metavar="PAIR"
    )

    def check(self) -> None:
        """Refuse options that lack another one, before any file is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        own = {item.name for item in fields(self)} - {"table", "test_set", "languages"}
        if self.table is None and (of_tables := own & given_options()):
            raise click.UsageError(f"{listed_options(of_tables)} goes with --from")
        if (self.test_set is None) != (self.languages is None):
            raise click.UsageError("--test-set and --langpair go together")
        if self.system_col and len(self.hyp_col) != 1:
            raise click.UsageError("--system-col goes with one --hyp-col")

    def texts(self) -> dict[str, Any]:
        """The texts by the parameters that receive them; hypotheses by system.

        Raises:
            click.UsageError: No columns are named, or there is no such system or test set.
            DataError: The file cannot be read.
            MissingDependencyError: The test set is not here, or Parquet lacks its package.
        """
        found: dict[str, Any] = {}
        if self.test_set is not None:
            try:
                files = find_test_set(self.test_set, str(self.languages))
            except ValueError as error:
                raise click.UsageError(str(error)) from None
            found |= {"src": files.source, "ref": files.references}
        if self.table is None:
            return found
        columns = self._of_systems() if self._is_by_system() else self._of_columns()
        if not columns:
            there = ""
            if self.table != STDIN:
                there = f"; {self.table} has: {', '.join(self._file.names())}"
            raise click.UsageError(
                f"--from needs the names of columns: --src-col, --ref-col, --hyp-col{there}"
            )
        for side in found.keys() & columns.keys():
            raise click.UsageError(f"the {side} is in --test-set and in --from: give one of them")
        return found | columns

    def keys(self) -> dict[str, list[Any]]:
        """The columns that are carried into tables of segments, by name.

        Raises:
            click.UsageError: The rows of the table are not segments.
            DataError: The table cannot be read again, or lacks a column.
        """
        if not self.key_col:
            return {}
        if self._is_by_system():
            _, shared = self._by_system
            return {name: list(read_segments(shared[name])) for name in self.key_col}
        check_readable_again(Column(self._file, self.key_col[0]))
        check_columns(f"{self.table}: line 1", self._file.names(), self.key_col)
        found: dict[str, list[Any]] = {name: [] for name in self.key_col}
        for number, record in enumerate(self._file.records(self.key_col), start=1):
            for name, values in found.items():
                value = record.get(name)
                if isinstance(value, float) and math.isnan(value):
                    value = None  # pandas writes a missing value as NaN
                try:
                    json.dumps(value, allow_nan=False)
                except ValueError as error:
                    where = f"{self.table}: row {number}, column {name!r}"
                    raise DataError(f"{where}: no key for a table: {error}") from error
                values.append(value)
        return found

    @property
    def _file(self) -> ColumnFile:
        return ColumnFile(str(self.table), self.quoted, not self.no_header)

    def _is_by_system(self) -> bool:
        """Whether each row is of one system, as --system-col says."""
        if self.system_col is not None:
            return True
        if given := given_options() & {"system", "ref_system"}:
            raise click.UsageError(f"{listed_options(given)} goes with --system-col")
        return False

    def _of_columns(self) -> dict[str, Any]:
        """Texts that are columns."""
        file = self._file
        named = {
            "src": None if self.src_col is None else Column(file, self.src_col),
            "tgt": None if self.tgt_col is None else Column(file, self.tgt_col),
            "ref": tuple(Column(file, name) for name in self.ref_col),
            "peers": tuple(Column(file, name) for name in self._peer_columns()),
            "systems": {name: Column(file, name) for name in self.hyp_col},
        }
        return {side: text for side, text in named.items() if text}

    def _peer_columns(self) -> list[str]:
        """The columns of peers; each item of a list is one, except the output itself."""
        if not self.peer_col:
            return []
        there = self._file.names()
        found = []
        for name in self.peer_col:
            items = [path for path in there if re.fullmatch(rf"{re.escape(name)}\.\d+", path)]
            found += [path for path in items or [name] if path not in self.hyp_col]
        return found

    def _of_systems(self) -> dict[str, Any]:
        """Texts of systems that a column names."""
        by_system, columns = self._by_system
        references = [columns[name] for name in self.ref_col]
        references += [by_system[name] for name in self.ref_system]
        systems = self.system or [name for name in by_system if name not in self.ref_system]
        return {
            **({} if self.src_col is None else {"src": columns[self.src_col]}),
            **({"ref": tuple(references)} if references else {}),
            "systems": {name: by_system[name] for name in systems},
        }

    @cached_property
    def _by_system(self) -> tuple[dict[str, Column], dict[str, Column]]:
        """Columns by system, and by name the columns that all systems share, keys among them."""
        assert self.system_col is not None
        own = [] if self.src_col is None else [self.src_col]
        shared = dict.fromkeys([*own, *self.ref_col, *self.key_col])
        texts = SystemTexts.read(
            self._file,
            self.system_col,
            self.hyp_col[0],
            list(shared),
            self.segment_col,
            [*own, *self.ref_col],
        )
        chosen = self.system or [name for name in texts.systems if name not in self.ref_system]
        return texts.columns([*chosen, *self.ref_system])


def corpus_options(
    *positional: str, options: Sequence[str] = (), needed: Sequence[str] | None = None
) -> Callable[[F], Callable[..., Any]]:
    """Add a command's texts: files by position or by option, columns of a table, or a test set.

    The command receives those of ``hyp``, ``systems``, ``src``, ``tgt`` and ``ref`` that it has,
    wherever they come from, and ``documents`` if it has references: how outputs of other lines are
    cut, or None. Put this above all options that make or read these parameters.

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
        def with_texts(files: Any, columns: TextOptions, **values: Any) -> Any:
            columns.check()
            click.get_current_context().meta[KEYS] = columns.keys()
            _find_texts(values, files, columns, sides)
            _place(files, positional, values)
            for alternatives in positional if needed is None else needed:
                first, *others = alternatives.split("|")
                given = any(values[side] for side in (first, *others))
                if not given and not (others and _need_nothing(values.get("metrics"))):
                    raise _missing(first, positional, values, list(files))
            if cuts:
                values["documents"] = document_settings(values)
            try:
                return command(**values)
            except UnequalLinesError as error:
                hint = how_to_segment(error, values) if cuts and not values["documents"] else ""
                raise DataError(f"{error}{hint}") from error

        unfit = {item.column for item in _SIDES.values()} - {_SIDES[side].column for side in sides}
        if "hyp_col" in unfit:
            unfit |= {"system_col", "segment_col", "system"}
        if "ref" not in sides:
            unfit |= {"test_set", "languages", "ref_system"}
        for parameter, column in (("sentence_level", "key_col"), ("peers", "peer_col")):
            unfit |= set() if parameter in own else {column}
        help_text = "Read HYP from this column."
        if "systems" in sides:
            help_text = "Read a system's output from this column; give it once for each system."
        named = parse_named_files if "systems" in positional else None
        shown = " ".join(_SIDES[side].shown for side in positional)
        add_texts = options_as(
            "columns",
            TextOptions,
            click.argument("files", nargs=-1, metavar=shown, callback=named),
            *(_text_option(side) for side in sides if side not in own),
            without=unfit,
            group="Input",
            hypothesis=help_text,
        )
        return add_texts(add_options(with_texts, UNALIGNED_OPTIONS if cuts else ()))

    return add


def _find_texts(
    values: dict[str, Any], files: Any, columns: TextOptions, sides: Sequence[str]
) -> None:
    """Put the texts of tables, folders and test sets among a command's values.

    Raises:
        click.UsageError: A text is there twice, or several outputs where one is scored.
        DataError, MissingDependencyError: As :meth:`TextOptions.texts`.
    """
    if "hyp" in sides:
        values["hyp"] = _only_one(values["hyp"], "'compare' takes several")
    _refuse_tables([files, *(values[side] for side in sides)])
    found = columns.texts()
    if "peers" in found:
        values["peers"] = (*values["peers"], *found["peers"])
    if "hyp" in sides and "systems" in found:
        chosen = _only_one(found["systems"], "name one --hyp-col, or one --system")
        found["hyp"] = found["systems"][chosen]
    for side in [side for side in sides if side in found]:
        if values[side]:
            raise click.UsageError(f"{_SIDES[side].flags[-1]} is given as a file, too")
        values[side] = found[side]


def _text_option(name: str) -> Callable[[Any], Any]:
    side = _SIDES[name]
    several: dict[str, Any] = {"multiple": name in {"hyp", "systems", "ref"}, "metavar": "FILE"}
    if name == "systems":
        several |= {"callback": parse_named_files, "metavar": "[NAME=]FILE"}
    return option(*side.flags, name, help=side.help, **several)


def _only_one(outputs: Any, advice: str) -> Any:
    """The only one of some outputs, None if there is none; a usage error if there are several."""
    if len(outputs) > 1:
        raise click.UsageError(
            f"one output is scored, but there are {', '.join(outputs)}: {advice}"
        )
    return next(iter(outputs), None)


_TABLES = (".csv", ".jsonl", ".ndjson", ".parquet", ".tsv", ".xlsx")
"""Endings of tables."""


def _refuse_tables(named: Sequence[Any]) -> None:
    """Refuse tables, whose names and quotes would be scored as words."""
    for files in named:
        items = files.values() if isinstance(files, Mapping) else files
        for file in [files] if isinstance(files, str) else items or ():
            if str(file).lower().endswith(_TABLES):
                raise click.UsageError(
                    f"{file} is a table, not a text; read its columns with --from {file} and "
                    "--src-col, --hyp-col or --ref-col NAME"
                )


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
