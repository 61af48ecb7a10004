"""Rows of a test set: texts that belong together, one reference or several, exact messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data.dataset import Dataset, Row, make_rows, split_references
from coverage_eval.errors import DataError
from coverage_eval.metrics.rep import REP
from tests.rows import make_text_rows

segments = st.lists(st.text("ab ", max_size=5), min_size=1, max_size=4)


def same(number: int, elements: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(elements, min_size=number, max_size=number)


@given(st.data())
def test_every_text_comes_back_as_a_column(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 4))
    text = same(count, st.text("ab ", max_size=5))
    systems = {name: data.draw(text) for name in ("x", "y")}
    references = data.draw(st.lists(text, min_size=1, max_size=3))
    source = data.draw(st.none() | text)
    rows = make_rows(systems, references, source)
    assert [list(c) for c in zip(*(row.hypotheses for row in rows), strict=True)] == [
        *systems.values()
    ]
    assert [list(c) for c in zip(*(row.references for row in rows), strict=True)] == references
    assert [row.source for row in rows] == (source or [None] * count)
    tokens = {name: [line.split() for line in lines] for name, lines in systems.items()}
    of_tokens = [[line.split() for line in lines] for lines in references]
    assert [len(row.references) for row in make_rows(tokens, of_tokens)] == [
        len(references)
    ] * count


def test_one_reference_or_several() -> None:
    assert split_references(["a b", "c"], ["a", "c d"]) == [["a", "c d"]]
    assert split_references(["a b", "c"], [["a", "c"], ["b", "d"]]) == [["a", "c"], ["b", "d"]]
    tokens = [["a", "b"], ["c"]]
    assert split_references(tokens, tokens) == [tokens]
    assert split_references(tokens, [tokens, tokens]) == [tokens, tokens]
    assert split_references(tokens, ["a b", "c"]) == [["a b", "c"]]


def test_outputs_without_a_token_do_not_change_what_references_are() -> None:
    references = [["a", "b"], ["c", "d"]]
    assert split_references([[], []], references) == [references]
    assert make_text_rows([[]], [["a", "b"]]) == [Row(([],), (["a", "b"],))]


def test_a_list_per_segment_is_told_from_a_list_per_reference() -> None:
    with pytest.raises(DataError, match="2 lists of references for 2 segments: give one list a"):
        split_references(["a", "b"], [["a", "x", "y"], ["b", "x", "y"]])


def test_errors_say_what_is_wrong() -> None:
    with pytest.raises(DataError, match="the hypothesis has 1, the reference has 2, the source"):
        make_text_rows(["a"], ["a", "b"], ["a"])
    with pytest.raises(DataError, match="reference 1 has 1, reference 2 has 2"):
        make_text_rows(["a"], [["a"], ["a", "b"]])
    with pytest.raises(TypeError, match="the source is a list of segments, not a single string"):
        make_text_rows(["a"], ["a"], "a")
    with pytest.raises(TypeError, match="the hypothesis: segment 2 is neither a string nor a list"):
        make_text_rows(["a", 1], ["a", "b"])  # type: ignore[list-item]
    with pytest.raises(DataError, match="no system"):
        make_rows({}, [])


def test_files_are_read_in_step(tmp_path: Path) -> None:
    for name in "hgrs":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    hyp, other, ref, src = (tmp_path / name for name in "hgrs")
    assert list(Dataset.of_files({"h": hyp, "o": other}, [ref], src).rows()) == [
        Row((f"h{n}", f"g{n}"), (f"r{n}",), f"s{n}") for n in (1, 2)
    ]
    assert next(Dataset.of_files({"h": hyp}).rows()) == Row(("h1",), (), None)


def test_texts_may_be_iterators() -> None:
    expected = [Row(("a b",), ("c",), "e"), Row(("b",), ("d d",), "f")]
    assert make_text_rows(iter(["a b", "b"]), iter(["c", "d d"]), iter(["e", "f"])) == expected
    several = make_text_rows(iter(["a", "b"]), [iter(["c", "d"]), (text for text in "ef")])
    assert several == [Row(("a",), ("c", "e")), Row(("b",), ("d", "f"))]
    tokens = make_text_rows(iter([["a"], ["b"]]), iter([["c"], ["d"]]))
    assert tokens == [Row((["a"],), (["c"],)), Row((["b"],), (["d"],))]
    score = REP().corpus_score(["a a b"], iter(["a b"]))
    assert score == REP().corpus_score(["a a b"], ["a b"])
