"""The most probable way of a document's words through the segments of its source.

A hidden semi-Markov model over the source's segments emits the output piece by piece. A piece says
a segment: by its words, or freely, so that only its length speaks for it; or it belongs to none.
Beginning a piece is free at a sentence's end and costs elsewhere; leaving out segments costs, and
so do going back and a length that the segment does not suggest. The path is Viterbi's.

Time and memory are linear in the number of words: in long documents, words that occur seldom and
have one likely segment are anchors, and each word is only looked for near its anchors.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.metric import Floats
from coverage_eval.documents.evidence import Evidence, Singles
from coverage_eval.documents.words import Boundary, Integers

NOWHERE = -1
"""The segment of words that belong to none."""


class Run(NamedTuple):
    """A piece: its first word, the one after its last, and its segment or :data:`NOWHERE`."""

    first: int
    last: int
    segment: int


@dataclass(frozen=True)
class Costs:
    """Costs of a path, as negative natural logarithms; lists are by ``Boundary``.

    Attributes:
        move: Beginning a piece on another segment.
        stay: Going on with a segment.
        roomy: The share of ``stay`` in a segment that has several sentences itself.
        in_line: Added to ``move`` at a sentence's end inside a line if the output has as many lines
            as the source; less in proportion if it has fewer.
        skip_first: Leaving out any segments before others; added to ``skip`` for each of them.
        skip: Leaving out a segment.
        most: The most that leaving out segments costs: also a long passage can be missing.
        back: Going back; added to ``back_each`` for each segment.
        back_each: Going back by a segment.
        again: Beginning a second piece on the same segment.
        enter: Beginning a piece that belongs to no segment.
        leave: Ending it.
        free: Translating a segment freely, so that its words say nothing, only their number.
        spread: How far the logarithm of a piece's length is from its segment's, as a standard
            deviation.
        length: The most that a piece's length costs.
    """

    move: tuple[float, ...] = (6.0, 3.0, 1.0, 0.0, 0.0, 0.0)
    stay: tuple[float, ...] = (0.0, 0.0, 1.5, 1.5, 3.0, 4.0)
    roomy: float = 0.3
    in_line: float = 2.0
    skip_first: float = 1.0
    skip: float = 3.0
    most: float = 40.0
    back: float = 2.0
    back_each: float = 1.0
    again: float = 2.0
    enter: tuple[float, ...] = (12.0, 9.0, 9.0, 6.0, 5.0, 4.0)
    leave: tuple[float, ...] = (6.0, 3.0, 1.0, 0.0, 0.0, 0.0)
    free: float = 8.0
    spread: float = 0.4
    length: float = 8.0

    def for_lines(self, lines: int, segments: int) -> Costs:
        """The costs for an output of some lines, whose source has some segments."""
        move = list(self.move)
        move[Boundary.SENTENCE] += self.in_line * min(1.0, lines / segments)
        return replace(self, move=tuple(move))

    def of_lengths(self, lengths: Integers, expected: Floats) -> Floats:
        """The costs of pieces of these lengths, where others are expected."""
        away = (np.log(lengths + 2) - np.log(expected + 2)) / self.spread
        return np.asarray(np.minimum(self.length, away**2 / 2), np.float64)


COSTS = Costs()

WHOLE = 256
"""Documents of at most this number of segments are searched without anchors."""

CHUNK = 256
"""Words that are looked for in the same range of segments."""

LONGEST = 2**15
"""Words of a piece that two bytes can count."""

MARGIN = 16
"""Segments before and after its anchors in which a word is looked for."""

NEAR = 3
"""How many anchors before and after a word's own place bound its range: single ones may err."""

RARE, LIKELY = 16, 3.0
"""An anchor comes so often in the output, and is likely in so many segments, at most; and the least
logarithm of its ratio there."""

MAX_CELLS = 30_000_000
"""The most pairs of a word and a segment; in documents that repeat themselves, so that they have
few anchors, the search keeps near the straight line between those."""


def find_path(evidence: Evidence, costs: Costs = COSTS) -> list[Run]:
    """Find the pieces of a document, which has at least one word and one segment."""
    chunks: list[_Chunk] = []
    for where in _ranges(evidence):
        chunks.append(_Chunk(*where, evidence, costs, chunks[-1] if chunks else None))
    counted = evidence.lengths > 0
    behind = np.concatenate([np.cumsum(counted[::-1])[::-1], [0]])
    last = chunks[-1]
    lost = _skip_costs(behind[last.low : last.high], costs)
    state = int((last.ended[-1] - lost).argmax()) + last.low
    path: list[Run] = []
    word = len(evidence.types)
    while word:
        chunk = chunks[(word - 1) // CHUNK]
        size = int(chunk.sizes[word - 1 - chunk.first, state - chunk.low])
        path.append(Run(word - abs(size), word, state - 1 if size > 0 else NOWHERE))
        word -= abs(size)
        if word and size > 0:
            state = chunks[word // CHUNK].state_before(word, state)
    return path[::-1]


def _skip_costs(skipped: Integers | Floats, costs: Costs) -> Floats:
    price = np.minimum(costs.skip_first + costs.skip * skipped, costs.most)
    return np.asarray(np.where(skipped > 0, price, 0.0), np.float64)


class _Chunk:
    """Some words in a range of states; state 0 is before all segments, state n in the n-th.

    Attributes:
        ended: The best score of all words before one if a piece ends there, on a state or, behind
            it, nowhere, above the best one before the chunk, ``[words + 1, states]``.
        sizes: The number of words of the last piece of that path; negative if it belongs to no
            segment, ``[words, states]``.
    """

    ended: Singles
    sizes: NDArray[np.int16] | NDArray[np.int32]
    begun: Singles
    lost: Singles
    since: Integers

    def __init__(
        self,
        first: int,
        last: int,
        low: int,
        high: int,
        evidence: Evidence,
        costs: Costs,
        before: _Chunk | None,
    ) -> None:
        self.first, self.last, self.low, self.high = first, last, low, high
        self.costs = costs
        lengths = np.concatenate([[0.0], evidence.lengths])
        counted = lengths > 0
        counts = np.cumsum(counted)[low:high]
        self.counts = (counts - counts[0]).astype(np.float32)  # no view of all segments' counts
        # The last segment with words before each state: those between are left out for nothing.
        with_words = np.maximum.accumulate(np.where(counted, np.arange(len(counted)), 0))
        self.beside = np.maximum(with_words[np.maximum(np.arange(low, high) - 1, 0)] - low, 0)
        self._search(evidence, lengths[low:high], before)

    def _starts(self, ended: Singles) -> Singles:
        """The best score of beginning a piece on each state, but for the cost of ``move``."""
        costs = self.costs
        best = ended - costs.again
        if self.low == 0:
            best[0] = -np.inf
        ahead = np.maximum.accumulate(ended + costs.skip * self.counts)
        ahead -= costs.skip * self.counts + costs.skip_first
        ahead = np.maximum(ahead, np.maximum.accumulate(ended) - costs.most)
        np.maximum(best[1:], np.maximum(ahead, ended)[:-1], out=best[1:])
        np.maximum(best[1:], ended[self.beside[1:]], out=best[1:])
        steps = costs.back_each * np.arange(len(ended), dtype=np.float32)
        behind = np.maximum.accumulate((ended - steps)[::-1])[::-1] - costs.back
        inner = slice(int(self.low == 0), -1)
        np.maximum(best[inner], behind[1:][inner.start :] + steps[inner], out=best[inner])
        return best

    def state_before(self, word: int, state: int) -> int:
        """The state from which the best path comes to a piece that begins at a word."""
        ended = self.ended[word - self.first]
        own, states = state - self.low, np.arange(len(ended))
        skipped = np.maximum(self.counts[max(own - 1, 0)] - self.counts, 0)
        ahead = _skip_costs(skipped, self.costs)
        behind = self.costs.back + self.costs.back_each * (states - own)
        price = np.where(states < own, ahead, behind)
        price[own] = self.costs.again
        return int((ended - price).argmax()) + self.low

    def _before(
        self, before: _Chunk | None, most: int
    ) -> tuple[Singles, Singles, Singles, Integers]:
        """Where the search stands before the first word.

        Returns:
            The scores of beginning a piece at each of the last ``most`` words, and of this chunk's,
            by its words, and freely; the best scores of ending a piece, and of being nowhere, and
            since which word.
        """
        low, width = self.low, self.high - self.low
        begun = np.full((2, most + self.last - self.first, width), -np.inf, np.float32)
        ended = np.full(width, -np.inf, np.float32)
        lost, since = ended.copy(), np.zeros(width, np.int64)
        if before is None:
            ended[0] = 0.0
            return begun, ended, lost, since
        shared = slice(max(low, before.low), min(self.high, before.high))
        here = slice(shared.start - low, shared.stop - low)
        there = slice(shared.start - before.low, shared.stop - before.low)
        kept = min(most, before.begun.shape[1])
        begun[:, most - kept : most, here] = before.begun[:, -kept:, there]
        ended[here], lost[here] = before.ended[-1, there], before.lost[there]
        since[here] = before.since[there]
        del before.begun
        best = ended.max()  # single precision is enough for what is above it
        return begun - best, ended - best, lost - best, since

    def _search(self, evidence: Evidence, expected: Floats, before: _Chunk | None) -> None:
        costs, low, high = self.costs, self.low, self.high
        size, width = self.last - self.first, high - low
        ratios = evidence.block(self.first, self.last, low, high)
        share = np.where(np.append(False, evidence.roomy)[low:high], costs.roomy, 1.0)
        stays = np.outer(costs.stay, share).astype(np.float32)
        most = 3 * int(expected.max()) + 10
        lengths = -costs.of_lengths(np.arange(most, 0, -1)[:, None], expected).astype(np.float32)
        begun, ended, lost, since = self._before(before, most)
        # Longer text that belongs to no segment is several pieces.
        limit = np.iinfo(np.int16 if most < LONGEST else np.int32)
        self.sizes = np.empty((size, width), limit.dtype)
        self.ended = np.empty((size + 1, width), np.float32)
        self.ended[0] = ended
        total = np.zeros(width, np.float32)
        # A document ends like a paragraph.
        kinds = np.append(evidence.boundaries, Boundary.PARAGRAPH)[self.first : self.last + 1]
        states = np.arange(width)
        for word, (kind, following) in enumerate(pairwise(kinds.tolist())):
            start = self._starts(ended) - costs.move[kind]
            row = most + word
            begun[0, row] = start - total + stays[kind]
            begun[1, row] = start - costs.free
            entered = ended - costs.enter[kind]
            since = np.where(entered > lost, self.first + word, since)
            lost = np.maximum(entered, lost)
            total += ratios[word] - stays[kind]
            pieces = begun[:, row - most + 1 : row + 1] + lengths
            chosen = pieces.argmax(1)
            by_words, freely = pieces[0, chosen[0], states] + total, pieces[1, chosen[1], states]
            ended = np.maximum(by_words, freely)
            sizes = most - np.where(freely > by_words, chosen[1], chosen[0])
            left = lost - costs.leave[following]
            outside = np.maximum(since - (self.first + word + 1), limit.min)
            self.sizes[word] = np.where(left > ended, outside, sizes)
            ended = np.maximum(left, ended)
            self.ended[word + 1] = ended
        self.begun = begun[:, -most:]
        self.begun[0] += total
        self.lost, self.since = lost, since


def _ranges(evidence: Evidence) -> list[tuple[int, int, int, int]]:
    """Ranges of words, and of the states that each of them may be in: first, last, low, high.

    A range reaches to the one before it, so that there is a path through all of them.
    """
    words, segments = len(evidence.types), len(evidence.lengths)
    chunks = [(first, min(words, first + CHUNK)) for first in range(0, words, CHUNK)]
    if segments <= WHOLE:
        return [(*chunk, 0, segments + 1) for chunk in chunks]
    anchors = [(0, 0)] * NEAR + _anchors(evidence) + [(words, segments)] * NEAR
    at = [word for word, _ in anchors]
    bounds = []
    for first, last in chunks:
        before = anchors[max(0, bisect_right(at, first) - NEAR)]
        after = anchors[min(len(anchors) - 1, bisect_right(at, last) + NEAR - 1)]
        bounds.append((before, after))
    cells = sum(CHUNK * (after[1] - before[1]) for before, after in bounds)
    widest = segments if cells <= MAX_CELLS else MAX_CELLS // words
    ranges: list[tuple[int, int, int, int]] = []
    reached = 1
    for (first, last), (before, after) in zip(chunks, bounds, strict=True):
        low, high = before[1], after[1]
        if high - low > widest:
            gone = ((first + last) / 2 - before[0]) / max(1, after[0] - before[0])
            middle = round(low + gone * (high - low))
            low, high = max(low, middle - widest // 2), min(high, middle + widest // 2)
        low = min(max(0, low - MARGIN), reached - 1)
        high = max(min(segments + 1, high + MARGIN), low + 1)
        reached = high
        ranges.append((first, last, low, high))
    return ranges


def _anchors(evidence: Evidence) -> list[tuple[int, int]]:
    """Pairs of a word and its segment, both ascending: the chain of the greatest weight."""
    ratios = evidence.ratios.tocsr()
    frequencies = np.bincount(evidence.types, minlength=ratios.shape[0])
    points: list[tuple[int, int, int]] = []  # word, segment, and the point before it or -1
    # The best chains so far: the segment of each one's end, its weight and its last point. A chain
    # that is no better than one that ends earlier is left out, so all three ascend.
    ends: list[int] = []
    chains: list[tuple[float, int]] = []
    for word, kind in enumerate(evidence.types.tolist()):
        if frequencies[kind] > RARE or not evidence.weights[word]:
            continue
        row = slice(ratios.indptr[kind], ratios.indptr[kind + 1])
        segments, values = ratios.indices[row].tolist(), ratios.data[row].tolist()
        likely = [pair for pair in zip(segments, values, strict=True) if pair[1] > LIKELY]
        if not 0 < len(likely) <= RARE:
            continue
        added = []
        for segment, value in likely:
            position = bisect_right(ends, segment)
            weight, previous = chains[position - 1] if position else (0.0, -1)
            added.append((segment, (weight + value, len(points))))
            points.append((word, segment, previous))
        for segment, chain in added:
            position = bisect_right(ends, segment)
            if position and chains[position - 1] > chain:
                continue
            replaced = slice(bisect_left(ends, segment), bisect_left(chains, chain))
            ends[replaced], chains[replaced] = [segment], [chain]
    path: list[tuple[int, int]] = []
    point = chains[-1][1] if chains else -1
    while point >= 0:
        word, segment, point = points[point]
        path.append((word, segment))
    return path[::-1]
