"""Tables on a terminal: coloured and fitted; text cannot steer the terminal."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from coverage_eval.core.show import Printable, ScoreCell, Table, render

RED = "\x1b[31m"


def printed(*tables: Table, width: int = 60, no_color: bool = False) -> str:
    console = Console(
        force_terminal=True, color_system="standard", highlight=False, no_color=no_color
    )
    return render(Printable(tables), columns=width, console=console)


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
    assert "\x1b[1;32m1.00*" in text
    assert f"{RED}9.00*" in text
    assert "3.10*" not in text
    assert text.count(RED) == 1
    plain = printed(TABLE, no_color=True)
    assert "9.00*" in plain
    assert not any(colour in plain for colour in (RED, "32m"))


def test_a_pipe_gets_the_same_words_without_colours():
    wide = Table(("segment", "words"), ((1, "word " * 40), (2, "界 " * 40)), "A title")
    for table in (TABLE, wide):
        text = re.sub(r"\x1b\[[0-9;]*m", "", printed(table))
        plain = render(Printable((table,)), columns=60)
        assert text.replace("Bold: best figure.", "").split() == plain.split()


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
    assert all(cell.small_print(2)[0] in text for cell in cells)
    assert name in text.split()
    assert text.count("system") == 1
