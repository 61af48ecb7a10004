"""The equations of Malaviya et al. (2018): Proposition 1, sections 3 and 4, Appendix A."""

from __future__ import annotations

import math
from collections import Counter
from itertools import islice, product

import numpy as np

from coverage_eval.attention import (
    attend_with_credit,
    canonical_problem,
    constrained_softmax,
    constrained_sparsemax,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
    softmax,
    sparsemax,
)
from coverage_eval.attention.inputs import InfeasibleBoundsError
from coverage_eval.papers.claims import Claim, Fact, binary_fact
from coverage_eval.papers.problems import (
    MARGIN,
    PROBLEMS,
    PROPOSITION,
    SEED,
    WORDS,
    Objective,
    Vector,
    agree,
    as_claimed,
    bounded_problems,
    by_medians,
    closest,
    free_problems,
    interior,
    message_of,
    numeric_jacobians,
    squared_distance,
    threshold,
)

ALGORITHM = "Algorithm 1, Appendix A.3"
SIZES = (1_000, 10_000, 100_000)
MAX_ROUNDS = 200
BY_SOLVER, SOLVED = "ours and SciPy's general solver (SLSQP)", 1e-5
"""A comparison and its limit; the solver itself stops at about 1e-8."""


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
            ), in_our_words=True,),
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
    for name, size in product(("normal", "cauchy", "exponential"), SIZES):
        generator = np.random.default_rng(SEED)
        z = getattr(generator, f"standard_{name}")(size=size)
        a, b, c, d = canonical_problem(z, generator.uniform(size=size) * 20 / size)
        visits = run_as_printed(a, b, c, d, closed=True)[1] / size
        # Halving the split points halves the working set at best every second round.
        what = f"{name} scores, J = {size:,}: words visited per word"
        visited = f"{visits:.2f}"
        counts.append(binary_fact(what, "constant", visited, visits <= 8, "bounded", "grows"))
    counts.append(Fact("medians", "in linear time", "by sorting", "not counted", None))
    return (
        Claim(
            "Algorithm 1 solves the problem of Eq. 17",
            ALGORITHM,
            (_of_all("random problems solved, with < and > in line 10", right[False]),),
            "Line 12 removes a word from the working set if its bound is an end of the interval, "
            "but line 10, with its strict signs, has not counted it: its mass is lost. The signs "
            "are those of the transcription; the proceedings do not print the appendix.",
            in_our_words=True,
        ),
        Claim(
            "with ≤ and ≥ in line 10, Algorithm 1 solves the problem of Eq. 17",
            ALGORITHM,
            (
                _of_all("random problems solved, with ≤ and ≥ in line 10", right[True]),
                agree(f"{PROBLEMS} problems: our Algorithm 1 and the sort-based solver", pairs),
            ),
            in_our_words=True,
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
            "Visited words are counted, because times vary from run to run. Counts on some scores "
            "can contradict a bound for all, and prove none; our medians are found by sorting.",
        ),
        Claim(
            "backpropagation takes sublinear time",
            "section 3, page 372",
            (),
            unchecked="our gradients are computed for whole rows; eqs. 7 and 8, which need only "
            "the words of A and A_R, are in audit proposition1",
        ),
    )


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
            "in words, it is the Euclidean projection of the scores z onto the probability simplex",
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
            ), in_our_words=True,),
        Claim(
            "without the sink token, the length of the generated target sentence can never exceed "
            "Σf; with it the problems stay feasible",
            "section 4, page 373",
            (
                as_claimed(f"{WORDS} words with f = 1: the first step without a solution",
                        f"step {WORDS + 1}", without.partition(":")[0]),
                agree("the same with a sink, 16 steps: sums of attention and 1",
                      [(attention.sum(axis=1), 1.0)]),
            ), in_our_words=True,),
    )  # fmt: skip


def _kullback_leibler(p: Vector) -> Objective:
    def objective(alpha: Vector) -> tuple[float, Vector]:
        ratio = np.log(np.maximum(alpha, 1e-300) / p)
        return float(alpha @ ratio), ratio + 1

    return objective
