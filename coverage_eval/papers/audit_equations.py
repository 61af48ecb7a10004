"""The equations, algorithms and worked examples of both papers, checked on random problems.

Malaviya et al. (2018): Figure 1, Proposition 1 and Appendix A. Madsen et al. (2017): section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import (
    attend_with_credit,
    canonical_problem,
    constrained_sparsemax,
    constrained_sparsemax_jacobian,
    constrained_sparsemax_vjp,
    find_support,
    find_transformation,
    pardalos_kovoor,
    sparse_vjp,
    sparsemax,
    sparsemax_algorithm_1,
    sparsemax_loss,
    sparsemax_vjp,
)
from coverage_eval.attention.losses import (
    sparsemax_loss_by_products,
    sparsemax_loss_by_support,
    sparsemax_loss_by_threshold,
)
from coverage_eval.papers.claims import Claim, Fact, agree, judged
from coverage_eval.papers.printed import load_figure1

Vector = NDArray[np.float64]
Objective = Callable[[Vector], tuple[float, Vector]]
"""Returns a value to minimise, and its gradient."""

SEED = 2018
PROBLEMS = 200
MARGIN = 1e-3
"""Smallest distance from kinks for comparing derivatives with finite differences."""

PROPOSITION = "Proposition 1, page 372"
ALGORITHM = "Algorithm 1, Appendix A.3"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
MAX_ROUNDS = 200
LOSSES = (
    sparsemax_loss_by_threshold,
    sparsemax_loss_by_support,
    sparsemax_loss_by_products,
    sparsemax_loss,
)
"""The report's eqs. 8, 9 and 10 as printed, and our loss."""


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
    solution: Vector = 2 * pardalos_kovoor(*canonical_problem(z, u)) + z
    return solution


def finite_differences(
    function: Callable[[Vector], Vector], point: Vector, *, step: float = 1e-6
) -> Vector:
    """The Jacobian of a function by central differences, ``[outputs, inputs]``."""
    columns = []
    for place in range(len(point)):
        shift = np.zeros_like(point)
        shift[place] = step
        columns.append((function(point + shift) - function(point - shift)) / (2 * step))
    return np.stack(columns, axis=1)


def numeric_jacobians(z: Vector, u: Vector) -> tuple[Vector, Vector]:
    """The Jacobians of constrained sparsemax for z and for u, by finite differences."""
    by_scores = finite_differences(lambda scores: constrained_sparsemax(scores, u), z)
    by_bounds = finite_differences(lambda bounds: constrained_sparsemax(z, bounds), u)
    return by_scores, by_bounds


def audit_figure1() -> tuple[Claim, ...]:
    """Recompute all twelve triples of Figure 1 and the credit, to the printed digits."""

    def text(values: Vector, digits: int) -> str:
        return f"({', '.join(f'{value:.{digits}f}' for value in values)})"

    figure = load_figure1()
    scores = np.array([[float(number) for number in triple] for triple in figure.scores])
    facts, totals = [], []
    for name, triples in figure.attention.items():
        bounded = find_transformation(name).bounded
        attention, credit = attend_with_credit(scores, 1.0, name)
        for place, printed in enumerate(triples):
            # The figure omits trailing zeros, so both sides are written with two digits.
            ours = [f"{value:.2f}" for value in attention[place]]
            equal = [f"{float(number):.2f}" for number in printed] == ours
            what = f"{name}, round {place + 1}"
            what += f", u = {text(credit[place], 2)}" if bounded else ""
            shown = f"({', '.join(printed)})"
            found = text(attention[place], 4)
            facts.append(judged(what, shown, found, equal, "equal", "differs"))
        if bounded:
            cumulative = attention.sum(axis=0)
            what = f"{name}: largest cumulative attention of {text(cumulative, 2)}"
            most = float(cumulative.max())
            totals.append(at_most_1(what, most, f"{most:.4f}"))
    return (
        Claim("the attention values that Figure 1 shows", "Figure 1, page 372", tuple(facts)),
        Claim(
            "each source word gets a credit of f units of attention, which are consumed along the "
            "decoding process",
            "section 3, page 371; f = 1 in Figure 1",
            tuple(totals),
        ),
    )


def at_most_1(what: str, most: float, shown: str) -> Fact:
    """The fact that a word's attention is within a fertility of 1, up to rounding."""
    return judged(what, "at most 1", shown, most <= 1 + 1e-12, "at most 1", "above 1")


def audit_proposition1() -> tuple[Claim, ...]:
    """Check Proposition 1: the form of the solution, its gradients, and their cost."""
    return (_form(), _gradients(), _sublinear())


def _form() -> Claim:
    problems = [(z, u, constrained_sparsemax(z, u)) for z, u in bounded_problems(60)]
    return Claim(
        "the solution takes the form α = max{0, min{u, z − τ}}, where τ is a normalization "
        "constant",
        PROPOSITION,
        (
            agree(
                "60 problems: ours and SciPy's general solver (SLSQP)",
                ((alpha, closest(u, u, squared_distance(z))) for z, u, alpha in problems),
                limit=1e-5,  # the solver itself stops at about 1e-8
            ),
            agree(
                "60 problems: the solution and the form, with τ from its interior",
                (
                    (alpha, np.clip(z - threshold(z, u, alpha), 0, u))
                    for z, u, alpha in problems
                    if interior(alpha, u).any()
                ),
            ),
        ),
    )


def squared_distance(z: Vector) -> Objective:
    """The objective of eqs. 3 and 6: half the squared Euclidean distance from z."""
    return lambda alpha: (0.5 * float(np.sum((alpha - z) ** 2)), alpha - z)


def closest(start: Vector, u: Vector, objective: Objective) -> Vector:
    """The best distribution within bounds, by a general solver."""
    from scipy.optimize import Bounds, LinearConstraint, minimize

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


def _gradients() -> Claim:
    generator = np.random.default_rng(7)
    eq_7, eq_8 = [], []
    for z, u in bounded_problems(100, margin=MARGIN):
        d_alpha = generator.normal(size=len(z))
        dz, du = constrained_sparsemax_vjp(d_alpha, constrained_sparsemax(z, u), u)
        by_scores, by_bounds = numeric_jacobians(z, u)
        eq_7.append((dz, d_alpha @ by_scores))
        eq_8.append((du, d_alpha @ by_bounds))
    return Claim(
        "dz = 1(j ∈ A)(dα − m) and du = 1(j ∈ A_R)(dα − m), where m is the mean of dα over A",
        f"eqs. 7 and 8, {PROPOSITION}",
        (
            agree("100 problems: eq. 7 and finite differences", eq_7, limit=1e-7),
            agree("100 problems: eq. 8 and finite differences", eq_8, limit=1e-7),
        ),
        "Only away from kinks, where the solution has a derivative.",
    )


def _sublinear() -> Claim:
    pairs = []
    for z, u in bounded_problems():
        alpha = constrained_sparsemax(z, u)
        support = find_support(alpha, u)
        d_alpha = np.linspace(-1, 1, len(z))
        dense = constrained_sparsemax_vjp(d_alpha, alpha, u)
        # NaN wherever no gradient should read a value.
        off = np.ones(len(z), dtype=bool)
        off[support.interior] = off[support.at_bound] = False
        sparse = sparse_vjp(np.where(off, np.nan, d_alpha), support)
        places = (support.interior, support.at_bound)
        pairs += [(ours, full[on]) for ours, full, on in zip(sparse, dense, places, strict=True)]
    finite = all(bool(np.isfinite(ours).all()) for ours, _ in pairs)
    return Claim(
        "backpropagation takes sublinear time O(|A| + |A_R|)",
        PROPOSITION,
        (
            judged(
                "200 problems: gradients with dα NaN outside A and A_R",
                "finite",
                "finite" if finite else "NaN",
                finite,
                "nothing else is read",
                "more is read",
            ),
            agree("200 problems: on A and A_R, the gradients that read all of dα", pairs),
        ),
        "The sets themselves are found once, in O(J), with the forward step.",
    )


class Solved:
    """A problem with its solution, the threshold of eq. 11 and the multipliers it implies."""

    def __init__(self, z: Vector, u: Vector) -> None:
        self.z, self.u = z, u
        self.alpha = constrained_sparsemax(z, u)
        between, at_bound = interior(self.alpha, u), self.alpha == u
        self.tau = float((z[between].sum() + u[at_bound].sum() - 1) / between.sum())
        # Complementary slackness: μ only where α = 0, ν only where α = u.
        self.mu = np.where(self.alpha == 0, np.maximum(self.tau - z, 0), 0.0)
        self.nu = np.where(at_bound, np.maximum(z - self.tau - u, 0), 0.0)

    def gradient(self, sign: int) -> Vector:
        """The gradient of eq. 9 with respect to α, its first term being ±½‖α‖²."""
        return sign * self.alpha - self.z + self.tau - self.mu + self.nu

    def form(self) -> Vector:
        """max{0, min{u, z − τ}}."""
        return np.clip(self.z - self.tau, 0, self.u)


def solved_problems() -> list[Solved]:
    """Random problems away from kinks."""
    return [Solved(z, u) for z, u in bounded_problems(margin=MARGIN)]


def audit_appendix_a() -> tuple[Claim, ...]:
    """Check the equations of Appendix A: the Lagrangian and its sign, τ, the Jacobians."""
    problems = solved_problems()
    printed, corrected = ([(p.gradient(sign), 0) for p in problems] for sign in (-1, +1))
    derivatives = []
    for p in problems[:60]:
        by_z, by_u = constrained_sparsemax_jacobian(p.alpha, p.u)
        numeric_z, numeric_u = numeric_jacobians(p.z, p.u)
        d_alpha = np.cos(np.arange(len(p.z)))
        dz, du = constrained_sparsemax_vjp(d_alpha, p.alpha, p.u)
        derivatives.append(
            ((by_z, numeric_z), (by_u, numeric_u), (d_alpha @ by_z, dz), (d_alpha @ by_u, du))
        )
    eq_13, eq_14, eq_15, eq_16 = zip(*derivatives, strict=True)
    return (
        Claim(
            "from the stationarity condition of the Lagrangian −½‖α‖² − zᵀα + τ(1ᵀα − 1) − μᵀα + "
            "νᵀ(α − u), we have 0 = α − z + τ1 − μ + ν",
            "eqs. 9 and 10, Appendix A.1",
            (
                agree("with −½‖α‖² as printed: gradient at the solution and 0", printed),
                agree(
                    "with +½‖α‖²: gradient at the solution and 0", corrected, decisive=False
                ),
            ),
            "The sign is a slip: eq. 10 and everything after it belong to +½‖α‖².",
        ),
        Claim(
            "τ = (Σ z over A + Σ u over A_R − 1) / |A|",
            "eq. 11, Appendix A.1",
            (
                agree(
                    "200 problems: max{0, min{u, z − τ}} and the solution",
                    ((p.form(), p.alpha) for p in problems),
                ),
                agree("200 problems: its sum and 1", ((p.form().sum(), 1) for p in problems)),
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


def run_as_printed(
    a: Vector, b: Vector, c: Vector, d: float, *, closed: bool
) -> tuple[float | None, int]:
    """Algorithm 1 line by line, to read it and to count its work.

    Args:
        a: ``[J]`` lower bounds.
        b: ``[J]`` upper bounds.
        c: ``[J]`` positive weights.
        d: The weighted sum.
        closed: Whether line 10 compares with ≤ and ≥; as printed, it compares with < and >.

    Returns:
        y of line 14, or None if that line divides by zero or the loop does not end; and the size
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
        return None, visited
    return (d - s_tight) / xi, visited  # line 14


def _solved_as_printed(*, closed: bool) -> Fact:
    """How many of the random problems Algorithm 1 solves."""
    right = 0
    for z, u in bounded_problems():
        a, b, c, d = canonical_problem(z, u)
        level, _ = run_as_printed(a, b, c, d, closed=closed)
        if level is not None:
            alpha = 2 * np.clip(level, a, b) + z  # line 15, eq. 18
            right += np.allclose(alpha, constrained_sparsemax(z, u), rtol=0, atol=1e-9)
    return _of_all(
        f"random problems solved, with {'≤ and ≥' if closed else '< and >'} in line 10", right
    )


def _of_all(what: str, found: int) -> Fact:
    """The fact that something holds in all random problems."""
    return judged(what, f"{PROBLEMS}", f"{found}", found == PROBLEMS, "all", "not all")


def _level_is_inside_all(z: Vector, u: Vector) -> bool:
    """Whether y of Algorithm 1 lies between a_j and b_j for every word."""
    a, b, c, d = canonical_problem(z, u)
    level, _ = run_as_printed(a, b, c, d, closed=True)
    return level is not None and bool(((a <= level) & (level <= b)).all())


def audit_algorithm1() -> tuple[Claim, ...]:
    """Run Algorithm 1 with the printed signs and with closed ones, and count its work."""
    pairs = [(by_medians(z, u), constrained_sparsemax(z, u)) for z, u in bounded_problems()]
    inside = sum(_level_is_inside_all(z, u) for z, u in bounded_problems())
    counts = []
    for size in SIZES:
        generator = np.random.default_rng(SEED)
        z = generator.normal(size=size)
        a, b, c, d = canonical_problem(z, generator.uniform(size=size) * 20 / size)
        visits = run_as_printed(a, b, c, d, closed=True)[1] / size
        # Halving the split points halves the working set at best every second round.
        what = f"J = {size:,}: words visited per word"
        counts.append(judged(what, "constant", f"{visits:.2f}", visits <= 8, "bounded", "grows"))
    return (
        Claim(
            "Algorithm 1 solves the problem of Eq. 17",
            ALGORITHM,
            (_solved_as_printed(closed=False),),
            "Line 12 removes a word from the working set if its bound is an end of the interval, "
            "but line 10, with its strict signs, has not counted it: its mass is lost. The signs "
            "are those of the transcription; the proceedings do not print the appendix.",
        ),
        Claim(
            "with ≤ and ≥ in line 10, Algorithm 1 solves the problem of Eq. 17",
            f"{ALGORITHM}; in our words",
            (
                _solved_as_printed(closed=True),
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
    problems = [(z, _algorithm_2(z)) for z in free_problems()]
    generator = np.random.default_rng(8)
    losses = []
    for z in free_problems():
        q = generator.dirichlet(np.ones(len(z)))
        losses.append([float(loss(z, q)) for loss in LOSSES])
    eighth, ninth, tenth, ours = zip(*losses, strict=True)
    differentiable = list(_problems_with_vectors())
    euclidean, one_norm, product = zip(*(products(z, v) for z, v in differentiable), strict=True)
    gradients = []
    for z, v in differentiable:
        q = np.exp(v) / np.exp(v).sum()
        numeric = finite_differences(partial(_loss_of_eq_9, q=q), z)
        gradients.append((numeric[0], sparsemax(z) - q))
    return (
        Claim(
            "Algorithm 2 is Algorithm 1 with only minor modifications for parallelism",
            "section 2.1, page 2",
            (
                agree(
                    "200 problems: Algorithm 1 and Algorithm 2",
                    ((sparsemax_algorithm_1(z), p) for z, p in problems),
                ),
                agree(
                    "200 problems: our batched sparsemax and Algorithm 2",
                    ((sparsemax(z), p) for z, p in problems),
                ),
            ),
        ),
        Claim(
            "J v = s ⊙ (v − v̂ 1), where v̂ = sᵀv / ‖s‖",
            "eq. 5, page 2",
            (
                agree("‖s‖ as the Euclidean norm, the usual reading", euclidean, limit=1e-7),
                agree("‖s‖ as the 1-norm, |S|", one_norm, limit=1e-7, decisive=False),
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


def _algorithm_2(z: Vector) -> Vector:
    """Algorithm 2 for one row, with the number of its lines."""
    s = np.sort(z)[::-1]  # line 2
    c = np.cumsum(s)  # line 3
    k = np.arange(1, len(z) + 1)
    b = 1 + k * s > c  # line 4
    size = int(b.sum())  # line 5
    tau = (c[size - 1] - 1) / size  # line 6
    result: Vector = np.maximum(z - tau, 0)  # line 7
    return result


def _loss_of_eq_9(z: Vector, q: Vector) -> Vector:
    return np.atleast_1d(sparsemax_loss_by_support(z, q))


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
