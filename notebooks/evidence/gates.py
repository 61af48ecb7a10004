"""How often ``omissions --fail-above`` closes on captions of which a known share is cut short."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
from corpora import Corpus, train

from coverage_eval.core.batches import Row
from coverage_eval.coverage.null_scores import error_probabilities, estimate_share
from coverage_eval.coverage.omission_finder import CERTAIN, FoundSegment, OmissionFinder

LIMIT = 0.02
"""The share of outputs that may have an error."""

SHARES = (0.0, 0.02, 0.03, 0.05)
"""Shares of the captions that are cut short."""

OUTPUTS = 1000
DRAWS = 100

KEPT: Mapping[str, Callable[[int], int]] = {
    "a third": lambda words: words - words // 3,
    "half": lambda words: (words + 1) // 2,
}
"""What is cut off, and how many words of so many stay."""


def gates_table(corpus: Corpus) -> pd.DataFrame:
    """The mean estimate, and how many gates close, by share and by what is cut off."""
    with train(corpus.training) as aligner:
        finder = OmissionFinder(aligner).adapt_to(corpus.test)
        whole, *cut = (
            list(finder.find(_cut(corpus, words))) for words in (lambda n: n, *KEPT.values())
        )
    rows = []
    for what, short in zip(KEPT, cut, strict=True):
        for share in SHARES:
            drawn = [_estimate(finder, whole, short, share, seed) for seed in range(DRAWS)]
            estimates, closed = zip(*drawn, strict=True)
            rows.append({
                "left out": what,
                "captions cut short %": 100 * share,
                "estimate %": 100 * np.mean(estimates),
                "gates closed %": 100 * np.mean(closed),
            })  # fmt: skip
    return pd.DataFrame(rows)


def _cut(corpus: Corpus, kept: Callable[[int], int]) -> list[Row]:
    """The test set, of whose references so many words are kept."""
    return [
        Row((" ".join(words[: kept(len(words))]),), (), source)
        for source, reference in corpus.test
        if (words := reference.split())
    ]


def _estimate(
    finder: OmissionFinder,
    whole: Sequence[FoundSegment],
    short: Sequence[FoundSegment],
    share: float,
    seed: int,
) -> tuple[float, bool]:
    """The estimate of a file of captions, and whether its gate closes.

    A caption's strength is the same in every file, so the file adapts the probabilities alone.
    """
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(whole))[:OUTPUTS]
    cut = round(share * len(chosen))
    found = [short[i] for i in chosen[:cut]] + [whole[i] for i in chosen[cut:]]
    strengths = np.array([segment.strength for segment in found])
    lengths = np.array([len(segment.losses) for segment in found])
    adapted = finder.scorer.null.adapt(strengths, lengths)
    probabilities = error_probabilities(adapted.null.p_values(strengths, lengths), adapted.share)
    is_certain = np.array([segment.is_certain for segment in found])
    estimate = estimate_share(
        np.minimum(probabilities, CERTAIN), is_certain, LIMIT, adapted.complete
    )
    return estimate.estimate, estimate.is_above
