"""What grows faster than its input has a stated limit; the rest looks at each thing once."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import coverage_eval as ce
from coverage_eval.data.dataset import Batch, Row
from coverage_eval.errors import DataError
from coverage_eval.metrics import ngram_counts
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.ngram_counts import find_ngrams
from coverage_eval.metrics.rep import PeerREP


def words(count: int, different: int) -> str:
    return " ".join(f"w{number % different}" for number in range(count))


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


def test_each_output_is_counted_once_whatever_the_number_of_systems(monkeypatch):
    seen = Counter[int]()

    def counted(tokens: Any, n: int) -> Any:
        seen[n] += 1
        return find_ngrams(tokens, n)

    monkeypatch.setattr(ngram_counts, "find_ngrams", counted)
    for systems in (10, 40):
        seen.clear()
        row = Row(tuple(f"a b a b w{number}" for number in range(systems)))
        metric = PeerREP().for_texts(systems=systems, references=0, peers=0)
        assert metric.count(Batch([row]))[..., 0].sum() == 0
        assert set(seen.values()) == {systems}
