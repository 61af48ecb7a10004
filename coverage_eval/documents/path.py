"""How probable each word of an output is in each segment, and the most probable way through them.

The probabilities come from a model's table, or from the likeness of words. A hidden semi-Markov
model over the source's segments emits the output piece by piece. A piece says a segment: by its
words, or freely, so that only its length speaks for it; or it belongs to none. Beginning a piece is
free at a sentence's end and costs elsewhere; leaving out segments costs, and so do going back and a
length that the segment does not suggest. The path is Viterbi's.

Time and memory are linear in the number of words: words that occur seldom and have few likely
segments are anchors, and each word is only looked for near a line through them.
"""

from __future__ import annotations

from bisect import bisect_right
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
"""A document of so many lines more than one counts as much as a word's frequency elsewhere."""

FREQUENCY = 1e-3
"""The probability of every word, without a model."""

SAME = 0.5
"""p(t | s) of equal strings with a digit, or that the model does not know, such as names."""

COPIED = 0.1
"""p(t | s) of equal strings that the model knows as a source word, and as no target word."""

SIMILAR, STEM = 0.2, 5
"""p(t | s) of words that begin with the same letters, and how many; between references only."""

MIN_FREQUENCY = 1e-4
"""The least probability of a word."""


class WordTable:
    """p(t | s) of a model's words.

    Args:
        rows: Source word, target word and the natural logarithm of the probability.
    """

    def __init__(self, rows: Iterable[tuple[str, str, float]]) -> None:
        self.sources: dict[str, int] = {}
        self.targets: dict[str, int] = {}
        source_numbers, target_numbers, values = [], [], []
        for source, target, value in rows:
            source_numbers.append(self.sources.setdefault(source, len(self.sources)))
            target_numbers.append(self.targets.setdefault(target, len(self.targets)))
            values.append(value)
        probabilities = np.exp(np.array(values, np.float64)).astype(np.float32)
        # Words that the model does not know are its last, number -1.
        shape = (len(self.sources) + 1, len(self.targets) + 1)
        self.matrix = sparse.csr_matrix(
            (probabilities, (source_numbers, target_numbers)), shape=shape
        )
        self.means = np.asarray(self.matrix[:-1].mean(axis=0)).ravel()

    def between(self, sources: Sequence[str], targets: Sequence[str]) -> sparse.csr_matrix:
        """The probabilities of distinct words, ``[sources, targets]``.

        Names and numbers are often the same on both sides: a string that the model does not know,
        or that has a digit, may stand for itself.
        """
        rows = [self.sources.get(word, -1) for word in sources]
        columns = [self.targets.get(word, -1) for word in targets]
        probabilities = self.matrix[rows][:, columns]
        equal = _equal_words(sources, targets)
        cells = {(i, j): COPIED for i, j in equal if columns[j] < 0}
        for i, j in equal:
            if rows[i] < 0 or any(map(str.isdigit, targets[j])):
                cells[i, j] = SAME
        return probabilities.maximum(_matrix(cells, probabilities.shape))

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
    values, positions = np.fromiter(cells.values(), np.float32), np.array([*cells], np.int64)
    return sparse.csr_matrix((values, positions.reshape(-1, 2).T), shape=shape)


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
        multi_sentence: Whether a segment has several sentences, ``[segments]``.
    """

    ratios: sparse.csc_matrix
    base: float
    types: Integers
    weights: Singles
    boundaries: Integers
    lengths: Floats
    multi_sentence: Flags

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
            probabilities = similar_words(source.types, distinct)
            frequencies = np.full(len(distinct), FREQUENCY)
        else:
            probabilities = table.between(source.types, distinct)
            frequencies = table.frequencies(distinct)
        types = np.array([words.types[token] for token in words.tokens], np.int64)
        by_segment = source.shares @ probabilities
        expected = np.asarray(by_segment.T @ (source.lengths / source.lengths.sum())).ravel()
        here = (np.bincount(types, minlength=len(distinct)) / len(types) + expected) / 2
        others = source.different - 1
        general = ((others * here + FEW * frequencies) / (others + FEW)).astype(np.float32)
        ratios = np.log1p(SHARE / (1 - SHARE) * by_segment.data / general[by_segment.indices])
        is_rule = np.array([token in source.rules for token in words.tokens])
        return cls(
            ratios=sparse.csc_matrix(
                (ratios, by_segment.indices, by_segment.indptr), shape=by_segment.shape[::-1]
            ),
            base=float(np.log(1 - SHARE)),
            types=types,
            weights=(words.is_word | is_rule).astype(np.float32),
            boundaries=words.boundaries,
            lengths=np.asarray(source.lengths * per_word, np.float64),
            multi_sentence=source.multi_sentence,
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


# Costs of a path, as negative natural logarithms. What has six values is by ``Boundary``.

MOVE = (6.0, 3.0, 1.0, 0.0, 0.0, 0.0)
"""Beginning a piece on another segment."""

IN_LINE = 2.0
"""Added to ``MOVE`` at a sentence's end inside a line if the output has as many lines as the
source; less in proportion if it has fewer."""

STAY = (0.0, 0.0, 1.5, 1.5, 3.0, 4.0)
"""Going on with a segment."""

ROOMY = 0.3
"""The share of ``STAY`` in a segment that has several sentences itself."""

SKIP_FIRST, SKIP, SKIP_MOST = 1.0, 3.0, 40.0
"""Leaving out any segments before others; added for each of them; and the most that it costs in
all, since even a long passage can be missing."""

BACK, BACK_EACH = 2.0, 1.0
"""Going back; added for each segment."""

AGAIN = 2.0
"""Beginning a second piece on the same segment."""

ENTER, LEAVE = (12.0, 9.0, 9.0, 6.0, 5.0, 4.0), (6.0, 3.0, 1.0, 0.0, 0.0, 0.0)
"""Beginning a piece that belongs to no segment, and ending it."""

FREE = 8.0
"""Translating a segment freely, so that its words say nothing, only their number."""

SPREAD, UNLIKE_MOST = 0.4, 8.0
"""How far the logarithm of a piece's length is from its segment's, as a standard deviation, and the
most that its length costs."""

CHUNK = 256
"""Words that are looked for in the same range of segments."""

WHOLE = 256
"""Documents of at most this number of segments are searched whole."""

MARGIN, MIN_MARGIN, MAX_CELLS = 128, 16, 16_000
"""A word is looked for this many segments to either side of where the anchors put it, at most and
at least; fewer where pieces may be long: times the words of the longest, at most the third."""

RARE, LIKELY = 16, 3.0
"""An anchor comes so often in the output, and is likely in so many segments, at most; and the least
logarithm of its ratio there."""


def find_path(evidence: Evidence) -> list[Run]:
    """Find the pieces of a document, which has at least one word and one segment."""
    search = _Search(evidence)
    chunks = [search.chunk(*where) for where in _ranges(evidence)]
    word = len(evidence.types)
    state = chunks[-1].state_before(word, len(evidence.lengths) + 1)
    path: list[Run] = []
    while word:
        chunk = chunks[(word - 1) // CHUNK]
        size = int(chunk.sizes[word - 1 - chunk.first, state - chunk.low])
        path.append(Run(word - abs(size), word, state - 1 if size > 0 else NOWHERE))
        word -= abs(size)
        if word and size > 0:
            state = chunks[word // CHUNK].state_before(word, state)
    return path[::-1]


class _Chunk(NamedTuple):
    """Some words that were looked for in a range of states.

    Attributes:
        first: The first word.
        low: The first state.
        counts: Number of segments with words up to each state, ``[states]``.
        ended: The best score of all words before one if a piece ends there, on a state or, behind
            it, nowhere, ``[words + 1, states]``.
        sizes: The number of words of the last piece of that path; negative if it belongs to no
            segment, ``[words, states]``.
    """

    first: int
    low: int
    counts: Singles
    ended: Singles
    sizes: NDArray[np.int32]

    def state_before(self, word: int, state: int) -> int:
        """The state from which the best path comes to a piece that begins at a word.

        The end of the document is a state behind the last one.
        """
        away = np.arange(len(self.counts)) + self.low - state
        skipped = np.maximum(self.counts[max(state - 1 - self.low, 0)] - self.counts, 0)
        ahead = np.minimum(SKIP_FIRST + SKIP * skipped, SKIP_MOST) * (skipped > 0)
        price = np.where(away < 0, ahead, BACK + BACK_EACH * away)
        price[away == 0] = AGAIN
        return int((self.ended[word - self.first] - price).argmax()) + self.low


class _Search:
    """Viterbi's search; state 0 is before all segments, state n in the n-th.

    Ranges of states only move ahead, so each state is as it was left, or not yet reached.

    Attributes:
        begun: The scores of beginning a piece at each of the last words, by its words, and freely,
            ``[2, words, states]``; of the last range alone.
        low: The first state of that range.
        ended: The best score of all words so far if a piece ends here, ``[states]``.
        lost: The same if the path is nowhere, behind a state, ``[states]``.
        since: The first word that is nowhere, ``[states]``.
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        lines, segments = evidence.boundaries >= Boundary.LINE, evidence.lengths > 0
        self.moves = list(MOVE)
        self.moves[Boundary.SENTENCE] += IN_LINE * min(1.0, lines.sum() / segments.sum())
        self.lengths = np.append(0.0, evidence.lengths)
        self.shares = np.where(np.append(False, evidence.multi_sentence), ROOMY, 1.0)
        # A document ends like a paragraph.
        self.boundaries = np.append(evidence.boundaries, Boundary.PARAGRAPH)
        states = len(self.lengths)
        self.begun = np.empty((2, _most_words(self.lengths), 0), np.float32)
        self.low = 0
        self.ended = np.full(states, -np.inf, np.float32)
        self.ended[0] = 0.0
        self.lost = np.full(states, -np.inf, np.float32)
        self.since = np.zeros(states, np.int64)

    def chunk(self, first: int, last: int, low: int, high: int) -> _Chunk:
        """Go on with the words ``first`` to ``last`` in the states ``low`` to ``high``."""
        here, size = slice(low, high), last - first
        states = np.arange(high - low)
        expected = self.lengths[here]
        counts = np.cumsum(expected > 0).astype(np.float32)
        # The last segment with words up to each state: those behind it are left out for nothing.
        with_words = np.maximum.accumulate(np.where(expected > 0, states, 0))
        ratios = self.evidence.block(first, last, low, high)
        stays = np.outer(STAY, self.shares[here]).astype(np.float32)
        most = _most_words(expected)
        away = np.log(np.arange(most, 0, -1)[:, None] + 2) - np.log(expected + 2)
        unlike = np.minimum(UNLIKE_MOST, (away / SPREAD) ** 2 / 2).astype(np.float32)
        reached = self.begun[:, :, low - self.low :]
        before, width = reached.shape[1:]
        begun = np.full((2, before + size, len(states)), -np.inf, np.float32)
        begun[:, :before, :width] = reached
        ended, lost, since = self.ended[here], self.lost[here], self.since[here]
        sizes = np.empty((size, len(states)), np.int32)
        all_ended = [ended]
        total = np.zeros(len(states), np.float32)
        kinds = self.boundaries[first : last + 1].tolist()
        for word, (kind, following) in enumerate(pairwise(kinds)):
            start = _starts(ended, counts, with_words, low) - self.moves[kind]
            row = before + word
            begun[0, row] = start - total + stays[kind]
            begun[1, row] = start - FREE
            entered = ended - ENTER[kind]
            since = np.where(entered > lost, first + word, since)
            lost = np.maximum(entered, lost)
            total += ratios[word] - stays[kind]
            pieces = begun[:, row - most + 1 : row + 1] - unlike
            chosen = pieces.argmax(1)
            by_words, freely = pieces[0, chosen[0], states] + total, pieces[1, chosen[1], states]
            left = lost - LEAVE[following]
            ended = np.maximum(by_words, freely)
            length = most - np.where(freely > by_words, chosen[1], chosen[0])
            sizes[word] = np.where(left > ended, since - (first + word + 1), length)
            ended = np.maximum(left, ended)
            all_ended.append(ended)
        # A copy, because the first of these is a view of what changes below.
        found = _Chunk(first, low, counts, np.array(all_ended), sizes)
        begun[0] += total
        best = ended.max()  # single precision is enough for what is above it
        self.begun, self.low = begun[:, size:] - best, low
        self.ended[here], self.lost[here], self.since[here] = ended - best, lost - best, since
        return found


def _most_words(expected: Floats) -> int:
    """The most words of a piece."""
    return 3 * int(expected.max()) + 10


def _starts(ended: Singles, counts: Singles, with_words: Integers, low: int) -> Singles:
    """The best score of beginning a piece on each state, but for the cost of ``MOVE``."""
    best = ended - AGAIN
    ahead = np.maximum.accumulate(ended + SKIP * counts)
    ahead -= SKIP * counts + SKIP_FIRST
    far = np.maximum.accumulate(ended) - SKIP_MOST
    ahead = np.maximum.reduce([ahead, far, ended, ended[with_words]])
    np.maximum(best[1:], ahead[:-1], out=best[1:])
    steps = BACK_EACH * np.arange(len(ended), dtype=np.float32)
    behind = np.maximum.accumulate((ended - steps)[::-1])[::-1] - BACK
    np.maximum(best[:-1], behind[1:] + steps[:-1], out=best[:-1])
    if low == 0:  # it is no segment
        best[0] = -np.inf
    return best


def _ranges(evidence: Evidence) -> list[tuple[int, int, int, int]]:
    """Ranges of words, and of the states that each of them may be in: first, last, low, high.

    A straight line through the anchors says where a word is likely to be. A range reaches from
    where the words before it are to where those behind it are, since single anchors may err.
    """
    count, segments = len(evidence.types), len(evidence.lengths)
    likely = evidence.ratios.tocsr() > LIKELY
    is_rare = (np.bincount(evidence.types) <= RARE) & (np.diff(likely.indptr) <= RARE)
    words = np.flatnonzero(is_rare[evidence.types])
    rows, positions = likely[evidence.types[words]].nonzero()
    order = np.lexsort((-positions, rows))  # of those of one word, no two ascend
    chain = order[in_order(positions[order].tolist())]
    at, of = np.r_[0, words[rows[chain]], count], np.r_[0, positions[chain], segments]
    first = np.arange(0, count, CHUNK)
    last = np.minimum(count, first + CHUNK)
    margin = max(MIN_MARGIN, min(MARGIN, MAX_CELLS // _most_words(evidence.lengths)))
    margin = margin if segments > WHOLE else segments
    low = np.interp(first - CHUNK, at, of).astype(np.int64) - margin
    high = np.interp(last + CHUNK, at, of).astype(np.int64) + margin
    edges = first, last, np.maximum(low, 0), np.minimum(high, segments) + 1
    return list(zip(*map(np.ndarray.tolist, edges), strict=True))


def in_order(numbers: Iterable[int]) -> list[int]:
    """The positions of the longest chain of numbers that ascend or are equal."""
    ends: list[int] = []  # of the best chain of each length, the last number, and its position
    last: list[int] = []
    before: list[int] = []  # the position before each one in its chain, or -1
    for position, number in enumerate(numbers):
        length = bisect_right(ends, number)
        ends[length : length + 1] = [number]
        last[length : length + 1] = [position]
        before.append(last[length - 1] if length else -1)
    chain: list[int] = []
    position = last[-1] if last else -1
    while position >= 0:
        chain.append(position)
        position = before[position]
    return chain[::-1]
