"""How probable each word of an output is in each segment of its source.

The probabilities come from a model's table, or from the likeness of words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from coverage_eval.core.metric import Floats
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.documents.words import (
    MARKUP,
    SENTENCE_ENDS,
    Flags,
    Integers,
    OutputWords,
    has_letters,
    known_form,
)

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


class SourceWords(NamedTuple):
    """The words of a source.

    Attributes:
        types: The distinct words.
        shares: The share of each type in each line, ``[lines, types]``.
        lengths: Number of words of each line; 0 if none has a letter or digit, ``[lines]``.
        roomy: Whether a line has several sentences, ``[lines]``.
        different: Number of different lines that have words.
        rules: The tokens of lines without words, such as a rule or a code fence.
    """

    types: list[str]
    shares: sparse.csr_matrix
    lengths: Integers
    roomy: Flags
    different: int
    rules: frozenset[str]

    @classmethod
    def read(cls, lines: Sequence[str], tokens: Tokenizer) -> SourceWords:
        """Tokenise the lines of a source."""
        cut = [[known_form(token, tokens) for token in tokens.whole(line)] for line in lines]
        worded = [any(map(has_letters, line)) for line in cut]
        kept = [
            [token for token in line if not (has_words and MARKUP.fullmatch(token))]
            for line, has_words in zip(cut, worded, strict=True)
        ]
        sizes = np.array([len(line) for line in kept], np.int64)
        types: dict[str, int] = {}
        columns = [types.setdefault(token, len(types)) for token in chain.from_iterable(kept)]
        shares = np.repeat(1 / np.maximum(sizes, 1), sizes).astype(np.float32)
        rows = np.repeat(np.arange(len(lines)), sizes)
        return cls(
            list(types),
            sparse.csr_matrix((shares, (rows, columns)), shape=(len(lines), len(types))),
            np.where(worded, sizes, 0),
            np.array([any(t[-1:] in SENTENCE_ENDS for t in line[:-1]) for line in kept], bool),
            len({tuple(line) for line, has_words in zip(kept, worded, strict=True) if has_words}),
            frozenset(
                token
                for line, has_words in zip(kept, worded, strict=True)
                if not has_words
                for token in line
            ),
        )


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
        shape = (len(self.sources), len(self.targets))
        chances = np.exp(np.array(values, np.float64)).astype(np.float32)
        self.matrix = sparse.csr_matrix((chances, (given, made)), shape=shape)
        self.means = np.asarray(self.matrix.mean(axis=0)).ravel()

    def between(self, sources: Sequence[str], targets: Sequence[str]) -> sparse.csr_matrix:
        """The probabilities of distinct words, ``[sources, targets]``.

        Names and numbers are often the same on both sides: a string that the model does not know,
        or that has a digit, may stand for itself.
        """
        rows = np.array([self.sources.get(word, -1) for word in sources], np.int64)
        columns = np.array([self.targets.get(word, -1) for word in targets], np.int64)
        known, heard = np.flatnonzero(rows >= 0), np.flatnonzero(columns >= 0)
        part = self.matrix[rows[known]][:, columns[heard]].tocoo()
        shape = (len(sources), len(targets))
        chances = sparse.csr_matrix((part.data, (known[part.row], heard[part.col])), shape=shape)
        equal = _equal_words(sources, targets)
        same = [(i, j) for i, j in equal if rows[i] < 0 or any(map(str.isdigit, targets[j]))]
        copied = [(i, j) for i, j in equal if columns[j] < 0]
        chances = chances.maximum(_matrix(copied, COPIED, shape))
        return chances.maximum(_matrix(same, SAME, shape))

    def frequencies(self, targets: Sequence[str]) -> Floats:
        """The mean probability of target words over all source words that the model knows."""
        columns = np.array([self.targets.get(word, -1) for word in targets], np.int64)
        return np.maximum(np.where(columns >= 0, self.means[columns], 0.0), MIN_FREQUENCY)


def similar_words(sources: Sequence[str], targets: Sequence[str]) -> sparse.csr_matrix:
    """In place of probabilities, how similar distinct words of one language are."""
    shape = (len(sources), len(targets))
    stems: dict[str, list[int]] = {}
    for number, word in enumerate(sources):
        if len(word) >= STEM:
            stems.setdefault(word[:STEM], []).append(number)
    near = [(i, j) for j, word in enumerate(targets) for i in stems.get(word[:STEM], ())]
    same = _matrix(_equal_words(sources, targets), 1.0, shape)
    return _matrix(near, SIMILAR, shape).maximum(same)


def _equal_words(sources: Sequence[str], targets: Sequence[str]) -> list[tuple[int, int]]:
    """The numbers of words that are on both sides."""
    numbers = {word: number for number, word in enumerate(sources)}
    return [(numbers[word], number) for number, word in enumerate(targets) if word in numbers]


def _matrix(
    cells: Sequence[tuple[int, int]], value: float, shape: tuple[int, int]
) -> sparse.csr_matrix:
    rows, columns = zip(*cells, strict=True) if cells else ((), ())
    return sparse.csr_matrix((np.full(len(cells), value, np.float32), (rows, columns)), shape=shape)


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
        given = source.shares @ chances
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
