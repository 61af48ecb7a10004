"""A compact, exact index of a paraphrase table, made of arrays that can lie on disk.

The table's phrases form a tree of words. A node is a phrase or the beginning of one; its key is its
parent's number and its last word, and the nodes with *n* words are numbered in the order of their
keys. So all phrases of a corpus are found with one binary search a length, for all positions at
once, and only where the beginning was found before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError

__all__ = ["Integers", "Occurrences", "PhraseIndex"]

Integers: TypeAlias = "NDArray[np.int64]"

_VOCABULARY = "vocabulary.txt"


@dataclass(frozen=True)
class Occurrences:
    """Where phrases of the index occur in a text, sorted by position, then length."""

    positions: Integers
    """First token, counted through the text."""
    lengths: Integers
    """Number of tokens."""
    nodes: Integers
    """The phrase's node."""


@dataclass(frozen=True)
class PhraseIndex:
    """The index: a word list and five integer arrays."""

    vocabulary: dict[str, int]
    """Each word's number, in order."""
    keys: NDArray[np.int64]
    """Of each node, parent * vocabulary size + word; ascending within a length."""
    levels: NDArray[np.int64]
    """Where the nodes of 1, 2, ... words begin in ``keys``; last their number."""
    sources: NDArray[np.int32]
    """The nodes that have paraphrases, ascending."""
    offsets: NDArray[np.int32]
    """Where the paraphrases of each source begin in ``targets``; last their number."""
    targets: NDArray[np.int32]
    """The paraphrases' nodes, grouped by source, in the table's order."""

    def word_ids(self, tokens: Iterable[str]) -> Integers:
        """The number of each token's word, -1 if the table does not have it."""
        get = self.vocabulary.get
        return np.fromiter((get(token, -1) for token in tokens), dtype=np.int64)

    def find(self, words: Integers, ends: Integers) -> Occurrences:
        """Every occurrence of a node's phrase, including mere beginnings of phrases.

        Args:
            words: The text's word numbers.
            ends: For each position, the end of its segment; no phrase goes over it.
        """
        places = np.flatnonzero(words >= 0)
        parents = np.zeros(len(places), dtype=np.int64)
        found = []
        for length in range(1, len(self.levels)):
            last = places + length - 1
            inside = last < ends[places]
            places, parents, last = places[inside], parents[inside], last[inside]
            known = words[last] >= 0
            places, parents, last = places[known], parents[known], last[known]
            first, end = int(self.levels[length - 1]), int(self.levels[length])
            wanted = parents * len(self.vocabulary) + words[last]
            level = self.keys[first:end]
            index = np.minimum(np.searchsorted(level, wanted), max(len(level) - 1, 0))
            hit = level[index] == wanted if len(level) else np.zeros(len(wanted), dtype=bool)
            places, parents = places[hit], first + index[hit]
            found.append((places, np.full(len(places), length), parents))
        positions, lengths, nodes = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.lexsort((lengths, positions))
        return Occurrences(positions[order], lengths[order], nodes[order])

    def save(self, folder: Path) -> None:
        """Write the index into an existing folder."""
        (folder / _VOCABULARY).write_bytes("\n".join(self.vocabulary).encode("utf-8"))
        for name in _array_names():
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> PhraseIndex:
        """Open an index; its arrays stay on disk and are read where they are needed.

        Raises:
            DataError: The folder holds no whole index.
        """
        try:
            words = (folder / _VOCABULARY).read_bytes().decode("utf-8").split("\n")
            arrays = {n: np.load(folder / f"{n}.npy", mmap_mode="r") for n in _array_names()}
        except (EOFError, OSError, ValueError) as error:
            raise DataError(f"{folder}: not a whole paraphrase index ({error})") from error
        return cls(vocabulary={word: number for number, word in enumerate(words)}, **arrays)


def _array_names() -> list[str]:
    return [field.name for field in fields(PhraseIndex) if field.name != "vocabulary"]
