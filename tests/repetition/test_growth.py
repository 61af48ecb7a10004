"""What grows faster than its input has a stated limit; the rest looks at each thing once."""

from __future__ import annotations

import pytest

import coverage_eval as ce
from coverage_eval.core.errors import DataError
from coverage_eval.quality.meteor import METEOR


def words(count: int, different: int) -> str:
    return " ".join(f"w{number % different}" for number in range(count))


@pytest.mark.slow
def test_meteor_of_a_word_said_thousands_of_times_is_refused_at_once():
    metric = METEOR(variant="exact-stem")
    assert metric.sentence_score(words(1000, 1), words(1000, 1)).score > 99
    with pytest.raises(DataError, match="a segment of 3,000 words against 3,000"):
        metric.sentence_score(words(3000, 1), words(3000, 1))


def test_ter_of_long_segments_is_refused_at_once():
    long = words(500, 500)
    backwards = " ".join(reversed(long.split()))
    with pytest.raises(DataError, match=r"TER: a segment of 500 words against 500 .* 'w499 w498"):
        ce.ter([backwards], [long])
    assert float(ce.ter([long, "a"], [long, "b"])) == pytest.approx(100 / 501)
