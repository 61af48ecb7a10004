"""The most probable way of a document's words through the segments of its source.

A hidden Markov model over the source's segments emits the output's words in order. Beside each
segment there is a state for words that belong to no segment. Moving on is free at a sentence's end
and costs elsewhere; leaving out segments costs, and so does going back, up to a few segments. The
path is Viterbi's; probabilities come from the forward–backward algorithm.

Time and memory are linear in the number of words: in long documents, words that occur seldom and
have one likely segment are anchors, and each word is only looked for near its anchors.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coverage_eval.alignment.output_words import Boundary, Integers
from coverage_eval.arrays import Floats

Flags = NDArray[np.bool_]

NOWHERE = -1
"""The segment of words that belong to none."""


@dataclass(frozen=True)
class Costs:
    """Costs of transitions, as negative natural logarithms; lists are by ``Boundary``.

    Attributes:
        move: Going to another segment.
        stay: Staying in a segment.
        skip_first: Leaving out any segments; added to ``skip`` for each of them.
        skip: Leaving out a segment.
        back: Going back; added to ``back_each`` for each segment.
        back_each: Going back by a segment.
        window: The most segments to go back by.
        enter: Beginning a piece that belongs to no segment.
        leave: Ending it.
        roomy: The share of ``stay`` in a segment that has several sentences itself.
        in_line: Added to ``move`` at a sentence's end inside a line if the output has as many lines
            as the source; less in proportion if it has fewer.
    """

    move: tuple[float, ...] = (6.0, 3.0, 1.0, 0.0, 0.0, 0.0)
    stay: tuple[float, ...] = (0.0, 0.0, 1.5, 1.5, 3.0, 4.0)
    skip_first: float = 1.0
    skip: float = 3.0
    back: float = 2.0
    back_each: float = 1.0
    window: int = 8
    enter: tuple[float, ...] = (12.0, 9.0, 9.0, 6.0, 5.0, 4.0)
    leave: tuple[float, ...] = (6.0, 3.0, 1.0, 0.0, 0.0, 0.0)
    roomy: float = 0.3
    in_line: float = 2.0

    def for_lines(self, lines: int, segments: int) -> Costs:
        """The costs for an output of some lines, whose source has some segments."""
        move = list(self.move)
        move[Boundary.SENTENCE] += self.in_line * min(1.0, lines / segments)
        return replace(self, move=tuple(move))


COSTS = Costs()

MAX_SKIP = 40.0
"""The highest cost of leaving out segments: also a long passage can be missing."""

WHOLE = 256
"""Documents of at most this number of segments are searched without anchors."""

CHUNK = 256
"""Words that are looked for in the same range of segments."""

MARGIN = 32
"""Segments before and after its anchors in which a word is looked for."""

MAX_RANGE = 1500
"""The most segments in which a word is looked for."""


@dataclass(frozen=True)
class Evidence:
    """What is known about a document before its words are put in order.

    Attributes:
        ratios: log p(type | segment) / p(type) of each type of word and each segment, minus
            ``base``; sparse ``[types, segments]``.
        base: The logarithm of that ratio for a type that no word of a segment translates to.
        types: The type of each word, ``[words]``.
        weights: The weight of each word's ratio, 0 for markup, ``[words]``.
        boundaries: What stands before each word, ``[words]``.
        counts: Whether leaving out a segment costs; not if it has no words, ``[segments]``.
        roomy: Whether a segment has several sentences, ``[segments]``.
    """

    ratios: sparse.csc_matrix
    base: float
    types: Integers
    weights: Floats
    boundaries: Integers
    counts: Flags
    roomy: Flags

    def block(self, first: int, last: int, low: int, high: int) -> Floats:
        """The ratios of some words and the states ``low`` to ``high``, state 0 for no segment."""
        columns = self.ratios[:, max(0, low - 1) : high - 1].tocsr()
        found = columns[self.types[first:last]].toarray() + self.base
        found *= self.weights[first:last, None]
        if low == 0:
            found = np.hstack([np.full((last - first, 1), -1e9), found])
        return np.asarray(found, float)


@dataclass(frozen=True)
class Path:
    """Where the words are.

    Attributes:
        segments: The segment of each word, from 0, or :data:`NOWHERE`, ``[words]``.
        probabilities: The probability of that, ``[words]``; 0 if what precedes and what follows
            exclude each other.
        visited: The probability that a segment has words, ``[segments]``.
        score: The logarithm of the path's probability, against words at random.
    """

    segments: Integers
    probabilities: Floats
    visited: Floats
    score: float


def find_path(evidence: Evidence, costs: Costs = COSTS) -> Path:
    """Find the segment of each word.

    Args:
        evidence: The document, with at least one word and one segment.
        costs: Costs of transitions.
    """
    chunks = [_Chunk(*where, evidence, costs) for where in _ranges(evidence)]
    words, states = len(evidence.types), len(evidence.counts) + 1
    # Viterbi (maxima) and the forward algorithm (sums), side by side.
    best = np.full(states, -np.inf)
    best[0] = 0.0
    lost = np.full(states, -np.inf)
    alpha = (best == 0).astype(float)
    nu = np.zeros(states)
    for chunk in chunks:
        chunk.go_forward(best, lost, alpha, nu)
    final = _final_costs(evidence.counts, costs)
    ends = np.stack([best - final, lost - final])
    score = float(ends.max())
    nowhere, state = divmod(int(ends.argmax()), states)
    path = np.zeros(words, np.int64)
    probabilities = np.zeros(words)
    visited = np.zeros(states)
    beta, omega = np.exp(-final), np.exp(-final)
    for chunk in reversed(chunks):
        state, nowhere = chunk.trace(path, state, bool(nowhere))
        chunk.go_backward(beta, omega, path, probabilities, visited)
    return Path(path, probabilities, np.clip(visited[1:], 0.0, 1.0), score)


def _final_costs(counts: Flags, costs: Costs) -> Floats:
    """The cost of ending in each state: the segments behind it are left out."""
    behind = np.concatenate([np.cumsum(counts[::-1])[::-1], [0]])
    return _skip_costs(behind, costs)


def _skip_costs(skipped: Integers, costs: Costs) -> Floats:
    found = costs.skip_first + costs.skip * skipped
    return np.asarray(np.where(skipped > 0, np.minimum(found, MAX_SKIP), 0.0), float)


class _Chunk:
    """Some words, in one range of states; transitions and tables of both algorithms."""

    def __init__(
        self, first: int, last: int, low: int, high: int, evidence: Evidence, costs: Costs
    ) -> None:
        self.first, self.last, self.low, self.high = first, last, low, high
        self.evidence, self.costs = evidence, costs
        self.boundaries = evidence.boundaries[first:last].tolist()

    def _moves(self) -> Floats:
        """Logarithms of transitions without the cost of moving, ``[to, from]``."""
        costs = self.costs
        states = np.arange(self.low, self.high)
        before = np.concatenate([[0, 0], np.cumsum(self.evidence.counts)])
        skipped = before[states][:, None] - before[states + 1][None, :]
        steps = states[:, None] - states[None, :]
        back = np.where(steps >= -costs.window, costs.back - costs.back_each * steps, np.inf)
        found = -np.where(steps > 0, _skip_costs(np.maximum(skipped, 0), costs), back)
        np.fill_diagonal(found, -np.inf)
        if self.low == 0:
            found[0] = -np.inf
        return np.asarray(found, float)

    def _stays(self) -> Floats:
        """Logarithms of staying, ``[boundaries, states]``."""
        share = np.ones(self.high - self.low)
        roomy = np.concatenate([[False], self.evidence.roomy])[self.low : self.high]
        share[roomy] = self.costs.roomy
        return -np.outer(self.costs.stay, share)

    def _emissions(self) -> tuple[Floats, Floats, Floats]:
        """Logarithms of ratios; the ratios, scaled so that none is above 1; no segment's ratio."""
        ratios = self.evidence.block(self.first, self.last, self.low, self.high)
        top = np.maximum(ratios.max(1), 0.0)
        return ratios, np.exp(ratios - top[:, None]), np.exp(-top)

    def go_forward(self, best: Floats, lost: Floats, alpha: Floats, nu: Floats) -> None:
        """Go on with the words of this chunk; the arrays of all states are changed in place."""
        low, high, costs = self.low, self.high, self.costs
        words, width = self.last - self.first, high - low
        moves, stays = self._moves(), self._stays()
        chances, held = np.exp(moves.T), np.exp(stays)
        ratios, emitted, free = self._emissions()
        left, moved, lost_at = (
            np.exp(-np.array(x)) for x in (costs.leave, costs.move, costs.enter)
        )
        kind = np.uint16 if width < 1 << 16 else np.uint32
        self.came_from = np.empty((words, width), kind)
        self.was_lost = np.empty((words, width), bool)
        self.got_lost = np.empty((words, width), bool)
        self.alpha = np.empty((words + 1, width), np.float32)
        self.nu = np.empty((words + 1, width), np.float32)
        top, out, a, n = (one[low:high].copy() for one in (best, lost, alpha, nu))
        states = np.arange(width)
        if not (a.any() or n.any()):
            a[:] = 1.0  # the words before are nowhere near
        scale = a.sum() + n.sum()
        a, n = a / scale, n / scale
        self.alpha[0], self.nu[0] = a, n
        for j, kind_of in enumerate(self.boundaries):
            back = out - costs.leave[kind_of]
            self.was_lost[j] = back > top
            entered = top - costs.enter[kind_of]
            self.got_lost[j] = entered > out
            top = np.maximum(top, back)
            ways = moves + (top - costs.move[kind_of])
            ways[states, states] = top + stays[kind_of]
            out = np.maximum(entered, out)
            chosen = ways.argmax(1)
            self.came_from[j] = chosen
            top = ways[states, chosen] + ratios[j]

            together = a + n * left[kind_of]
            reached = (together @ chances) * moved[kind_of] + together * held[kind_of]
            n = (n + a * lost_at[kind_of]) * free[j]
            a = reached * emitted[j]
            scale = a.sum() + n.sum()
            a /= scale
            n /= scale
            self.alpha[j + 1], self.nu[j + 1] = a, n
        for whole, part, none in (
            (best, top, -np.inf),
            (lost, out, -np.inf),
            (alpha, a, 0.0),
            (nu, n, 0.0),
        ):
            whole[:] = none
            whole[low:high] = part

    def trace(self, path: Integers, state: int, nowhere: bool) -> tuple[int, bool]:
        """Follow the best path back; returns the state before this chunk."""
        at = state - self.low
        for j in range(self.last - self.first - 1, -1, -1):
            path[self.first + j] = NOWHERE if nowhere else at + self.low - 1
            if nowhere:
                nowhere = not self.got_lost[j, at]
            else:
                at = int(self.came_from[j, at])
                nowhere = bool(self.was_lost[j, at])
        return at + self.low, nowhere

    def go_backward(
        self, beta: Floats, omega: Floats, path: Integers, probabilities: Floats, visited: Floats
    ) -> None:
        """The backward algorithm, and the probabilities of the path that was found."""
        low, high, costs = self.low, self.high, self.costs
        chances, held = np.exp(self._moves()).T.copy(), np.exp(self._stays())
        _, emitted, free = self._emissions()
        left, moved, lost_at = (
            np.exp(-np.array(x)) for x in (costs.leave, costs.move, costs.enter)
        )
        b, o = beta[low:high].copy(), omega[low:high].copy()
        for j in range(self.last - self.first - 1, -1, -1):
            kind_of = self.boundaries[j]
            inside, outside = self.alpha[j + 1] * b, float(self.nu[j + 1] @ o)
            total = inside.sum() + outside
            place = path[self.first + j]
            found = outside if place == NOWHERE else inside[place + 1 - low]
            ahead = emitted[j] * b
            leave = left[kind_of]
            staying = held[kind_of] * ahead
            after = chances @ ahead * moved[kind_of] + staying
            b = after + lost_at[kind_of] * free[j] * o
            o = leave * after + free[j] * o
            # A segment is visited as often as it is entered: its words, minus those that stay.
            before = self.alpha[j], self.nu[j]
            mass = float(before[0] @ b + before[1] @ o)
            if total and mass:  # else what precedes and what follows exclude each other: unsure
                probabilities[self.first + j] = min(1.0, found / total)
                visited[low:high] += inside / total
                visited[low:high] -= (before[0] + leave * before[1]) * staying / mass
            scale = max(b.max(), o.max())
            b /= scale
            o /= scale
        for whole, part in ((beta, b), (omega, o)):
            whole[:] = 0.0
            whole[low:high] = part


def _ranges(evidence: Evidence) -> Iterator[tuple[int, int, int, int]]:
    """Ranges of words, and of the states that each of them may be in: first, last, low, high."""
    words, segments = len(evidence.types), len(evidence.counts)
    places = [] if segments <= WHOLE else _anchors(evidence)
    at = [word for word, _ in places]
    for first in range(0, words, CHUNK):
        last = min(words, first + CHUNK)
        if segments <= WHOLE:
            yield first, last, 0, segments + 1
            continue
        before = (
            places[max(0, bisect_right(at, first) - 3)][1] if bisect_right(at, first) > 3 else 0
        )
        following = bisect_right(at, last) + 2
        after = places[following][1] if following < len(places) else segments
        low, high = max(0, before - MARGIN), min(segments + 1, after + MARGIN)
        if high - low > MAX_RANGE:  # too few anchors: near the diagonal
            middle = round((first + last) / 2 / words * segments)
            low = max(low, min(middle - MAX_RANGE // 2, high - MAX_RANGE))
            high = min(high, low + MAX_RANGE)
        yield first, last, low, high


def _anchors(evidence: Evidence, rare: int = 16, least: float = 3.0) -> list[tuple[int, int]]:
    """Pairs of a word and its segment, both ascending: the chain of the greatest weight."""
    ratios = evidence.ratios.tocsr()
    frequencies = np.bincount(evidence.types, minlength=ratios.shape[0])
    tree: dict[int, tuple[float, int]] = {}  # a Fenwick tree of maxima over segments
    segments = ratios.shape[1]
    points: list[tuple[int, int, int]] = []
    for word, kind in enumerate(evidence.types.tolist()):
        if frequencies[kind] > rare or not evidence.weights[word]:
            continue
        here = slice(ratios.indptr[kind], ratios.indptr[kind + 1])
        likely = [
            (segment, value)
            for segment, value in zip(
                ratios.indices[here].tolist(), ratios.data[here].tolist(), strict=True
            )
            if value > least
        ]
        if not 0 < len(likely) <= rare:
            continue
        added = []
        for segment, value in likely:
            weight, previous = 0.0, -1
            node = segment + 1
            while node:
                weight, previous = max((weight, previous), tree.get(node, (0.0, -1)))
                node -= node & -node
            added.append((segment, weight + value))
            points.append((word, segment, previous))
        for offset, (segment, weight) in enumerate(added):
            entry = (weight, len(points) - len(added) + offset)
            node = segment + 1
            while node <= segments:
                if tree.get(node, (0.0, -1)) < entry:
                    tree[node] = entry
                node += node & -node
    found: list[tuple[int, int]] = []
    top, node = (0.0, -1), segments
    while node:
        top = max(top, tree.get(node, (0.0, -1)))
        node -= node & -node
    point = top[1]
    while point >= 0:
        word, segment, point = points[point]
        found.append((word, segment))
    return found[::-1]
