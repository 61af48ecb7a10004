"""The facts that audits are made of: two sides are equal, or differ, or are as said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.published.claims import Fact
from coverage_eval.published.tables import PrintedTable

Pairs: TypeAlias = Iterable[tuple[ArrayLike, ArrayLike]]

_SAME = 1e-9


def equal(what: str, one: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are the same."""
    return _compare(what, one, other, digits, wanted=True)


def differ(what: str, one: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are not the same."""
    return _compare(what, one, other, digits, wanted=False)


def _compare(what: str, one: float, other: float, digits: int, *, wanted: bool) -> Fact:
    same = one == other or abs(one - other) <= _SAME
    outcome = "equal" if same else "differs"
    return Fact(what, f"{one:.{digits}f}", f"{other:.{digits}f}", outcome, same == wanted)


def same_text(what: str, printed: str, found: str) -> Fact:
    """The fact that a figure comes out with the digits that are printed."""
    same = printed == found
    return Fact(what, printed, found, "equal" if same else "differs", same)


def as_said(what: str, expected: str, found: str) -> Fact:
    """The fact that something comes out as a word says."""
    holds = expected == found
    return Fact(what, expected, found, "as said" if holds else "not so", holds)


def better(
    table: PrintedTable, metric: str, what: str, ours: float, theirs: float, *, decisive: bool
) -> Fact:
    """The fact that one figure of a table is better than another, or than a mean of others."""
    # Sums of two-digit figures: what is below a thousandth of a digit is rounding.
    gain = round(table.improvement(metric, ours, theirs), 6)
    outcome = "equal" if gain == 0 else f"{'better' if gain > 0 else 'worse'} by {abs(gain):.2f}"
    return Fact(what, f"{ours:.2f}", f"{theirs:.2f}", outcome, gain > 0, decisive)


def agree(what: str, pairs: Pairs, *, limit: float = _SAME, decisive: bool = True) -> Fact:
    """The fact that in all pairs of arrays both are equal, to within a limit."""
    gap = _largest_gap(pairs)
    outcome = "equal" if gap <= limit else "differs"
    against = f"differ by at most {_size(gap)}"
    return Fact(what, "equal", against, outcome, gap <= limit, decisive)


def disagree(what: str, pairs: Pairs, *, least: float = 1e-3) -> Fact:
    """The fact that in some pair the arrays differ by more than rounding could explain."""
    gap = _largest_gap(pairs)
    outcome = "differs" if gap >= least else "equal"
    return Fact(what, "differs", f"differ by up to {_size(gap)}", outcome, gap >= least)


def _largest_gap(pairs: Pairs) -> float:
    """The largest absolute difference; NaN if there is any, which is neither small nor large."""
    gaps = [np.abs(np.asarray(one) - np.asarray(other)).max(initial=0.0) for one, other in pairs]
    return float(np.max(gaps, initial=0.0))


def _size(gap: float) -> str:
    return "0" if gap == 0 else f"{gap:.0e}" if gap < 1e-3 else f"{gap:.3g}"
