"""Tables whose rows belong together by an id, and not by their numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coverage_eval.core.errors import DataError, ReadingNote
from coverage_eval.core.tables import TextTable

_IDS = ("id", "segment", "segment_id", "seg_id", "seg", "uid", "key")


class _Ordered(TextTable):
    """The rows of a table in the order of their ids.

    Args:
        table: The table.
        column: The column of the ids.
        ids: All ids, in the order of the rows.
    """

    def __init__(self, table: TextTable, column: str, ids: Sequence[str]) -> None:
        super().__init__(table.path, table.file)
        self._column, self._ids = column, ids

    def rows(
        self, columns: Sequence[str], *, only: bool = True
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row's place, and its cells by name; as :meth:`TextTable.rows`."""
        wanted = [*columns, self._column]
        found = {str(row[1][self._column]): row for row in super().rows(wanted, only=only)}
        return (found[name] for name in self._ids)


def join_by_id(tables: Sequence[TextTable]) -> Mapping[TextTable, TextTable]:
    """The same tables in the order of the first, if a column of ids says that theirs differs.

    Args:
        tables: Tables whose rows belong together.

    Raises:
        DataError: A table has the ids of another and more; the message names them.

    Warns:
        ReadingNote: The rows were joined.
    """
    same = {table: table for table in tables}
    if len({str(table.path) for table in tables}) < 2 or "-" in {str(t.path) for t in tables}:
        return same
    names = [table.names() for table in tables]
    column = next((name for name in _IDS if all(name in several for several in names)), None)
    if column is None:
        return same
    first, *others = ([str(row.get(column)) for _, row in table.rows([column])] for table in tables)
    if any(len(set(ids)) < len(ids) for ids in (first, *others)):
        return same  # they name something else
    for table, ids in zip(tables[1:], others, strict=True):
        both = set(first) & set(ids)
        extra = [name for name in (*first, *ids) if name not in both]
        if extra and len(extra) == abs(len(first) - len(ids)):
            one, other = (tables[0], table) if len(first) > len(ids) else (table, tables[0])
            listed = ", ".join(extra[:5]) + (" …" if len(extra) > 5 else "")
            raise DataError(
                f"{one.name} has rows whose {column!r} {other.name} lacks: {listed}; remove them, "
                "or add theirs with an empty text"
            )
        if not extra and ids != first:
            same[table] = _Ordered(table, column, first)
            note = f"{table.name}: rows are in the order of {tables[0].name}, joined by {column!r}"
            warnings.warn(note, ReadingNote, stacklevel=2)
    return same
