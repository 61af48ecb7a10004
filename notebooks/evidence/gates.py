"""What ``omissions --fail-above`` estimates where a known share of the outputs is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd
from corpora import Pairs, train

from coverage_eval.coverage.null_scores import estimate_share
from coverage_eval.coverage.omission_finder import OmissionFinder

LIMIT = 0.02
"""The share of outputs that may have an error."""

SHARES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.1)
"""Shares of the outputs that are broken."""

OUTPUTS = 1000
DRAWS = 3

Break = Callable[[str, str], str]


def _kept(words: Callable[[int], int], _: str, target: str) -> str:
    split = target.split()
    return " ".join(split[: words(len(split))])


def _without_middle(_: str, target: str) -> str:
    split = target.split()
    start = len(split) // 3
    return " ".join(split[:start] + split[start + max(1, len(split) // 3) :])


BROKEN: Mapping[str, Break] = {
    "all (empty)": lambda source, target: "",  # noqa: ARG005
    "all (a copy of the source)": lambda source, target: source,  # noqa: ARG005
    "half": partial(_kept, lambda n: (n + 1) // 2),
    "a third": partial(_kept, lambda n: n - n // 3),
    "a third, in the middle": _without_middle,
}
"""What is left out of a broken output."""


def gates_table(name: str, training: Pairs, test: Pairs) -> pd.DataFrame:
    """The mean estimate, and how many gates close, by share and by what is left out."""
    rows = []
    with train(training) as aligner:
        finder = OmissionFinder(aligner)
        for what, broken in BROKEN.items():
            for share in SHARES:
                found = [_estimate(finder, test, broken, share, seed) for seed in range(DRAWS)]
                estimates, closed = zip(*found, strict=True)
                rows.append({
                    "text": name,
                    "left out": what,
                    "outputs broken %": 100 * share,
                    "estimate %": 100 * np.mean(estimates),
                    "gates closed %": 100 * np.mean(closed),
                })  # fmt: skip
    return pd.DataFrame(rows)


def _estimate(
    finder: OmissionFinder, test: Pairs, broken: Break, share: float, seed: int
) -> tuple[float, bool]:
    """The estimate of a file of outputs, and whether its gate closes."""
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(test))[:OUTPUTS]
    number = round(share * len(chosen))
    pairs = [
        (test[n][0], broken(*test[n]) if place < number else test[n][1])
        for place, n in enumerate(chosen)
    ]
    adapted = finder.adapt_to(pairs)
    found = list(adapted.check(pairs))
    estimate = estimate_share(
        np.array([one.probability for one in found]),
        np.array([one.is_certain for one in found]),
        adapted.nulls[0],
        LIMIT,
    )
    return estimate.estimate, estimate.is_above
