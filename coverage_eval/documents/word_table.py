"""How probable words are as translations of each other: a model's table, or likeness of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy import sparse

from coverage_eval.core.score import Floats
from coverage_eval.documents.path import Flags

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
        found = sparse.csr_matrix((part.data, (known[part.row], heard[part.col])), shape=shape)
        places = {word: place for place, word in enumerate(sources)}
        here = [(places[word], place) for place, word in enumerate(targets) if word in places]
        same = [(i, j) for i, j in here if rows[i] < 0 or any(map(str.isdigit, targets[j]))]
        copied = [(i, j) for i, j in here if columns[j] < 0]
        found = found.maximum(_matrix(copied, COPIED, shape))
        return found.maximum(_matrix(same, SAME, shape))

    def frequencies(self, targets: Sequence[str]) -> Floats:
        """The mean probability of target words over all source words that the model knows."""
        places = np.array([self.targets.get(word, -1) for word in targets], np.int64)
        return np.maximum(np.where(places >= 0, self.means[places], 0.0), MIN_FREQUENCY)

    def knows(self, targets: Sequence[str]) -> tuple[Flags, Flags]:
        """Which words are known as source words only, and which are no known target words."""
        unknown = np.array([word not in self.targets for word in targets], bool)
        return unknown & np.array([word in self.sources for word in targets], bool), unknown


def similar_words(sources: Sequence[str], targets: Sequence[str]) -> sparse.csr_matrix:
    """In place of probabilities, how similar distinct words of one language are."""
    shape = (len(sources), len(targets))
    places = {word: place for place, word in enumerate(sources)}
    same = [(places[word], place) for place, word in enumerate(targets) if word in places]
    stems: dict[str, list[int]] = {}
    for place, word in enumerate(sources):
        if len(word) >= STEM:
            stems.setdefault(word[:STEM], []).append(place)
    near = [(i, j) for j, word in enumerate(targets) for i in stems.get(word[:STEM], ())]
    return _matrix(near, SIMILAR, shape).maximum(_matrix(same, 1.0, shape))


def _matrix(
    cells: Sequence[tuple[int, int]], value: float, shape: tuple[int, int]
) -> sparse.csr_matrix:
    rows, columns = zip(*cells, strict=True) if cells else ((), ())
    return sparse.csr_matrix((np.full(len(cells), value, np.float32), (rows, columns)), shape=shape)
