r"""The algorithm of Pardalos and Kovoor (1990), in linear time by median search.

Malaviya et al. 2018: Algorithm 1 in Appendix A.3 solves the general problem of eq. 17, and eqs.
18-22 reduce constrained sparsemax of one row to it.
"""

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention.inputs import AttentionError, Float64Array, InfeasibleBoundsError


def pardalos_kovoor(a: ArrayLike, b: ArrayLike, c: ArrayLike, d: float) -> Float64Array:
    r"""Minimise a singly constrained quadratic function under lower and upper bounds.

    Solves :math:`\min_x \sum_j c_j x_j^2` subject to :math:`\sum_j c_j x_j = d` and
    :math:`a_j \le x_j \le b_j` (eq. 17). The solution is
    :math:`x_j = \max\{a_j, \min\{b_j, y\}\}` with one level y; binary search finds its place among
    the split points a, b. Comments give the line numbers of Algorithm 1. Time O(J), because every
    round halves the number of split points and a median takes linear time.

    Two departures from the printed lines. Line 9 keeps the open interval: its ends have been tried,
    and would be tried again forever if split points coincide. Line 10 counts positions whose bound
    lies at an end of the interval; the printed strict signs omit them from the tight sum, although
    line 12 removes them from the working set.

    Args:
        a: ``[J]`` lower bounds, finite.
        b: ``[J]`` upper bounds, ``b >= a``; may be +inf.
        c: ``[J]`` weights, not negative, finite.
        d: the weighted sum that x must have.

    Returns:
        ``[J]`` the solution x, float64.

    Raises:
        AttentionError: NaN, infinite ``a``, ``c`` or ``d``, a negative weight, ``a > b``.
        InfeasibleBoundsError: ``d`` outside what the bounds allow.
    """
    a, b, c = _checked(a, b, c, d)
    working = np.flatnonzero(c > 0)  # line 2; where c = 0 nothing depends on x
    a_w, b_w, c_w = a[working], b[working], c[working]
    points = np.concatenate([a_w, b_w[b_w < np.inf]])  # line 3; ±inf is never a median
    tau_l, tau_r, s_tight, xi = -np.inf, np.inf, 0.0, 0.0  # line 4
    while len(a_w):  # line 5
        middle = (len(points) - 1) // 2
        tau = float(np.partition(points, middle)[middle])  # line 6
        s = s_tight + xi * tau + float(c_w @ np.clip(tau, a_w, b_w))  # line 7
        if s <= d:  # line 8
            tau_l = tau
        if s >= d:
            tau_r = tau
        points = points[(points > tau_l) & (points < tau_r)]  # line 9
        at_b = b_w <= tau_l
        at_a = ~at_b & (a_w >= tau_r)
        s_tight += float(c_w[at_b] @ b_w[at_b] + c_w[at_a] @ a_w[at_a])  # line 10
        slack = ~at_b & ~at_a & (a_w <= tau_l) & (b_w >= tau_r)
        xi += float(c_w[slack].sum())  # line 11
        keep = ~(at_b | at_a | slack)
        a_w, b_w, c_w = a_w[keep], b_w[keep], c_w[keep]  # line 12
    if xi == 0:  # no position is between its bounds: all levels in the interval give the same x
        return np.asarray(np.clip(tau_l if tau_l > -np.inf else tau_r, a, b))
    y = (d - s_tight) / xi  # line 14
    return np.asarray(np.clip(y, a, b))  # line 15


def canonical_problem(
    z: ArrayLike, u: ArrayLike
) -> tuple[Float64Array, Float64Array, Float64Array, float]:
    r"""Reduce constrained sparsemax to a problem of eq. 17, by eqs. 18-22.

    Args:
        z: ``[J]`` finite scores.
        u: ``[J]`` upper bounds.

    Returns:
        a, b, c, d for :func:`pardalos_kovoor`; the attention is ``2 * x + z`` (eq. 18).
    """
    scores, bounds = np.asarray(z, dtype=np.float64), np.asarray(u, dtype=np.float64)
    a = -scores / 2  # eq. 19
    b = (bounds - scores) / 2  # eq. 20
    c = np.ones_like(scores)  # eq. 21
    d = float(1 - scores.sum()) / 2  # eq. 22
    return a, b, c, d


def _checked(
    a: ArrayLike, b: ArrayLike, c: ArrayLike, d: float
) -> tuple[Float64Array, Float64Array, Float64Array]:
    low, high, weight = (np.asarray(values, dtype=np.float64) for values in (a, b, c))
    if not (np.isfinite(low).all() and np.isfinite(weight).all() and np.isfinite(d)):
        raise AttentionError("a, c and d must be finite")
    if not (low <= high).all():
        raise AttentionError("every lower bound must be at most the upper bound, and not NaN")
    if (weight < 0).any():
        raise AttentionError("the weights must not be negative")
    used = weight > 0
    lowest, highest = float(weight @ low), float(weight[used] @ high[used])
    rounding = 1e-12 * (abs(d) + float(weight @ np.abs(low)))
    if d < lowest - rounding or d > highest + rounding:
        raise InfeasibleBoundsError(
            f"the sum must be {d:.6g}, but the bounds allow only {lowest:.6g} to {highest:.6g}"
        )
    return low, high, weight
