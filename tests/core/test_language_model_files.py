"""Files as scripts of language models write them: line breaks, nested fields, lists, Excel."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from coverage_eval.core.errors import DataError, ReadingNote
from coverage_eval.core.tables import TextTable, find_field

ROWS: list[dict[str, Any]] = [
    {"id": 1, "src": "ein Haus", "out": {"text": "a house\n", "n": 2}, "all": ["a house", "house"]},
    {"id": 2, "src": "ein Hund", "out": {"text": "Sure:\n\na dog"}, "all": ["a dog", "dog"]},
    {"id": 3, "src": "eine\r\nKatze", "out": {"text": "a\tcat"}, "all": ["a cat", "the cat"]},
]


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_line_breaks_become_a_space_and_are_counted_once(tmp_path):
    path = write_lines(tmp_path / "t.jsonl", ROWS)
    with pytest.warns(ReadingNote) as said:
        src, out = (TextTable(path).texts(column) for column in ("src", "out.text"))
    assert src == ["ein Haus", "ein Hund", "eine Katze"]
    assert out == ["a house", "Sure: a dog", "a\tcat"]
    assert sorted(str(item.message) for item in said) == [
        f"{path}: column 'out.text': 2 cells with line breaks, read as one line each",
        f"{path}: column 'src': 1 cell with line breaks, read as one line each",
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_separator_is_found(tmp_path, delimiter):
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(
            [["id", "a, b", "x; y"], ["1", "p,q;r", "s"]]
        )
    file = TextTable(path)
    assert file.names == ["id", "a, b", "x; y"]
    assert file.texts("a, b") == ["p,q;r"]


def test_a_path_names_a_field_or_an_item(tmp_path):
    file = TextTable(write_lines(tmp_path / "t.jsonl", ROWS))
    assert file.texts("all.1") == ["house", "dog", "the cat"]
    assert file.names == ["id", "src", "out", "out.text", "out.n", "all", "all.0", "all.1"]
    with pytest.raises(DataError, match=r"no column out\.txt; there are: id, src, out, out"):
        file.texts("out.txt")
    both = TextTable(write_lines(tmp_path / "b.jsonl", [{"a.b": "x", "a": {"b": "y"}}]))
    assert both.texts("a.b") == ["x"]
    with pytest.raises(KeyError):
        find_field({"a": "text"}, "a.0.b")
