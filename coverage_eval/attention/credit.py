r"""Attention under fertilities, step by step: each word's bound is the credit it has left.

:math:`\alpha_t = \rho(z_t; u_t)` with :math:`u_t = f - \sum_{\tau<t} \alpha_\tau` (Malaviya et al.
2018, section 3, eq. 5). Here the scores of all steps are known in advance, as in Figure 1; for
scores that come from a decoder see :func:`~coverage_eval.attention.attend`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import AttentionError, Float64Array
from coverage_eval.attention.registry import find_transformation
from coverage_eval.attention.state import AttentionState


def attend_with_credit(
    scores: ArrayLike,
    fertility: ArrayLike,
    transformation: str = "constrained_sparsemax",
) -> tuple[Float64Array, Float64Array]:
    """Attend to a source at each step, within the credit that the earlier steps have left.

    Figure 1 of Malaviya et al. 2018, where each word may receive one unit of attention:

    >>> from coverage_eval.attention import attend_with_credit
    >>> z = [[1.2, 0.8, -0.2], [0.7, 0.9, 0.1], [-0.2, 0.2, 0.9]]
    >>> attention, credit = attend_with_credit(z, 1.0)
    >>> attention.round(2).tolist()
    [[0.7, 0.3, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]]
    >>> credit.round(2).tolist()
    [[1.0, 1.0, 1.0], [0.3, 0.7, 1.0], [0.0, 0.0, 1.0]]

    Args:
        scores: ``[T, S]``, one row for each step; −inf marks padding.
        fertility: f, at least 0, broadcast to ``[S]``; +inf for a word without a bound (a sink).
        transformation: name or label of one in :data:`~coverage_eval.attention.TRANSFORMATIONS`;
            those without bounds attend whatever the credit is.

    Returns:
        Attention ``[T, S]``, and the credit ``[T, S]`` that each word had before each step: the
        upper bounds.

    Raises:
        AttentionError: scores that are not a matrix, fertilities that do not fit them, an unknown
            transformation, or a step for which it is not defined; names the step, from 1.
        InfeasibleBoundsError: a step before which less than one unit of credit is left.
    """
    rho = find_transformation(transformation)
    rows, bounds = _checked(scores, fertility)
    attention, credit = np.zeros_like(rows), np.zeros_like(rows)
    state = AttentionState.start(1, rows.shape[1])
    for t, z in enumerate(rows):
        credit[t] = state.credit(bounds)[0]
        try:
            attention[t] = rho(z, credit[t])
        except AttentionError as error:
            raise type(error)(f"step {t + 1}: {error}", (t,)) from None
        state = state.add(attention[t, None], bounds if rho.bounded else None)
    return attention, credit


def _checked(scores: ArrayLike, fertility: ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Scores ``[T, S]`` and fertilities ``[1, S]``."""
    rows = np.asarray(scores, dtype=np.float64)
    if rows.ndim != 2:
        raise AttentionError(f"scores must be [steps, words], not of shape {rows.shape}")
    given = np.asarray(fertility, dtype=np.float64)
    if given.shape not in ((), (1,), rows.shape[1:]):
        raise AttentionError(f"fertilities of shape {given.shape} for {rows.shape[1]} words")
    if not (given >= 0).all():
        raise AttentionError("fertilities must be at least 0, and not NaN")
    return rows, np.broadcast_to(given, (1, rows.shape[1]))
