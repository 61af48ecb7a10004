"""Tables longer than one call of tabulate, and rows computed on demand."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coverage_eval.tables import text
from coverage_eval.tables.formats import FORMATS, render
from coverage_eval.tables.table import Cell, LazyRows, Printable, RowLabel, ScoreCell, Table

CELLS = st.one_of(
    st.none(),
    st.integers(-9, 10**9),
    st.floats(0, 1e6),
    st.text(st.sampled_from("aé界 |*\n"), max_size=12),
    st.builds(RowLabel, st.text("a \n", max_size=9), st.just("b")),
    st.builds(ScoreCell, st.floats(0, 9), st.floats(0, 9), st.floats(0, 99)),
)


@pytest.mark.parametrize("form", list(FORMATS))
@example([(0, " aaaaa\n界", None), (0, ScoreCell(0.0, 0.0, 0.0), None)], 1, None)
@example([(0, RowLabel("baseline   ", "b"), None), (0, "baseline", None)], 1, None)
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 99), CELLS, CELLS), max_size=9),
    st.integers(1, 4),
    st.sampled_from([None, 40]),
)
def test_a_table_drawn_in_parts_looks_like_one_drawn_whole(
    form: str, rows: list[tuple[Cell, ...]], together: int, columns: int | None
) -> None:
    header = ("first", "second", "x")
    whole = render(Printable((Table(header, tuple(rows)),)), form, columns=columns)
    made = Table(header, LazyRows(lambda row: row, rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_TOGETHER", together)
        assert render(Printable((made,)), form, columns=columns) == whole


def test_json_writes_lazy_rows_as_lists() -> None:
    squares = LazyRows(lambda n: {"n": n, "squares": LazyRows(lambda m: m * m, range(n))}, range(3))
    plain = [{"n": n, "squares": [m * m for m in range(n)]} for n in range(3)]
    lazy, held = (render(Printable((), data=data), "json") for data in (squares, plain))
    assert lazy == held == json.dumps(plain, indent=1)


def test_lazy_rows_are_a_sequence() -> None:
    pairs = LazyRows(lambda a, b: (a, b), range(4), "wxyz")
    assert list(pairs) == [(0, "w"), (1, "x"), (2, "y"), (3, "z")]
    assert pairs[1:3] == [(1, "x"), (2, "y")]
    assert pairs[-1] == (3, "z")
    assert (2, "y") in pairs
    with pytest.raises(IndexError):
        pairs[4]
