"""A stream is cut into batches that fit in memory, the same ones for any number of processes."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data.dataset import map_batches
from coverage_eval.text import batches as module

rows = st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=40)


def row_length(row: tuple[str, str]) -> int:
    return len(row[0]) + len(row[1])


@given(rows, st.integers(1, 12), st.integers(1, 30))
def test_batches_hold_the_stream_in_order_and_within_limits(
    stream: list[tuple[str, str]], size: int, length: int
) -> None:
    with patch.object(module, "BATCH_LENGTH", length):
        batches = list(map_batches(list, iter(stream), weigh=row_length, size=size))
    assert [row for batch in batches for row in batch] == stream
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len(batch) == 1 or sum(map(row_length, batch)) <= length


def test_processes_do_not_change_the_batches() -> None:
    stream = [("a" * (n % 17), "b" * (n % 5)) for n in range(100)]
    with patch.object(module, "BATCH_LENGTH", 60):
        one = list(map_batches(list, stream, weigh=row_length, size=16))
        assert list(map_batches(list, stream, jobs=2, weigh=row_length, size=16)) == one
        assert len(one) > 100 // 16 + 1  # long batches were halved
