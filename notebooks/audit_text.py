"""The papers' equations and statements, and where text and published scripts differ, computed.

Notebook 05 shows these audits, and ``python notebooks/audit_text.py`` prints them; the printed
tables and figures are in ``coverage-eval audit``. Malaviya et al. (2018): Proposition 1, sections 3
and 4, Appendix A. Madsen et al. (2017): section 2. The scripts are those of Malaviya et al.:
Unbabel/sparse_constrained_attention at commit 55111dc, and their fork of OpenNMT-py. None of their
code is here; what they compute is written again in as few lines as possible.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, minimize

from coverage_eval.align.aligner import Aligner
from coverage_eval.attention import (
    AttendResult,
    AttentionStep,
    BilinearScore,
    attend,
    attend_with_credit,
    canonical_problem,
    constrained_softmax,
    constrained_sparsemax,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
    pardalos_kovoor,
    softmax,
    sparsemax,
    sparsemax_loss,
    sparsemax_vjp,
)
from coverage_eval.attention.inputs import InfeasibleBoundsError
from coverage_eval.attention.penalties import penalized_score
from coverage_eval.core.batches import Texts
from coverage_eval.core.counting import count_texts
from coverage_eval.coverage.drop import DROP
from coverage_eval.papers.claims import Audit, Claim, Fact, binary_fact
from coverage_eval.repetition.rep import REP
from fast_align_wrapper import AlignerDataError
from fast_align_wrapper.links import parse_links

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]
"""Returns a value to minimise, and its gradient."""

Pairs: TypeAlias = Iterable[tuple[ArrayLike, ArrayLike]]

SEED = 2018
SAME = 1e-9
PROBLEMS = 200
MARGIN = 1e-3
"""Smallest distance from kinks for comparing derivatives with finite differences."""

PROPOSITION = "Proposition 1, page 372"
ALGORITHM = "Algorithm 1, Appendix A.3"
SIZES = (1_000, 10_000, 100_000)
MAX_ROUNDS = 200
BY_SOLVER, SOLVED = "ours and SciPy's general solver (SLSQP)", 1e-5
"""A comparison and its limit; the solver itself stops at about 1e-8."""

WORDS = 8
SEQUENCES = 1_000


def equal(what: str, first: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are the same."""
    same = first == other or abs(first - other) <= SAME
    return binary_fact(what, f"{first:.{digits}f}", f"{other:.{digits}f}", same, "equal", "differs")


def differ(what: str, first: float, other: float, *, digits: int = 2) -> Fact:
    """The fact that two numbers are not the same."""
    fact = equal(what, first, other, digits=digits)
    return replace(fact, holds=not fact.holds)


def as_claimed(what: str, expected: str, found: str) -> Fact:
    """The fact that a result is what the paper says in words."""
    return binary_fact(what, expected, found, expected == found, "as said", "not so")


def message_of(error: type[Exception], call: Callable[..., Any], *arguments: Any) -> str:
    """The message of the error that a call ends with, or nothing."""
    try:
        call(*arguments)
    except error as found:
        return str(found)
    return ""


def agree(what: str, pairs: Pairs, *, limit: float = SAME, decisive: bool = True) -> Fact:
    """The fact that the arrays of every pair differ by at most ``limit``."""
    gaps = [np.abs(np.asarray(a) - np.asarray(b)).max(initial=0.0) for a, b in pairs]
    gap = float(np.max(gaps, initial=0.0))  # NaN if an array has one, so not within the limit
    shown = "0" if gap == 0 else f"{gap:.0e}" if gap < 1e-3 else f"{gap:.3g}"
    against = f"differ by at most {shown}"
    return binary_fact(what, "equal", against, gap <= limit, "equal", "differs", decisive=decisive)


def free_problems(count: int = PROBLEMS) -> Iterator[Vector]:
    """Scores of 2 to 12 words."""
    generator = np.random.default_rng(SEED)
    for _ in range(count):
        yield generator.normal(scale=1.5, size=int(generator.integers(2, 13)))


def bounded_problems(
    count: int = PROBLEMS, *, margin: float = 0.0
) -> Iterator[tuple[Vector, Vector]]:
    """Scores and upper bounds of 3 to 12 words, the bounds summing to more than 1.

    Args:
        count: The number of problems.
        margin: Smallest distance of z − τ from 0 and from the bound; smaller steps cross no kink.
    """
    generator = np.random.default_rng(SEED)
    while count > 0:
        size = int(generator.integers(3, 13))
        z = generator.normal(size=size)
        u = generator.uniform(0.02, 0.9, size=size)
        u *= max(1.0, 1.2 / u.sum())
        if margin:
            alpha = constrained_sparsemax(z, u)
            if not interior(alpha, u).any():
                continue
            above = z - threshold(z, u, alpha)
            if np.minimum(np.abs(above), np.abs(above - u)).min() < margin:
                continue
        count -= 1
        yield z, u


def interior(alpha: Vector, u: Vector) -> NDArray[np.bool_]:
    """The set A of Proposition 1: the words strictly between 0 and their bound."""
    return (alpha > 0) & (alpha < u)


def threshold(z: Vector, u: Vector, alpha: Vector) -> float:
    """τ of a solution α = max{0, min{u, z − τ}}, from the words between their bounds."""
    return float((z - alpha)[interior(alpha, u)].mean())


def by_medians(z: Vector, u: Vector) -> Vector:
    """Constrained sparsemax of one row by Algorithm 1, through eq. 18."""
    return np.asarray(2 * pardalos_kovoor(*canonical_problem(z, u)) + z)


def finite_differences(
    function: Callable[[Vector], Vector], point: Vector, *, step: float = 1e-6
) -> Vector:
    """The Jacobian of a function by central differences, ``[outputs, inputs]``."""
    shifts = step * np.eye(len(point))
    found = [(function(point + shift) - function(point - shift)) / (2 * step) for shift in shifts]
    return np.stack(found, axis=1)


def numeric_jacobians(z: Vector, u: Vector) -> tuple[Vector, Vector]:
    """The Jacobians of constrained sparsemax for z and for u, by finite differences."""
    by_scores = finite_differences(lambda scores: constrained_sparsemax(scores, u), z)
    by_bounds = finite_differences(lambda bounds: constrained_sparsemax(z, bounds), u)
    return by_scores, by_bounds


def squared_distance(z: Vector) -> Objective:
    """The objective of eqs. 3 and 6: half the squared Euclidean distance from z."""
    return lambda alpha: (0.5 * float(np.sum((alpha - z) ** 2)), alpha - z)


def closest(start: Vector, u: Vector, objective: Objective) -> Vector:
    """The best distribution within bounds, by a general solver."""
    result = minimize(
        objective,
        np.clip(start, 1e-9, u) / np.clip(start, 1e-9, u).sum(),
        jac=True,
        bounds=Bounds(np.zeros_like(u), u),
        constraints=[LinearConstraint(np.ones_like(u), 1.0, 1.0)],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return np.asarray(result.x, dtype=np.float64)


def audit_proposition1() -> tuple[Claim, ...]:
    """Check Proposition 1: the form of the solution, and its gradients."""
    solver, form = [], []
    for z, u in bounded_problems(60):
        alpha = constrained_sparsemax(z, u)
        solver.append((alpha, closest(u, u, squared_distance(z))))
        if interior(alpha, u).any():
            form.append((alpha, np.clip(z - threshold(z, u, alpha), 0, u)))
    generator = np.random.default_rng(7)
    eq_7, eq_8 = [], []
    for z, u in bounded_problems(100, margin=MARGIN):
        d_alpha = generator.normal(size=len(z))
        dz, du = constrained_sparsemax_vjp(d_alpha, constrained_sparsemax(z, u), u)
        by_scores, by_bounds = numeric_jacobians(z, u)
        eq_7.append((dz, d_alpha @ by_scores))
        eq_8.append((du, d_alpha @ by_bounds))
    return (
        Claim(
            "the solution takes the form α = max{0, min{u, z − τ}}, where τ is a normalization "
            "constant",
            PROPOSITION,
            (
                agree(f"60 problems: {BY_SOLVER}", solver, limit=SOLVED),
                agree("60 problems: the solution and the form, with τ from its interior", form),
            ),
        ),
        Claim(
            "dz = 1(j ∈ A)(dα − m) and du = 1(j ∈ A_R)(dα − m), where m is the mean of dα over A",
            f"eqs. 7 and 8, {PROPOSITION}",
            (
                agree("100 problems: eq. 7 and finite differences", eq_7, limit=1e-7),
                agree("100 problems: eq. 8 and finite differences", eq_8, limit=1e-7),
            ),
            "Only away from kinks, where the solution has a derivative.",
        ),
    )


def audit_appendix_a() -> tuple[Claim, ...]:
    """Check the equations of Appendix A: the Lagrangian and its sign, τ, the Jacobians."""
    printed, corrected, forms, derivatives = [], [], [], []
    for z, u in bounded_problems(margin=MARGIN):
        alpha = constrained_sparsemax(z, u)
        between, at_bound = interior(alpha, u), alpha == u
        tau = float((z[between].sum() + u[at_bound].sum() - 1) / between.sum())  # eq. 11
        forms.append((np.clip(z - tau, 0, u), alpha))
        # Complementary slackness: μ only where α = 0, ν only where α = u.
        mu = np.where(alpha == 0, np.maximum(tau - z, 0), 0.0)
        nu = np.where(at_bound, np.maximum(z - tau - u, 0), 0.0)
        # The gradient of eq. 9 with respect to α, its first term being ±½‖α‖².
        printed.append((-alpha - z + tau - mu + nu, 0))
        corrected.append((alpha - z + tau - mu + nu, 0))
    for z, u in islice(bounded_problems(margin=MARGIN), 60):
        alpha, d_alpha = constrained_sparsemax(z, u), np.cos(np.arange(len(z)))
        by_z, by_u = constrained_sparsemax_jacobian(alpha, u)
        dz, du = constrained_sparsemax_vjp(d_alpha, alpha, u)
        ours = (by_z, by_u, d_alpha @ by_z, d_alpha @ by_u)
        derivatives.append(tuple(zip(ours, (*numeric_jacobians(z, u), dz, du), strict=True)))
    eq_13, eq_14, eq_15, eq_16 = zip(*derivatives, strict=True)
    return (
        Claim(
            "from the stationarity condition of the Lagrangian −½‖α‖² − zᵀα + τ(1ᵀα − 1) − μᵀα + "
            "νᵀ(α − u), we have 0 = α − z + τ1 − μ + ν",
            "eqs. 9 and 10, Appendix A.1",
            (
                agree("with −½‖α‖² as printed: gradient at the solution and 0", printed),
                agree("with +½‖α‖²: gradient at the solution and 0", corrected, decisive=False),
            ),
            "The sign is a slip: eq. 10 and everything after it belong to +½‖α‖².",
        ),
        Claim(
            "τ = (Σ z over A + Σ u over A_R − 1) / |A|",
            "eq. 11, Appendix A.1",
            (
                agree("200 problems: max{0, min{u, z − τ}} and the solution", forms),
                agree("200 problems: its sum and 1", ((form.sum(), 1) for form, _ in forms)),
            ),
        ),
        Claim(
            "the Jacobians for z and u, and the gradients that they give",
            "eqs. 13 to 16, Appendix A.2",
            (
                agree("60 problems: eq. 13 and finite differences", eq_13, limit=1e-7),
                agree("60 problems: eq. 14 and finite differences", eq_14, limit=1e-7),
                agree("60 problems: eq. 15 and dαᵀ times eq. 13", eq_15),
                agree("60 problems: eq. 16 and dαᵀ times eq. 14", eq_16),
            ),
        ),
    )  # fmt: skip


def audit_reduction() -> tuple[Claim, ...]:
    """Rewrite random problems by eqs. 18 to 22 as the canonical problem, and solve them."""
    generator = np.random.default_rng(17)
    objective, constraint, excess, solution = [], [], [], []
    for z, u in bounded_problems():
        a, b, c, d = canonical_problem(z, u)
        # Any distribution p within the bounds: both problems see the same constraints, and
        # objectives that differ by a constant factor.
        p = constrained_sparsemax(generator.normal(size=len(z)), u)
        x = (p - z) / 2
        objective.append((4 * (c @ x**2), ((p - z) ** 2).sum()))
        constraint.append((c @ x, d))
        excess.append((np.maximum(np.maximum(a - x, x - b), 0), 0))
        solution.append((by_medians(z, u), constrained_sparsemax(z, u)))
    return (
        Claim(
            "our problem in Eq. 6 can be rewritten in the form of Eq. 17 if we set x = (p − z)/2, "
            "a = −z/2, b = (u − z)/2, c = 1, d = (1 − Σz)/2",
            "eqs. 17 to 22, Appendix A.3",
            (
                agree("200 distributions p: 4 Σ c x² and ‖p − z‖²", objective),
                agree("200 distributions p: Σ c x and d", constraint),
                agree("200 distributions p: excess of x over [a, b]", excess),
                agree("200 problems: 2x + z of the canonical solution and Eq. 6", solution),
            ),
        ),
    )


def run_as_printed(a: Vector, b: Vector, c: Vector, d: float, *, closed: bool) -> tuple[float, int]:
    """Algorithm 1 line by line, to read it and to count its work.

    Args:
        a: ``[J]`` lower bounds.
        b: ``[J]`` upper bounds.
        c: ``[J]`` positive weights.
        d: The weighted sum.
        closed: Whether line 10 compares with ≤ and ≥; as printed, it compares with < and >.

    Returns:
        y of line 14, or NaN if that line divides by zero or the loop does not end; and the size
        of the working set, summed over the rounds.
    """
    points = np.unique(np.concatenate([a, b, [-np.inf, np.inf]]))  # line 3
    tau_l, tau_r, s_tight, xi = -math.inf, math.inf, 0.0, 0.0  # line 4
    visited = 0
    for _ in range(MAX_ROUNDS):
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
        return math.nan, visited
    return (d - s_tight) / xi, visited  # line 14


def _of_all(what: str, found: int) -> Fact:
    """The fact that something holds in all random problems."""
    return binary_fact(what, f"{PROBLEMS}", f"{found}", found == PROBLEMS, "all", "not all")


def audit_algorithm1() -> tuple[Claim, ...]:
    """Run Algorithm 1 with the printed signs and with closed ones, and count its work."""
    right, inside, pairs, counts = Counter[bool](), 0, [], []
    for z, u in bounded_problems():
        a, b, c, d = canonical_problem(z, u)
        pairs.append((by_medians(z, u), constrained_sparsemax(z, u)))
        for closed in (False, True):
            level, _ = run_as_printed(a, b, c, d, closed=closed)
            alpha = 2 * np.clip(level, a, b) + z  # line 15, eq. 18
            right[closed] += np.allclose(alpha, pairs[-1][1], rtol=0, atol=1e-9)
        inside += bool(((a <= level) & (level <= b)).all())
    for size in SIZES:
        generator = np.random.default_rng(SEED)
        z = generator.normal(size=size)
        a, b, c, d = canonical_problem(z, generator.uniform(size=size) * 20 / size)
        visits = run_as_printed(a, b, c, d, closed=True)[1] / size
        # Halving the split points halves the working set at best every second round.
        what = f"J = {size:,}: words visited per word"
        visited = f"{visits:.2f}"
        counts.append(binary_fact(what, "constant", visited, visits <= 8, "bounded", "grows"))
    return (
        Claim(
            "Algorithm 1 solves the problem of Eq. 17",
            ALGORITHM,
            (_of_all("random problems solved, with < and > in line 10", right[False]),),
            "Line 12 removes a word from the working set if its bound is an end of the interval, "
            "but line 10, with its strict signs, has not counted it: its mass is lost. The signs "
            "are those of the transcription; the proceedings do not print the appendix.",
        ),
        Claim(
            "with ≤ and ≥ in line 10, Algorithm 1 solves the problem of Eq. 17",
            f"{ALGORITHM}; in our words",
            (
                _of_all("random problems solved, with ≤ and ≥ in line 10", right[True]),
                agree(f"{PROBLEMS} problems: our Algorithm 1 and the sort-based solver", pairs),
            ),
        ),
        Claim(
            "the solution of Eq. 17 is of the form max{a, min{b, y}}, where y ∈ [a_j, b_j] is a "
            "constant",
            "Appendix A.3",
            (
                _of_all(
                    f"{PROBLEMS} problems: those whose y lies in [a_j, b_j] for every j", inside
                ),
            ),
            "The form is right (audit reduction); y lies in the interval of the words strictly "
            "between their bounds only.",
        ),
        Claim(
            "the overall complexity is O(J)",
            "Appendix A.3 and Proposition 1, page 372",
            tuple(counts),
            "Visited words are counted, because times vary from run to run.",
        ),
    )


def audit_report_equations() -> tuple[Claim, ...]:
    """Check section 2 of the report: both algorithms, the Jacobian's product, the losses."""
    by_first, by_ours, losses = [], [], []
    generator = np.random.default_rng(8)
    for z in free_problems():
        by_first.append((algorithm_1(z), _algorithm_2(z)))
        by_ours.append((sparsemax(z), _algorithm_2(z)))
        q = generator.dirichlet(np.ones(len(z)))
        losses.append([float(loss(z, q)) for loss in LOSSES])
    eighth, ninth, tenth, ours = zip(*losses, strict=True)
    readings, gradients = [], []
    for z, v in _problems_with_vectors():
        readings.append(products(z, v))
        q = np.exp(v) / np.exp(v).sum()
        numeric = finite_differences(lambda z, q=q: np.atleast_1d(loss_of_eq_9(z, q)), z)
        gradients.append((numeric[0], sparsemax(z) - q))
    euclidean, by_1_norm, product = zip(*readings, strict=True)
    return (
        Claim(
            "Algorithm 2 is Algorithm 1 with only minor modifications for parallelism",
            "section 2.1, page 2",
            (
                agree("200 problems: Algorithm 1 and Algorithm 2", by_first),
                agree("200 problems: our batched sparsemax and Algorithm 2", by_ours),
            ),
        ),
        Claim(
            "J v = s ⊙ (v − v̂ 1), where v̂ = sᵀv / ‖s‖",
            "eq. 5, page 2",
            (
                agree("‖s‖ as the Euclidean norm, the usual reading", euclidean, limit=1e-7),
                agree("‖s‖ as the 1-norm, |S|", by_1_norm, limit=1e-7, decisive=False),
                agree("our sparsemax_vjp", product, limit=1e-7, decisive=False),
            ),
            "Against finite differences. ‖s‖ must be the 1-norm: sᵀv / |S| is a mean over the "
            "support.",
        ),
        Claim(
            "the sparsemax loss can be reformulated to depend only on z, p and q, and changed to "
            "be a simple map and reduce",
            "eqs. 8 to 10, page 2",
            (
                agree("200 problems: eq. 8 and eq. 9", [(eighth, ninth)]),
                agree("200 problems: eq. 9 and eq. 10", [(ninth, tenth)]),
                agree("200 problems: our sparsemax_loss and eq. 10", [(ours, tenth)]),
            ),
        ),
        Claim(
            "the gradient of the sparsemax loss is −q + sparsemax(z)",
            "eq. 6, page 2",
            (agree("eq. 6 and finite differences of eq. 9", gradients, limit=1e-7),),
        ),
    )


def algorithm_1(z: Vector) -> Vector:
    """Algorithm 1 for one row, with the number of its lines."""
    ordered = np.sort(z)[::-1]  # line 2
    sizes = np.arange(1, len(z) + 1)
    size = sizes[1 + sizes * ordered > np.cumsum(ordered)].max()  # line 3
    tau = (ordered[:size].sum() - 1) / size  # line 4
    return np.asarray(np.maximum(z - tau, 0))  # line 5


def _algorithm_2(z: Vector) -> Vector:
    """Algorithm 2 for one row, with the number of its lines."""
    s = np.sort(z)[::-1]  # line 2
    c = np.cumsum(s)  # line 3
    k = np.arange(1, len(z) + 1)
    b = 1 + k * s > c  # line 4
    size = int(b.sum())  # line 5
    tau = (c[size - 1] - 1) / size  # line 6
    return np.asarray(np.maximum(z - tau, 0))  # line 7


def loss_of_eq_8(z: Vector, q: Vector) -> float:
    """With the threshold τ, over the support."""
    support = sparsemax(z) > 0
    tau = (z[support].sum() - 1) / support.sum()
    return float((z[support] ** 2 - tau**2).sum() / 2 + q @ q / 2 - q @ z)


def loss_of_eq_9(z: Vector, q: Vector) -> float:
    """With p, over the support."""
    p = sparsemax(z)
    return float((p * (2 * z - p))[p > 0].sum() / 2 + q @ q / 2 - q @ z)


def loss_of_eq_10(z: Vector, q: Vector) -> float:
    """One map and one sum."""
    p = sparsemax(z)
    return float(((p > 0) * p * (z - p / 2) + q * (q / 2 - z)).sum())


LOSSES: tuple[Callable[[Vector, Vector], Any], ...] = (
    loss_of_eq_8,
    loss_of_eq_9,
    loss_of_eq_10,
    sparsemax_loss,
)
"""The report's eqs. 8, 9 and 10 as printed, and our loss."""


def _problems_with_vectors() -> Iterator[tuple[Vector, Vector]]:
    """Scores away from kinks, and a vector to multiply the Jacobian with."""
    generator = np.random.default_rng(5)
    for z in free_problems():
        tau = threshold(z, np.full_like(z, np.inf), sparsemax(z))
        if np.abs(z - tau).min() > MARGIN:
            yield z, generator.normal(size=len(z))


def products(z: Vector, v: Vector) -> tuple[tuple[Vector, Vector], ...]:
    """J v by both readings of ‖s‖ in the report's eq. 5 and by ours, beside finite differences."""
    numeric = finite_differences(sparsemax, z) @ v
    p = sparsemax(z)
    s = (p > 0).astype(np.float64)
    readings = [s * (v - (s @ v) / np.linalg.norm(s, order)) for order in (2, 1)]
    return tuple((product, numeric) for product in (*readings, sparsemax_vjp(v, p)))


def audit_attention() -> tuple[Claim, ...]:
    """Check what sections 3 and 4 of Malaviya et al. (2018) say of the transformations."""
    projection = [
        (sparsemax(z), closest(z, np.ones_like(z), squared_distance(z))) for z in free_problems(60)
    ]
    divergence, form = [], []
    for z, u in bounded_problems(60):
        p, alpha = softmax(z), constrained_softmax(z, u)
        divergence.append((alpha, closest(p, u, _kullback_leibler(p))))
        below = alpha < u
        if below.any():
            # Optimality (Karush, Kuhn and Tucker): one factor for all words below their bounds,
            # and with this factor the others would exceed theirs.
            factor = float((alpha[below] / p[below]).mean())
            form.append((alpha, np.minimum(u, factor * p)))
    scores = np.random.default_rng(SEED).normal(size=(2 * WORDS, WORDS + 1))
    without = message_of(InfeasibleBoundsError, attend_with_credit, scores[:, :-1], 1.0)
    attention, _ = attend_with_credit(scores, np.append(np.ones(WORDS), np.inf))
    return (
        Claim(
            "sparsemax is the Euclidean projection of the scores z onto the probability simplex",
            "eq. 3, section 3, page 371",
            (agree(f"60 problems: {BY_SOLVER}", projection, limit=SOLVED),),
        ),
        Claim(
            "csoftmax returns the distribution closest to softmax(z), in Kullback–Leibler "
            "divergence, whose attention probabilities are bounded by u",
            "eq. 4, section 3, page 371",
            (
                agree(f"60 problems: {BY_SOLVER}", divergence, limit=SOLVED),
                agree(f"{len(form)} problems: ours and min(u, κ softmax(z)) with one κ "
                      "(optimality)", form),
            ),
        ),
        Claim(
            "without the sink token, the length of the generated target sentence can never exceed "
            "Σf; with it the problems stay feasible",
            "section 4, page 373",
            (
                as_claimed(f"{WORDS} words with f = 1: the first step without a solution",
                        f"step {WORDS + 1}", without.partition(":")[0]),
                agree("the same with a sink, 16 steps: sums of attention and 1",
                      [(attention.sum(axis=1), 1.0)]),
            ),
        ),
    )  # fmt: skip


def _kullback_leibler(p: Vector) -> Objective:
    def objective(alpha: Vector) -> tuple[float, Vector]:
        ratio = np.log(np.maximum(alpha, 1e-300) / p)
        return float(alpha @ ratio), ratio + 1

    return objective


def audit_scripts() -> tuple[Claim, ...]:
    """Where the text and the published scripts differ, with both computed."""
    scripts = (rep_second_sum, drop_denominator, drop_empty_line, exhaustion, length, no_interior)
    return tuple(audit() for audit in scripts)


def rep_second_sum() -> Claim:
    """What the second sum of REP counts."""
    apart, doubled, reference = "the cat the", "the the cat", "the cat"
    ours = {text: float(REP().sentence_score(text, reference)) for text in (apart, doubled)}
    return Claim(
        "1. REP, second sum: the text has t(ww), a word twice in a row, and the scripts count "
        "bigrams of two equal words; one transcription misreads it as t(w)",
        "section 5, page 374",
        (
            equal(f'"{doubled}": t(ww), REP', rep_of_script(doubled, reference, 2), ours[doubled]),
            equal(f'"{apart}": t(ww), REP', rep_of_script(apart, reference, 2), ours[apart]),
            differ(f'"{apart}": t(w), REP', rep_of_script(apart, reference, 1), ours[apart]),
        ),
        f'Ours: the same as the text. The reference is "{reference}".',
    )


def rep_of_script(hypothesis: str, reference: str, times: int) -> float:
    """REP by its formula; the second sum is over words that occur ``times`` times in a row."""
    hyp, ref = hypothesis.split(), reference.split()
    t, r = Counter(pairwise(hyp)), Counter(pairwise(ref))
    sigma = sum(max(0, count - r[gram]) for gram, count in t.items() if count >= 2)
    sigma += 2 * sum((_rows(hyp, times) - _rows(ref, times)).values())
    return 100 * sigma / len(ref)


def _rows(words: Sequence[str], times: int) -> Counter[str]:
    starts = range(len(words) - times + 1)
    return Counter(words[i] for i in starts if len(set(words[i : i + times])) == 1)


def drop_denominator() -> Claim:
    """The denominator of DROP."""
    source = "a b c d e"
    reference, hypothesis = parse_links("0-0 1-1 2-2"), parse_links("0-0")
    figures = {}
    for denominator in ("aligned", "source"):
        metric = DROP(Aligner.from_links([reference], [hypothesis]), denominator=denominator)
        figures[denominator] = float(metric.sentence_score("a b c", "a b c", source))
    return Claim(
        '2. DROP, denominator: "percentage of source words that aligned with some word from the '
        'reference, but not with any word from the predicted translation" may be of all source '
        "words; in the scripts it is of those aligned with the reference",
        "section 5, page 374",
        (
            equal("2 of 3 aligned words; DROP, denominator aligned", 200 / 3, figures["aligned"]),
            equal("2 of 5 source words; DROP, denominator source", 40.0, figures["source"]),
            differ("both readings", figures["aligned"], figures["source"]),
        ),
        "Ours: the scripts' by default, the other as an option; the signature names it.",
    )


def drop_empty_line() -> Claim:
    """Alignment lines that are empty, start with < or have no partner."""
    references, hypotheses = ["0-0 1-1", ""], ["0-0", ""]
    scripts, lines = _drop_of_scripts(references, hypotheses[:1])
    scripts, _ = _drop_of_scripts(references, hypotheses)
    ours = _drop(references, hypotheses)
    compatible = _drop(references, hypotheses, "acl2018")
    after = ["0-0", "1-1"], ["1-1", "2-2"]
    unreadable, unequal = (
        "error" if message_of(*call) else "no error"
        for call in (
            (AlignerDataError, parse_links, "<s> 0-0"),
            (ValueError, _drop, references, references[:1]),
        )
    )
    shifted, _ = _drop_of_scripts(["<s> 0-0", *after[0]], ["0-0", *after[1]])
    return Claim(
        "3. DROP, empty alignment line: the scripts count it as one aligned word, skip a line that "
        "starts with <, which shifts the pairing, and cut unequal files",
        "not in the text",
        (
            equal("0-0 1-1 and an empty line: scripts, --paper acl2018", scripts, compatible),
            differ("the same: scripts, DROP", scripts, ours),
            differ("two pairs after a < line: scripts, DROP", shifted, _drop(*after)),
            as_claimed("a line that starts with <: ours", "error", unreadable),
            equal("2 lines against 1: scored by the scripts", lines, 1, digits=0),
            as_claimed("2 lines against 1: ours", "error", unequal),
        ),
        "Ours: an empty line has no aligned words; --paper acl2018 gives the scripts' figure.",
    )


def _drop_of_scripts(references: Iterable[str], hypotheses: Iterable[str]) -> tuple[float, int]:
    """DROP as the scripts read their files, and the number of lines that were paired."""
    dropped = aligned = lines = 0
    kept = (
        [line for line in side if not line.startswith("<")] for side in (references, hypotheses)
    )
    for reference, hypothesis in zip(*kept, strict=False):
        # Splitting an empty line gives one empty word: the source position it "aligns".
        expected, covered = (
            {link.split("-")[0] for link in line.split(" ")} for line in (reference, hypothesis)
        )
        dropped += len(expected - covered)
        aligned += len(expected)
        lines += 1
    return 100 * dropped / aligned, lines


def _drop(references: Iterable[str], hypotheses: Iterable[str], compat: str | None = None) -> float:
    expected, covered = ([parse_links(line) for line in side] for side in (references, hypotheses))
    texts = ["a b c d e"] * len(expected)
    metric = DROP(Aligner.from_links(expected, covered), compat=compat)
    result = count_texts(Texts.from_lists({"hypothesis": texts}, texts), {"drop": metric})
    return float(result.score("drop"))


def exhaustion() -> Claim:
    """Whether the exhaustion bonus is given to the sink, and what its bound is."""
    c = 0.2
    query, memory = np.array([[1.0]]), np.array([[[0.5], [-0.3], [0.0]]])
    fertilities = np.array([[2.0, 1.0, math.inf]])
    plain, ours = (
        AttentionStep(BilinearScore(), "constrained_sparsemax", exhaustion=constant)
        for constant in (0.0, c)
    )
    scores = []
    for step in (plain, ours):
        source = step.source(memory, fertilities=fertilities)
        result, _ = step(query, source, step.start(source))
        scores.append(result.scores[0])
    gain = scores[1] - scores[0]
    return Claim(
        "4. exhaustion z + c·u: for all words in the text; in the scripts for all positions of a "
        "batch but the last, and the sink's bound, infinite in the text, is 1 (Models.py)",
        "section 4, page 373",
        (
            equal("first word, u = 2: c·u, what our step adds", c * 2, float(gain[0])),
            equal("second word, u = 1: c·u, what our step adds", c * 1, float(gain[1])),
            differ(
                "<SINK>, u = ∞ as in the text: c·u, what our step adds", math.inf, float(gain[2])
            ),
            differ("<SINK>, u = 1 (scripts): c·u, what our step adds", c, float(gain[2])),
        ),
        "Ours: not for the sink; an infinite score would take all attention.",
    )


def length() -> Claim:
    """What the length penalty counts."""
    words, both = (float(penalized_score(-10.0, count, 0.0, alpha=0.6)) for count in (5, 7))
    return Claim(
        "5. length penalty ((5 + |y|) / 6)^α: |y| is the length in the text, after Wu et al. "
        "(2016); the scripts count BOS and EOS, |y| = n + 2",
        "section 5, page 373",
        (
            equal("log P = −10, α = 0.6, n = 5: scripts, ours with both counted",
                  -10 / ((5 + 7) / 6) ** 0.6, both, digits=3),
            equal("the same: text, ours", -10 / ((5 + 5) / 6) ** 0.6, words, digits=3),
            differ("scripts, ours", both, words, digits=3),
        ),
        "Ours: the words.",
    )  # fmt: skip


def no_interior() -> Claim:
    """What the gradient is where all attention is at its bounds."""
    example = np.array([[1, 0.8, -5], [2, 2, -5]])
    weights = np.array([[[0.0, 0, 0], [1, 0, 0]]])
    numeric = finite_differences(
        lambda z: np.append(attend_with_credit([z, example[1]], 1.0)[0][1, :1], 0), example[0]
    )[0]
    ours, scripts = (
        through_time(_attended(example[None], 1, 0), weights, zero=zero)[0, 0]
        for zero in (False, True)
    )
    shares = []
    for fertility, sink in product((1, 2, 3), (0, 1)):
        generator = np.random.default_rng(SEED)
        scores, weights = generator.normal(size=(2, SEQUENCES, fertility * WORDS, WORDS + sink))
        run = _attended(scores, fertility, sink)
        right, zeros = (through_time(run, weights, zero=zero) for zero in (False, True))
        share = 100 * float((abs(right - zeros).max(axis=(1, 2)) > MARGIN).mean())
        name = f"f = {fertility}, {'with a' if sink else 'no'} sink"
        shares.append(differ(f"{name}: % of sequences that the zero changes, none", share, 0))
    return Claim(
        "6. no word strictly between 0 and its bound (A is empty): eqs. 7 and 8 divide by |A| = 0, "
        "and the scripts' gradients are 0",
        PROPOSITION,
        (
            agree("f = 1, z₁ = (1, .8, −5), z₂ = (2, 2, −5): our dα₂[0]/dz₁ and finite differences",
                  [(ours, numeric)], limit=1e-7),
            differ("the same, dα₂[0]/dz₁[1]: finite differences, scripts", numeric[1], scripts[1]),
            *shares,
        ),
        "Ours: du = dα less its mean over the bounds that are reached. Scores of earlier steps do "
        f"not change their sum. The shares are of {SEQUENCES} sequences with random scores, "
        f"{WORDS} words and {WORDS} f steps.",
    )  # fmt: skip


def _attended(scores: Vector, fertility: float, sinks: int) -> AttendResult:
    """Constrained sparsemax with credit of a batch of scores, the last of each being sinks."""
    rows, _, positions = scores.shape
    bounds = np.full(positions, float(fertility))
    bounds[positions - sinks :] = np.inf
    memory = np.broadcast_to(np.eye(positions), (rows, positions, positions))
    step = AttentionStep(BilinearScore(), "constrained_sparsemax")
    return attend(scores, memory, step, fertilities=bounds)


def through_time(run: AttendResult, weights: Vector, *, zero: bool) -> Vector:
    """The gradient of the weighted attention for all scores, with the scripts' zero or without."""
    steps, later = [], np.zeros_like(run.cumulative)
    for t, result in reversed(list(enumerate(run.trace.results))):
        alpha, u = result.attention, result.credit
        dz, du = constrained_sparsemax_vjp(weights[:, t] + later, alpha, u)
        later = later - du * (interior(alpha, u).any(axis=1, keepdims=True) | (not zero))
        steps.append(dz)
    return np.stack(steps[::-1], axis=1)


AUDITS = {
    "proposition1": audit_proposition1,
    "appendix-a": audit_appendix_a,
    "reduction": audit_reduction,
    "algorithm1": audit_algorithm1,
    "attention": audit_attention,
    "report-equations": audit_report_equations,
    "scripts": audit_scripts,
}


def run_audits() -> dict[str, Audit]:
    """All of them, by name."""
    titles = {name: (audit.__doc__ or "").rstrip(".") for name, audit in AUDITS.items()}
    return {name: Audit(name, titles[name], audit()) for name, audit in AUDITS.items()}


if __name__ == "__main__":
    for found in run_audits().values():
        print(f"{found.name}: {found.title}", found.to_frame().to_string(index=False), sep="\n\n")
