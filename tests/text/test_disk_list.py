"""A stream kept on the disk is the list of its items, however it is gone through."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.data.dataset import Row
from coverage_eval.data.disk_list import DiskList
from coverage_eval.text import spool as module

ITEMS = st.lists(st.one_of(st.text(), st.tuples(st.integers(), st.binary(max_size=300))))


@settings(max_examples=40, deadline=None)
@given(ITEMS, st.integers(0, 400), st.slices(10))
def test_it_is_a_list(items: list[object], in_memory: int, some: slice) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_HELD_IN_MEMORY", in_memory)
        spool = DiskList(iter(items))
        assert len(spool) == len(items)
        assert list(spool) == items
        assert spool[some] == items[some]
        assert list(zip(spool, reversed(spool), strict=True)) == list(
            zip(items, reversed(items), strict=True)
        )
        spool.append("more")
        assert [*spool] == [*items, "more"]
        assert spool[-1] == "more"
        for index in (len(items) + 1, -len(items) - 2):
            with pytest.raises(IndexError):
                spool[index]


def test_it_is_read_in_a_thread_while_another_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HELD_IN_MEMORY", 10)
    spool = DiskList(range(1000))
    seen: list[int] = []
    reader = threading.Thread(target=lambda: seen.extend(spool[i] for i in range(1000)))
    reader.start()
    for number in range(1000, 2000):
        spool.append(number)
    reader.join()
    assert seen == list(range(1000))
    assert list(spool) == list(range(2000))


def test_rows_keep_their_kind_and_the_stream_is_read_once() -> None:
    def rows() -> Iterator[Row]:
        yield Row(("a",), ("b",), None)

    assert DiskList(rows())[0].references == ("b",)
