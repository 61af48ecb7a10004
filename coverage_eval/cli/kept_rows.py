"""Segments with an error and without, in a file each, with all columns of the input."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from coverage_eval.cli.click_options import option, option_group
from coverage_eval.cli.input_rows import free_names, input_rows, plain_value
from coverage_eval.cli.messages import say
from coverage_eval.cli.parameters import OutputFile
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError
from coverage_eval.core.formats import csv_record, is_formula, json_line
from coverage_eval.core.lists import DiskList
from coverage_eval.core.tables import ColumnText
from coverage_eval.core.writing import write_together
from coverage_eval.outputs.output_errors import OutputError, is_certain

_NO_STDOUT = "--keep and --reject write files, not standard output"

kept_options = option_group(
    option(
        "--keep", metavar="FILE", type=OutputFile(_NO_STDOUT), group="Output",
        help="Write the segments without an error to this file, with all columns of the input: TSV "
        "or CSV by its ending, else JSON Lines. An output that is empty, untranslated or the like "
        "has an error.",
    ),
    option(
        "--reject", metavar="FILE", type=OutputFile(_NO_STDOUT), group="Output",
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
    (output,) = texts.systems.values()
    if not isinstance(output, ColumnText):
        figures = {**figures, "segment": range(1, len(reasons) + 1)}
    rows = DiskList(input_rows(texts))  # read once
    files: dict[str, Iterable[str]] = {}
    if keep is not None:
        good = [index for index, reason in enumerate(reasons) if not reason]
        files[keep] = _lines(keep, rows, figures, good)
    if reject is not None:
        bad = [index for index, reason in enumerate(reasons) if reason]
        files[reject] = _lines(reject, rows, {"reason": reasons, **figures}, bad)
    write_together(files)


def _lines(
    path: str,
    rows: Sequence[Mapping[str, Any]],
    columns: Mapping[str, Sequence[Any]],
    wanted: Iterable[int],
) -> Iterator[str]:
    """The lines of a file with some rows of the input.

    Args:
        path: The file.
        rows: The rows of the input.
        columns: Columns to add.
        wanted: The indices of the rows to write.
    """
    free = free_names(dict.fromkeys(chain.from_iterable(rows)), columns)
    records = (
        {title: column[index] for title, column in columns.items()}
        | {free.get(title, title): cell for title, cell in rows[index].items()}
        for index in wanted
    )
    return record_lines(path, [*columns, *free.values()], records)


def record_lines(
    path: str, columns: Sequence[str], records: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Rows as JSON Lines, or as TSV or CSV if a file's name ends so.

    In CSV, cells that a spreadsheet would run as formulas
    (:func:`~coverage_eval.core.formats.is_formula`) have an apostrophe before them, and a warning
    says how many there are.

    Args:
        path: The file.
        columns: Names of the columns of TSV and CSV, in this order whatever that of a row is.
            Rows may lack some, and have no others.
        records: The rows.

    Raises:
        DataError: A cell of TSV has a tab or a line end.
    """
    ending, formulas = Path(path).suffix.lower(), 0
    if ending not in {".csv", ".tsv"}:
        yield from (json_line(plain_value(record)) for record in records)
        return
    write = csv_record if ending == ".csv" else partial(_tsv_record, path)
    yield write(columns)
    for record in records:
        row = [record.get(name) for name in columns]
        if ending == ".csv":
            formulas += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
        yield write(row)
    if formulas:
        say(
            f"{path}: {formulas} cells that a spreadsheet would run as formulas have an "
            "apostrophe before them; .tsv and .jsonl have every text as it is",
            "warning",
        )


def _tsv_record(path: str, cells: Iterable[object]) -> str:
    texts = ["" if cell is None else str(cell) for cell in cells]
    if any(re.search(r"[\t\n\r]", text) for text in texts):
        raise DataError(
            f"{path}: a text has a tab or a line end, which TSV cannot hold; write .jsonl"
        )
    return "\t".join(texts)
