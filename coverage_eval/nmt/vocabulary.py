"""Pieces of words and their numbers, one vocabulary a side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from coverage_eval.data.files import read_segments, write_lines
from coverage_eval.nmt.bpe import UNKNOWN

UNKNOWN_ID, BLANK, START, END = range(4)
_SPECIAL = (UNKNOWN, "<blank>", "<s>", "</s>")


class Vocabulary:
    """Pieces by number, the most frequent first after the special ones.

    Args:
        pieces: All but the special ones.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        self.pieces = (*_SPECIAL, *pieces)
        # A special piece that stands in a text is a word like others, not that piece.
        self._numbers = {p: n for n, p in enumerate(self.pieces) if n >= len(_SPECIAL)}

    @classmethod
    def of(cls, texts: Iterable[Sequence[str]], *further: str) -> Vocabulary:
        """The pieces of a training text, and further ones before them."""
        counts = Counter(piece for text in texts for piece in text)
        known = (piece for piece, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])))
        return cls((*further, *(p for p in known if p not in (*_SPECIAL, *further))))

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        """Read what :meth:`save` wrote."""
        return cls(read_segments(path))

    def save(self, path: Path) -> None:
        """Write a piece a line, the special ones aside."""
        write_lines(path, self.pieces[len(_SPECIAL) :])

    def __len__(self) -> int:
        return len(self.pieces)

    def numbers(self, pieces: Iterable[str]) -> list[int]:
        """The number of each piece, that of ``<unk>`` for unknown ones."""
        return [self._numbers.get(piece, UNKNOWN_ID) for piece in pieces]
