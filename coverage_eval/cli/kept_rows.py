"""Segments with an error and without, in two files, and the gate that they may close."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Any

import click

from coverage_eval.cli import options
from coverage_eval.cli.help import Percentage
from coverage_eval.cli.messages import say
from coverage_eval.cli.output import CLOSED
from coverage_eval.core.batches import Row, Texts
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import zip_lines
from coverage_eval.core.formats import csv_record, is_formula, json_line
from coverage_eval.core.machine import DiskList
from coverage_eval.core.metric import output_file_setting, setting
from coverage_eval.core.report import format_p
from coverage_eval.core.tables import ColumnText, TextTable
from coverage_eval.core.writing import atomic_write
from coverage_eval.coverage.null_scores import judge_flags
from coverage_eval.outputs.named import GUESSES, NamedError, main_error

_MAX_NAMED = 20
"""Segments that a closed gate names."""


@dataclass(frozen=True)
class SegmentGate:
    """What to do with segments that have an error, and with the run if there are many."""

    keep: str | None = output_file_setting(
        "Write the segments without an error to this file, with all columns of the input: TSV or "
        "CSV by its ending, else JSON Lines."
    )
    reject: str | None = output_file_setting(
        "Write the segments with an error to this file, with the reason in a column 'reason'."
    )

    fail_above: float | None = setting(
        None,
        "End with exit status 3 if significantly more segments have an error than if this "
        "percentage of them had one, or if more have one that is no guess; and name them.",
        metavar="PERCENT",
        type=Percentage(0, 100),
    )

    def __post_init__(self) -> None:
        options.refuse({
            "--keep and --reject write files, not standard output":
                "-" in {self.keep, self.reject},
        })  # fmt: skip

    @property
    def is_given(self) -> bool:
        """Whether something was asked for."""
        return self.fail_above is not None or bool(self.keep or self.reject)

    def write(
        self,
        texts: Texts,
        reasons: Sequence[str],
        figures: Mapping[str, Sequence[float | None]],
        everything: str | None = None,
    ) -> None:
        """Write the files.

        Args:
            texts: The texts, of one system.
            reasons: Why each segment has an error; empty for those without.
            figures: Columns to add to the rows, such as scores; a column of the input with such a
                name gets another one.
            everything: A file for all segments, with the reasons.
        """
        with_reasons = {"reason": reasons, **figures}
        counted = (next(iter(texts.systems)), "what was scored")
        files = (
            (self.keep, (False,), figures),
            (self.reject, (True,), with_reasons),
            (everything, (False, True), with_reasons),
        )
        rows = DiskList(_records(texts) if any(file for file, *_ in files) else ())  # read once
        names = dict.fromkeys(chain.from_iterable(rows))
        for file, wanted, columns in files:
            if file is None:
                continue
            free = free_names(names, columns)
            chosen = (
                {name: column[number] for name, column in columns.items()}
                | {free.get(name, name): cell for name, cell in row.items()}
                for row, number in zip_lines(counted, (rows, range(len(reasons))))
                if bool(reasons[number]) in wanted
            )
            if changed := write_records(file, [*columns, *free.values()], chosen):
                say(
                    f"{file}: {changed} cells that a spreadsheet would run as formulas have an "
                    "apostrophe before them; .tsv and .jsonl have every text as it is",
                    "warning",
                )

    def judge(
        self,
        flagged: Sequence[bool],
        named: Mapping[int, Sequence[NamedError]],
        chances: Sequence[float],
        false_alarms: float,
        error: str,
    ) -> None:
        """End the run if too many segments have an error.

        Args:
            flagged: Whether each segment is flagged.
            named: The errors of whole outputs that have a name, by segment from 0.
            chances: The chance of each segment to be flagged by mistake.
            false_alarms: The share of complete translations that are flagged by mistake.
            error: What the flags are of, such as ``omission``.
        """
        if self.fail_above is None:
            return
        bad = [number for number, flag in enumerate(flagged) if flag or number in named]
        certain = {n for n, errors in named.items() if main_error(errors).kind not in GUESSES}
        counted = [
            0.0 if number in certain else chances[number] if flagged[number] else 1.0
            for number in bad
        ]
        complete = math.prod(1 - rate for rate in (false_alarms, *GUESSES.values()))
        test = judge_flags(len(flagged), counted, 1 - complete, self.fail_above / 100)
        kinds = Counter({error: sum(flagged)})
        kinds.update(main_error(errors).kind for errors in named.values())
        listed = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        said = (
            f"{len(bad)} of {len(flagged)} segments have an error{f' ({listed})' if listed else ''}"
            f"; {test.expected:.1f} would be expected if {self.fail_above:g}% had one, with false "
            f"alarms ({format_p(test.p_value)})"
        )
        if test.is_above:
            more = f" and {len(bad) - _MAX_NAMED} more" if len(bad) > _MAX_NAMED else ""
            numbers = ", ".join(str(number + 1) for number in bad[:_MAX_NAMED])
            say(f"{said}: segments {numbers}{more}", "failed")
            click.get_current_context().exit(CLOSED)
        say(said)


def _table_of(texts: Texts) -> tuple[TextTable, str] | None:
    """The table and the column that the only output is; None if it is a file of lines."""
    (output,) = texts.systems.values()
    return (output.table, output.column) if isinstance(output, ColumnText) else None


def rows_file(texts: Texts, output: options.ScoreOutput) -> str | None:
    """The file that gets every row of the output's table with its verdict, if one was asked for.

    It is JSON Lines of --sentence-level, where the output is a column.
    """
    is_jsonl = output.output_format == "jsonl" and output.output != "-"
    wanted = output.sentence_level and output.worst is None and is_jsonl
    return output.output if wanted and _table_of(texts) else None


def _records(texts: Texts) -> Iterable[dict[str, Any]]:
    """Each segment's row, with all columns of the input; plain files make rows of texts."""
    if found := _table_of(texts):
        table, column = found
        return table.records(column)

    def record(number: int, row: Row) -> dict[str, Any]:
        source = {} if row.source is None else {"source": row.source}
        numbered = enumerate(row.references, start=1)
        references = {f"reference{n if n > 1 else ''}": text for n, text in numbered}
        return {"segment": number, **source, "hypothesis": row.hypotheses[0], **references}

    return map(record, count(1), texts.rows())


def free_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names for a user's columns beside columns of ours, so that none hides another.

    >>> free_names(["id", "rep"], ["segment", "rep"])
    {'id': 'id', 'rep': 'input rep'}

    Args:
        names: The user's names.
        taken: Ours.

    Returns:
        The new name of each of the user's columns; most keep their own.
    """
    names, taken = list(names), set(taken)
    free: dict[str, str] = {}
    for name in names:
        new = name
        while new in taken or (new != name and new in {*names, *free.values()}):
            new = f"input {new}"
        free[name] = new
    return free


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
        write = csv_record if ending == ".csv" else partial(_tsv_record, path)
        file.write(f"{write(columns)}\n")
        for record in records:
            row = [record.get(name) for name in columns]
            changed += sum(isinstance(cell, str) and is_formula(cell) for cell in row)
            file.write(f"{write(row)}\n")
    return changed if ending == ".csv" else 0


def plain_value(value: Any) -> Any:
    """A value of a user's table as JSON can have it: NaN as null, a date as text.

    >>> plain_value({"a": [1, float("nan")], 2: b"x"})
    {'a': [1, None], '2': "b'x'"}
    """
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def _tsv_record(path: str, cells: Iterable[object]) -> str:
    texts = ["" if cell is None else str(cell) for cell in cells]
    if any(re.search(r"[\t\n\r]", text) for text in texts):
        raise DataError(
            f"{path}: a text has a tab or a line end, which TSV cannot hold; write .jsonl"
        )
    return "\t".join(texts)
