"""Tables in every form: the same facts, without empty columns, within the width and escaped.

Text is data, and makes no formula, column, row or markup; nor can it steer the terminal.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from coverage_eval.cli.score_report import SegmentTable, segment_report
from coverage_eval.core.formats import numbers, render
from coverage_eval.core.layout import cell_lines
from coverage_eval.core.lists import DiskList, LazyRows
from coverage_eval.core.report import Cell, Report, ScoreCell, Table, format_number, format_p
from coverage_eval.repetition.rep import REP
from tests.rows import score_of, segment_scores_of

HUMAN_FORMATS = ("text", "markdown", "latex")
SIGNATURE = "REP|n:2|version:0"


def one(header: tuple[str, ...], *rows: tuple[Cell, ...], **more: object) -> Report:
    return Report((Table(header, rows, **more),))  # type: ignore[arg-type]


EVERYTHING = Report(
    (
        Table(
            ("system", "REP ↓"),
            (("a_b", ScoreCell(1.5, 1.0, 2.0, best=True)),
             ("c", ScoreCell(3.0, 2.5, 3.5, p=0.0001))),
            notes=("A note & more.",), signatures=(SIGNATURE,), caption="REP scores.",
        ),
        Table(("word", "times", "share", "nothing"), (("x", 3, 0.5, None), ("y", 4, None, ""))),
        Table((), (), "Only a title: 100%", notes=("  an example",)),
    ),
    title="All of it",
)  # fmt: skip


def test_every_format_shows_every_fact():
    assert render(EVERYTHING) == (
        "All of it\n\n"
        "system      REP ↓\n"
        "------  ---------\n"
        "a_b         1.50\n"
        "        1.00–2.00\n"
        "c           3.00*\n"
        "        2.50–3.50\n"
        "        p < 0.001\n\n"
        "*: p < 0.05.\nA note & more.\n\n"
        f"{SIGNATURE}\n\n"
        "word  times  share\n"
        "----  -----  -----\n"
        "x         3   0.50\n"
        "y         4\n\n"
        "Only a title: 100%\n\n  an example"
    )
    markdown = render(EVERYTHING, "markdown")
    assert r"| a\_b " in markdown
    assert "**1.50**<br>1.00–2.00" in markdown
    assert "3.00<br>2.50–3.50<br>p < 0.001" in markdown
    assert "\n\n- Bold: best figure, told from the next by a test.\n- A note" in markdown
    assert f"- A note \\& more.\n- `{SIGNATURE}`" in markdown
    latex = render(EVERYTHING, "latex")
    assert r"a\_b & \textbf{1.50} \\" in latex
    assert r"c & 3.00\rlap{$^{*}$} \\" in latex
    assert " & {\\scriptsize 2.50--3.50} \\\\\n" in latex
    assert "$p" not in latex
    assert (
        r"\caption{REP scores. *: p \textless{} 0.05. Bold: best figure, told from the next by a "
        r"test. A note \& more.}" in latex
    )
    assert r"\label{tab:rep-scores}" in latex
    assert latex.count(r"\begin{tabular}{lr}") == 1
    assert r"\begin{tabular}{lrr}" in latex
    assert r"Only a title: 100\%" in latex
    assert '"REP ↓"' in render(EVERYTHING, "json")
    data = json.loads(render(EVERYTHING, "json"))
    assert data["title"] == "All of it"
    assert data["tables"][0]["rows"][0]["system"] == "a_b"
    assert data["tables"][0]["rows"][1]["REP ↓"]["p"] == 0.0001
    assert data["tables"][0]["signatures"] == [SIGNATURE]
    assert data["tables"][1]["rows"][1] == {"word": "y", "times": 4, "share": None, "nothing": ""}


def test_a_wide_table_spans_both_columns_of_a_page_in_latex():
    for width, environment in ((42, "table"), (43, "table*")):
        table = Table(("system", "REP"), [("x" * (width - 6), 1.0)], title="Scores")
        latex = render(Report((table,)), "latex")
        assert rf"\begin{{{environment}}}[t]" in latex
        assert latex.endswith(rf"\end{{{environment}}}")


def test_signatures_of_rows_are_a_column_in_csv_and_lines_in_other_formats():
    printable = one(("figure", "score"), ("x", 1.0), ("y", 2.0), signatures=("X|a:1", "Y|a:2"))
    rows = list(csv.DictReader(io.StringIO(render(printable, "csv"))))
    assert [row["signature"] for row in rows] == ["X|a:1", "Y|a:2"]
    assert render(printable).endswith("\n\nX|a:1\nY|a:2")
    assert render(printable, "markdown").endswith("\n\n- `X|a:1`\n- `Y|a:2`")
    assert render(printable, "latex").endswith("\n% X|a:1\n% Y|a:2")


def test_figures_alone_are_only_numbers():
    assert list(numbers(EVERYTHING, 2)) == ["1.50 [1.00, 2.00]", "3.00 [2.50, 3.50]", "0.50"]
    assert list(numbers(one(("a",), (1.0,)), 0)) == ["1"]


@pytest.mark.parametrize("name", HUMAN_FORMATS)
def test_formats_for_people_leave_out_empty_columns(name):
    assert "nothing" not in render(EVERYTHING, name)
    assert "nothing" in render(one(("nothing",)), name)  # without rows, no column counts as empty
    kept = one(("a", "nothing"), (1, None))
    assert render(kept, "csv") == "a,nothing\n1,"
    assert json.loads(render(kept, "json")) == [{"a": 1, "nothing": None}]


@pytest.mark.parametrize("name", HUMAN_FORMATS)
def test_zero_has_no_sign_and_counts_have_no_decimals(name):
    cells = (-0.001, -0.0, ScoreCell(-0.004, -0.001, 0.0), 3)
    text = render(one(("a", "b", "c", "d"), cells), name).replace("--", "–")  # of LaTeX
    assert "-0.00" not in text
    assert "3.00" not in text
    assert list(numbers(one(("a",), (ScoreCell(-0.001),)), 2)) == ["0.00"]


@given(st.floats(-1e12, 1e12), st.integers(0, 6))
def test_figures_are_rounded_as_python_does(value, digits):
    plain = f"{value:.{digits}f}"
    expected = plain.removeprefix("-") if float(plain) == 0 else plain
    assert format_number(value, digits) == expected
    assert format_number(math.inf) == "inf"


def test_p_values_have_three_digits_and_a_lower_bound():
    assert [format_p(value) for value in (1.0, 0.0494, 0.0005, 0.0004)] == [
        "p = 1.000", "p = 0.049", "p = 0.001", "p < 0.001",
    ]  # fmt: skip
    below = (0.0499999, 30 / 1001, 0.0303)
    assert [format_p(value) for value in below] == ["p = 0.0499999", "p = 0.030", "p = 0.030"]
    stars = [ScoreCell(1.0, p=p).significant for p in (0.0499, 0.05, None)]
    assert stars == [True, False, False]


WORDS = st.lists(st.text("abcü中\"'-", min_size=1, max_size=12), max_size=30).map(" ".join)


@given(
    st.lists(st.tuples(WORDS, WORDS, st.none() | st.integers(0, 99)), min_size=1, max_size=4),
    st.integers(50, 120),
)
def test_text_fits_the_terminal_and_loses_no_word(rows, columns):
    printable = one(("one", "two", "times"), *rows)
    text = render(printable, width=columns)
    assert all(wide(line) <= columns for line in text.splitlines())
    # Wrapping changes only spaces.
    for letter in 'abcü中"':
        assert text.count(letter) == render(printable).count(letter)


def wide(line: str) -> int:
    """Columns on a terminal; among these letters only 中 takes two."""
    return len(line) + line.count("中")


def test_without_a_width_nothing_is_wrapped():
    printable = one(("words", "more"), ("x " * 500, "y " * 500), notes=("z " * 500,))
    assert len(render(printable).splitlines()) == 5
    assert len(render(printable, width=80).splitlines()) > 25
    assert len(render(printable, "markdown", width=80).splitlines()) == 5


@pytest.mark.parametrize("name", ["json", "jsonl"])
def test_nan_is_refused_in_json(name):
    with pytest.raises(ValueError, match="not JSON compliant"):
        render(one(("score",), (math.nan,)), name)


def test_a_table_that_is_too_wide_is_two_of_half_its_columns():
    cells = [ScoreCell(1.5, 1.0, 2.0, p=0.5)] * 3
    printable = one(("system", "BLEU ↑", "REP ↓", "DROP ↓"), ("a" * 20, *cells))
    assert render(printable, width=46) == (
        "system                   BLEU ↑      REP ↓\n"
        "--------------------  ---------  ---------\n"
        f"{'a' * 20}       1.50       1.50\n"
        "                      1.00–2.00  1.00–2.00\n"
        "                      p = 0.500  p = 0.500\n\n"
        "system                   DROP ↓\n"
        "--------------------  ---------\n"
        f"{'a' * 20}       1.50\n"
        "                      1.00–2.00\n"
        "                      p = 0.500"
    )


def test_two_columns_that_are_too_wide_take_the_room_they_need():
    text = render(one(("name", "score"), ("a b", ScoreCell(1e12, 0.0, 2e12))), width=20)
    assert text.splitlines()[-1] == "      0.00–2000000000000.00"


HYPOTHESES, REFERENCES = ["a a", "a b", "c c c", ""], ["a", "a b", "c", ""]


def segments(worst: int | None) -> Report:
    metric = REP()
    pairs = zip(HYPOTHESES, REFERENCES, strict=True)
    found = SegmentTable(
        segment_scores_of(metric, HYPOTHESES, REFERENCES),
        [{"marks": metric.evidence(*pair)} for pair in pairs],
        metric.presentation.kinds,
    )
    return segment_report(score_of(metric, HYPOTHESES, REFERENCES), found, worst=worst)


def test_the_worst_are_segments_with_errors():
    everything, errors = segments(None), segments(3)
    assert [row[0] for row in everything.tables[0].rows] == [1, 2, 3, 4]
    assert [row[0] for row in errors.tables[0].rows] == [3, 1]
    (score,) = json.loads(render(errors, "json"))["scores"]
    assert [item["segment"] for item in score["sentences"]] == [3, 1]
    assert len(list(numbers(errors, 2))) == 2


def test_people_read_numbers_of_words_from_1_and_json_has_characters_from_0():
    printable = segments(None)
    (score,) = json.loads(render(printable, "json"))["scores"]
    (mark,) = score["sentences"][0]["marks"]
    assert [mark[key] for key in ("start", "end", "first_start", "first_end")] == [2, 3, 0, 1]
    for name in (*HUMAN_FORMATS, "csv"):
        assert "a a (1x, 0x in the reference) at 1" in render(printable, name)


# Hostile texts

NASTY = st.text(st.sampled_from("a=+-@\t\r\x1b\x85\u2028|\\\"',;<>&_$% ü"), max_size=8)


def render_table(
    header: Sequence[str], rows: Sequence[tuple[Cell, ...]], output_format: str
) -> str:
    return render(Report((Table(tuple(header), tuple(rows)),)), output_format)


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


@pytest.mark.parametrize(
    "rows",
    [
        LazyRows(str, range(5)),
        LazyRows(lambda n, text: f"{n}{text}", [0, 1, 2, 3, 4], LazyRows(lambda _: "", range(5))),
        LazyRows(str, np.arange(5)),
        DiskList(map(str, range(5))),
        Table(("n",), LazyRows(lambda n: (str(n),), range(5))).to_dict()["rows"],
    ],
)
def test_sequences_are_sliced_and_indexed_from_both_ends_as_lists_are(rows):
    plain = list(rows)
    for part in (slice(2), slice(-2, None), slice(1, 9), slice(None, None, -2), slice(7, 9)):
        assert list(rows[part]) == plain[part]
    assert [rows[n] for n in range(-5, 5)] == plain * 2
    for index in (5, -6):
        with pytest.raises(IndexError):
            rows[index]


def test_json_writes_lazy_rows_as_lists():
    squares = LazyRows(lambda n: {"n": n, "squares": LazyRows(lambda m: m * m, range(n))}, range(3))
    plain = [{"n": n, "squares": [m * m for m in range(n)]} for n in range(3)]
    lazy, held = (render(Report((), {"rows": rows}), "json") for rows in (squares, plain))
    assert lazy == held == json.dumps({"rows": plain}, indent=1)


# Terminals

RED = "\x1b[31m"


def printed(*tables: Table, width: int = 60, no_color: bool = False) -> str:
    console = Console(
        force_terminal=True, color_system="standard", highlight=False, no_color=no_color
    )
    return render(Report(tables), width=width, console=console)


TABLE = Table(
    ("system", "REP ↓"),
    (
        ("a", ScoreCell(3.0, 2.0, 4.0)),
        ("b", ScoreCell(1.0, 0.5, 1.5, p=0.01, best=True, better=True)),
        ("c", ScoreCell(9.0, 8.0, 10.0, p=0.01, better=False)),
        ("d", ScoreCell(3.1, 2.0, 4.0, p=0.7, better=False)),
    ),
    notes=("300 segments.",),
    signatures=(f"REP|{'x' * 50} {'y' * 50}",),
)


def test_significantly_better_is_green_and_worse_is_red():
    text = printed(TABLE)
    assert re.search(r"\x1b\[1;32m *1\.00\*", text)
    assert re.search(rf"{re.escape(RED)} *9\.00\*", text)
    assert "3.10*" not in text
    assert text.count(RED) == 1
    plain = printed(TABLE, no_color=True)
    assert "9.00*" in plain
    assert not any(colour in plain for colour in (RED, "32m"))


def test_a_pipe_gets_the_same_words_without_colours():
    wide = Table(("segment", "words"), ((1, "word " * 40), (2, "界 " * 40)), "A title")
    for table in (TABLE, wide):
        text = re.sub(r"\x1b\[[0-9;]*m", "", printed(table))
        plain = render(Report((table,)), width=60)
        words = " ".join(text.split())
        for legend in ("best figure", "best figure, told from the next by a test"):
            words = words.replace(f" Bold: {legend}.", "")
        assert words == " ".join(plain.split())


@pytest.mark.parametrize("number", [2, 9])
def test_figures_stand_below_each_other_and_stars_behind_them(number):
    """Decimal points in one column, whatever has an interval or a star."""
    scores = [10.0**n for n in range(-2, number - 2)]
    cells = [ScoreCell(s, s - 1, s * 99, p=0.01 if s == 0.1 else 0.5) for s in scores]
    lines = render(one(("system", "REP ↓"), *((f"s{n}", c) for n, c in enumerate(cells))))
    rows = [line for line in lines.splitlines() if re.match(r"s\d", line)]
    figures = [re.match(r"s\d +(\d+\.\d\d)([* ]|$)", row) for row in rows]
    assert len({found.end(1) for found in figures if found}) == 1
    assert [found[2] for found in figures if found].count("*") == 1
    assert len(figures) == number
    ends = {len(line) for line in lines.splitlines() if "–" in line and "interval" not in line}
    assert len(ends) == 1


@given(
    st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=12),
    st.text("abc-_.", min_size=1, max_size=30),
    st.integers(60, 120),
)
def test_names_and_numbers_of_any_table_are_whole(scores, name, width):
    header = ("system", *(f"metric {n} ↓" for n in range(len(scores))))
    cells = [ScoreCell(s, s - 1, s + 1, p=0.5, better=True) for s in scores]
    text = printed(Table(header, ((name, *cells),)), width=width, no_color=True)
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(len, text.splitlines())) <= width
    assert all(cell.format().split()[0] in text.split() for cell in cells)
    assert all(cell_lines(cell, 2)[1] in text for cell in cells)
    assert name in text.split()
    assert all(f"metric {n} ↓" in text for n in range(len(scores)))
