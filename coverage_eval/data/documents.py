"""Documents whose lines do not match: the lines of a source, and of an output, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from coverage_eval.data.files import (
    STDIN,
    Column,
    Source,
    Text,
    check_columns,
    check_source,
    check_stdin,
    read_segments,
    source_name,
)
from coverage_eval.data.tables import ColumnFile
from coverage_eval.errors import DataError

BOUNDARIES = ("none", "blank")
"""What separates documents in a file: nothing, as it is one document, or blank lines."""


@dataclass(frozen=True)
class DocumentSettings:
    """How outputs of other lines than their source are cut by the source's lines.

    Attributes:
        boundaries: What separates documents, one of :data:`BOUNDARIES`.
        tokenize: The tokeniser that finds words if a reference takes the place of source and model.
    """

    boundaries: str = "none"
    tokenize: str = "13a"

    @classmethod
    def of(cls, tokenize: str | None, boundaries: str = "none") -> DocumentSettings:
        """The settings for texts whose words this tokeniser of a score finds.

        Where it leaves texts as they are, ``13a`` parts words from punctuation.
        """
        return cls(boundaries, "13a" if tokenize in {None, "none"} else str(tokenize))


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


class Piece(NamedTuple):
    """A piece of the output.

    Attributes:
        line: The source line that it translates, from 0; None if it belongs to none.
        start: Position of its first character in the output, from 0.
        end: The position after its last character.
        text: Its text, with a space in place of each line end.
        words: Number of words; markup is not counted.
        probability: The mean probability of its words' line.
        repeats: The line whose translation it repeats, from 0; None if it repeats none.
    """

    line: int | None
    start: int
    end: int
    text: str
    words: int
    probability: float
    repeats: int | None = None

    @property
    def place(self) -> str:
        """Where it stands in the output, or what it repeats."""
        if self.repeats is not None:
            return f"line {self.repeats + 1} again"
        return f"characters {self.start} to {self.end}"

    def to_dict(self) -> dict[str, object]:
        """The piece as plain values; lines count from 1."""
        found: dict[str, object] = self._asdict()
        for name in ("line", "repeats"):
            number = getattr(self, name)
            found[name] = None if number is None else number + 1
        return found


class Passage(NamedTuple):
    """Neighbouring source lines without a translation.

    Attributes:
        document: The document's name.
        first: The number of its first line in the source's file, from 1.
        last: That of its last line.
        words: Number of words of these lines.
    """

    document: str
    first: int
    last: int
    words: int

    @property
    def kind(self) -> str:
        """``sentence`` for one line, ``passage`` for several."""
        return "sentence" if self.first == self.last else "passage"

    def to_dict(self) -> dict[str, object]:
        """The passage as plain values; lines count from 1."""
        return {"kind": self.kind, **self._asdict()}

    def __str__(self) -> str:
        lines = f"line {self.first}"
        if self.last > self.first:
            lines = f"lines {self.first} to {self.last}"
        words = f"{self.words} word{'s' * (self.words != 1)}"
        them = "it" if self.kind == "sentence" else "them"
        return f"{lines}, {words}, nothing like {them} in the output"


class LineCut(NamedTuple):
    """A line of a document's source, and what an output cut by it has here.

    Attributes:
        line: The line's number in the source's file, from 1.
        source_words: Number of its words.
        output_words: Number of words of the output here, those of ``extra`` included.
        passage: The passage that it is in, if it has no translation.
        extra: The pieces of the output behind it that belong to no line; pieces before all lines
            are with the first. What they repeat is a line of the source's file, from 0.
    """

    line: int
    source_words: int
    output_words: int
    passage: Passage | None = None
    extra: tuple[Piece, ...] = ()


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


def check_rows_are_lines(source: Text) -> None:
    """Check that no row of a column is a whole document, if each row is to be a line of one.

    Raises:
        DataError: A row has several lines; or as :meth:`ColumnFile.records`.
    """
    if not (isinstance(source, Column) and isinstance(source.columns, ColumnFile)):
        return
    for number, row in enumerate(source.columns.records([source.name]), start=1):
        if "\n" in str(row.get(source.name)).strip():
            raise DataError(
                f"{source_name(source)}: row {number} has several lines, but with --unaligned a "
                "row is one; if each row is a document, cut them by segment --from, or score them "
                "by spark compare --unaligned"
            )


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
            of a document do not follow each other; a row names no document, or has several lines.
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

    def document_of(item: tuple[int, dict[str, object]]) -> str:
        number, row = item
        if row.get(document) in {None, ""}:
            raise DataError(
                f"{name}: row {number}, column {document!r}: is empty; each row needs its document"
            )
        return str(row[document])

    for key, group in groupby(rows, document_of):
        if key in seen:
            raise DataError(f"{name}: the rows of document {key} do not follow each other; sort it")
        seen.add(key)
        lines: list[str] = []
        outputs: list[str] = []
        first = 0
        for number, row in group:
            first = first or number
            lines.append(_text(row, source, f"{name}: row {number}"))
            if "\n" in lines[-1]:
                raise DataError(
                    f"{name}: row {number}, column {source!r}: has several lines, but a row with "
                    "--doc-col is one; leave it out if each row is a document"
                )
            text = _text(row, output, f"{name}: row {number}")
            outputs += text.split("\n") if text else []
        yield DocumentTexts(key, first, lines, outputs)


def _text(row: dict[str, object], column: str, where: str) -> str:
    cell = row.get(column)
    if not isinstance(cell, str):
        raise DataError(f"{where}, column {column!r}: is not text; write an empty text for no line")
    return cell.replace("\r\n", "\n").removesuffix("\n")
