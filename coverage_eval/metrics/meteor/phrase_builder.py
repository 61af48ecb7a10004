"""From Meteor's paraphrase table to its index."""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from operator import ne
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor.phrase_index import PhraseIndex

__all__ = ["BLOCK", "build_index", "read_table"]

BLOCK = 1 << 22
"""Bytes of the table that are read at once."""

PhrasePairs = tuple[list[bytes], list[bytes]]
"""Phrases, and beside them their paraphrases; words are separated by single spaces."""


def read_table(path: Path) -> Iterator[PhrasePairs]:
    """Stream the table's phrase pairs in blocks, in the order of the file.

    Args:
        path: Gzip file of line triples: probability, phrase, paraphrase.

    Raises:
        DataError: The file is damaged.
    """
    rest = b""
    try:
        with gzip.open(path, "rb") as file:
            while block := file.read(BLOCK):
                lines = (rest + block).split(b"\n")
                whole = (len(lines) - 1) // 3 * 3
                rest = b"\n".join(lines[whole:])
                yield lines[1:whole:3], lines[2:whole:3]
    except (EOFError, OSError, zlib.error) as error:
        raise DataError(f"{path}: damaged paraphrase table ({error})") from error
    if rest.strip():
        raise DataError(f"{path}: damaged paraphrase table (ends within an entry)")


@dataclass
class _Phrases:
    """Phrases as word numbers, one after the other; gathered block by block to save memory."""

    words: list[NDArray[np.int32]] = field(default_factory=list)
    lengths: list[NDArray[np.int8]] = field(default_factory=list)

    def add(self, phrases: list[bytes], number: Callable[[bytes], int]) -> None:
        """Append phrases; ``number`` gives the number of a word."""
        if phrases:
            words = b" ".join(phrases).split(b" ")
            spaces = map(bytes.count, phrases, repeat(b" "))
            self.words.append(np.fromiter(map(number, words), np.int32, len(words)))
            self.lengths.append(np.fromiter(spaces, np.int8, len(phrases)) + np.int8(1))


def build_index(pairs: Iterable[PhrasePairs]) -> PhraseIndex:
    """Index phrase pairs.

    Args:
        pairs: Blocks of pairs, for example of :func:`read_table`.
    """
    vocabulary: defaultdict[bytes, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    sources, targets = _Phrases(), _Phrases()
    runs: list[NDArray[np.int64]] = []
    for block_sources, block_targets in pairs:
        # A source's pairs follow each other in the table: it need be looked at only once a run.
        first = _run_starts(block_sources)
        runs.append(np.diff(first, append=len(block_sources)))
        sources.add([block_sources[place] for place in first], vocabulary.__getitem__)
        targets.add(block_targets, vocabulary.__getitem__)
    copies = np.concatenate([np.zeros(0, np.int64), *runs])
    keys, levels, nodes = _build_tree(_join(sources, targets), len(vocabulary))
    source_nodes = np.repeat(nodes[: len(copies)], copies)
    grouped = np.argsort(source_nodes, kind="stable")
    unique, first = np.unique(source_nodes[grouped], return_index=True)
    return PhraseIndex(
        vocabulary={word.decode("utf-8"): index for word, index in vocabulary.items()},
        keys=keys,
        levels=levels,
        sources=unique,
        offsets=np.append(first, len(source_nodes)).astype(np.int32),
        targets=nodes[len(copies) :][grouped],
    )


def _run_starts(items: list[bytes]) -> NDArray[np.int64]:
    """Where an item differs from the one before it; the first one does."""
    changes = np.fromiter(map(ne, items, items[1:]), dtype=bool, count=max(len(items) - 1, 0))
    return np.flatnonzero(np.concatenate([[True] * (len(items) > 0), changes]))


def _join(sources: _Phrases, targets: _Phrases) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
    """All phrases in two arrays, words and lengths; letting go of the parts halves memory."""
    words = np.concatenate([np.zeros(0, np.int32), *sources.words, *targets.words])
    lengths = np.concatenate([np.zeros(0, np.int8), *sources.lengths, *targets.lengths])
    for part in (sources, targets):
        part.words.clear()
        part.lengths.clear()
    return words, lengths


def _build_tree(
    phrases: tuple[NDArray[np.int32], NDArray[np.int8]], vocabulary_size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Number all phrases and their beginnings: (node keys, level starts, node of each phrase)."""
    words, lengths = phrases
    starts = np.cumsum(lengths, dtype=np.int32) - lengths
    nodes = np.zeros(len(lengths), np.int32)
    levels = [0]
    keys = [np.zeros(0, np.int64)]
    for depth in range(int(lengths.max(initial=1))):
        alive = np.flatnonzero(lengths > depth).astype(np.int32)
        wanted = nodes[alive] * np.int64(vocabulary_size) + words[starts[alive] + depth]
        order = np.argsort(wanted)
        wanted = wanted[order]
        is_first = np.ones(len(wanted), dtype=bool)
        np.not_equal(wanted[1:], wanted[:-1], out=is_first[1:])
        nodes[alive[order]] = np.cumsum(is_first, dtype=np.int32) + np.int32(levels[-1] - 1)
        keys.append(wanted[is_first])
        levels.append(levels[-1] + len(keys[-1]))
    return np.concatenate(keys), np.array(levels, np.int64), nodes
