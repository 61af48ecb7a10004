"""An output that is cut by the lines of its source: which line each piece belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from coverage_eval.core.sampled_texts import percent
from coverage_eval.documents.matched_line import LineMatch, MatchedLine, Passage, Piece, plural
from coverage_eval.documents.path import in_order


@dataclass(frozen=True)
class Segmentation:
    """An output cut by the lines of its source.

    >>> import coverage_eval as ce
    >>> sources = ["ein haus", "das haus", "ein hund", "das tier"] * 20
    >>> targets = ["a house", "the house", "a dog", "the animal"] * 20
    >>> with ce.Aligner.train(sources, targets) as aligner:
    ...     cut = ce.segment("a house the animal", ["ein haus", "ein hund", "das tier"], aligner)
    >>> cut.lines, cut.missing
    (['a house', '', 'the animal'], (1,))

    Attributes:
        pieces: All pieces, in the output's order; together they are the output, except for spaces
            between them.
        source_words: Number of words of each source line, ``[lines]``.
        output_words: Number of words of the output.
        lines_of: ``"source"``, or ``"reference"`` if that gave the lines in its place.
        unknown_words: Number of words of the output that the model does not know.
        source: The source's lines.
        output: The output as one text.
        name: The document's name in messages and tables.
    """

    pieces: tuple[Piece, ...]
    source_words: tuple[int, ...]
    output_words: int
    lines_of: str = "source"
    unknown_words: int = 0
    source: Sequence[str] = ()
    output: str = ""
    name: str = ""

    @cached_property
    def pieces_by_line(self) -> list[list[Piece]]:
        """The pieces of each line, with those behind them that belong to none.

        Pieces before all lines are with the first.
        """
        by_line: list[list[Piece]] = [[] for _ in self.source_words]
        line = 0
        for piece in self.pieces:
            line = line if piece.line is None else piece.line
            by_line[line].append(piece)
        return by_line

    @cached_property
    def lines(self) -> list[str]:
        """The text of each source line; empty if there is none."""
        return [
            " ".join(piece.text for piece in pieces if piece.line is not None)
            for pieces in self.pieces_by_line
        ]

    @cached_property
    def missing(self) -> tuple[int, ...]:
        """The source lines, from 0, that have words but no text in the output."""
        texts = zip(self.source_words, self.lines, strict=True)
        return tuple(line for line, (words, text) in enumerate(texts) if words and not text)

    @property
    def extra(self) -> tuple[Piece, ...]:
        """The pieces of the output that belong to no line, in the output's order."""
        return tuple(piece for piece in self.pieces if piece.line is None)

    @cached_property
    def passages(self) -> list[Passage]:
        """The missing lines, neighbouring ones together; lines without words do not part them."""
        passages: list[Passage] = []
        for line in self.missing:
            kind, first, words = "sentence", line + 1, self.source_words[line]
            if passages and not any(self.source_words[passages[-1].last : line]):
                before = passages.pop()
                kind, first, words = "passage", before.first, before.words + words
            passages.append(Passage(kind, self.name, first, line + 1, words))
        return passages

    @property
    def moved(self) -> tuple[int, ...]:
        """The lines, from 0, that are not in the source's order; as few as explain the order."""
        begun = list(dict.fromkeys(piece.line for piece in self.pieces if piece.line is not None))
        return tuple(sorted(set(begun) - {begun[position] for position in in_order(begun)}))

    @property
    def score(self) -> float:
        """The share of the source's words that are in missing lines, 0 to 1."""
        return sum(passage.words for passage in self.passages) / max(1, sum(self.source_words))

    @property
    def extra_share(self) -> float:
        """The share of the output's words that belong to no line, 0 to 1."""
        return sum(piece.words for piece in self.extra) / max(1, self.output_words)

    def summary(self) -> str:
        """One sentence: how many lines have text, which have none, and how much belongs to none."""
        return summary([self])

    def line_matches(self) -> Iterator[LineMatch]:
        """What each line of the source has in the output."""
        passages = {line: p for p in self.passages for line in range(p.first, p.last + 1)}
        by_line = zip(self.source_words, self.pieces_by_line, strict=True)
        for line, (words, pieces) in enumerate(by_line, start=1):
            passage = passages.get(line) if words else None
            extra = tuple(piece for piece in pieces if piece.line is None)
            output_words = sum(piece.words for piece in pieces)
            extra_words = sum(piece.words for piece in extra)
            yield LineMatch(
                line, words, words if passage else 0, output_words, extra_words, passage, extra
            )

    def matched_lines(self) -> Iterator[MatchedLine]:
        """The text of each line of the source, with what was found in it."""
        for text, match in zip(self.lines, self.line_matches(), strict=True):
            yield MatchedLine.of(text, match)

    def rows(self) -> Iterator[dict[str, object]]:
        """One row a piece, and one a line without text, in the order of lines.

        Lines count from 1, characters of the output from 0. A piece that belongs to no line has no
        ``line`` and follows the piece before it.
        """
        blank = {"start": None, "end": None, "text": "", "words": 0, "repeats": None}
        for line, pieces in enumerate(self.pieces_by_line, start=1):
            yield from (piece.to_dict() for piece in pieces)
            if all(piece.line is None for piece in pieces):
                yield {"line": line, **blank}


UNKNOWN_WORDS = 0.25
"""Share of an output's words that the model does not know, from which on it should be another."""


def summary(segmentations: Sequence[Segmentation]) -> str:
    """One sentence about the segmentations of some documents."""
    words = [count for document in segmentations for count in document.source_words]
    missing = sum(len(document.missing) for document in segmentations)
    moved = sum(len(document.moved) for document in segmentations)
    extra = [piece for document in segmentations for piece in document.extra]
    blank = words.count(0)
    wordless = f", {blank} without words" if blank else ""
    with_text, none = (
        f"{count} {'has' if count == 1 else 'have'}"
        for count in (len(words) - blank - missing, missing)
    )
    sentence = (
        f"{plural(len(words), f'{segmentations[0].lines_of} line')}{wordless}: {with_text} text, "
        f"{none} none ({missing / max(1, len(words) - blank):.1%})"
    )
    if len(segmentations) == 1 and missing:
        named = [passage.lines for passage in segmentations[0].passages]
        sentence += f": line{'s' * (missing > 1)} {', '.join(named)}"
    if moved:
        sentence += f"; {plural(moved, 'line')} stand{'s' * (moved == 1)} in another order"
    unknown = sum(document.unknown_words for document in segmentations)
    unknown_share = unknown / max(1, sum(document.output_words for document in segmentations))
    if unknown_share > UNKNOWN_WORDS:
        known = f"the model does not know {percent(unknown_share)} of the output's words"
        sentence = f"{known}; {sentence}"
    if not extra:
        return f"{sentence}; the whole output belongs to lines"
    added = plural(sum(piece.words for piece in extra), "word")
    pieces = f"{plural(len(extra), 'piece')} of the output ({added})"
    return f"{sentence}; {pieces} belong{'s' * (len(extra) == 1)} to no line"
