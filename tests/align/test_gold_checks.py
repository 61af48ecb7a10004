"""Gold links that count from one or are swapped are noticed, even by weak links."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from coverage_eval.align.gold import Gold, check_gold
from fast_align_wrapper.links import Link, Links
from tests.core.spoil import pairs

Map = Callable[[Link], Link]

SWAP: Map = lambda link: (link[1], link[0])  # noqa: E731
FROM_ONE: Map = lambda link: (link[0] + 1, link[1] + 1)  # noqa: E731

TRUTH: list[Links] = [pair.links for pair in pairs()]


def moved(rows: list[Links], change: Map) -> list[Links]:
    return [tuple(sorted(map(change, links))) for links in rows]


def gold(rows: list[Links]) -> list[Gold]:
    return [Gold((), links) for links in rows]


def weak(rate: float) -> list[Links]:
    """The true links, with a share of wrong ones."""
    generator = random.Random(1)
    return [
        tuple(
            sorted(
                {(i, generator.randrange(9) if generator.random() < rate else j) for i, j in row}
            )
        )
        for row in TRUTH
    ]


@pytest.mark.parametrize("rate", [0, 0.3, 0.6, 0.9])
def test_correct_gold_links_give_no_finding(rate):
    assert check_gold(weak(rate), gold(TRUTH)) == []


def test_useless_links_give_no_finding():
    assert check_gold([((0, 0), (1, 1), (2, 2))] * len(TRUTH), gold(TRUTH)) == []
    assert check_gold([()] * len(TRUTH), gold(TRUTH)) == []
    assert check_gold([], []) == []


@pytest.mark.parametrize("rate", [0, 0.3, 0.6])
@pytest.mark.parametrize("number", [20, 100, 500])
def test_gold_links_that_count_from_one(rate, number):
    (found,) = check_gold(weak(rate)[:number], gold(moved(TRUTH[:number], FROM_ONE)), name="g.talp")
    assert found.check == "gold-from-one"
    told = f"no link of {number} pairs has source position 0; if positions count from 1: perl"
    assert found.message.startswith(f"g.talp: {told}")


def test_gold_links_with_one_side_counted_from_one():
    (found,) = check_gold(TRUTH, gold(moved(TRUTH, lambda link: (link[0], link[1] + 1))))
    assert "has target position 0" in found.message


@pytest.mark.parametrize("rate", [0, 0.3, 0.6])
def test_reversed_gold_links(rate):
    (found,) = check_gold(weak(rate), gold(moved(TRUTH, SWAP)))
    assert found.check == "gold-changed"
    assert "with source and target swapped" in found.message


def test_gold_links_from_one_with_one_zero_position():
    other = moved(TRUTH, FROM_ONE)
    other[3] = ((0, 0), *other[3])
    (found,) = check_gold(TRUTH, gold(other))
    assert "counted from 0: perl" in found.message


def test_links_that_count_from_one():
    (found,) = check_gold(moved(TRUTH, FROM_ONE), gold(TRUTH))
    assert "if the links count from 1" in found.message


@pytest.mark.parametrize("change", [SWAP, FROM_ONE])
def test_few_pairs_give_no_finding(change):
    assert check_gold(TRUTH[:19], gold(moved(TRUTH[:19], change))) == []


def test_unequal_numbers_of_pairs():
    with pytest.raises(ValueError, match="zip"):
        check_gold(TRUTH, gold(TRUTH)[1:])
