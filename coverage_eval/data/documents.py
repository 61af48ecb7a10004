"""Documents whose lines do not match: the lines of a source, and of an output, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from coverage_eval.data.files import (
    STDIN,
    Column,
    Source,
    Text,
    check_source,
    check_stdin,
    file_of,
    read_segments,
    source_name,
)
from coverage_eval.data.tables import ColumnFile, check_columns
from coverage_eval.errors import DataError

BOUNDARIES = ("none", "blank")
"""What separates documents in a file: nothing, as it is one document, or blank lines."""


class DocumentTexts(NamedTuple):
    """A document's source, or reference, and output.

    Attributes:
        name: Its name in messages and tables.
        first: The number of its first line in the source's file or table, from 1.
        source: The lines of its source.
        output: The lines of its output.
    """

    name: str
    first: int
    source: list[str]
    output: list[str]


def read_documents(output: Text, source: Text, boundaries: str = "none") -> Iterator[DocumentTexts]:
    """Read the documents of two texts.

    Args:
        output: The output.
        source: The source.
        boundaries: One of :data:`BOUNDARIES`. Blank lines between documents belong to the source
            of the document before them.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_segments`; unequal numbers of documents.
    """
    check_stdin(output, source)
    check_source(output, source)
    names = source_name(output), source_name(source)
    if boundaries == "none":
        yield DocumentTexts(names[0], 1, list(read_segments(source)), list(read_segments(output)))
        return
    outputs = [block for block in _blocks(read_segments(output)) if block]
    sources = split_documents(read_segments(source))
    if len(outputs) != len(sources):
        raise DataError(
            f"{names[0]} has {len(outputs)} documents and {names[1]} has {len(sources)}, separated "
            "by blank lines; both must have the same documents"
        )
    first = 1
    for number, (own, lines) in enumerate(zip(outputs, sources, strict=True), start=1):
        yield DocumentTexts(f"document {number}", first, lines, own)
        first += len(lines)


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Lines between blank lines."""
    for is_blank, block in groupby(lines, lambda line: not line.strip()):
        if not is_blank:
            yield list(block)


def split_documents(lines: Iterable[str]) -> list[list[str]]:
    """Documents with the blank lines behind them; those at the beginning belong to the first.

    >>> split_documents(["", "a", "b", "", "", "c"])
    [['', 'a', 'b', '', ''], ['c']]
    """
    found: list[list[str]] = []
    held: list[str] = []
    for line in lines:
        if line.strip() and held and not held[-1].strip() and any(map(str.strip, held)):
            found.append(held)
            held = []
        held.append(line)
    return [*found, held] if any(map(str.strip, held)) else found


@dataclass(eq=False)
class CutText:
    """An output cut by the lines of its source, in place of a text that matches it line by line.

    It is a table of one text (:class:`~coverage_eval.data.files.TextColumns`); :meth:`column` is
    the text.

    Attributes:
        output: The output, with any lines.
        reference: The text whose lines it gets: its source, or a reference.
        cut: Cuts documents: from documents to the lines of each.
        segmentation: What signatures call the way of cutting.
        boundaries: One of :data:`BOUNDARIES`.
    """

    output: Text
    reference: Text
    cut: Callable[[Iterable[DocumentTexts]], Iterable[Sequence[str]]]
    segmentation: str
    boundaries: str = "none"

    @property
    def source(self) -> Source:
        """The output's file."""
        return file_of(self.output)

    @property
    def column(self) -> Column:
        """The lines as a text."""
        return Column(self, "")

    @cached_property
    def lines(self) -> list[str]:
        """As many lines as the source has; cut when they are first asked for.

        Raises:
            DataError: The output cannot be read, or is no translation of its source.
        """
        documents = read_documents(self.output, self.reference, self.boundaries)
        return [line for lines in self.cut(documents) for line in lines]

    def texts(self, columns: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """The lines, once for each column."""
        return ((line,) * len(columns) for line in self.lines)


def read_document_files(
    outputs: Sequence[Source], sources: Sequence[Source]
) -> Iterator[DocumentTexts]:
    """Read documents that have a file each; folders are read in the order of their files' names.

    Raises:
        DataError: Unequal numbers of files, or files of folders that have no partner.
    """
    first, second = (
        [file for name in names for file in _files_of(name)] for names in (outputs, sources)
    )
    check_stdin(*first, *second)
    check_source(*first, *second)
    if len(first) != len(second):
        raise DataError(
            f"{len(first)} outputs for {len(second)} sources; with one file a document, name each "
            "document's output, and --src or --ref as often, in the same order; or name two folders"
        )
    from_folders = any(Path(name).is_dir() for name in (*outputs, *sources))
    for output, source in zip(first, second, strict=True):
        if from_folders and _stem(output) != _stem(source):
            raise DataError(
                f"{output} and {source} are not the same document; files of two folders belong "
                "together if their names agree up to the first dot"
            )
        yield from read_documents(output, source)


def _files_of(name: Source) -> list[Source]:
    if str(name) == STDIN or not Path(name).is_dir():
        return [name]
    files = sorted(file for file in Path(name).iterdir() if not file.name.startswith("."))
    if not files:
        raise DataError(f"{name}: the folder is empty")
    return [*files]


def _stem(file: Source) -> str:
    return Path(file).name.partition(".")[0]


def read_document_rows(
    table: ColumnFile, output: str, source: str, document: str | None = None
) -> Iterator[DocumentTexts]:
    """Read the documents of a table.

    Args:
        table: The table.
        output: The column of outputs.
        source: The column of sources, or references.
        document: The column that names the document of each row. A row is a line of its source, and
            the document's output is what its rows have, one after the other. None if each row is a
            document, with line ends in its cells, as JSON Lines and Parquet allow.

    Raises:
        DataError: As :meth:`ColumnFile.records`; a column is missing; a cell is not text; the rows
            of a document do not follow each other.
    """
    name = source_name(table.source)
    check_columns(f"{name}: line 1", table.names(), [c for c in (output, source, document) if c])
    if document is None:
        for number, row in enumerate(table.records(), start=1):
            texts = [_text(row, column, f"{name}: row {number}") for column in (source, output)]
            yield DocumentTexts(f"row {number}", 1, *(text.split("\n") for text in texts))
        return
    seen: set[str] = set()
    rows = enumerate(table.records(), start=1)
    for key, group in groupby(rows, lambda item: str(item[1].get(document))):
        if key in seen:
            raise DataError(f"{name}: the rows of document {key} do not follow each other; sort it")
        seen.add(key)
        lines: list[str] = []
        outputs: list[str] = []
        first = 0
        for number, row in group:
            first = first or number
            lines.append(_text(row, source, f"{name}: row {number}"))
            text = _text(row, output, f"{name}: row {number}")
            outputs += text.split("\n") if text else []
        yield DocumentTexts(key, first, lines, outputs)


def _text(row: dict[str, object], column: str, where: str) -> str:
    cell = row.get(column)
    if not isinstance(cell, str):
        raise DataError(f"{where}, column {column!r}: is not text; write an empty text for no line")
    return cell.replace("\r\n", "\n").removesuffix("\n")
