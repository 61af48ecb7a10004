"""A gate and a filter by scores of segments: exit status 3, and rows with all their columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = [
    {"id": 7, "out": "a red red house", "ref": "a red house", "tags": ["x", None], "q": 'say "a"'},
    {"id": 8, "out": "the dog sleeps", "ref": "the dog sleeps", "tags": [], "q": "\u2028é"},
    {"id": 9, "out": "we go we go we go", "ref": "we go home", "tags": [1.5], "q": ""},
    {"id": 10, "out": "", "ref": "good day", "tags": [], "q": "-"},
]
LINE = ("t.jsonl:out", "t.jsonl:ref")
FILES = ("--keep", "good.jsonl", "--reject", "bad.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path


def read(path: Path) -> list[dict[str, object]]:
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in lines]


def test_all_columns_are_kept(run_cli, folder):
    done = run_cli("rep", *LINE, *FILES, cwd=folder)
    assert done.stdout == run_cli("rep", *LINE, cwd=folder).stdout
    kept, rejected = read(folder / "good.jsonl"), read(folder / "bad.jsonl")
    assert [row.pop("rep") for row in kept] == [0.0, 0.0]
    assert [row.pop("reason") == f"REP: {row.pop('rep'):g}" for row in rejected] == [True, True]
    assert (kept, rejected) == ([ROWS[1], ROWS[3]], [ROWS[0], ROWS[2]])


def test_segments_of_plain_files_have_all_their_texts(run_cli, tmp_path):
    for name, text in {"hyp": "a b\nx x\n", "ref": "a b\nx\n", "other": "b a\nx y\n"}.items():
        (tmp_path / name).write_text(text)
    run_cli("rep", "hyp", "--ref", "ref", "--ref", "other", "--reject", "bad.jsonl", cwd=tmp_path)
    (row,) = read(tmp_path / "bad.jsonl")
    assert row.pop("reason") == f"REP: {row.pop('rep'):g}"
    assert row == {"segment": 2, "hypothesis": "x x", "reference": "x", "reference2": "x y"}
