"""AUROC with 95% intervals, and its differences: segments are drawn with replacement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

RESAMPLES = 1000

Areas = NDArray[np.float64]
"""AUROC of all segments, then of each resample, ``[1 + RESAMPLES]``. Texts of one length draw the
same segments, so means and differences of several are means and differences of these arrays."""

Found = Mapping[str, Mapping[str, Areas]]
"""Case → score → AUROC."""


@lru_cache
def _weights(segments: int) -> NDArray[np.float64]:
    """How often each segment is drawn, ``[1 + RESAMPLES, segments]``; at first, each once."""
    shares = np.full(segments, 1 / segments)
    drawn = np.random.default_rng(0).multinomial(segments, shares, RESAMPLES)
    return np.concatenate([np.ones((1, segments)), drawn])


def area(labels: NDArray[np.bool_], scores: NDArray[np.float64]) -> Areas:
    """AUROC: how probably a segment with an error gets the higher score; half for equal scores.

    Args:
        labels: ``[segments]``, or ``[systems, segments]``: then a segment is drawn with all its
            outputs.
        scores: Likewise.

    Returns:
        NaN where all drawn segments have an error or none has, which happens in short texts.
    """
    order = np.argsort(scores, axis=None)
    _, starts = np.unique(scores.ravel()[order], return_index=True)
    drawn = _weights(labels.shape[-1])[:, order % labels.shape[-1]]
    with_error, without = (
        np.add.reduceat(drawn * chosen[order], starts, axis=1)
        for chosen in (labels.ravel(), ~labels.ravel())
    )
    lower = np.cumsum(without, axis=1) - without / 2
    pairs = with_error.sum(axis=1) * without.sum(axis=1)
    found = (with_error * lower).sum(axis=1)
    return np.divide(found, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def with_interval(name: str, areas: Areas) -> dict[str, float]:
    """The value, and the ends of its interval, as columns."""
    low, high = np.nanpercentile(areas[1:], [2.5, 97.5])
    return {name: areas[0], f"{name}, low": low, f"{name}, high": high}


def by_case(found: Found) -> pd.DataFrame:
    """A row for each case, with its scores and their intervals."""
    rows = []
    for case, scores in found.items():
        columns = [with_interval(score, areas) for score, areas in scores.items()]
        rows.append(
            {"case": case} | {key: value for each in columns for key, value in each.items()}
        )
    return pd.DataFrame(rows)


PAIRS = (
    ("omissions, no ref.", "DROP"),
    ("omissions, no ref.", "DROP forward"),
    ("omissions", "omissions, no ref."),
    ("omissions", "soft DROP"),
    ("soft DROP", "DROP"),
    ("REP-letters", "REP"),
    ("REP-letters", "REP-letters, no ref."),
    ("REP-letters", "hyp/ref length"),
    ("REP", "seq-rep-1"),
    ("with reference", "no reference"),
    ("no reference, 3 others", "with reference"),
    ("with reference, 3 others", "no reference, 3 others"),
    ("smallest of 3", "mean of 3"),
    ("smallest of 7", "mean of 7"),
)
"""Scores that are compared, where a case has both."""


def score_differences(found: Found) -> pd.DataFrame:
    """Differences between the scores of :data:`PAIRS` in each case."""
    return pd.DataFrame([
        {"case": case, "score": one, "other": other}
        | with_interval("difference", scores[one] - scores[other])
        for case, scores in found.items()
        for one, other in PAIRS
        if {one, other} <= scores.keys()
    ])  # fmt: skip


def case_differences(found: Found, usual: str) -> pd.DataFrame:
    """Differences of each score between each case and the usual one."""
    return pd.DataFrame([
        {"case": case, "score": score, "other": usual}
        | with_interval("difference", areas - found[usual][score])
        for case, scores in found.items()
        for score, areas in scores.items()
        if case != usual
    ])  # fmt: skip
