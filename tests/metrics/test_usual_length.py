"""Which outputs have an unusual length: no other output decides it."""

from __future__ import annotations

import pytest

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.dataset import Row
from coverage_eval.metrics.usual_length import far_from_usual, usual_length
from tests.grammar import generate

PAIRS = [(" ".join(pair.source), " ".join(pair.target)) for pair in generate(300, seed=2)]


def rows(*, referenced: bool, count: int) -> list[Row]:
    """Right outputs beside some that say everything three times, and one that is half as long."""
    found = []
    for source, target in PAIRS:
        words = target.split()
        outputs = (target, " ".join(words[: len(words) // 2]), *[" ".join([target] * 3)] * count)
        found.append(Row(outputs, (target,) if referenced else (), source))
    return found


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("referenced", [False, True])
def test_long_outputs_do_not_make_a_right_one_far(referenced, count):
    with Aligner.train(*map(list, zip(*PAIRS, strict=True))) as aligner:
        texts = rows(referenced=referenced, count=count)
        shares = [far_from_usual(texts, place, aligner) for place in range(2 + count)]
    assert shares[0] is None
    assert shares[1] is not None
    assert shares[1] < 0.6
    assert all(share == pytest.approx(3, rel=0.05) for share in shares[2:])


def test_without_reference_and_model_nobody_knows():
    assert usual_length(rows(referenced=False, count=1)) is None
    assert far_from_usual(rows(referenced=False, count=1), 1) is None
    assert usual_length([]) is None
    blank = [Row(("a", ""), ("",), "x")] * 3
    assert far_from_usual(blank, 0) is None
