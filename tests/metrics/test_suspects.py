"""The byte filter never misses a repetition, and passes over most segments without one."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from coverage_eval.metrics.suspects import suspects
from tests.metrics import oracles

TEXTS = st.lists(st.text(st.sampled_from("ab \tü\xa0"), max_size=12), min_size=1, max_size=5)


@given(TEXTS, st.integers(1, 3))
@example(["a a", "", " a b  a b "], 2)
def test_no_repetition_is_missed(texts: list[str], n: int) -> None:
    found = suspects(texts, n)
    for text, suspect in zip(texts, found, strict=True):
        tokens = [token for token in text.replace("\t", " ").split(" ") if token]
        repeated = oracles.excess(tokens, [], n, least=2, doubled=False)
        doubled = oracles.excess(tokens, [], 2, least=1, doubled=True)
        if repeated or doubled:
            assert suspect
        elif n <= 2:
            assert not suspect


def test_a_line_end_inside_a_segment_suspects_everything() -> None:
    assert suspects(["a\nb", "c"], 2).all()


def test_no_words() -> None:
    assert not suspects(["", " ", "\t"], 2).any()


def test_half_a_character_is_no_obstacle() -> None:
    assert suspects(["\ud800 \ud800", "\ud800 b"], 2).tolist() == [True, False]
