"""Two sides of a difference, computed and put side by side as a fact."""

from __future__ import annotations

from coverage_eval.published.claims import Fact

__all__ = ["differ", "equal", "outcome_fact"]

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


def outcome_fact(what: str, expected: str, found: str) -> Fact:
    """The fact that something came out as a word says."""
    return Fact(
        what, expected, found, "as said" if expected == found else "not so", expected == found
    )
