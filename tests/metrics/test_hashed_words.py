"""Hashes never miss a repetition, and pass over most n-grams without one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coverage_eval.metrics import hashed_words
from coverage_eval.metrics.hashed_words import HashedWords
from coverage_eval.metrics.rep import REP
from tests.metrics import oracles

TEXTS = st.lists(st.text(st.sampled_from("ab \tü\xa0"), max_size=12), min_size=1, max_size=5)


def split(text: str) -> list[str]:
    return [token for token in text.replace("\t", " ").split(" ") if token]


@given(TEXTS)
@example(["a a", "", " a b  a b "])
@example(["", " ", "\t"])
def test_words_are_those_of_the_tokenising_function(texts: list[str]) -> None:
    words = HashedWords.read(texts)
    expected = [(number, word) for number, text in enumerate(texts) for word in split(text)]
    found = [word.decode() for word in words.words(np.arange(len(words.starts)))]
    assert list(zip(words.segments.tolist(), found, strict=True)) == expected
    hashes = dict(zip(found, words.hashes.tolist(), strict=True))
    assert [hashes[word] for word in found] == words.hashes.tolist()
    assert len(set(hashes.values())) == len(hashes)


@given(TEXTS, st.integers(1, 3))
def test_equal_ngrams_of_a_segment_have_equal_keys_and_others_not(texts: list[str], n: int) -> None:
    words = HashedWords.read(texts)
    first, keys = words.ngrams(n, np.arange(len(texts)))
    tokens = words.words(np.arange(len(words.starts)))
    grams = [(words.segments[i], *tokens[i : i + n]) for i in first.tolist()]
    assert len(grams) == sum(max(0, len(split(text)) - n + 1) for text in texts)
    assert len(set(grams)) == len(set(zip(grams, keys.tolist(), strict=True)))
    assert len(set(grams)) == len(set(keys.tolist()))


def test_a_line_end_inside_a_segment_is_refused() -> None:
    with pytest.raises(ValueError, match="line end"):
        HashedWords.read(["a\nb", "c"])


def test_half_a_character_is_no_obstacle() -> None:
    words = HashedWords.read(["\ud800 \ud800", "\ud800 b"])
    assert words.doubled().tolist() == [0]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_counts_do_not_depend_on_the_hashes(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    """Were all words of a length hashed alike, only time would be lost."""
    hypotheses = ["a b c a b", "x x y y", "a b b a", "c d c d e e", "q r s"]
    references = ["a b c a c", "x y y", "b b b", "c d c d c d", ""]
    alike = np.ones(256, dtype=np.uint64)
    alike[list(b" \t\n")] = 0
    monkeypatch.setattr(hashed_words, "_BYTES", alike)
    metric = REP(n=n)
    value = metric.corpus_score(metric.statistics(hypotheses, references)).value
    assert value == oracles.rep(hypotheses, references, n)
