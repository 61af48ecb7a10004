"""The grammar's links are consistent, and its synonyms are used as asked for."""

from __future__ import annotations

import random

from coverage_eval.testbed.grammar import SYNONYMS, generate, paraphrase


def test_links_cover_all_words_and_are_sorted_and_unique() -> None:
    for pair in generate(300, seed=1):
        assert {i for i, _ in pair.links} == set(range(len(pair.source)))
        assert {j for _, j in pair.links} == set(range(len(pair.target)))
        assert list(pair.links) == sorted(set(pair.links))


def test_links_join_the_same_words_everywhere() -> None:
    """A noun is linked with its translation in whatever sentence it stands."""
    translations: dict[str, set[str]] = {}
    for pair in generate(2000, seed=2):
        for i, _ in pair.links:
            words = " ".join(pair.target[k] for h, k in pair.links if h == i)
            translations.setdefault(pair.source[i], set()).add(words)
    assert translations["fahrradhelm"] == {"bicycle helmet"}
    assert translations["im"] == {"in the"}
    assert translations["gesehen"] == {"saw"}
    assert translations["der"] == {"the"}


def test_the_seed_decides() -> None:
    assert generate(50, seed=3) == generate(50, seed=3) != generate(50, seed=4)


def test_a_longer_corpus_begins_with_the_shorter_one() -> None:
    assert generate(60, seed=3)[:50] == generate(50, seed=3)


def test_paraphrases_are_synonyms() -> None:
    words = list(SYNONYMS)
    assert paraphrase(words, 1.0, random.Random(0)) == list(SYNONYMS.values())
    assert paraphrase(words, 0.0, random.Random(0)) == words
