"""Scores of how attention covers the source: each from an array ``[T, S]`` to one number.

EOS row and column are left out before (the caller's choice). With cov_j = Σ_i α_ij, the attention
that source word j gets in total. An empty source (S = 0) has no word that could lack coverage, so
penalties and shares are 0; an empty hypothesis (T = 0) covers nothing, so every cov_j is 0. No
score is ever NaN or infinite.

Scores called *experimental* follow a formula recalled from the paper named, not read again there.
"""

from __future__ import annotations

import numpy as np

from coverage_eval.attention_maps.maps import Weights


def coverage(attention: Weights) -> Weights:
    """Attention that each source word gets in total, cov_j = Σ_i α_ij: ``[S]``, from 0 to T."""
    total: Weights = attention.sum(axis=0)
    return total


def mean_coverage(attention: Weights) -> float:
    """Mean of cov_j over source words: ``src_sum_contr_mean`` of stopes (alti_metrics_utils.py)."""
    return float(coverage(attention).mean()) if attention.shape[1] else 0.0


def over_attended(attention: Weights, over: float = 1.5) -> float:
    """Number of source words with cov_j > ``over``: candidates of repetition."""
    return float(np.count_nonzero(coverage(attention) > over))


def under_attended(attention: Weights, under: float = 0.2) -> float:
    """Number of source words with cov_j < ``under``: candidates of omission."""
    return float(np.count_nonzero(coverage(attention) < under))


def ignored_source(attention: Weights, under: float = 0.2) -> float:
    """Share of source words with cov_j < 0.2 (Attn-ign-SRC; Berard et al. 2019). Experimental."""
    return _share(coverage(attention) < under)


def cdp_paper(attention: Weights) -> float:
    """Coverage deviation penalty as printed: −(1/S) Σ_j log(1 + (1 − cov_j)²), at most 0.

    Rikters and Fishel (2017). Experimental.
    """
    return _mean(-np.log1p((1 - coverage(attention)) ** 2))


def cdp_code(attention: Weights) -> float:
    """Coverage deviation penalty as computed: (1/S) Σ_j log(1 / (1 + |1 − cov_j|⁶)), at most 0.

    M4t1ss/SoftAlignments, softalignments/functions.py, ``getCP``.
    """
    return _mean(-np.log1p(np.abs(1 - coverage(attention)) ** 6))


def gnmt_penalty(attention: Weights, beta: float = 0.2) -> float:
    """Coverage penalty β Σ_j log min(cov_j, 1) of Wu et al. (2016, equation 14), at most 0.

    A word with cov_j = 0 is skipped, as in CTranslate2 (src/decoding.cc), since sparse attention
    would give −∞ otherwise; :func:`ignored_source` counts such words. β = 0.2 is recalled from the
    paper (experimental); OpenNMT-py's default is 0.
    """
    cov = coverage(attention)
    return _zero(beta * float(np.log(np.minimum(cov[cov > 0], 1)).sum()))


def summary_penalty(attention: Weights, beta: float = 1.0) -> float:
    """β (Σ_j max(cov_j, 1) − S), over-attention only: ``summary`` of OpenNMT-py's penalties.py."""
    return beta * float(np.maximum(coverage(attention) - 1, 0).sum())


def truncated_coverage(attention: Weights, beta: float = 0.4) -> float:
    """Σ_j log max(cov_j, β), Li et al. (2018); finite for β > 0. Experimental, β too."""
    return float(np.log(np.maximum(coverage(attention), beta)).sum())


def undertranslated_max(attention: Weights, limit: float = 0.01) -> float:
    """Share of source words with max_i α_ij < 0.01: ``src_max_contr_below_001`` of stopes."""
    rows, columns = attention.shape
    most = attention.max(axis=0) if rows else np.zeros(columns)
    return _share(most < limit)


def undertranslated_sum(attention: Weights, limit: float = 0.1) -> float:
    """Share of source words with cov_j < 0.1: ``src_sum_contr_below_01`` of stopes."""
    return _share(coverage(attention) < limit)


def eos_attention(to_eos: Weights) -> float:
    """Mean attention of target words to the source's EOS, from its column ``[T]``; 0 for T = 0.

    Attn-to-EOS of Berard et al. (2019), Guerreiro et al. (2023). Experimental.
    """
    return float(to_eos.mean()) if to_eos.size else 0.0


def _mean(values: Weights) -> float:
    return _zero(float(values.mean())) if values.size else 0.0


def _share(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    return float(flags.mean()) if flags.size else 0.0


def _zero(value: float) -> float:
    """Not −0.0, which prints as a penalty."""
    return value + 0.0
