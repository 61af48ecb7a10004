"""What both papers say in their text about the transformations, checked on random problems.

Malaviya et al. (2018): sections 3 and 4. Madsen et al. (2017): sections 2.1 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from coverage_eval.attention import (
    attend_with_credit,
    constrained_softmax,
    softmax,
    sparsemax,
    sparsemax_loss,
    sparsemax_loss_gradient,
    sparsemax_vjp,
)
from coverage_eval.attention.inputs import InfeasibleBoundsError
from coverage_eval.attention.losses import cross_entropy
from coverage_eval.papers.audit_equations import (
    SEED,
    Objective,
    Vector,
    at_most_1,
    bounded_problems,
    closest,
    finite_differences,
    free_problems,
    squared_distance,
)
from coverage_eval.papers.claims import Claim, Fact, agree, as_said, equal, judged

SENTENCES = 50
WORDS, STEPS = 8, 12
PARALLEL_SIZES = (8, 64, 512, 4096)


def audit_attention() -> tuple[Claim, ...]:
    """Check what sections 3 and 4 of Malaviya et al. (2018) say of the transformations."""
    return (_projection(), _divergence(), _positive(), _credit(), _two_levels(), _sink())


def _projection() -> Claim:
    problems = list(free_problems(60))
    return Claim(
        "sparsemax is the Euclidean projection of the scores z onto the probability simplex",
        "eq. 3, section 3, page 371",
        (
            agree(
                "60 problems: ours and SciPy's general solver (SLSQP)",
                (
                    (sparsemax(z), closest(z, np.ones_like(z), squared_distance(z)))
                    for z in problems
                ),
                limit=1e-5,  # the solver itself stops at about 1e-8
            ),
        ),
    )


def _divergence() -> Claim:
    solver, form = [], []
    for z, u in bounded_problems(60):
        p, alpha = softmax(z), constrained_softmax(z, u)
        solver.append((alpha, closest(p, u, _kullback_leibler(p))))
        below = alpha < u
        if below.any():
            # Optimality (Karush, Kuhn and Tucker): one factor for all words below their bounds,
            # and with this factor the others would exceed theirs.
            factor = float((alpha[below] / p[below]).mean())
            form.append((alpha, np.minimum(u, factor * p)))
    return Claim(
        "csoftmax returns the distribution closest to softmax(z), in Kullback–Leibler divergence, "
        "whose attention probabilities are bounded by u",
        "eq. 4, section 3, page 371",
        (
            agree("60 problems: ours and SciPy's general solver (SLSQP)", solver, limit=1e-5),
            agree(
                f"{len(form)} problems: ours and min(u, κ softmax(z)) with one κ (optimality)", form
            ),
        ),
    )


def _kullback_leibler(p: Vector) -> Objective:
    def objective(alpha: Vector) -> tuple[float, Vector]:
        ratio = np.log(np.maximum(alpha, 1e-300) / p)
        return float(alpha @ ratio), ratio + 1

    return objective


def _positive() -> Claim:
    problems = list(free_problems())
    least = min(float(softmax(z).min()) for z in problems)
    sparse = sum(bool((sparsemax(z) == 0).any()) for z in problems)
    return Claim(
        "softmax forces all words in the source to receive some probability mass; projections onto "
        "the simplex tend to hit its boundary, yielding a sparse distribution",
        "section 3, page 371",
        (
            judged("200 problems: least attention of softmax", "above 0", f"{least:.1e}",
                   least > 0, "positive", "zero"),
            judged("200 problems: those in which sparsemax has zeros", "most", f"{sparse}",
                   2 * sparse > len(problems), "most", "not most"),
        ),
        "Scores are normal with a standard deviation of 1.5, of 2 to 12 words.",
    )  # fmt: skip


def _attended(transformation: str, fertility: float) -> tuple[Vector, Vector]:
    """Attention and credit ``[sentences, steps, words]`` of random scores, without the sink's."""
    rng = np.random.default_rng(SEED)
    found = []
    for _ in range(SENTENCES):
        scores = rng.normal(scale=2, size=(STEPS, WORDS + 1))
        bounds = np.append(np.full(WORDS, fertility), np.inf)
        found.append(attend_with_credit(scores, bounds, transformation))
    attention, credit = (np.stack(part)[..., :-1] for part in zip(*found, strict=True))
    return attention, credit


def _credit() -> Claim:
    facts = []
    for name in ("csoftmax", "csparsemax"):
        attention, credit = _attended(name, 1.0)
        spent = credit <= 0
        facts.append(
            agree(
                f"{name}: attention to words without credit, {int(spent.sum()):,} times; 0",
                [(attention[spent], 0.0)],
                limit=0.0,
            )
        )
        most = float(attention.sum(axis=1).max())
        what = f"{name}, f = 1: most attention that a word receives in all"
        facts.append(at_most_1(what, most, f"{most:.6f}"))
    return Claim(
        "if all the credit is exhausted, a word receives zero attention from then on",
        "section 3, page 371",
        tuple(facts),
        f"{SENTENCES} random sentences of {WORDS} words and a sink, {STEPS} steps.",
    )


def _two_levels() -> Claim:
    """Sparsity over words is seen in the first step, sparsity over time in what later steps add."""
    sparsity = {
        "softmax": (False, False), "sparsemax": (True, False),
        "csoftmax": (False, True), "csparsemax": (True, True),
    }  # fmt: skip
    facts = []
    for name, (over_words, over_time) in sparsity.items():
        attention, _ = _attended(name, 1.0)
        zeros = (attention == 0).mean(axis=(0, 2))
        for what, wanted, share in (
            ("words without attention in the first step", over_words, zeros[0]),
            ("further ones in the last step", over_time, zeros[-1] - zeros[0]),
        ):
            expected = "some" if wanted else "hardly any"
            holds = bool(share > 0.05) == wanted
            facts.append(
                judged(f"{name}: {what}", expected, f"{share:.0%}", holds, "as said", "not so")
            )
    return Claim(
        "csparsemax has two levels of sparsity: over time steps, and over the attended words at "
        "each step; sparsemax has the second alone, csoftmax the first",
        "sections 1 and 3, pages 370 and 371",
        tuple(facts),
        f"{SENTENCES} random sentences of {WORDS} words with f = 1 and a sink, {STEPS} steps.",
    )


def _sink() -> Claim:
    scores = np.random.default_rng(SEED).normal(size=(2 * WORDS, WORDS + 1))
    without = "no error"
    try:
        attend_with_credit(scores[:, :-1], 1.0)
    except InfeasibleBoundsError as error:
        without = str(error).partition(":")[0]
    attention, _ = attend_with_credit(scores, np.append(np.ones(WORDS), np.inf))
    return Claim(
        "without the sink token, the length of the generated target sentence can never exceed Σf; "
        "with it the problems stay feasible",
        "section 4, page 373",
        (
            as_said(f"{WORDS} words with f = 1: the first step without a solution",
                    f"step {WORDS + 1}", without),
            agree("the same with a sink, 16 steps: sums of attention and 1",
                  [(attention.sum(axis=1), 1.0)]),
        ),
    )  # fmt: skip


def audit_report_statements() -> tuple[Claim, ...]:
    """Check what sections 2.1 and 4 of the sparsemax report say beyond its tables."""
    return (*_parallel_steps(), _indicator(), _convex(), _stable())


def _parallel_steps() -> tuple[Claim, Claim]:
    odd_even, bitonic = [], []
    for size in PARALLEL_SIZES:
        depth = int(math.log2(size))
        worst = _odd_even_rounds(np.arange(size, dtype=np.float64)[::-1])
        what = f"K = {size:,}: rounds of odd–even sort on reversed scores"
        linear = size - 1 <= worst <= size
        odd_even.append(judged(what, "about K", f"{worst:,}", linear, "linear", "not linear"))
        rounds = _bitonic_rounds(size)
        what = f"K = {size:,}: rounds of bitonic sort; log₂ K is {depth}"
        within = rounds <= 2 * depth
        bitonic.append(judged(what, "about log K", f"{rounds}", within, "as said", "grows faster"))
    return (
        Claim(
            "assuming K processors, Algorithm 2 has time complexity O(log(K)); a faster sorting "
            "algorithm like bitonic sort has O(log(K)) complexity",
            "sections 2.1 and 4.1, pages 2 and 5",
            tuple(bitonic),
            "Bitonic sort takes log₂ K (log₂ K + 1) / 2 rounds with K processors: O(log² K). The "
            "other lines of Algorithm 2 take O(log K).",
        ),
        Claim(
            "our implementation uses an odd-even sorting algorithm, which has O(K) complexity",
            "section 4.1, page 5",
            tuple(odd_even),
            "So Algorithm 2 as implemented takes O(K) rounds, not the O(log K) of section 2.1.",
        ),
    )


def _odd_even_rounds(values: Vector) -> int:
    """Rounds of odd–even transposition sort until the values are sorted."""
    values = values.copy()
    rounds = 0
    while (np.diff(values) < 0).any():
        start = rounds % 2
        left, right = values[start:-1:2], values[start + 1 :: 2]
        values[start:-1:2], values[start + 1 :: 2] = (
            np.minimum(left, right),
            np.maximum(left, right),
        )
        rounds += 1
    return rounds


def _bitonic_rounds(size: int) -> int:
    """Rounds of bitonic sort of a power of two, while it sorts random values."""
    values = np.random.default_rng(SEED).normal(size=size)
    places = np.arange(size)
    rounds, block = 0, 2
    while block <= size:
        gap = block // 2
        while gap:
            lower = places[(places & gap) == 0]
            upward = (lower & block) == 0
            one, other = values[lower], values[lower + gap]
            low, high = np.minimum(one, other), np.maximum(one, other)
            values[lower], values[lower + gap] = np.where(upward, [low, high], [high, low])
            rounds += 1
            gap //= 2
        block *= 2
    assert (np.diff(values) >= 0).all()
    return rounds


def _leading() -> Iterator[Vector]:
    """Scores whose first leads by 1 or more, so that sparsemax gives it all."""
    for z in free_problems():
        z[0] = z[1:].max() + 1.5
        yield z


def _indicator() -> Claim:
    generator = np.random.default_rng(SEED)
    ours, numeric = [], []
    for z in _leading():
        alpha = sparsemax(z)
        assert alpha[0] == 1
        ours.append((sparsemax_vjp(generator.normal(size=len(z)), alpha), 0.0))
        numeric.append((finite_differences(sparsemax, z), 0.0))
    reached = {
        "sparsemax": sparsemax(_descend(lambda z: sparsemax_vjp(_TO_SECOND, sparsemax(z)))),
        "softmax": softmax(_descend(lambda z: _softmax_vjp(_TO_SECOND, softmax(z)))),
    }
    descent = "scores (2, 0, 0), 100 steps that reward attention to the second word: its attention"
    return Claim(
        "if the attention vector becomes an indicator vector, the gradient will also be zero, and "
        "it will be infeasible to optimise the model",
        "section 4, page 4",
        (
            agree("200 problems, one word has all: gradient of sparsemax, 0", ours),
            agree("200 problems, one word has all: finite differences of sparsemax, 0", numeric),
            as_said(f"{descent} by sparsemax", "0.00", f"{reached['sparsemax'][1]:.2f}"),
            as_said(f"{descent} by softmax", "0.99", f"{reached['softmax'][1]:.2f}"),
        ),
        "For one step of one sentence; other steps still have gradients, and the report's model "
        "learnt.",
    )


_TO_SECOND = np.array([0.0, -1.0, 0.0])


def _descend(gradient: Callable[[Vector], Vector]) -> Vector:
    """The scores (2, 0, 0) after 100 steps of gradient descent."""
    z = np.array([2.0, 0.0, 0.0])
    for _ in range(100):
        z = z - gradient(z)
    return z


def _softmax_vjp(d_alpha: Vector, alpha: Vector) -> Vector:
    return alpha * (d_alpha - alpha @ d_alpha)


def _convex() -> Claim:
    generator = np.random.default_rng(SEED)
    above, only = 0, []
    problems = list(free_problems())
    for z in problems:
        q = generator.dirichlet(np.full(len(z), 0.5))
        other = generator.normal(scale=1.5, size=len(z))
        middle = float(sparsemax_loss((z + other) / 2, q))
        ends = (float(sparsemax_loss(z, q)) + float(sparsemax_loss(other, q))) / 2
        above += middle > ends + 1e-12
        only.append((sparsemax_loss_gradient(z, sparsemax(z)), 0.0))
    least = min(
        float(np.abs(sparsemax_loss_gradient(z, np.eye(len(z))[1])).max()) for z in _leading()
    )
    return Claim(
        "the loss function is convex; only for sparsemax(z) = q will the gradient be zero",
        "section 4, page 4",
        (
            equal("200 pairs of scores: loss of the middle above the mean of both", above, 0,
                  digits=0),
            agree("200 problems, q = sparsemax(z): gradient and 0", only),
            judged("200 problems, sparsemax(z) has all on another word than q: least gradient",
                   "not 0", f"{least:g}", least > 0, "not 0", "0"),
        ),
        "The gradient is sparsemax(z) − q (audit report-equations), which is 0 nowhere else.",
    )  # fmt: skip


def _stable() -> Claim:
    z, q = np.array([1000.0, 0.0, -1000.0]), np.array([0.0, 1.0, 0.0])
    with np.errstate(all="ignore"):
        exponentials = np.exp(z)
        by_eq_1 = float(-np.nansum(q * np.log(exponentials / exponentials.sum())))
    shifted, sparse = float(cross_entropy(z, q)), float(sparsemax_loss(z, q))

    def finite(what: str, value: float, *, wanted: bool, decisive: bool = True) -> Fact:
        found = math.isfinite(value)
        outcome = "finite" if found else "not finite"
        expected = "finite" if wanted else "not finite"
        return Fact(what, expected, f"{value:g}", outcome, found == wanted, decisive)

    return Claim(
        "sparsemax in the output layer is more numerically stable than softmax, because the loss "
        "function doesn't use log(·)",
        "section 4, page 4",
        (
            finite("z = (1000, 0, −1000): sparsemax loss", sparse, wanted=True),
            finite("the same: −qᵀ log softmax(z) by eq. 1", by_eq_1, wanted=False),
            finite("the same: cross-entropy by log-sum-exp", shifted, wanted=False, decisive=False),
        ),
        "Only against eq. 1 as written; the usual form, log Σ exp(z − max z), is stable too.",
    )
