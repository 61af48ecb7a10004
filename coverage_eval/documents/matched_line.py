"""What cutting a document finds: pieces of the output, missing passages, and what each line has.

An output's line carries what was found in it (:class:`MatchedLine`), so only documents and their
metrics know of it.
"""

from __future__ import annotations

from typing import NamedTuple


def plural(number: int, noun: str) -> str:
    """A number with its noun, such as ``1 line`` and ``2 lines``."""
    return f"{number} {noun}{'s' * (number != 1)}"


class Piece(NamedTuple):
    """A piece of the output.

    Attributes:
        line: The source line that it translates, from 0; None if it belongs to none.
        start: Position of its first character in the output, from 0.
        end: The position after its last character.
        text: Its text, with a space in place of each line end.
        words: Number of words; markup is not counted.
        repeats: The line whose translation it repeats, from 0; None if it repeats none.
    """

    line: int | None
    start: int
    end: int
    text: str
    words: int
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
        kind: ``sentence`` for one line, ``passage`` for several.
        document: The document's name.
        first: The number of its first line in the document's source, from 1.
        last: That of its last line.
        words: Number of words of these lines.
    """

    kind: str
    document: str
    first: int
    last: int
    words: int

    @property
    def lines(self) -> str:
        """The numbers of its lines, such as ``44 to 46``."""
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"

    def __str__(self) -> str:
        line, it = ("line", "it") if self.first == self.last else ("lines", "them")
        return f"{line} {self.lines}, {plural(self.words, 'word')}, nothing like {it} in the output"


class LineMatch(NamedTuple):
    """A line of a document's source, and what an output cut by it has here.

    Attributes:
        line: The line's number in the document's source, from 1.
        source_words: Number of its words.
        missing_words: The same if it has no translation, else 0.
        output_words: Number of words of the output here, those of ``extra`` included.
        extra_words: Number of words of ``extra``.
        passage: The passage that it is in, if it has no translation.
        extra: The pieces of the output beside it that belong to no line.
    """

    line: int
    source_words: int
    missing_words: int
    output_words: int
    extra_words: int
    passage: Passage | None
    extra: tuple[Piece, ...]


class MatchedLine(str):
    """A line of an output that was cut, as a segment that also has what was found in it.

    Attributes:
        match: What was found.
    """

    match: LineMatch

    @classmethod
    def of(cls, text: str, match: LineMatch) -> MatchedLine:
        """The line with this text."""
        line = cls(text)
        line.match = match
        return line
