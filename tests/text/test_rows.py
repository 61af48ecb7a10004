"""Rows of texts in memory, whatever holds the texts."""

from __future__ import annotations

from coverage_eval.metrics.rep import REP
from coverage_eval.text.rows import Row, make_text_rows


def test_texts_may_be_iterators() -> None:
    expected = [Row(("a b",), ("c",), "e"), Row(("b",), ("d d",), "f")]
    assert make_text_rows(iter(["a b", "b"]), iter(["c", "d d"]), iter(["e", "f"])) == expected
    several = make_text_rows(iter(["a", "b"]), [iter(["c", "d"]), (text for text in "ef")])
    assert several == [Row(("a",), ("c", "e")), Row(("b",), ("d", "f"))]
    tokens = make_text_rows(iter([["a"], ["b"]]), iter([["c"], ["d"]]))
    assert tokens == [Row((["a"],), (["c"],)), Row((["b"],), (["d"],))]
    score = REP().corpus_score(["a a b"], iter(["a b"]))
    assert score == REP().corpus_score(["a a b"], ["a b"])
