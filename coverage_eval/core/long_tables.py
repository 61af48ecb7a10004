"""Tables with a row for each segment and system, such as WMT's, taken apart.

The names of systems stand in the column ``system``, short texts that repeat. Segments are told by
``segment``, ``seg_id`` or the like, with ``doc`` if there is one; without such a column, the rows
of each system are in the same order. Rows that repeat a segment of a system, one for each rater or
error as in MQM, count once.
"""

from __future__ import annotations

import re
import shlex
import warnings
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.tables import ColumnText, TextTable, column_for

SYSTEM = "system"

_SYSTEM_NAME = re.compile(r"\S+( \S+){,3}")
"""The name of a system: no more than four words, whereas a prompt is a sentence."""

_SEGMENTS = ("segment", "segment_id", "seg_id", "seg", "docsegid", "globalsegid")
_IDS = ("id", "uid", "key", "line", "sentence_id", "sid", "index")
"""Columns that name segments if each system has a value once, and several systems have it."""

_DOCUMENTS = ("doc", "doc_id", "docid", "document", "document_id")

_MAY_NAME_SYSTEMS = re.compile("sys|model|engine|provider|translator", re.IGNORECASE)
"""What columns of systems are called elsewhere."""

_ERROR_MARKS = re.compile("</?v>")
"""What MQM's annotators put around an error, which differs from rater to rater."""


class LongTable:
    """A table with a row for each segment and system.

    Args:
        table: The table.
        column: The column of the systems' names.

    Attributes:
        names: The systems, in the order of their first rows.
        segments: What names each segment that all systems have, in the order of the rows.
        shared: The first row of each segment, for its source and reference.
        rows: All rows as they are, those of a segment of one system once.
    """

    def __init__(self, table: TextTable, column: str) -> None:
        self.table, self.column = table, column
        names = table.names()
        self.has_marks = "severity" in names
        self.keys = [name for name in names if name.lower() in (*_SEGMENTS, *_DOCUMENTS)]
        if not any(name.lower() in _SEGMENTS for name in self.keys):
            self.keys = []
            for name in names:
                if name.lower() in _IDS:
                    rows = table.rows([column], only=False)
                    named = [(str(row[column]), str(row.get(name))) for _, row in rows]
                    is_once = self.has_marks or len({*named}) == len(named)
                    if is_once and len({value for _, value in named}) < len(named):
                        self.keys.append(name)
        systems_of: dict[Hashable, set[str]] = {}
        systems: Counter[str] = Counter()
        for _, system, key, _ in self.numbered():
            systems[system] += 1
            systems_of.setdefault(key, set()).add(system)
        self.names = list(systems)
        self.segments = [key for key, some in systems_of.items() if len(some) == len(self.names)]
        self.left_out = len(systems_of) - len(self.segments)
        has_several = any(len(some) > 1 for some in systems_of.values())
        # Without names of segments, names that repeat are all there is to see.
        self.is_long = has_several and (bool(self.keys) or len(systems) <= systems.total() / 2)
        self.shared = _View(self, None)
        self.rows = _View(self, None, pooled=True)

    def numbered(self) -> Iterator[tuple[str, str, Hashable, Mapping[str, Any]]]:
        """Where each row is, its system, what names its segment, and its cells."""
        counts: Counter[str] = Counter()
        for location, record in self.table.rows([self.column], only=False):
            system = str(record[self.column])
            key: Hashable = counts[system]
            if self.keys:
                key = tuple(str(record.get(name)) for name in self.keys)
            counts[system] += 1
            yield location, system, key, record

    def text_of(self, system: str, column: str) -> ColumnText:
        """A column of the rows of a system, one for each segment that all have."""
        text = ColumnText(_View(self, system), column)
        text.name = f"{text.name} of {system}"
        return text

    def check(self) -> None:
        """Warn of segments that some systems lack.

        Raises:
            DataError: No column names the segments, and the systems have unequal numbers of rows.

        Warns:
            CorpusWarning: Segments are left out.
        """
        where = self.table.path
        if self.left_out and not self.keys:
            raise DataError(
                f"{where}: no column says which segment a row is of, and the systems have unequal "
                "numbers of rows: add a column 'segment', 'seg_id', or 'doc' and 'seg'"
            )
        if not self.segments:
            raise DataError(f"{where}: no segment has a row of each of {', '.join(self.names)}")
        if self.left_out:
            message = f"segments are left out, since not all of its systems have them: {where}"
            warnings.warn(f"{self.left_out} {message}", CorpusWarning, stacklevel=2)


def find_systems(table: TextTable, column: str = SYSTEM) -> LongTable | None:
    """The systems of a table; None if it is not one of several systems for one segment.

    What differs in every row, an object or a sentence is no name of a system, but perhaps the
    prompt of a language model, and says nothing about the rows.

    Args:
        table: The table.
        column: The column of the systems' names.

    Raises:
        DataError: The table cannot be read.
    """
    is_text = Path(table.path).suffix.lower() != ".parquet"
    if is_text and not any(column in line for line in table.file.first_lines):
        return None  # without reading more
    if column not in table.names():
        return None
    names: set[str] = set()
    for _, record in table.rows([column], only=False):
        name = record.get(column)
        if not (isinstance(name, str | int) and _SYSTEM_NAME.fullmatch(str(name))):
            return None
        names.add(str(name))
    if len(names) < 2:
        return None
    found = LongTable(table, column)
    return found if found.is_long else None  # each may have translated segments of its own


class _View(TextTable):
    """Some rows of a long table, as a table of texts.

    Args:
        long: The table.
        system: Whose rows; None for those of any.
        pooled: Whether all rows are taken, in their order.
    """

    def __init__(self, long: LongTable, system: str | None, *, pooled: bool = False) -> None:
        super().__init__(long.table.path, long.table.file)
        self._long, self._system, self._pooled = long, system, pooled

    def rows(
        self,
        columns: Sequence[str],
        *,
        only: bool = True,  # noqa: ARG002
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each row's place, and its cells by name; as :meth:`TextTable.rows`.

        Raises:
            DataError: Two rows of one segment have different texts.
        """
        found: dict[Hashable, tuple[str, dict[str, Any]]] = {}
        for location, system, key, cells in self._long.numbered():
            if self._system not in {None, system}:
                continue
            record = {name: self._unmarked(cell) for name, cell in cells.items()}
            first = found.setdefault((system, key) if self._pooled else key, (location, record))
            differs = [name for name in columns if first[1].get(name) != record.get(name)]
            if self._pooled and (first[0] == location or differs):
                yield location, record
            elif differs:
                raise DataError(
                    f"{self.name}: {location}, column {differs[0]!r}: another text than in "
                    f"{first[0]}, which has the same segment"
                )
        if not self._pooled:
            yield from (found[key] for key in self._long.segments)

    def _unmarked(self, cell: Any) -> Any:
        is_marked = self._long.has_marks and isinstance(cell, str)
        return _ERROR_MARKS.sub("", cell) if is_marked else cell


def check_one_system(table: TextTable, column: str) -> None:
    """Refuse a table of several systems as one text, whose scores would be those of none.

    Raises:
        DataError: The message has the line that compares the systems.

    Warns:
        CorpusWarning: Another column seems to have the systems' names.
    """
    if isinstance(table, _View):
        return
    if find_systems(table):
        raise DataError(
            f"{table.name}: has a row for each segment and system (its column {SYSTEM!r} has "
            f"several values); type: {how_to_compare(table, column)}"
        )
    is_text = Path(table.path).suffix.lower() != ".parquet"
    if is_text and not any(map(_MAY_NAME_SYSTEMS.search, table.file.first_lines[:1])):
        return  # without reading more
    for name in filter(_MAY_NAME_SYSTEMS.search, table.names()):
        if name != column and (found := find_systems(table, name)) and found.keys:
            message = (
                f"{table.name}: seems to have a row for each segment and system (in its column "
                f"{name!r}), and all rows count as one text; to tell the systems apart, type: "
                f"{how_to_compare(table, column)} --systems-in {shlex.quote(name)}"
            )
            warnings.warn(message, CorpusWarning, stacklevel=2)


def how_to_compare(table: TextTable, column: str) -> str:
    """The line that compares the systems of a table, if it has texts to compare them with."""
    names = table.names()
    ref, src = (column_for(role, names) for role in ("ref", "src"))
    texts = {"--ref": ref, "--src": None if ref else src}
    given = "".join(f" {flag} {table.path}:{name}" for flag, name in texts.items() if name)
    return f"coverage-eval compare {table.path}:{column}{given}"
