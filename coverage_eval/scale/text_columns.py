"""Rows of a table of text: which columns hold what, and which rows cannot be scored, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from coverage_eval.data.files import MAX_LINE_BYTES
from coverage_eval.data.rows import Row
from coverage_eval.errors import DataError
from coverage_eval.scale.arrow import pa
from fast_align_wrapper.text import MAX_CELLS


class ReadBatch(NamedTuple):
    """The rows of a batch.

    Attributes:
        batch: The batch.
        rows: The rows that can be scored, in their order.
        reasons: Of every row of the batch, why it cannot be scored; None if it can.
    """

    batch: pa.RecordBatch
    rows: list[Row]
    reasons: list[str | None]


@dataclass(frozen=True)
class BatchColumns:
    """The columns of a table that hold the texts of a test set.

    Attributes:
        hypotheses: The column of each system's output, by the system's name.
        references: Columns of references.
        source: The column of the source.
        keys: Further columns, which are kept beside the scores.
    """

    hypotheses: Mapping[str, str]
    references: tuple[str, ...] = ()
    source: str | None = None
    keys: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The columns of text, those of each row's hypotheses first."""
        source = [] if self.source is None else [self.source]
        return [*self.hypotheses.values(), *self.references, *source]

    @property
    def needed(self) -> list[str]:
        """All columns that are read, each once."""
        return list(dict.fromkeys([*self.keys, *self.texts]))

    def check(self, schema: pa.Schema) -> None:
        """Refuse a table without these columns.

        Raises:
            DataError: A column is not there, or a column of text holds something else.
        """
        self.check_names(schema.names)
        for name in self.texts:
            kind = schema.field(name).type
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise DataError(f"column {name!r} holds {kind}, and text is needed")

    def check_names(self, names: Sequence[str]) -> None:
        """The same of the columns' names alone.

        Raises:
            DataError: A column is not there.
        """
        for name in self.needed:
            if name not in names:
                raise DataError(f"there is no column {name!r}; there are: {', '.join(names)}")

    def read(self, batch: pa.RecordBatch, *, most_cells: int = MAX_CELLS) -> ReadBatch:
        """The rows of a batch; those that cannot be scored are named, and left out.

        Args:
            batch: With these columns.
            most_cells: Source × target words beyond which a row is not aligned.
        """
        columns = [_decoded(batch.column(name), name) for name in self.texts]
        rows: list[Row] = []
        reasons: list[str | None] = []
        systems, references = len(self.hypotheses), len(self.references)
        for cells in zip(*columns, strict=True):
            wrong = next((cell for cell in cells if isinstance(cell, _Wrong)), None)
            if wrong is None:
                source = cells[-1] if self.source is not None else None
                row = Row(cells[:systems], cells[systems : systems + references], source)
                reason = _too_long(row, most_cells)
            else:
                reason = wrong.reason
            reasons.append(reason)
            if reason is None:
                rows.append(row)
        return ReadBatch(batch, rows, reasons)


class _Wrong(NamedTuple):
    """A cell that is no text."""

    reason: str


def _decoded(column: pa.Array, name: str) -> Iterator[Any]:
    """The texts of a column; what is none is said in its place."""
    kind = pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()
    most = MAX_LINE_BYTES.get()
    for cell in column.cast(kind).to_pylist():
        if cell is None:
            yield _Wrong(f"{name}: there is no text")
        elif len(cell) > most:
            yield _Wrong(f"{name}: is longer than {most:,} bytes")
        else:
            try:
                yield cell.decode()
            except UnicodeDecodeError as error:
                byte = f"0x{cell[error.start]:02x}"
                yield _Wrong(f"{name}: not valid UTF-8 at byte offset {error.start} (byte {byte})")


def _too_long(row: Row, most_cells: int) -> str | None:
    """Why posteriors of a row would not fit in memory, if they would not."""
    if row.source is None:
        return None
    source, *targets = (str(text).count(" ") + 1 for text in (row.source, *row[0], *row[1]))
    if source * max(targets) <= most_cells:
        return None
    return f"source of some {source:,} words and translation of {max(targets):,}: too long"
