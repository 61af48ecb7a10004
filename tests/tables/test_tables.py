"""Text in tables is data: it makes no formula, column, row or markup."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.tables.formats import FORMATS, render
from coverage_eval.tables.table import Cell, Printable, Table

NASTY = st.text(st.sampled_from("a=+-@\t\r\x1b\x85\u2028|\\\"',;<>&_$% ü"), max_size=8)


def render_table(
    header: Sequence[str], rows: Sequence[tuple[Cell, ...]], output_format: str
) -> str:
    return render(Printable((Table(tuple(header), tuple(rows)),)), output_format)


def cells(rows: list[tuple[int, str]]) -> list[str]:
    text = render_table(["segment", "words"], rows, "csv")
    return [row[1] for row in csv.reader(io.StringIO(text, newline=""))][1:]


@pytest.mark.parametrize("text", ["=1+1", "+a", "-y", "@x", "\tx", "\rx"])
def test_no_formula_in_csv(text: str) -> None:
    assert cells([(1, text)]) == [f"'{text}"]


@given(st.lists(NASTY, min_size=1, max_size=3))
def test_csv_can_be_read_back_except_for_controls(texts: list[str]) -> None:
    found = cells(list(enumerate(texts)))
    visible = [t.replace("\x1b", r"\x1b").replace("\x85", r"\x85") for t in texts]
    visible = [t.replace("\u2028", r"\u2028").removeprefix("'") for t in visible]
    assert [cell.removeprefix("'") for cell in found] == visible


@given(st.lists(NASTY, min_size=1, max_size=3))
def test_json_can_be_read_back(texts: list[str]) -> None:
    rows = json.loads(render_table(["words"], [(text,) for text in texts], "json"))
    assert [row["words"] for row in rows] == texts


@pytest.mark.parametrize("output_format", ["text", "markdown", "latex"])
@given(NASTY)
def test_text_never_adds_a_row(output_format: str, text: str) -> None:
    one, two = (
        render_table(["segment", "words"], [(1, cell), (2, "b")], output_format)
        for cell in (text, "a")
    )
    assert one.count("\n") == two.count("\n")
    assert not set("\r\x1b\x85") & set(one)


def test_markup_is_escaped() -> None:
    row = [("<b>|a & b_$",)]
    assert r"\<b>\|a \& b\_$" in render_table(["words"], row, "markdown")
    assert "a \\& b\\_\\$" in render_table(["words"], row, "latex")


@pytest.mark.parametrize("output_format", FORMATS)
def test_text_that_looks_like_a_number_stays_as_it_is(output_format: str) -> None:
    text = render_table(["score", "words"], [(0.5, "007"), (None, "1e3")], output_format)
    assert "007" in text
    assert "1e3" in text
