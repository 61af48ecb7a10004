"""How probable each word of an output is in each segment, and the most probable way through them.

The probabilities come from a model's table, or from the likeness of words. A hidden semi-Markov
model over the source's segments emits the output piece by piece. A piece says a segment: by its
words, or freely, so that only its length speaks for it; or it belongs to none. Beginning a piece is
free at a sentence's end and costs elsewhere; leaving out segments costs, and so do going back and a
length that the segment does not suggest. The path is Viterbi's.

Time and memory are linear in the number of words: in long documents, words that occur seldom and
have one likely segment are anchors, and each word is only looked for near its anchors.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coverage_eval.core.metric import Floats
from coverage_eval.documents.words import Boundary, Flags, Integers, OutputWords, SourceWords

Singles = NDArray[np.float32]

SHARE = 0.7
"""The share of a segment's words that its source words explain; any word may stand for the rest."""

FEW = 3
"""A document of so many lines more than one counts as much as what is usual elsewhere."""

USUAL = 1e-3
"""The usual probability of all words, without a model."""

SAME = 0.5
"""p(t | s) of equal strings with a digit, or that the model does not know, such as names."""

COPIED = 0.1
"""The same of a source word that the model knows, and not as a word of the target language."""

SIMILAR, STEM = 0.2, 5
"""The same of words that begin with the same letters, and how many; between references only."""

MIN_FREQUENCY = 1e-4
"""The least usual probability of a word."""


class WordTable:
    """p(t | s) of a model's words.

    Args:
        rows: Source word, target word and the natural logarithm of the probability.
    """

    def __init__(self, rows: Iterable[tuple[str, str, float]]) -> None:
        self.sources: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        given, made, values = [], [], []
        for source, target, value in rows:
            given.append(self.sources.setdefault(source, len(self.sources)))
            made.append(self.targets.setdefault(target, len(self.targets)))
            values.append(value)
        chances = np.exp(np.array(values, np.float64)).astype(np.float32)
        # Words that the model does not know are its last, number -1.
        shape = (len(self.sources) + 1, len(self.targets) + 1)
        self.matrix = sparse.csr_matrix((chances, (given, made)), shape=shape)
        self.means = np.asarray(self.matrix[:-1].mean(axis=0)).ravel()

    def between(self, sources: Sequence[str], targets: Sequence[str]) -> sparse.csr_matrix:
        """The probabilities of distinct words, ``[sources, targets]``.

        Names and numbers are often the same on both sides: a string that the model does not know,
        or that has a digit, may stand for itself.
        """
        rows = [self.sources.get(word, -1) for word in sources]
        columns = [self.targets.get(word, -1) for word in targets]
        chances = self.matrix[rows][:, columns]
        equal = _equal_words(sources, targets)
        cells = {(i, j): COPIED for i, j in equal if columns[j] < 0}
        for i, j in equal:
            if rows[i] < 0 or any(map(str.isdigit, targets[j])):
                cells[i, j] = SAME
        return chances.maximum(_matrix(cells, chances.shape))

    def frequencies(self, targets: Sequence[str]) -> Floats:
        """The mean probability of target words over all source words that the model knows."""
        return np.maximum(self.means[[self.targets.get(t, -1) for t in targets]], MIN_FREQUENCY)


def similar_words(sources: Sequence[str], targets: Sequence[str]) -> sparse.csr_matrix:
    """In place of probabilities, how similar distinct words of one language are."""
    stems: dict[str, list[int]] = {}
    for number, word in enumerate(sources):
        stems.setdefault(word[:STEM], []).append(number)
    cells = {(i, j): SIMILAR for j, word in enumerate(targets) for i in stems.get(word[:STEM], ())}
    cells |= dict.fromkeys(_equal_words(sources, targets), 1.0)
    return _matrix(cells, (len(sources), len(targets)))


def _equal_words(sources: Sequence[str], targets: Sequence[str]) -> list[tuple[int, int]]:
    """The numbers of words that are on both sides."""
    numbers = {word: number for number, word in enumerate(sources)}
    return [(numbers[word], number) for number, word in enumerate(targets) if word in numbers]


def _matrix(cells: dict[tuple[int, int], float], shape: tuple[int, int]) -> sparse.csr_matrix:
    values, places = np.fromiter(cells.values(), np.float32), np.array([*cells], np.int64)
    return sparse.csr_matrix((values, places.reshape(-1, 2).T), shape=shape)


@dataclass(frozen=True)
class Evidence:
    """How probable each word of an output is in each segment.

    Attributes:
        ratios: log p(type | segment) / p(type) of each type of word and each segment, minus
            ``base``; sparse ``[types, segments]``.
        base: The logarithm of that ratio for a type that no word of a segment translates to.
        types: The type of each word, ``[words]``.
        weights: The weight of each word's ratio, 0 for markup, ``[words]``, single precision.
        boundaries: What stands before each word, ``[words]``.
        lengths: Number of words that each segment's translation is expected to have; 0 if it has
            no words, so that leaving it out costs nothing, ``[segments]``.
        roomy: Whether a segment has several sentences, ``[segments]``.
    """

    ratios: sparse.csc_matrix
    base: float
    types: Integers
    weights: Singles
    boundaries: Integers
    lengths: Floats
    roomy: Flags

    @classmethod
    def of(
        cls, source: SourceWords, words: OutputWords, table: WordTable | None, per_word: float
    ) -> Evidence:
        """The evidence of each word for each line.

        A word's probability in general is half its frequency in this output, half its mean
        probability in all lines. In a document of few different lines, that is hardly its
        probability elsewhere, so there its usual probability counts, as much as :data:`FEW` lines.

        Args:
            source: The source, or a reference.
            words: The output.
            table: The model's table; without it, similar words count.
            per_word: Number of output words that a source word has on average.
        """
        distinct = list(words.types)
        if table is None:
            chances, usual = similar_words(source.types, distinct), np.full(len(distinct), USUAL)
        else:
            chances, usual = table.between(source.types, distinct), table.frequencies(distinct)
        types = np.array([words.types[token] for token in words.tokens], np.int64)
        shape = (len(source.lengths), len(source.types))
        given = sparse.csr_matrix((source.shares, (source.lines, source.kinds)), shape) @ chances
        expected = np.asarray(given.T @ (source.lengths / source.lengths.sum())).ravel()
        here = (np.bincount(types, minlength=len(distinct)) / len(types) + expected) / 2
        others = source.different - 1
        general = ((others * here + FEW * usual) / (others + FEW)).astype(np.float32)
        ratios = np.log1p(SHARE / (1 - SHARE) * given.data / general[given.indices])
        is_rule = np.array([token in source.rules for token in words.tokens])
        return cls(
            ratios=sparse.csc_matrix(
                (ratios, given.indices, given.indptr), shape=given.shape[::-1]
            ),
            base=float(np.log(1 - SHARE)),
            types=types,
            weights=(words.is_word | is_rule).astype(np.float32),
            boundaries=words.boundaries,
            lengths=np.asarray(source.lengths * per_word, np.float64),
            roomy=source.roomy,
        )

    def block(self, first: int, last: int, low: int, high: int) -> Singles:
        """The ratios of some words and the states ``low`` to ``high``, state 0 for no segment."""
        columns = self.ratios[:, max(0, low - 1) : high - 1].tocsr()
        ratios = np.zeros((last - first, high - low), np.float32)
        ratios[:, int(low == 0) :] = columns[self.types[first:last]].toarray() + self.base
        return ratios * self.weights[first:last, None]


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

    def moves(self, evidence: Evidence) -> Sequence[float]:
        """The costs ``move`` for this output, whose lines say more if it has many of them."""
        lines, segments = evidence.boundaries >= Boundary.LINE, evidence.lengths > 0
        move = list(self.move)
        move[Boundary.SENTENCE] += self.in_line * min(1.0, float(lines.sum() / segments.sum()))
        return move

    def of_lengths(self, lengths: Integers, expected: Floats) -> Floats:
        """The costs of pieces of these lengths, where others are expected."""
        away = (np.log(lengths + 2) - np.log(expected + 2)) / self.spread
        return np.asarray(np.minimum(self.length, away**2 / 2), np.float64)


COSTS = Costs()

WHOLE = 256
"""Documents of at most this number of segments are searched without anchors."""

CHUNK = 256
"""Words that are looked for in the same range of segments."""

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


def find_path(evidence: Evidence) -> list[Run]:
    """Find the pieces of a document, which has at least one word and one segment."""
    chunks: list[_Chunk] = []
    for where in _ranges(evidence):
        chunks.append(_Chunk(where, evidence, chunks[-1] if chunks else None))
    counted = evidence.lengths > 0
    behind = np.concatenate([np.cumsum(counted[::-1])[::-1], [0]])
    last = chunks[-1]
    lost = _skip_costs(behind[last.low : last.high])
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


def _skip_costs(skipped: Integers | Singles) -> Floats:
    price = np.minimum(COSTS.skip_first + COSTS.skip * skipped, COSTS.most)
    return np.asarray(np.where(skipped > 0, price, 0.0), np.float64)


class _Chunk:
    """Some words in a range of states; state 0 is before all segments, state n in the n-th.

    Attributes:
        ended: The best score of all words before one if a piece ends there, on a state or, behind
            it, nowhere, above the best one before the chunk, ``[words + 1, states]``.
        sizes: The number of words of the last piece of that path; negative if it belongs to no
            segment, ``[words, states]``.
    """

    def __init__(
        self, where: tuple[int, int, int, int], evidence: Evidence, before: _Chunk | None
    ) -> None:
        self.first, self.last, self.low, self.high = where
        low, high = self.low, self.high
        lengths = np.append(0.0, evidence.lengths)
        counted = lengths > 0
        counts = np.cumsum(counted)[low:high]
        self.counts = (counts - counts[0]).astype(np.float32)  # no view of all segments' counts
        # The last segment with words before each state: those between are left out for nothing.
        with_words = np.maximum.accumulate(np.where(counted, np.arange(len(counted)), 0))
        self.beside = np.maximum(with_words[np.maximum(np.arange(low, high) - 1, 0)] - low, 0)
        expected = lengths[low:high]
        move, size, width = COSTS.moves(evidence), self.last - self.first, high - low
        ratios = evidence.block(self.first, self.last, low, high)
        share = np.where(np.append(False, evidence.roomy)[low:high], COSTS.roomy, 1.0)
        stays = np.outer(COSTS.stay, share).astype(np.float32)
        most = 3 * int(expected.max()) + 10
        by_length = -COSTS.of_lengths(np.arange(most, 0, -1)[:, None], expected).astype(np.float32)
        begun, ended, lost, since = self._before(before, most)
        self.sizes = np.empty((size, width), np.int32)
        self.ended = np.empty((size + 1, width), np.float32)
        self.ended[0] = ended
        total = np.zeros(width, np.float32)
        # A document ends like a paragraph.
        kinds = np.append(evidence.boundaries, Boundary.PARAGRAPH)[self.first : self.last + 1]
        states = np.arange(width)
        for word, (kind, following) in enumerate(pairwise(kinds.tolist())):
            start = self._starts(ended) - move[kind]
            row = most + word
            begun[0, row] = start - total + stays[kind]
            begun[1, row] = start - COSTS.free
            entered = ended - COSTS.enter[kind]
            since = np.where(entered > lost, self.first + word, since)
            lost = np.maximum(entered, lost)
            total += ratios[word] - stays[kind]
            pieces = begun[:, row - most + 1 : row + 1] + by_length
            chosen = pieces.argmax(1)
            by_words, freely = pieces[0, chosen[0], states] + total, pieces[1, chosen[1], states]
            ended = np.maximum(by_words, freely)
            sizes = most - np.where(freely > by_words, chosen[1], chosen[0])
            left = lost - COSTS.leave[following]
            self.sizes[word] = np.where(left > ended, since - (self.first + word + 1), sizes)
            ended = np.maximum(left, ended)
            self.ended[word + 1] = ended
        self.begun = begun[:, -most:]
        self.begun[0] += total
        self.lost, self.since = lost, since

    def _starts(self, ended: Singles) -> Singles:
        """The best score of beginning a piece on each state, but for the cost of ``move``."""
        best = ended - COSTS.again
        if self.low == 0:
            best[0] = -np.inf
        ahead = np.maximum.accumulate(ended + COSTS.skip * self.counts)
        ahead -= COSTS.skip * self.counts + COSTS.skip_first
        ahead = np.maximum(ahead, np.maximum.accumulate(ended) - COSTS.most)
        np.maximum(best[1:], np.maximum(ahead, ended)[:-1], out=best[1:])
        np.maximum(best[1:], ended[self.beside[1:]], out=best[1:])
        steps = COSTS.back_each * np.arange(len(ended), dtype=np.float32)
        behind = np.maximum.accumulate((ended - steps)[::-1])[::-1] - COSTS.back
        inner = slice(int(self.low == 0), -1)
        np.maximum(best[inner], behind[1:][inner.start :] + steps[inner], out=best[inner])
        return best

    def state_before(self, word: int, state: int) -> int:
        """The state from which the best path comes to a piece that begins at a word."""
        ended = self.ended[word - self.first]
        begun, states = state - self.low, np.arange(len(ended))
        skipped = np.maximum(self.counts[max(begun - 1, 0)] - self.counts, 0)
        behind = COSTS.back + COSTS.back_each * (states - begun)
        price = np.where(states < begun, _skip_costs(skipped), behind)
        price[begun] = COSTS.again
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


def _ranges(evidence: Evidence) -> list[tuple[int, int, int, int]]:
    """Ranges of words, and of the states that each of them may be in: first, last, low, high.

    A range reaches to the one before it, so that there is a path through all of them.
    """
    words, segments = len(evidence.types), len(evidence.lengths)
    first = np.arange(0, words, CHUNK)
    last = np.minimum(words, first + CHUNK)
    low, high = np.zeros_like(first), np.full_like(first, segments + 1)
    if segments > WHOLE:
        anchors = [(0, 0)] * NEAR + _anchors(evidence) + [(words, segments)] * NEAR
        at, of = np.array(anchors).T
        before = np.searchsorted(at, first, "right") - NEAR
        after = np.minimum(len(at) - 1, np.searchsorted(at, last, "right") + NEAR - 1)
        low, high = of[before], of[after]
        widest = segments if CHUNK * (high - low).sum() <= MAX_CELLS else MAX_CELLS // words
        gone = ((first + last) / 2 - at[before]) / np.maximum(1, at[after] - at[before])
        middle = np.round(low + gone * (high - low)).astype(np.int64)
        is_wide = high - low > widest
        low = np.where(is_wide, np.maximum(low, middle - widest // 2), low)
        high = np.where(is_wide, np.minimum(high, middle + widest // 2), high)
        high = np.minimum(segments + 1, high + MARGIN)
        low = np.minimum(np.maximum(0, low - MARGIN), np.append(1, high[:-1]) - 1)
    return [(int(a), int(b), int(c), int(d)) for a, b, c, d in np.stack([first, last, low, high]).T]


def _anchors(evidence: Evidence) -> list[tuple[int, int]]:
    """Pairs of a word and its segment, both ascending."""
    ratios = evidence.ratios.tocsr()
    frequencies = np.bincount(evidence.types, minlength=ratios.shape[0])
    points: list[tuple[int, list[tuple[int, float]]]] = []
    for word, kind in enumerate(evidence.types.tolist()):
        if frequencies[kind] > RARE or not evidence.weights[word]:
            continue
        row = slice(ratios.indptr[kind], ratios.indptr[kind + 1])
        segments, values = ratios.indices[row].tolist(), ratios.data[row].tolist()
        likely = [pair for pair in zip(segments, values, strict=True) if pair[1] > LIKELY]
        if 0 < len(likely) <= RARE:
            points.append((word, likely))
    return ascending(points)


def ascending(points: Iterable[tuple[int, Sequence[tuple[int, float]]]]) -> list[tuple[int, int]]:
    """The chain of the greatest weight, of pairs of which both members ascend.

    Args:
        points: First members in their order, each with its second members and their weights. In a
            chain each first member has at most one of them; they may be equal to the one before.
    """
    # The best chains so far: the last second member of each, its weight, and its links. A chain
    # that is no better than one that ends earlier is left out, so all three ascend.
    ends: list[int] = []
    chains: list[tuple[float, int]] = []
    links: list[tuple[int, int, int]] = []  # both members, and the link before or -1
    for first, seconds in points:
        added = []
        for second, value in seconds:
            position = bisect_right(ends, second)
            weight, previous = chains[position - 1] if position else (0.0, -1)
            added.append((second, (weight + value, len(links))))
            links.append((first, second, previous))
        for second, weighted in added:
            position = bisect_right(ends, second)
            if position and chains[position - 1] > weighted:
                continue
            replaced = slice(bisect_left(ends, second), bisect_left(chains, weighted))
            ends[replaced], chains[replaced] = [second], [weighted]
    path: list[tuple[int, int]] = []
    link = chains[-1][1] if chains else -1
    while link >= 0:
        first, second, link = links[link]
        path.append((first, second))
    return path[::-1]
