"""Which phrases of sentence pairs paraphrase each other, found for many pairs at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.meteor.phrase_index import Integers, Occurrences, PhraseIndex

__all__ = ["PhraseMatch", "find_paraphrases"]

PhraseMatch: TypeAlias = "tuple[int, int, int, int]"
"""(reference start, hypothesis start, hypothesis length, reference length)."""

Tokens: TypeAlias = "Sequence[str]"


@dataclass(frozen=True)
class _Side:
    """One side of all pairs: the phrases in it, and the place of each token."""

    starts: Integers
    """Of each segment, its first token, counted through the text."""
    segments: Integers
    """Of each token, its segment."""
    occurrences: Occurrences

    @classmethod
    def read(cls, index: PhraseIndex, texts: Sequence[Tokens]) -> _Side:
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        ends = np.cumsum(sizes)
        words = index.word_ids(chain.from_iterable(texts))
        return cls(
            starts=ends - sizes,
            segments=np.repeat(np.arange(len(texts)), sizes),
            occurrences=index.find(words, np.repeat(ends, sizes)),
        )

    def places(self, chosen: Integers) -> tuple[Integers, Integers]:
        """Segments of some occurrences, and their first tokens counted in these segments."""
        positions = self.occurrences.positions[chosen]
        segments = self.segments[positions]
        return segments, positions - self.starts[segments]


def find_paraphrases(
    index: PhraseIndex, hypotheses: Sequence[Tokens], references: Sequence[Tokens]
) -> list[list[PhraseMatch]]:
    """The paraphrases in each pair, in the order in which Meteor 1.5 finds them.

    First come the table's phrases in the reference, from left to right and short before long, with
    each paraphrase (in the table's order) and each of its places in the hypothesis; then, in the
    same way, the phrases in the hypothesis with their paraphrases in the reference.

    Args:
        index: The paraphrase table.
        hypotheses: Token lists.
        references: As many token lists.
    """
    hyp, ref = _Side.read(index, hypotheses), _Side.read(index, references)
    found: list[list[PhraseMatch]] = [[] for _ in hypotheses]
    in_reference, in_hypothesis = _pair(index, ref, hyp)
    _collect(found, hyp, ref, in_hypothesis, in_reference)
    in_hypothesis, in_reference = _pair(index, hyp, ref)
    _collect(found, hyp, ref, in_hypothesis, in_reference)
    return found


def _collect(
    found: list[list[PhraseMatch]], hyp: _Side, ref: _Side, in_hyp: Integers, in_ref: Integers
) -> None:
    segments, starts = hyp.places(in_hyp)
    _, reference_starts = ref.places(in_ref)
    columns = (
        reference_starts,
        starts,
        hyp.occurrences.lengths[in_hyp],
        ref.occurrences.lengths[in_ref],
    )
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for segment, row in zip(segments.tolist(), rows, strict=True):
        found[segment].append(row)


def _pair(index: PhraseIndex, left: _Side, right: _Side) -> tuple[Integers, Integers]:
    """The occurrences on the left whose paraphrases occur on the right, and these beside them."""
    rank = np.searchsorted(index.sources, left.occurrences.nodes)
    rank = np.minimum(rank, len(index.sources) - 1)
    sources = np.flatnonzero(index.sources[rank] == left.occurrences.nodes)
    offsets, targets = _present_targets(index, rank[sources], right.occurrences.nodes)
    sources, wanted = _expand(sources, offsets, targets)

    # A phrase and its segment as one number, so that one search answers "where in this segment".
    width = len(index.keys) + 1
    keys = right.segments[right.occurrences.positions] * width + right.occurrences.nodes
    order = np.argsort(keys, kind="stable")
    queries = left.segments[left.occurrences.positions[sources]] * width + wanted
    first = np.searchsorted(keys[order], queries, side="left")
    end = np.searchsorted(keys[order], queries, side="right")
    return _expand(sources, (first, end), order)


def _present_targets(
    index: PhraseIndex, ranks: Integers, present: Integers
) -> tuple[tuple[Integers, Integers], NDArray[np.int64]]:
    """The paraphrases of some sources, without those that occur nowhere on the other side.

    Returns:
        Of each source the first and the end of its paraphrases, in the array that follows.
    """
    unique, inverse = np.unique(ranks, return_inverse=True)
    bounds = index.offsets[unique].astype(np.int64), index.offsets[unique + 1].astype(np.int64)
    owners, targets = _expand(np.arange(len(unique)), bounds, index.targets)
    occurs = np.zeros(len(index.keys), dtype=bool)
    occurs[present] = True
    kept = occurs[targets]
    ends = np.cumsum(np.bincount(owners[kept], minlength=len(unique)))
    starts = np.append(0, ends)[:-1]
    return (starts[inverse], ends[inverse]), targets[kept].astype(np.int64)


def _expand(
    items: Integers, bounds: tuple[Integers, Integers], values: NDArray[np.int64 | np.int32]
) -> tuple[Integers, Integers]:
    """Each item beside each of its values, which are ``values[first:end]``."""
    first, end = bounds
    counts = end - first
    total = int(counts.sum())
    within = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(items, counts), values[np.repeat(first, counts) + within]
