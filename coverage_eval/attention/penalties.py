r"""Coverage and length penalties of rescoring (Wu et al. 2016, section 7).

.. math:: s(y, x) = \log P(y | x) / lp(y) + cp(x; y)

Every form here is a term **to add** to the score: 0 at best, otherwise negative. Some toolkits
print its negative and subtract that.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention.inputs import AttentionError, Float64Array, usable_positions

CoverageForm = Literal["paper", "wu", "summary"]


def coverage_penalty(
    coverage: ArrayLike,
    *,
    beta: float = 1.0,
    form: CoverageForm = "paper",
    epsilon: float = 0.1,
    mask: ArrayLike | None = None,
) -> Float64Array:
    r"""Penalty for source words that received too little attention, or too much.

    With :math:`\mathrm{cov}_j = \sum_t \alpha_{tj}`:

    * ``"paper"``: :math:`\beta \sum_j \log \max\{\epsilon, \min\{1, \mathrm{cov}_j\}\}` (Malaviya
      et al. 2018, footnote 5); ε = 0.1, because sparse attention can be 0 for a word;
    * ``"wu"``: :math:`\beta \sum_j \log \min\{1, \mathrm{cov}_j\}` (Wu et al. 2016, eq. 14), -∞ for
      a word without attention;
    * ``"summary"``: :math:`-\beta (\sum_j \max\{1, \mathrm{cov}_j\} - S)`, OpenNMT-py's penalty for
      attending too much.

    Args:
        coverage: ``[..., S]`` cumulative attention of each source word, at least 0.
        beta: weight; 0 gives 0 in every form.
        form: one of the three.
        epsilon: ε of the paper's form, in (0, 1].
        mask: ``[..., S]`` True for words, False for padding (and for a sink, if there is one).

    Returns:
        ``[...]`` float64, at most 0 for β >= 0; 0 for a source without words.

    Raises:
        AttentionError: negative or NaN coverage, an unknown form, a mask that is not boolean, or ε
            not in (0, 1].
    """
    if form not in get_args(CoverageForm):
        raise AttentionError(f"unknown coverage penalty {form!r}: use 'paper', 'wu' or 'summary'")
    if not 0 < epsilon <= 1:
        raise AttentionError(f"epsilon must be above 0 and at most 1, not {epsilon}")
    values = np.asarray(coverage, dtype=np.float64)
    if mask is not None:
        values = np.where(usable_positions(mask), values, 1.0)  # 1 costs nothing in any form
    if not np.all(values >= 0):
        raise AttentionError("coverage must be at least 0: it is a sum of attention")
    if beta == 0:
        return np.zeros(values.shape[:-1])
    if form == "summary":
        penalty = -np.maximum(values - 1.0, 0.0).sum(axis=-1)
    else:
        floor = epsilon if form == "paper" else 0.0
        with np.errstate(divide="ignore"):
            penalty = np.log(np.clip(values, floor, 1.0)).sum(axis=-1)
    return np.asarray(beta * penalty)


def length_penalty(length: ArrayLike, alpha: float) -> Float64Array:
    r""":math:`lp(y) = \frac{(5 + |y|)^\alpha}{(5 + 1)^\alpha}` (Wu et al. 2016, eq. 14).

    Args:
        length: ``[...]`` number of target words, at least 0.
        alpha: 0 for no normalisation; Wu et al. found 0.2 best, or 0.6 to 0.7 without
            reinforcement learning.

    Returns:
        ``[...]`` the divisor of the log-probability, above 0.

    Raises:
        AttentionError: a negative length.
    """
    words = np.asarray(length, dtype=np.float64)
    if not np.all(words >= 0):
        raise AttentionError("a length must be at least 0")
    return np.asarray(((5.0 + words) / 6.0) ** alpha)


def penalized_score(
    log_probability: ArrayLike, length: ArrayLike, coverage: ArrayLike, *, alpha: float
) -> Float64Array:
    r""":math:`s(y, x) = \log P(y|x) / lp(y) + cp(x; y)` (Wu et al. 2016, eq. 14).

    Args:
        log_probability: ``[...]`` of each hypothesis.
        length: ``[...]`` number of its words.
        coverage: ``[...]`` what :func:`coverage_penalty` returned.
        alpha: of the length penalty.

    Returns:
        ``[...]`` the score; higher is better.
    """
    return np.asarray(
        np.asarray(log_probability) / length_penalty(length, alpha) + np.asarray(coverage)
    )
