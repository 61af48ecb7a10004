"""The rows of the user's texts, which some files have beside our columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from coverage_eval.core.batches import Texts
from coverage_eval.core.tables import ColumnText


def input_rows(texts: Texts) -> Iterator[dict[str, Any]]:
    """Each segment's row in the table of the only output; of a file of lines, the texts by name."""
    (output,) = texts.systems.values()
    if isinstance(output, ColumnText):
        yield from output.table.rows
        return
    for row in texts.rows():
        texts_of_row: dict[str, Any] = {} if row.source is None else {"source": row.source}
        texts_of_row["hypothesis"] = row.hypotheses[0]
        for number, reference in enumerate(row.references, start=1):
            texts_of_row["reference" if number == 1 else f"reference{number}"] = reference
        yield texts_of_row


def free_names(names: Iterable[str], ours: Iterable[str]) -> dict[str, str]:
    """Names for a user's columns beside columns of ours, so that none hides another.

    >>> free_names(["id", "rep"], ["segment", "rep"])
    {'id': 'id', 'rep': 'input rep'}

    Args:
        names: The user's names.
        ours: The names of our columns.

    Returns:
        The new name of each of the user's columns; most keep their own.
    """
    names, ours = list(names), set(ours)
    free: dict[str, str] = {}
    for name in names:
        new = name
        while new in ours or (new != name and new in {*names, *free.values()}):
            new = f"input {new}"
        free[name] = new
    return free


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
