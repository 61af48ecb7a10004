"""How differences are tested, and what a test says of one system by one metric."""

from __future__ import annotations

from dataclasses import dataclass

from coverage_eval.errors import check_whole
from coverage_eval.metrics.score import Score
from coverage_eval.metrics.significance import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEED,
    MOST_RESAMPLES,
    TESTS,
)

SIGNIFICANT = 0.05
"""The level at which pictures mark a difference and sentences call it one."""


@dataclass(frozen=True)
class Testing:
    """How differences are tested.

    Attributes:
        test: ``"randomization"``, or ``"bootstrap"`` as sacreBLEU has it, which finds more
            differences than there are (:func:`coverage_eval.metrics.significance.paired_test`).
        resamples: Resamples of intervals and test; with 0 there is neither.
        seed: Seed of the random numbers.

    Raises:
        TypeError: A number of resamples or a seed that is no whole number.
        ValueError: An unknown test, or a number out of range.
    """

    __test__ = False  # not a test for pytest, whatever its name

    test: str = "randomization"
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise ValueError(f"test must be one of {TESTS}, not {self.test!r}")
        check_whole("resamples", self.resamples, 0, MOST_RESAMPLES)
        check_whole("seed", self.seed, 0)


@dataclass(frozen=True)
class Cell:
    """One system by one metric.

    Attributes:
        score: The corpus score, with its interval.
        difference: The score minus the baseline's; None for the baseline.
        p_value: Of the paired test against the baseline; None for the baseline.
        adjusted: The same, by Holm over all systems of the metric.
        best: Whether no other system is better by this metric.
    """

    score: Score
    difference: float | None = None
    p_value: float | None = None
    adjusted: float | None = None
    best: bool = False
