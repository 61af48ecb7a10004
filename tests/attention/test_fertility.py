"""Fertilities against values computed by hand and against plain counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.attention.fertility import actual, constant, expected, guided


def test_values_computed_by_hand():
    links = [(0, 0), (0, 1), (0, 2), (2, 3)]
    assert constant(3, 2).tolist() == [2, 2, 2]
    assert constant(1, 0.5).tolist() == [0.5]
    assert constant(0, 2).tolist() == []
    assert actual(links, 4).tolist() == [3, 1, 1, 1]
    assert expected([[0.5, 0.5], [0.0, 1.0]]).tolist() == [1.5, 2.0]


def test_guided_gives_each_word_its_largest_count_and_unseen_words_1():
    table = guided(
        [
            (["a", "b", "a"], [(0, 0), (2, 1), (2, 2)]),
            (["b", "c"], [(0, 0)]),
            ([], []),
        ]
    )
    assert table.fertilities(["a", "b", "c", "never"]).tolist() == [2, 1, 1, 1]


segments = st.lists(
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=5).flatmap(
        lambda words: st.tuples(
            st.just(words),
            st.sets(st.tuples(st.integers(0, len(words) - 1), st.integers(0, 6)), max_size=9),
        )
    ),
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(segments)
def test_guided_is_the_largest_count_and_at_least_every_actual_fertility_of_its_data(pairs):
    table = guided(pairs)
    largest: Counter[str] = Counter()
    for words, links in pairs:
        assert np.all(table.fertilities(words) >= actual(links, len(words)))
        for position, word in enumerate(words):
            count = sum(1 for source, _ in links if source == position)
            largest[word] = max(largest[word], count, 1)
    for word in "abcd":
        assert table.fertilities([word])[0] == max(largest[word], 1)
