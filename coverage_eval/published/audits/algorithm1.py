"""Algorithm 1 of Malaviya et al. (2018), run as it is printed, and how its work grows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from coverage_eval.attention import constrained_sparsemax
from coverage_eval.attention.pardalos_kovoor import canonical_problem
from coverage_eval.published.audits.facts import agree
from coverage_eval.published.audits.random_problems import (
    PROBLEMS,
    SEED,
    Vector,
    bounded_problems,
    by_medians,
)
from coverage_eval.published.claims import Claim, Fact

PLACE = "Algorithm 1, Appendix A.3"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MOST_ROUNDS = 200


def audit() -> tuple[Claim, ...]:
    """Run Algorithm 1 with the printed signs and with closed ones, and count its work."""
    return (_as_printed(), _corrected(), _linear())


@dataclass(frozen=True)
class PrintedRun:
    """What became of one run.

    Attributes:
        level: y of line 14; None if that line divides by zero or the loop does not end.
        visited: Sum over the rounds of the size of the working set.
    """

    level: float | None
    visited: int


def run_as_printed(a: Vector, b: Vector, c: Vector, d: float, *, closed: bool) -> PrintedRun:
    """Algorithm 1 line by line, for reading and counting, not for use.

    Args:
        a: ``[J]`` lower bounds.
        b: ``[J]`` upper bounds.
        c: ``[J]`` positive weights.
        d: The weighted sum.
        closed: Whether line 10 compares with ≤ and ≥; as printed, it compares with < and >.
    """
    points = np.unique(np.concatenate([a, b, [-np.inf, np.inf]]))  # line 3
    tau_l, tau_r, s_tight, xi = -math.inf, math.inf, 0.0, 0.0  # line 4
    visited = 0
    for _ in range(MOST_ROUNDS):
        if not len(a):  # line 5
            break
        visited += len(a)
        tau = float(points[(len(points) - 1) // 2])  # line 6
        below, above = b < tau, a > tau
        s = s_tight + float(c[below] @ b[below] + c[above] @ a[above])
        s += (xi + float(c[~below & ~above].sum())) * tau  # line 7
        tau_l = tau if s <= d else tau_l  # line 8
        tau_r = tau if s >= d else tau_r
        points = points[(points >= tau_l) & (points <= tau_r)]  # line 9
        low = b <= tau_l if closed else b < tau_l
        high = ~low & (a >= tau_r) if closed else a > tau_r
        s_tight += float(c[low] @ b[low] + c[high] @ a[high])  # line 10
        slack = ~low & ~high & (a <= tau_l) & (b >= tau_r)
        xi += float(c[slack].sum())  # line 11
        keep = ((tau_l < a) & (a < tau_r)) | ((tau_l < b) & (b < tau_r))
        a, b, c = a[keep], b[keep], c[keep]  # line 12
    if len(a) or xi == 0:
        return PrintedRun(None, visited)
    return PrintedRun((d - s_tight) / xi, visited)  # line 14


def _solve(z: Vector, u: Vector, *, closed: bool) -> Vector | None:
    a, b, c, d = canonical_problem(z, u)
    level = run_as_printed(a, b, c, d, closed=closed).level
    return None if level is None else 2 * np.clip(level, a, b) + z  # line 15, eq. 18


def _solved(*, closed: bool) -> int:
    """How many of the random problems come out right."""
    right = 0
    for z, u in bounded_problems():
        alpha = _solve(z, u, closed=closed)
        right += alpha is not None and np.allclose(
            alpha, constrained_sparsemax(z, u), rtol=0, atol=1e-9
        )
    return right


def _count_fact(what: str, right: int) -> Fact:
    outcome = "all" if right == PROBLEMS else "not all"
    return Fact(what, f"{PROBLEMS}", f"{right}", outcome, right == PROBLEMS)


def _as_printed() -> Claim:
    return Claim(
        "Algorithm 1 solves the problem of Eq. 17",
        PLACE,
        (_count_fact("random problems solved, with < and > in line 10", _solved(closed=False)),),
        "Line 12 takes a word whose bound is an end of the interval from the working set, and line "
        "10 with its strict signs has not counted it: its mass is lost. The signs are those of the "
        "transcription; the proceedings do not print the appendix.",
    )


def _corrected() -> Claim:
    pairs = [(by_medians(z, u), constrained_sparsemax(z, u)) for z, u in bounded_problems()]
    return Claim(
        "with ≤ and ≥ in line 10, Algorithm 1 solves the problem of Eq. 17",
        f"{PLACE}; in our words",
        (
            _count_fact("random problems solved, with ≤ and ≥ in line 10", _solved(closed=True)),
            agree(f"{PROBLEMS} problems: our Algorithm 1 and the sort-based solver", pairs),
        ),
    )


def _linear() -> Claim:
    facts = []
    for size in SIZES:
        a, b, c, d = canonical_problem(*_long_problem(size))
        visits = run_as_printed(a, b, c, d, closed=True).visited / size
        # Halving the split points halves the working set at best every second round.
        bounded = visits <= 8
        outcome = "bounded" if bounded else "grows"
        what = f"J = {size:,}: words visited per word"
        facts.append(Fact(what, "constant", f"{visits:.2f}", outcome, bounded))
    return Claim(
        "the overall complexity is O(J)",
        "Appendix A.3 and Proposition 1, page 372",
        tuple(facts),
        "The words that are visited are counted, for times vary from run to run.",
    )


def _long_problem(size: int) -> tuple[Vector, Vector]:
    generator = np.random.default_rng(SEED)
    z = generator.normal(size=size)
    u = generator.uniform(size=size) * 20 / size
    return z, u
