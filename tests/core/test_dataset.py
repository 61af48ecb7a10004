"""Datasets: rows of texts that belong together, batches, samples, and lists on the disk."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.core import batches as module
from coverage_eval.core.batches import (
    BLOCK_ROWS,
    MAX_BLOCKS,
    Batch,
    Blocks,
    Request,
    Row,
    RowSample,
    Texts,
    answer_ahead,
    make_batches,
)
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.core.files import FileText
from coverage_eval.core.lists import DiskList
from coverage_eval.core.sampled_texts import SampledTexts
from coverage_eval.core.texts import open_text, split_references
from coverage_eval.core.tokenizers import tokenize
from tests.rows import make_text_rows

ROWS = st.lists(
    st.builds(lambda one, two: Row((one,), (two,)), st.text(max_size=9), st.text(max_size=9)),
    max_size=40,
)


def make_rows(*texts: Any, **more: Any) -> list[Row]:
    return list(Texts.from_lists(*texts, **more).rows())


def length_of(rows: Iterable[Row]) -> int:
    return sum(len(row.hypotheses[0]) + len(row.references[0]) for row in rows)


@given(ROWS, st.integers(1, 12), st.integers(1, 30))
def test_batches_hold_the_stream_in_order_and_within_limits(stream, size, length):
    with patch.multiple(module, BATCH_LENGTH=length, BATCH_SEGMENTS=size):
        batches = list(make_batches(iter(stream)))
    assert [row for batch in batches for row in batch.rows] == stream
    for batch in batches:
        assert 1 <= len(batch.rows) <= size
        assert len(batch.rows) == 1 or length_of(batch.rows) <= length
    for batch, after in pairwise(batches):  # none is smaller than it needs to be
        assert len(batch.rows) == size or length_of([*batch.rows, after.rows[0]]) > length


def test_a_request_is_answered_once_and_ahead_of_each_batch():
    asked: list[str] = []

    def answers(rows: Iterable[Row]) -> Iterator[str]:
        for row in rows:
            asked.append(str(row.hypotheses[0]))
            yield f"<{row.hypotheses[0]}>"

    request = Request("key", answers)
    rows = [Row((str(number),)) for number in range(10)]
    parts = [Batch(rows[start : start + 3]) for start in range(0, 10, 3)]
    batches = answer_ahead(parts, [request, Request("key", answers)])
    for batch in batches:
        assert batch.get(request) == [f"<{row.hypotheses[0]}>" for row in batch.rows]
        assert batch.get(Request("key", answers)) is batch.get(request)
    assert asked == [str(number) for number in range(10)]
    alone = Batch(rows[:2])
    assert alone.get(request) == alone.get(request) == ["<0>", "<1>"]


def lists_of(number: int, elements: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(elements, min_size=number, max_size=number)


@given(st.data())
def test_every_text_comes_back_as_a_column(data):
    count = data.draw(st.integers(1, 4))
    text = lists_of(count, st.text("ab ", max_size=5))
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


def test_several_references_of_strings_for_hypotheses_of_tokens_are_an_error():
    hypotheses = [["a", "b"], ["c"]]
    for reference in ([["a b", "c d"], ["e f", "g"]], [["a b"], ["c"]]):
        with pytest.raises(DataError, match="the tokens of the reference hold spaces"):
            split_references(hypotheses, reference)
    few_spaces = [["a b", "c"], ["d"]]
    assert split_references(hypotheses, few_spaces) == [few_spaces]


def test_as_many_references_as_segments_are_read_as_sacrebleu_reads_them_with_a_warning():
    lists = [["a", "c"], ["b", "d"]]
    with pytest.warns(CorpusWarning, match=r"read as 2 references of 2 segments each"):
        assert split_references(["a a", "b b"], lists) == lists
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        split_references(["a a", "b b"], [["a", "c"]])
        split_references(["a", "b", "c"], [["a", "b", "c"], ["a", "b", "c"]])
        split_references(["a"], [["a"]])


def test_a_list_per_segment_is_not_taken_for_a_list_per_reference():
    with pytest.raises(DataError, match="2 lists of references for 2 segments: give one list a"):
        split_references(["a", "b"], [["a", "x", "y"], ["b", "x", "y"]])


def test_unequal_or_missing_texts_are_errors():
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
    with pytest.raises(DataError, match="no segments to score"):
        make_rows({"a": []}, [])
    with pytest.raises(DataError, match="unequal numbers of segments: a has 1, peer 1 has 2"):
        make_rows({"a": ["x"]}, peers=[["y", "z"]])
    frame = SimpleNamespace(columns=["a"], __iter__=lambda: iter("a"))
    for wrong in ({"x": "y"}, {"x"}, frame, 5):
        with pytest.raises(TypeError, match=f"a is a list of segments, not {type(wrong).__name__}"):
            make_rows({"a": wrong})  # type: ignore[dict-item]


def test_files_are_read_in_step(tmp_path):
    for name in "hgrs":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n")
    hyp, other, ref, src = (FileText(tmp_path / name) for name in "hgrs")
    assert list(Texts({"h": hyp, "o": other}, [ref], src).rows()) == [
        Row((f"h{n}", f"g{n}"), (f"r{n}",), f"s{n}") for n in (1, 2)
    ]
    with_peers = Texts({"h": hyp}, [ref], src, [other, other])
    assert next(with_peers.rows()) == Row(("h1",), ("r1",), "s1", ("g1", "g1"))


def test_pipes_can_be_read_again(tmp_path, monkeypatch):
    (tmp_path / "r").write_text("c\nd\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    piped = Texts({"h": open_text("-")}, [open_text(tmp_path / "r")])
    expected = [Row(("a",), ("c",)), Row(("b",), ("d",))]
    assert list(piped.rows()) == list(piped.rows()) == expected


def test_texts_may_be_iterators():
    expected = [Row(("a b",), ("c",), "e"), Row(("b",), ("d d",), "f")]
    assert make_text_rows(iter(["a b", "b"]), iter(["c", "d d"]), iter(["e", "f"])) == expected
    tokens = make_text_rows(iter([["a"], ["b"]]), iter([["c"], ["d"]]))
    assert tokens == [Row((["a"],), (["c"],)), Row((["b"],), (["d"],))]


def expected_rows(number: int) -> list[int]:
    """All blocks whose number is a multiple of the least power of two that keeps few enough."""
    blocks = -(-number // BLOCK_ROWS)
    stride = 1
    while -(-blocks // stride) > MAX_BLOCKS:
        stride *= 2
    return [row for row in range(number) if row // BLOCK_ROWS % stride == 0]


def sample_of(number: int) -> RowSample:
    return RowSample((Row((str(n),)) for n in range(1, number + 1)), ["hyp"])


@given(st.integers(0, 30_000))
def test_blocks_are_spread_over_the_whole_stream(number):
    taken: Blocks[int] = Blocks()
    most = 0
    for row in range(number):
        taken.add(row)
        most = max(most, len(taken.kept))
    assert taken.rows == expected_rows(number)
    assert most <= MAX_BLOCKS
    assert all(block[0] == place * BLOCK_ROWS for place, block in taken.kept.items())


def test_a_sample_knows_the_lines_of_its_rows():
    taken = sample_of(5000)
    assert taken.size == 5000
    sample = SampledTexts.tokenize(taken, tokenize, tokenize)
    for row in (0, 49, 50, 777, len(taken.rows) - 1):
        assert sample.lines[row] == int(taken.rows[row].hypotheses[0])


def test_what_was_made_of_a_whole_sample_is_not_made_again():
    made: list[Row] = []

    def answers(rows: Iterable[Row]) -> Iterator[int]:
        for row in rows:
            made.append(row)
            yield len(made)

    dataset = Texts.from_lists({"a": ["x"] * 150}, ["y"] * 150)
    request = Request("key", answers)
    first = [batch.get(request) for batch in answer_ahead(dataset.sample.batches, [request])]
    again = [batch.get(request) for batch in answer_ahead(dataset.batches(), [request])]
    assert (first, len(made)) == (again, 150)


ITEMS = st.lists(st.one_of(st.text(), st.tuples(st.integers(), st.binary(max_size=300))))


@settings(max_examples=40, deadline=None)
@given(ITEMS, st.slices(10))
def test_a_disk_list_behaves_like_a_list(items, some):
    items_on_disk = DiskList(iter(items))
    assert len(items_on_disk) == len(items)
    assert list(items_on_disk) == items
    assert items_on_disk[some] == items[some]
    assert list(zip(items_on_disk, reversed(items_on_disk), strict=True)) == list(
        zip(items, reversed(items), strict=True)
    )
    items_on_disk.append("more")
    assert [*items_on_disk] == [*items, "more"]
    assert items_on_disk[-1] == "more"
    for index in (len(items) + 1, -len(items) - 2):
        with pytest.raises(IndexError):
            items_on_disk[index]
