"""The source words that a score points at, against those that are known to be concerned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError
from coverage_eval.meta.judgements import Judgement

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MarkedWords:
    """Source words of many translations, one after the other.

    Attributes:
        gold: ``[words]``, whether each is concerned by an error.
        strength: ``[words]``, how strongly the score points at it; 0 if it does not.
        sources: ``[words]``, the number of its source, from 0.
    """

    gold: NDArray[np.bool_]
    strength: Floats
    sources: NDArray[np.intp]

    def counts(self, sources: int) -> Floats:
        """For each source, ``[sources, 3]``: words rightly pointed at, pointed at, concerned."""
        pointed = self.strength > 0
        kinds = (pointed & self.gold, pointed, self.gold)
        sums = [np.bincount(self.sources, weights=kind, minlength=sources) for kind in kinds]
        return np.stack(sums, axis=-1)


def collect_words(
    judgements: Sequence[Judgement],
    pointed: Sequence[Mapping[int, float]],
    sources: NDArray[np.intp],
) -> MarkedWords | None:
    """Words of the translations of which it is known which words are concerned.

    Args:
        judgements: The translations.
        pointed: Of each, the positions that the score points at, with their strength.
        sources: The number of each one's source.

    Returns:
        None if no error's words are known, or the number of words of a source is not.

    Raises:
        DataError: A position is behind the end of its source.
    """
    known = [n for n, item in enumerate(judgements) if item.words is not None]
    if any(judgements[n].source_words is None for n in known):
        return None
    gold, strength = [], []
    for n in known:
        item = judgements[n]
        words = item.source_words or 0
        for position in (*(item.words or ()), *pointed[n]):
            if position >= words:
                raise DataError(
                    f"segment {item.segment}: word {position + 1} is meant, but its source has "
                    f"{words}; name the tokeniser of the scores' signature with --tokenize"
                )
        gold.append(np.isin(np.arange(words), list(item.words or ())))
        strength.append(np.array([pointed[n].get(i, 0.0) for i in range(words)]))
    if not gold or not np.concatenate(gold).any():
        return None
    lengths = [len(words) for words in gold]
    return MarkedWords(
        np.concatenate(gold), np.concatenate(strength), np.repeat(sources[known], lengths)
    )
