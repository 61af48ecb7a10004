"""Texts from elsewhere than files of their own: columns of a table, and sacreBLEU's test sets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, TypeVar

import click

from coverage_eval.cli.options import add_options, listed_options
from coverage_eval.cli.overwriting import NoFile
from coverage_eval.data.files import STDIN, Column, find_test_set
from coverage_eval.data.tables import ColumnFile, SystemTexts

F = TypeVar("F", bound=Callable[..., Any])

_SIDES = ("hyp", "systems", "src", "tgt", "ref")
"""The names of parameters that are texts."""


@dataclass(frozen=True)
class CorpusOptions:
    """Where texts are, other than in files of their own, as the command line names it.

    Attributes:
        table: A file of columns.
        src_col: The column of the source.
        tgt_col: That of the target side of a training text.
        hyp_col: Those of hypotheses.
        ref_col: Those of references.
        system_col: The column that names systems, where a row is of one system.
        segment_col: The column that then tells segments apart.
        system: The systems to take.
        ref_system: The systems that are references.
        quoted: Whether the fields of a TSV file are quoted.
        no_header: Whether columns have numbers in the place of names.
        test_set: A test set of sacreBLEU.
        languages: Its languages.
    """

    table: str | None = None
    src_col: str | None = None
    tgt_col: str | None = None
    hyp_col: tuple[str, ...] = ()
    ref_col: tuple[str, ...] = ()
    system_col: str | None = None
    segment_col: str | None = None
    system: tuple[str, ...] = ()
    ref_system: tuple[str, ...] = ()
    quoted: bool = False
    no_header: bool = False
    test_set: str | None = None
    languages: str | None = None

    def check(self) -> None:
        """Refuse options that lack another one, before any file is read.

        Raises:
            click.UsageError: The first thing that is wrong.
        """
        of_tables = {
            item.name
            for item in fields(self)
            if item.name not in {"table", "test_set", "languages"} and getattr(self, item.name)
        }
        if of_tables and self.table is None:
            raise click.UsageError(f"{listed_options(of_tables)} goes with --from")
        if (self.test_set is None) != (self.languages is None):
            raise click.UsageError("--test-set and --langpair go together")
        if self.segment_col and not self.system_col:
            raise click.UsageError("--segment-col goes with --system-col")
        if self.system_col and len(self.hyp_col) != 1:
            raise click.UsageError("--system-col goes with one --hyp-col")

    def texts(self) -> dict[str, Any]:
        """The texts by the parameters that they stand for; the hypotheses by system.

        Raises:
            click.UsageError: No columns are named, or no such system or test set is known.
            DataError: The file cannot be read.
            MissingDependencyError: A test set that is not here, or Parquet without its package.
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
            raise click.UsageError(f"--from needs the names of columns; {self._there_are()}")
        for side in found.keys() & columns.keys():
            raise click.UsageError(f"the {side} is in --test-set and in --from: give one of them")
        return found | columns

    @property
    def _file(self) -> ColumnFile:
        return ColumnFile(str(self.table), self.quoted, not self.no_header)

    def _is_mqm(self) -> bool:
        """Whether the table is a file of WMT's, whose columns need no naming."""
        if self.table == STDIN or self.src_col or self.tgt_col or self.hyp_col or self.ref_col:
            return False
        from coverage_eval.testbed.labels import has_mqm_columns

        return has_mqm_columns(self._file.names())

    def _is_by_system(self) -> bool:
        if self.system_col is None and not self._is_mqm():
            if self.system or self.ref_system:
                given = listed_options({"system": self.system, "ref_system": self.ref_system})
                raise click.UsageError(f"{given} goes with --system-col")
            return False
        return True

    def _of_columns(self) -> dict[str, Any]:
        """Texts that are columns."""
        file = self._file
        found: dict[str, Any] = {
            side: Column(file, name)
            for side, name in {"src": self.src_col, "tgt": self.tgt_col}.items()
            if name is not None
        }
        if self.ref_col:
            found["ref"] = tuple(Column(file, name) for name in self.ref_col)
        if self.hyp_col:
            found["systems"] = {name: Column(file, name) for name in self.hyp_col}
        return found

    def _of_systems(self) -> dict[str, Any]:
        """Texts of systems that a column names."""
        shared = {} if self.src_col is None else {"src": self.src_col}
        if self.system_col is None:
            from coverage_eval.testbed.labels import read_translations

            texts, shared = read_translations(str(self.table)), {"src": "source"}
        else:
            texts = SystemTexts.read(
                self._file, self.system_col, self.hyp_col[0],
                [*shared.values(), *self.ref_col], self.segment_col,
            )  # fmt: skip
        chosen = self.system or [name for name in texts.systems if name not in self.ref_system]
        by_system, columns = texts.columns([*chosen, *self.ref_system])
        found: dict[str, Any] = {side: columns[name] for side, name in shared.items()}
        references = [columns[name] for name in self.ref_col]
        references += [by_system[name] for name in self.ref_system]
        if references:
            found["ref"] = tuple(references)
        return found | {"systems": {name: by_system[name] for name in chosen}}

    def _there_are(self) -> str:
        if self.table == STDIN:
            return "--hyp-col, --ref-col, --src-col"
        return f"{self.table} has: {', '.join(self._file.names())}"


_TABLE = click.option(
    "--from", "table", metavar="FILE",
    help="Read texts from columns of this file: TSV, CSV, JSON Lines or Parquet, a row a segment; "
    "of WMT's MQM files they need no names.",
)  # fmt: skip
_COLUMNS = {
    "src": click.option(
        "--src-col", metavar="NAME", type=NoFile(), help="Take this column as the source."
    ),
    "tgt": click.option(
        "--tgt-col", metavar="NAME", type=NoFile(), help="Take this column as the target side."
    ),
    "hyp": click.option(
        "--hyp-col", metavar="NAME", type=NoFile(), multiple=True,
        help="Take this column as HYP.",
    ),
    "systems": click.option(
        "--hyp-col", metavar="NAME", type=NoFile(), multiple=True,
        help="Take this column as a system's output; give it once for each system.",
    ),
    "ref": click.option(
        "--ref-col", metavar="NAME", type=NoFile(), multiple=True,
        help="Take this column as the reference; give it once for each of several references.",
    ),
}  # fmt: skip
_SYSTEMS = (
    click.option(
        "--system-col", metavar="NAME", type=NoFile(),
        help="Take a row as one segment of the system that this column names.",
    ),
    click.option(
        "--segment-col", metavar="NAME", type=NoFile(),
        help="Tell the segments of systems apart by this column.  [default: by their order]",
    ),
    click.option(
        "--system", metavar="NAME", type=NoFile(), multiple=True,
        help="Take this system; give it once for each.  [default: all]",
    ),
    click.option(
        "--ref-system", metavar="NAME", type=NoFile(), multiple=True,
        help="Take what this system says as the reference; give it once for each of several.",
    ),
)  # fmt: skip
_FORM = (
    click.option(
        "--quoted", is_flag=True,
        help="Take the fields of a TSV file to be quoted, as spreadsheets and pandas write them.",
    ),
    click.option(
        "--no-header", is_flag=True, help="Name the columns of a TSV or CSV file 1, 2, 3 and so on."
    ),
)  # fmt: skip
_TEST_SETS = (
    click.option(
        "-t", "--test-set", metavar="NAME", type=NoFile(),
        help="Take source and reference from this test set of sacreBLEU, which must be here.",
    ),
    click.option(
        "-l", "--langpair", "languages", metavar="PAIR", type=NoFile(),
        help="Take these languages of it, such as de-en.",
    ),
)  # fmt: skip


def corpus_options(command: F) -> Callable[..., Any]:
    """Let a command's texts be columns of a table, or a test set of sacreBLEU.

    The texts are the parameters ``hyp``, ``systems``, ``src``, ``tgt`` and ``ref``, as far as the
    command has them: whichever of them the command line does not name as files, the command
    receives from here. It goes above all options that make or take these parameters.
    """
    own: list[click.Parameter] = command.__click_params__  # type: ignore[attr-defined]
    sides = {str(item.name): item for item in reversed(own) if item.name in _SIDES}
    needed = [item for item in sides.values() if item.required]
    for item in needed:
        item.required = False
    names = [item.name for item in fields(CorpusOptions)]

    @wraps(command)
    def with_corpus(**values: Any) -> Any:
        options = CorpusOptions(**{n: values.pop(n) for n in names if n in values})
        options.check()
        for side, text in _fitting(options.texts(), sides).items():
            if values[side]:
                raise click.UsageError(f"{_shown(sides[side])} is given as a file, too")
            values[side] = text
        for item in needed:
            if not values[str(item.name)]:
                raise click.MissingParameter(param_hint=f"'{_shown(item)}'", param=item)
        return command(**values)

    options = [_TABLE, *(_COLUMNS[side] for side in sides)]
    options += [*(_SYSTEMS if "hyp" in sides or "systems" in sides else ()), *_FORM]
    options += _TEST_SETS if "ref" in sides else ()
    return add_options(with_corpus, options)


def _fitting(texts: Mapping[str, Any], sides: Mapping[str, click.Parameter]) -> dict[str, Any]:
    """The texts that a command has a use for; one hypothesis where it takes one."""
    found = dict(texts)
    if "hyp" in sides and "systems" in found:
        systems = found["systems"]
        if len(systems) > 1:
            raise click.UsageError(
                f"one output is scored, and there are {', '.join(systems)}: name one --hyp-col, or "
                "one --system"
            )
        (found["hyp"],) = systems.values()
    return {side: found[side] for side in sides if side in found}


def _shown(parameter: click.Parameter) -> str:
    """How the command line names a text's file."""
    is_argument = isinstance(parameter, click.Argument)
    return parameter.human_readable_name if is_argument else parameter.opts[0]
