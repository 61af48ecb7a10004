"""Tables with one row for each system and segment give the same texts as a column a system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.data.files import read_parallel, read_segments, source_name
from coverage_eval.data.tables import ColumnFile, SystemTexts
from coverage_eval.errors import DataError

HEADER = "system\tid\tsrc\thyp\n"


@given(
    segments=st.lists(st.tuples(st.text(), st.text()), min_size=1, max_size=5),
    order=st.randoms(use_true_random=False),
)
def test_any_order_of_rows_gives_the_same_texts(segments, order):
    rows = [
        (f"row {n}", system, str(n), texts[which], (f"source {n}",))
        for which, system in enumerate("AB")
        for n, texts in enumerate(segments)
    ]
    order.shuffle(rows)  # type: ignore[attr-defined]
    found = SystemTexts(__file__, ("src",))
    for row in rows:
        found.add(*row)
    systems, shared = found.columns(["A", "B"])
    assert sorted(read_parallel(shared["src"], systems["A"], systems["B"])) == sorted(
        (f"source {n}", *texts) for n, texts in enumerate(segments)
    )


def read(tmp_path: Path, *rows: str, segment: str | None = None) -> SystemTexts:
    path = tmp_path / "t.tsv"
    path.write_text(HEADER + "".join(f"{row}\n".replace("|", "\t") for row in rows))
    return SystemTexts.read(ColumnFile(path), "system", "hyp", ["src"], segment)


def test_rows_of_systems_in_blocks_or_in_turns(tmp_path):
    blocks = ("B|1|a|x", "B|2|b|y", "A|1|a|u", "A|2|b|v")
    for rows in (blocks, tuple(blocks[i] for i in (0, 2, 1, 3))):
        found = read(tmp_path, *rows)
        assert found.systems == ["B", "A"]
        systems, shared = found.columns(["A"])
        assert list(read_segments(systems["A"])) == ["u", "v"]
        assert list(read_segments(shared["src"])) == ["a", "b"]
        assert source_name(systems["A"]) == f"{tmp_path}/t.tsv: column of A"


@pytest.mark.parametrize(
    ("rows", "segment", "message"),
    [
        (("A|1|a|x", "B|1|b|y"), None, "row 2: its src differs from row 1, the same segment (1)"),
        (("A|1|a|x", "|1|a|y"), None, "row 2: the system has no name"),
        (("A|1|a|x", "A|1|a|y"), "id", "row 2: segment 1 of A occurs twice"),
        (("A|1|a|x", "A|2|b|y", "B|2|b|z"), "id",
         "B has 1 of the 2 segments of A, B; the first missing one is 1"),
        (("A|1|a|x",), None, "no system B; there are: A"),
    ],
)  # fmt: skip
def test_rows_that_do_not_belong_together_are_errors(tmp_path, rows, segment, message):
    with pytest.raises(DataError, match=re.escape(f"{tmp_path}/t.tsv: {message}")):
        read(tmp_path, *rows, segment=segment).columns(["A", "B"])
