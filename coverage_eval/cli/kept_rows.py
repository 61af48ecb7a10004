"""Segments with an error and without, in a file each, with all columns of the input."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli.click_options import option, option_group
from coverage_eval.cli.input_rows import free_names, input_rows, is_column, plain_value
from coverage_eval.cli.messages import say
from coverage_eval.cli.parameters import OutputFile
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import zip_lines
from coverage_eval.core.formats import csv_record, is_formula, json_line
from coverage_eval.core.lists import DiskList
from coverage_eval.core.writing import atomic_write
from coverage_eval.outputs.output_errors import OutputError, is_certain

_NO_STDOUT = "--keep and --reject write files, not standard output"

_OTHERS = {".xlsx", ".xls", ".ods", ".parquet", ".html", ".md", ".tmx", ".xlf", ".xliff", ".xml"}
"""Endings of files that are not written here; a table under such a name would be no such file."""


class _RowsFile(OutputFile):
    """The name of a file of rows."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, or a usage error."""
        name = super().convert(value, param, ctx)
        if (ending := Path(name).suffix.lower()) in _OTHERS:
            self.fail(
                f"{name}: {ending} is not written; end it in .csv, .tsv or .jsonl", param, ctx
            )
        return name


kept_options = option_group(
    option(
        "--keep", metavar="FILE", type=_RowsFile(_NO_STDOUT), group="Output",
        help="Write the segments without an error to this file, with all columns of the input: TSV "
        "or CSV by its ending, else JSON Lines. An output that is empty, untranslated or the like "
        "has an error.",
    ),
    option(
        "--reject", metavar="FILE", type=_RowsFile(_NO_STDOUT), group="Output",
        help="Write the segments with an error to this file, with the reason in a column 'reason'.",
    ),
)  # fmt: skip


def error_reasons(
    name: str, scores: Sequence[float | None], errors: Mapping[int, Sequence[OutputError]]
) -> list[str]:
    """Why each segment has an error; empty for segments without.

    A segment has an error if its score, which counts errors, is not 0, or if its output as a whole
    has an error that is no guess.

    Args:
        name: What the score is called.
        scores: The scores of the segments; None where one is undefined.
        errors: The errors of whole outputs, by the index of the segment.
    """
    reasons = []
    for index, score in enumerate(scores):
        found = errors.get(index, ())
        of_output = [*map(str, found)] if is_certain(found) else []
        reasons.append("; ".join([f"{name}: {score:g}", *of_output] if score else of_output))
    return reasons


def write_kept(
    texts: Texts,
    reasons: Sequence[str],
    figures: Mapping[str, Sequence[float | None]],
    *,
    keep: str | None,
    reject: str | None,
) -> None:
    """Write files of segments.

    Args:
        texts: The texts, of one system.
        reasons: Why each segment has an error; empty for those without.
        figures: Columns to add to the rows, such as scores; a column of the input with such a
            name gets another name.
        keep: The file for segments without an error; None for no such file.
        reject: The file for segments with an error, and with the reasons.
    """
    if not is_column(texts):
        figures = {**figures, "segment": range(1, len(reasons) + 1)}
    rows = DiskList(input_rows(texts))  # read once
    has_error = [bool(reason) for reason in reasons]
    (name,) = texts.systems
    if keep is not None:
        _write_rows(keep, name, rows, figures, [not error for error in has_error])
    if reject is not None:
        _write_rows(reject, name, rows, {"reason": reasons, **figures}, has_error)


def _write_rows(
    path: str,
    name: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Sequence[Any]],
    wanted: Sequence[bool],
) -> None:
    """Write some rows of the input to a file.

    Args:
        path: The file.
        name: The name of the input.
        rows: Its rows.
        columns: Columns to add.
        wanted: Whether to write each row.
    """
    free = free_names(dict.fromkeys(chain.from_iterable(rows)), columns)

    def chosen() -> Iterator[dict[str, Any]]:
        numbered = zip_lines((name, "what was scored"), (rows, range(len(wanted))))
        for row, number in numbered:
            if wanted[number]:
                added = {title: column[number] for title, column in columns.items()}
                yield added | {free.get(title, title): cell for title, cell in row.items()}

    if changed := write_records(path, [*columns, *free.values()], chosen()):
        say(
            f"{path}: {changed} cells that a spreadsheet would run as formulas have an "
            "apostrophe before them; .tsv and .jsonl have every text as it is",
            "warning",
        )


def write_records(path: str, columns: Sequence[str], records: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON Lines, or as TSV or CSV if the file's name ends so.

    Args:
        path: The file.
        columns: Names of the columns of TSV and CSV, in this order whatever that of a row is.
            Rows may lack some, and have no others.
        records: The rows.

    Returns:
        How many cells have an apostrophe before them in CSV, because a spreadsheet would run them
        as formulas (:func:`~coverage_eval.core.formats.is_formula`).

    Raises:
        DataError: The file cannot be written; a cell of TSV has a tab or a line end.
    """
    ending, changed = Path(path).suffix.lower(), 0
    with atomic_write(path) as file:
        if ending not in {".csv", ".tsv"}:
            for record in records:
                file.write(f"{json_line(plain_value(record))}\n")
            return 0
        if ending == ".tsv":
            file.write(f"{_tsv_record(columns, path)}\n")
            for record in records:
                file.write(f"{_tsv_record(map(record.get, columns), path)}\n")
            return 0
        file.write(f"{csv_record(columns)}\n")
        for record in records:
            row = [record.get(name) for name in columns]
            changed += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
            file.write(f"{csv_record(row)}\n")
    return changed


def _tsv_record(cells: Iterable[object], path: str) -> str:
    texts = ["" if cell is None else str(cell) for cell in cells]
    if any(re.search(r"[\t\n\r]", text) for text in texts):
        raise DataError(
            f"{path}: a text has a tab or a line end, which TSV cannot hold; write .jsonl"
        )
    return "\t".join(texts)
