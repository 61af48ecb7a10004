"""A stream kept on the disk is the list of its items, however it is gone through."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.data import disk_list as module
from coverage_eval.data.dataset import Row
from coverage_eval.data.disk_list import DiskList

ITEMS = st.lists(st.one_of(st.text(), st.tuples(st.integers(), st.binary(max_size=300))))


@settings(max_examples=40, deadline=None)
@given(ITEMS, st.integers(0, 400), st.slices(10))
def test_it_is_a_list(items: list[object], in_memory: int, some: slice) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_HELD_IN_MEMORY", in_memory)
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


def test_it_is_read_in_a_thread_while_another_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HELD_IN_MEMORY", 10)
    items_on_disk = DiskList(range(1000))
    seen: list[int] = []
    reader = threading.Thread(target=lambda: seen.extend(items_on_disk[i] for i in range(1000)))
    reader.start()
    for number in range(1000, 2000):
        items_on_disk.append(number)
    reader.join()
    assert seen == list(range(1000))
    assert list(items_on_disk) == list(range(2000))


def test_rows_keep_their_type_and_the_stream_is_read_once() -> None:
    def rows() -> Iterator[Row]:
        yield Row(("a",), ("b",), None)

    assert DiskList(rows())[0].references == ("b",)
