"""A stream is cut into batches that fit in memory, the same ones for any number of processes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.text.batches import map_batches

rows = st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=40)


@given(rows, st.integers(1, 12), st.integers(1, 30))
def test_batches_hold_the_stream_in_order_and_within_limits(
    stream: list[tuple[str, str]], size: int, length: int
) -> None:
    batches = list(map_batches(list, iter(stream), size=size, length=length))
    assert [row for batch in batches for row in batch] == stream
    for batch in batches:
        assert 1 <= len(batch) <= size
        assert len(batch) == 1 or sum(len(text) for row in batch for text in row) <= length


def test_processes_do_not_change_the_batches() -> None:
    stream = [("a" * (n % 17), "b" * (n % 5)) for n in range(100)]
    one = list(map_batches(list, stream, size=16, length=60))
    assert list(map_batches(list, stream, jobs=2, size=16, length=60)) == one
