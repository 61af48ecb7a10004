"""Normal coverages against NumPy, and runs of losses against a search through all runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.coverage.coverage_losses import (
    NormalCoverage,
    WordRun,
    best_run,
    disjoint_runs,
)

segments = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdefé\ud800"), st.floats(0, 1)), max_size=6), min_size=1
).filter(any)


@given(segments)
def test_normal_coverages_agree_with_numpy(text):
    """Each occurrence of a word weighs 1, and the occurrences of rare words weigh 1 together."""
    normal = NormalCoverage.learn(
        ([word for word, _ in line], np.array([value for _, value in line], dtype=float))
        for line in text
    )
    figures = [figure for pair in (normal.other, *normal.words.values()) for figure in pair]
    assert figures == [round(figure, 4) for figure in figures]
    found: dict[str, list[float]] = {}
    for word, value in (item for line in text for item in line):
        found.setdefault(word, []).append(value)
    most = max(2, min(map(len, found.values())))
    rare = [value for values in found.values() if len(values) <= most for value in values]
    assert normal.other == pytest.approx((np.mean(rare), np.std(rare)), abs=2e-4)
    for word, values in found.items():
        sample = [*values, *rare]
        weights = [1.0] * len(values) + [1 / len(rare)] * len(rare)
        mean = np.average(sample, weights=weights)
        spread = np.sqrt(np.average((np.array(sample) - mean) ** 2, weights=weights))
        assert normal.words[word] == pytest.approx((mean, spread), abs=2e-4)
    means, spreads = normal.of(["never", *found])
    assert (means[0], spreads[0]) == normal.other
    assert len(means) == len(spreads) == 1 + len(found)


def test_no_words_have_no_figures():
    normal = NormalCoverage.learn([(["a", "b"], np.array([0.25, 0.5]))])
    assert [len(part) for part in normal.of([])] == [0, 0]


# Quarters add up without rounding, so that equal sums are equal.
values = st.lists(st.integers(-8, 8).map(lambda n: n / 4), max_size=12).map(np.array)


def every_run(numbers: np.ndarray) -> list[WordRun]:
    """All runs, by their sum, then their start, then their length."""
    places = range(len(numbers) + 1)
    runs = [WordRun(a, b, float(sum(numbers[a:b]))) for a in places for b in places if a < b]
    return sorted(runs, key=lambda run: (-run.sum, run.end, -run.start))


@given(values)
def test_no_run_has_a_greater_sum(numbers):
    runs = every_run(numbers)
    expected = runs[0] if runs and runs[0].sum > 0 else None
    assert best_run(numbers) == expected


@given(values)
def test_disjoint_runs_are_found_as_by_brute_force(numbers):
    """By brute force: the best run, and the same in the parts to its left and right."""

    def part(first: int, last: int) -> list[WordRun]:
        runs = every_run(numbers[first:last])
        if not runs or runs[0].sum <= 0:
            return []
        run = WordRun(first + runs[0].start, first + runs[0].end, runs[0].sum)
        return [*part(first, run.start), run, *part(run.end, last)]

    assert disjoint_runs(numbers) == part(0, len(numbers))
