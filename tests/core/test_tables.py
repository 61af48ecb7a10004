"""Tables: text is data and makes no formula, column, row or markup; rows are computed on demand."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.show import Cell, LazyRows, Printable, Table, render

NASTY = st.text(st.sampled_from("a=+-@\t\r\x1b\x85\u2028|\\\"',;<>&_$% ü"), max_size=8)


def render_table(
    header: Sequence[str], rows: Sequence[tuple[Cell, ...]], output_format: str
) -> str:
    return render(Printable((Table(tuple(header), tuple(rows)),)), output_format)


def cells(rows: list[tuple[int, str]]) -> list[str]:
    text = render_table(["segment", "words"], rows, "csv")
    return [row[1] for row in csv.reader(io.StringIO(text, newline=""))][1:]


@given(st.lists(NASTY, min_size=1, max_size=3))
def test_csv_can_be_read_back_except_for_controls(texts):
    found = cells(list(enumerate(texts)))
    visible = [t.replace("\x1b", r"\x1b").replace("\x85", r"\x85") for t in texts]
    visible = [t.replace("\u2028", r"\u2028").removeprefix("'") for t in visible]
    assert [cell.removeprefix("'") for cell in found] == visible


@given(st.lists(NASTY, min_size=1, max_size=3))
def test_json_can_be_read_back(texts):
    rows = json.loads(render_table(["words"], [(text,) for text in texts], "json"))
    assert [row["words"] for row in rows] == texts


@pytest.mark.parametrize("output_format", ["text", "markdown", "latex"])
@given(NASTY)
def test_text_adds_no_row(output_format, text):
    one, two = (
        render_table(["segment", "words"], [(1, cell), (2, "b")], output_format)
        for cell in (text, "a")
    )
    assert one.count("\n") == two.count("\n")
    assert not set("\r\x1b\x85") & set(one)


def test_markup_is_escaped():
    row = [("<b>|a & b_$",)]
    assert r"\<b>\|a \& b\_$" in render_table(["words"], row, "markdown")
    assert "\na \\& b" in render_table(["words"], [("a & b",)], "latex")
    for start in "*[":  # the line end before would take them as its argument
        assert f"\n{{}}{start}a" in render_table(["words"], [(f"{start}a",)], "latex")
    assert "a \\& b\\_\\$" in render_table(["words"], row, "latex")


def test_json_writes_lazy_rows_as_lists():
    squares = LazyRows(lambda n: {"n": n, "squares": LazyRows(lambda m: m * m, range(n))}, range(3))
    plain = [{"n": n, "squares": [m * m for m in range(n)]} for n in range(3)]
    lazy, held = (render(Printable((), data=data), "json") for data in (squares, plain))
    assert lazy == held == json.dumps(plain, indent=1)
