"""The scan against every run there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.omissions.scan import WordRun, best_run, disjoint_runs

# Quarters add up without rounding, so that equal sums are equal.
values = st.lists(st.integers(-8, 8).map(lambda n: n / 4), max_size=12).map(np.array)


def every_run(numbers: np.ndarray) -> list[WordRun]:
    """All runs, by their sum, then their start, then their length."""
    places = range(len(numbers) + 1)
    runs = [WordRun(a, b, float(sum(numbers[a:b]))) for a in places for b in places if a < b]
    return sorted(runs, key=lambda run: (-run.sum, run.end, -run.start))


@given(values)
def test_no_run_has_a_greater_sum(numbers: np.ndarray) -> None:
    runs = every_run(numbers)
    expected = runs[0] if runs and runs[0].sum > 0 else None
    assert best_run(numbers) == expected


@given(values)
def test_runs_are_the_best_of_what_better_ones_leave(numbers: np.ndarray) -> None:
    """By brute force: the best run, then the best that neither overlaps nor spans any before."""

    def part(first: int, last: int) -> list[WordRun]:
        runs = every_run(numbers[first:last])
        if not runs or runs[0].sum <= 0:
            return []
        run = WordRun(first + runs[0].start, first + runs[0].end, runs[0].sum)
        return [*part(first, run.start), run, *part(run.end, last)]

    assert disjoint_runs(numbers) == part(0, len(numbers))


@given(values)
def test_runs_hold_all_that_is_above_zero(numbers: np.ndarray) -> None:
    inside = {place for run in disjoint_runs(numbers) for place in range(run.start, run.end)}
    assert set(np.flatnonzero(numbers > 0)) <= inside


@given(values)
def test_turning_round_turns_the_best_sum_not(numbers: np.ndarray) -> None:
    one, two = best_run(numbers), best_run(numbers[::-1])
    assert (one is None) == (two is None)
    if one is not None and two is not None:
        assert one.sum == two.sum


@pytest.mark.parametrize("numbers", [[], [0.0], [-1.0, 0.0]])
def test_nothing_above_zero_is_no_run(numbers: list[float]) -> None:
    assert best_run(np.array(numbers, dtype=float)) is None
    assert disjoint_runs(np.array(numbers, dtype=float)) == []
