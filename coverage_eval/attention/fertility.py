r"""Fertilities f of source words: constant, guided, actual and predicted.

Malaviya et al. 2018, section 4. A word's fertility bounds the attention it can receive over a whole
translation. The **actual** fertility is the number of target words that a source word is aligned
to, at least 1 (as in the authors' scripts); the other three do not need the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.inputs import AttentionError, Float64Array


def constant(words: int, fertility: float) -> Float64Array:
    """CONSTANT: the same fertility for every word (the paper: 2 and 3).

    Args:
        words: number of source words.
        fertility: f, above 0; the paper uses whole numbers, its scripts also 1.5.

    Returns:
        ``[words]``.

    Raises:
        AttentionError: a fertility that is not above 0.
    """
    if not fertility > 0:
        raise AttentionError(f"a fertility must be above 0, not {fertility}")
    return np.full(words, float(fertility))


def link_counts(links: Iterable[tuple[int, int]], words: int) -> NDArray[np.int64]:
    """``[words]`` number of links of each source word.

    Raises:
        AttentionError: a link to a source position that does not exist.
    """
    counts = np.zeros(words, dtype=np.int64)
    for source, target in links:
        if not 0 <= source < words:
            raise AttentionError(
                f"link {source}-{target} is out of range: the source has {words} words"
            )
        counts[source] += 1
    return counts


def actual(links: Iterable[tuple[int, int]], words: int) -> Float64Array:
    """Fertilities as aligned: each source word's number of links, at least 1.

    Args:
        links: (source position, target position), from 0, each once.
        words: number of source words.

    Returns:
        ``[words]``.

    Raises:
        AttentionError: a link out of range.
    """
    return np.maximum(link_counts(links, words), 1).astype(np.float64)


def expected(probabilities: ArrayLike) -> Float64Array:
    r"""PREDICTED: the expected fertility :math:`\sum_k p_k k` under class probabilities.

    Section 4: "at test time, we use the expected fertilities according to our model". The model is
    not part of this module; the probabilities can come from anywhere.

    Args:
        probabilities: ``[..., C]`` of the fertilities 1 to C, each row summing to 1.

    Returns:
        ``[...]``.

    Raises:
        AttentionError: probabilities below 0, or that do not sum to 1.
    """
    values = np.asarray(probabilities, dtype=np.float64)
    total = values.sum(axis=-1)
    if not (np.all(values >= 0) and np.all(abs(total - 1) <= 1e-3)):
        raise AttentionError("class probabilities must be at least 0 and sum to 1 for each word")
    return np.asarray((values @ np.arange(1.0, values.shape[-1] + 1)) / total)


@dataclass(frozen=True)
class FertilityTable:
    """GUIDED: the largest number of links that each word had in the training data.

    Attributes:
        largest: word → largest number of links, for words with at least one.
    """

    largest: Mapping[str, int]

    def fertilities(self, source: Sequence[str]) -> Float64Array:
        """``[words]``: each word's largest number of links, 1 for unknown words."""
        return np.array([self.largest.get(word, 1) for word in source], dtype=np.float64)


def guided(pairs: Iterable[tuple[Sequence[str], Iterable[tuple[int, int]]]]) -> FertilityTable:
    """GUIDED: learn the largest number of links of each word from aligned training data.

    Section 4: "we set the fertilities to the maximal observed value in the training data (or 1 if
    no alignment was observed)".

    Args:
        pairs: source words and links of each segment; read once.

    Returns:
        The table, which can be applied to any source.

    Raises:
        AttentionError: a link out of range; names the segment, counted from 1.
    """
    largest: dict[str, int] = {}
    for number, (words, links) in enumerate(pairs, start=1):
        try:
            counts = link_counts(links, len(words))
        except AttentionError as error:
            raise AttentionError(f"line {number}: {error}") from None
        for word, count in zip(words, counts.tolist(), strict=True):
            if count > largest.get(word, 0):
                largest[word] = count
    return FertilityTable(largest)
