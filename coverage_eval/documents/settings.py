"""Documents whose lines do not match: the lines of a source, and of an output, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import (
    Column,
    Text,
    check_source,
    check_stdin,
    read_segments,
    source_name,
)
from coverage_eval.core.text import TextTable


@dataclass(frozen=True)
class DocumentSettings:
    """How outputs of other lines than their source are cut by the source's lines.

    Attributes:
        tokenize: The tokeniser that finds words if a reference takes the place of source and model.
    """

    tokenize: str = "13a"

    @classmethod
    def of(cls, tokenize: str | None) -> DocumentSettings:
        """The settings for texts whose words this tokeniser of a score finds.

        Where it leaves texts as they are, ``13a`` parts words from punctuation.
        """
        return cls("13a" if tokenize in {None, "none"} else str(tokenize))


class DocumentTexts(NamedTuple):
    """A document's source, or reference, and output.

    Attributes:
        name: Its name in messages and tables.
        source: The lines of its source.
        output: The lines of its output.
    """

    name: str
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
        line = None if self.line is None else self.line + 1
        repeats = None if self.repeats is None else self.repeats + 1
        return {**self._asdict(), "line": line, "repeats": repeats}


class Passage(NamedTuple):
    """Neighbouring source lines without a translation.

    Attributes:
        document: The document's name.
        first: The number of its first line in the document's source, from 1.
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
        line: The line's number in the document's source, from 1.
        source_words: Number of its words.
        output_words: Number of words of the output here, those of ``extra`` included.
        passage: The passage that it is in, if it has no translation.
        extra: The pieces of the output behind it that belong to no line; pieces before all lines
            are with the first.
    """

    line: int
    source_words: int
    output_words: int
    passage: Passage | None = None
    extra: tuple[Piece, ...] = ()


def is_of_rows(text: Text) -> bool:
    """Whether each row of a text is a document, as in a table; a file is one document."""
    return isinstance(text, Column) and isinstance(text.columns, TextTable)


def read_blocks(text: Text) -> Iterator[list[str]]:
    """The lines of each document of a text: of a file, or of each row of a table.

    Raises:
        DataError: As :func:`~coverage_eval.core.files.read_segments` or
            :meth:`~coverage_eval.core.text.TextTable.cells`; a cell is not text.
    """
    if not is_of_rows(text):
        yield list(read_segments(text))
        return
    assert isinstance(text, Column)
    assert isinstance(text.columns, TextTable)
    for where, (cell,) in text.columns.cells([text.name]):
        if not isinstance(cell, str):
            raise DataError(
                f"{source_name(text)}: {where} is not text; write an empty text for no line"
            )
        yield cell.replace("\r\n", "\n").removesuffix("\n").split("\n")


def read_documents(output: Text, source: Text) -> Iterator[DocumentTexts]:
    """Read the documents of two texts: one if they are files, else those of each row.

    Raises:
        DataError: As :func:`read_blocks`; one is a file and the other a column.
    """
    check_stdin(output, source)
    check_source(output, source)
    outputs, sources = list(read_blocks(output)), list(read_blocks(source))
    if len(outputs) != len(sources):
        raise DataError(
            f"{source_name(output)} has {len(outputs)} documents and {source_name(source)} has "
            f"{len(sources)}; a file is one document, and each row of a table"
        )
    pairs = zip(sources, outputs, strict=True)
    for number, (of_source, of_output) in enumerate(pairs, start=1):
        name = f"row {number}" if is_of_rows(source) else source_name(output)
        yield DocumentTexts(name, of_source, of_output)


def check_same_blocks(text: Text, others: Iterable[Text]) -> None:
    """Check that each row of a table has as many lines in some columns as in another one.

    Raises:
        DataError: A row has not; or as :func:`read_blocks`.
    """
    if not is_of_rows(text):
        return
    for other in others:
        pairs = zip(read_blocks(text), read_blocks(other), strict=True)
        for number, (expected, lines) in enumerate(pairs, start=1):
            if len(lines) != len(expected):
                raise DataError(
                    f"{source_name(other)}: row {number} has {len(lines)} lines and "
                    f"{source_name(text)} has {len(expected)}; source and references must match"
                )
