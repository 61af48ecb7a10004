"""NLTK's METEOR with Meteor's WordNet lists, against direct calls of NLTK."""

from __future__ import annotations

import zipfile
from importlib import import_module

import numpy as np
import pytest

from coverage_eval.quality.meteor.nltk_variant import NLTKMeteor, WordNet
from coverage_eval.quality.meteor.words import JAR, data_file
from tests.rows import statistics_of

PAIRS = [
    # NLTK looks for synonyms of stems, so "automobile" (stem: automobil) has none.
    ("he bought a car", "he bought an auto"),
    ("cars go home", "auto go home"),
    ("It is raining cats and dogs", "it rains cats , dogs"),
    ("nothing in common", "xyzzy plugh"),
    ("", "a b"),
    ("a b", ""),
    ("", ""),
]


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    return WordNet()


def score(hypothesis: str, reference: str, wordnet: object) -> float:
    """NLTK's score; NLTK takes seconds to import."""
    single = import_module("nltk.translate.meteor_score").single_meteor_score
    return float(single(reference.split(), hypothesis.split(), wordnet=wordnet))


class NoWordNet:
    def synsets(self, word: str) -> list[object]:
        return []


@pytest.fixture
def _no_nltk_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide any data of NLTK on this machine, and let downloads fail."""
    nltk = import_module("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(nltk, "download", None)


@pytest.mark.slow
@pytest.mark.usefixtures("_no_nltk_data")
def test_scores_are_those_of_nltk_and_the_corpus_score_their_mean(wordnet):
    metric = NLTKMeteor()
    statistics = statistics_of(metric, [h for h, _ in PAIRS], [r for _, r in PAIRS])
    expected = [100 * score(h, r, wordnet) if h and r else 0.0 for h, r in PAIRS]
    assert metric.scores_of(statistics) == pytest.approx(expected)
    assert metric.score(statistics).score == pytest.approx(np.mean(expected))
    assert all(0 <= score <= 100 for score in expected)
    assert expected[3:] == [0.0] * 4


@pytest.mark.usefixtures("_no_nltk_data")
@pytest.mark.parametrize("pair", PAIRS[:2])
def test_synonyms_raise_the_score(pair, wordnet):
    assert score(*pair, wordnet) > score(*pair, NoWordNet())


def test_a_synset_holds_all_words_with_its_number(wordnet):
    with zipfile.ZipFile(data_file(JAR)) as jar:
        lines = jar.read("synonym/english.synsets").decode().splitlines()
    entries = dict(zip(lines[::2], lines[1::2], strict=True))
    numbers = entries["automobile"].split()
    expected = sorted(
        sorted(word for word, theirs in entries.items() if number in theirs.split())
        for number in numbers
    )
    found = wordnet.synsets("automobiles")
    assert "automobiles" not in entries
    assert sorted(sorted(lemma.name() for lemma in synset.lemmas()) for synset in found) == expected
