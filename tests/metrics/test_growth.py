"""What grows faster than its input has a stated limit; the rest looks at each thing once."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import pytest

import coverage_eval as ce
from coverage_eval.data import disk_list
from coverage_eval.data.dataset import Batch, Dataset, Row
from coverage_eval.errors import DataError
from coverage_eval.metrics import ngram_counts
from coverage_eval.metrics.evaluation import Evaluation
from coverage_eval.metrics.meteor import METEOR
from coverage_eval.metrics.ngram_counts import find_ngrams
from coverage_eval.metrics.rep import PeerREP
from coverage_eval.report import page
from coverage_eval.report.html import make_report
from coverage_eval.tables.table import Table, survey


def words(count: int, different: int) -> str:
    return " ".join(f"w{number % different}" for number in range(count))


def test_meteor_of_a_word_said_thousands_of_times_is_refused_at_once():
    metric = METEOR(variant="exact-stem")
    assert metric.sentence_score(words(1000, 1), words(1000, 1)).score > 99
    for count in (3000, 6000):
        with pytest.raises(DataError, match=f"a segment of {count:,} words against {count:,}"):
            metric.sentence_score(words(count, 1), words(count, 1))


def test_ter_of_long_segments_is_refused_at_once():
    long = words(500, 500)
    backwards = " ".join(reversed(long.split()))
    with pytest.raises(DataError, match=r"TER: a segment of 500 words against 500 .* 'w499 w498"):
        ce.ter([backwards], [long])
    assert float(ce.ter([long, "a"], [long, "b"])) == pytest.approx(100 / 501)


def test_a_report_looks_through_each_table_once(monkeypatch):
    seen: Counter[str] = Counter()

    def counted(table: Table) -> Any:
        seen[table.title] += 1
        return survey(table)

    monkeypatch.setattr(page, "survey", counted)
    rows = {}
    for systems in (2, 12):
        seen.clear()
        outputs = {f"s{number}": ["a b a b", "c d"] for number in range(systems)}
        comparison = ce.compare(outputs, ["a b c", "c d"], metrics=["rep"], resamples=0)
        assert "s1" in make_report(comparison).html
        rows[systems] = seen.total()
    assert rows[2] == rows[12] > 0


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


def test_each_explanation_is_read_once_for_all_systems(monkeypatch):
    seen, loads = Counter[str](), pickle.loads

    def counted(data: bytes) -> Any:
        item = loads(data)
        seen[type(item).__name__] += 1
        return item

    monkeypatch.setattr(disk_list.pickle, "loads", counted)
    segments = 5
    for systems in (4, 16):
        outputs = {f"s{number}": ["a b a b"] * segments for number in range(systems)}
        result = Evaluation(
            Dataset.of_lists(outputs, ["a b"] * segments), metrics=["rep"], evidence=True
        ).run()
        result.evidence("rep")
        seen.clear()
        for system in result.systems:
            assert all(found.marks for found in result.evidence_of("rep", system))
        assert seen["Explanation"] == systems * segments
