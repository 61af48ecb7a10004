"""The words of many segments as hashes over their bytes, without splitting a single segment.

Most n-grams occur once. Hashes of all words of a batch find the few that may occur twice, at a
fraction of the time that splitting takes; equal words have equal hashes, so none is missed. Only
those few are then cut from the text and compared exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["HashedWords", "Hashes"]

Hashes = NDArray[np.uint64]
Integers = NDArray[np.int64]

_SPACE, _TAB, _NEWLINE = b" \t\n"
_FACTOR = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2⁶⁴
_MIXER = np.uint64(0xD6E8FEB86659FD93)
_BYTES = np.random.default_rng(0).integers(1, 2**63, size=256, dtype=np.uint64)
_BYTES[[_SPACE, _TAB, _NEWLINE]] = 0


@dataclass(frozen=True)
class HashedWords:
    """The words of some segments, one after the other.

    Attributes:
        data: The segments' bytes in UTF-8, each with a line end behind it.
        starts: Where each word starts in ``data``. ``[words]``
        ends: Where it ends. ``[words]``
        segments: The segment that it belongs to, ascending. ``[words]``
        hashes: Its hash, modulo 2⁶⁴; equal for equal words. ``[words]``
    """

    data: bytes
    starts: Integers
    ends: Integers
    segments: Integers
    hashes: Hashes

    @classmethod
    def read(cls, texts: Sequence[str]) -> HashedWords:
        """Hash the words of segments, which are separated by spaces and tabs.

        Args:
            texts: Segments without line end.

        Raises:
            ValueError: A segment has a line end.
        """
        data = "\n".join([*texts, ""]).encode("utf-8", "surrogatepass")
        values = np.frombuffer(data, dtype=np.uint8)
        lines = np.flatnonzero(values == _NEWLINE)
        if len(lines) != len(texts):
            raise ValueError("a segment has a line end")
        hashed = _BYTES[values]
        inside = hashed != 0
        edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        if len(data) and inside[0]:
            edges = np.concatenate(([0], edges))
        starts, ends = edges[::2], edges[1::2]
        if not len(starts):
            return cls(data, starts, ends, starts, hashed[:0])
        powers, inverses = _powers(1 << len(data).bit_length())
        hashed *= powers[: len(data)]
        hashes = np.add.reduceat(hashed, starts) * inverses[starts]
        lengths = np.diff(np.searchsorted(starts, lines), prepend=0)
        return cls(data, starts, ends, np.repeat(np.arange(len(texts)), lengths), hashes)

    def ngrams(self, n: int, places: Integers) -> tuple[Integers, Hashes]:
        """Where n-grams inside a segment start, and a hash of each n-gram with its segment.

        Args:
            n: Length of the n-grams.
            places: A number for each segment, below ``2**32``, which goes into the hash.
        """
        length = max(0, len(self.starts) - n + 1)
        if not length:
            return self.starts[:0], self.hashes[:0]
        first = np.flatnonzero(self.segments[:length] == self.segments[n - 1 :])
        grams = self.hashes[first]
        for offset in range(1, n):
            grams = grams * _MIXER + self.hashes[first + offset]
        numbers = places[self.segments[first]].astype(np.uint64)
        return first, (grams * _MIXER << np.uint64(32)) | numbers

    def doubled(self) -> Integers:
        """Where a word may stand that stands there twice in a row."""
        same = self.hashes[1:] == self.hashes[:-1]
        return np.flatnonzero(same & (self.segments[1:] == self.segments[:-1]))

    def words(self, places: Integers) -> list[bytes]:
        """The words at some places, as UTF-8."""
        bounds = zip(self.starts[places].tolist(), self.ends[places].tolist(), strict=True)
        return [self.data[start:end] for start, end in bounds]


@lru_cache(maxsize=4)
def _powers(size: int) -> tuple[Hashes, Hashes]:
    """Powers of the factor and of its inverse modulo 2⁶⁴, ``[size]`` each."""
    inverse = pow(_FACTOR, -1, 2**64)
    tables = []
    for base in (_FACTOR, inverse):
        table = np.full(size, base, dtype=np.uint64)
        table[0] = 1
        tables.append(np.multiply.accumulate(table))
    return tables[0], tables[1]
