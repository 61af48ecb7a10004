"""Speed of the attention transformations, as ratios to baselines in the same run.

Run by ``make bench``. Prints one line per figure, with its limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import (
    canonical_problem,
    constrained_softmax,
    constrained_sparsemax,
    find_support,
    pardalos_kovoor,
    sparse_vjp,
)

Array = NDArray[np.float64]
ROWS, POSITIONS = 640, 30


def seconds(function: Callable[[], object], *, budget: float = 1.0) -> float:
    """The least processor time of one call, over the calls that fit in the budget (at least 3).

    Everything runs in one thread, so other processes do not count.
    """
    best, end, calls = float("inf"), time.perf_counter() + budget, 0
    while calls < 3 or time.perf_counter() < end:
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
        calls += 1
    return best


def side_by_side(*functions: Callable[[], object], rounds: int = 8) -> list[float]:
    """The least processor time of each, in turns, because a busy machine slows all of them."""
    times = [[seconds(f, budget=0.1) for f in functions] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def show(name: str, value: float, unit: str, limit: str = "") -> None:
    print(f"{name:<78} {value:9.2f} {unit:<5} {limit}")


def softmax_plainly(z: Array) -> Array:
    weights = np.exp(z - z.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def sparsemax_row(z: Array, u: Array) -> Array:
    """One row by two sorts, as in the authors' scripts: eqs. 19-22, then a walk upwards.

    Below every split point each position is at its lower end a; the walk frees it there and fixes
    it at its upper end b, until the level at which the sum is d lies before the next split point.
    """
    a, b, d = -z / 2, (u - z) / 2, (1 - z.sum()) / 2
    lower, upper = np.sort(a), np.sort(b)
    first, second, slack, tight = 0, 0, 0, a.sum()
    while second < len(b):
        free = first < len(a) and lower[first] <= upper[second]
        point = lower[first] if free else upper[second]
        if tight + slack * point >= d:
            break
        if free:
            first, slack, tight = first + 1, slack + 1, tight - point
        else:
            second, slack, tight = second + 1, slack - 1, tight + point
    return np.asarray(2 * np.clip((d - tight) / max(slack, 1), a, b) + z)


def softmax_row(z: Array, u: Array) -> Array:
    """One row of Martins and Kreutzer's algorithm: a walk in the order of u / exp(z)."""
    weights = np.exp(z - z.max())
    total, left = float(weights.sum()), 1.0
    alpha = u.copy()
    for j in np.argsort(u / weights):
        if left * weights[j] / total <= u[j]:
            free = left * weights / total <= u
            alpha[free] = (weights * left / total)[free]
            break
        total -= float(weights[j])
        left -= float(u[j])
    return alpha


def problems() -> dict[str, tuple[Array, Array]]:
    """Batches of scores and bounds: one as in decoding, others that attend to more words."""
    rng, shape = np.random.default_rng(0), (ROWS, POSITIONS)
    fertility = rng.integers(1, 4, size=shape)
    credit = np.maximum(fertility - rng.uniform(0, 3, size=shape), 0)
    return {
        "credit f - β": (2 * rng.normal(size=shape), credit),
        "uniform bounds": (rng.normal(size=shape), rng.uniform(size=shape)),
        "scores nearly equal": (0.1 * rng.normal(size=shape), rng.uniform(size=shape)),
        "tight bounds": (rng.normal(size=shape), rng.uniform(0.02, 0.15, size=shape)),
    }


def batches() -> None:
    cases = problems()
    z, u = cases["credit f - β"]

    def plainly() -> object:
        return softmax_plainly(z), np.sort(z, axis=1)

    plain = seconds(plainly)
    show(f"NumPy softmax plus one sort, {ROWS} x {POSITIONS}", 1e3 * plain, "ms")
    for name, batched, plain_row in (
        ("constrained_sparsemax", constrained_sparsemax, sparsemax_row),
        ("constrained_softmax", constrained_softmax, softmax_row),
    ):
        for kind, case in cases.items():
            plain, fast = side_by_side(plainly, lambda call=batched, case=case: call(*case))
            show(f"{name}, {kind}", 1e3 * fast, "ms")
            show("  time over softmax plus sort", fast / plain, "times", "<= 8 wanted")
        for row, what, limit in (
            (batched, "our own function called row by row", ">= 30 wanted"),
            (plain_row, "a walk that stops early, without checks, row by row", ""),
        ):
            loop: Any = lambda row=row: [row(*pair) for pair in zip(z, u, strict=True)]  # noqa: E731
            np.testing.assert_allclose(batched(z, u), loop(), atol=1e-9)
            slow, fast = side_by_side(loop, lambda call=batched: call(z, u))
            show(f"  {what} is slower by", slow / fast, "times", limit)


def long_rows() -> None:
    rng = np.random.default_rng(1)
    for length in (10**4, 10**5, 10**6):
        z, u = rng.normal(size=length), rng.uniform(size=length)
        ours, by_medians = side_by_side(
            lambda z=z, u=u: constrained_sparsemax(z, u),
            lambda z=z, u=u: pardalos_kovoor(*canonical_problem(z, u)),
            rounds=4,
        )
        show(f"constrained_sparsemax, one row of {length}", 1e3 * ours, "ms")
        show("  Algorithm 1 (pardalos_kovoor) takes", by_medians / ours, "times")


def backward() -> None:
    rng = np.random.default_rng(3)
    first = 0.0
    for length in (10**3, 10**4, 10**5, 10**6):
        z = rng.normal(size=length)
        z[:8] += 100  # the same support of eight positions whatever the length
        u = np.full(length, 0.2)
        support, gradient = find_support(constrained_sparsemax(z, u), u), rng.normal(size=length)
        took = seconds(lambda g=gradient, s=support: sparse_vjp(g, s), budget=0.3)
        first = first or took
        show(f"backward on the support, J = {length}", 1e6 * took, "us")
        show("  over J = 1000", took / first, "times", "about 1 wanted")


if __name__ == "__main__":
    # Once a process has freed a large block, glibc keeps freed memory instead of giving it back
    # after every call, as in any program that works long with such arrays (limit: 32 MB).
    np.empty(3_900_000)
    batches()
    long_rows()
    backward()
