"""Rows of the user's table in our output: columns keep their values and their names."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coverage_eval.cli.input_rows import free_names
from coverage_eval.cli.kept_rows import error_reasons, record_lines
from coverage_eval.core.errors import DataError
from coverage_eval.core.formats import is_formula, render
from coverage_eval.core.report import Report, Table
from coverage_eval.core.tables import TextTable
from coverage_eval.core.writing import write_lines, write_together
from coverage_eval.outputs.output_errors import OutputError

TEXTS = ("t.jsonl:hyp", "t.jsonl:ref")

FORMULAS = ["=1", "+a", "-a", "@a", "\ta", "\ra", "\na", "\uff1d1", "\uff0ba", "\uff0da",
            "\uff20a", "\u2212a", "-1-1", "+1e"]  # fmt: skip
HARMLESS = ["a", "", "a=1", "-1", "+2.5", "-.5e-3", " =1", "'=1"]


def write_rows(folder: Path, *rows: dict[str, Any]) -> None:
    lines = (json.dumps(row) for row in rows)
    (folder / "t.jsonl").write_text("".join(f"{line}\n" for line in lines))


def read_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]


def read_csv(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_all_columns_are_kept(run_cli, tmp_path):
    rows = [
        {"id": 7, "hyp": "a red red house", "ref": "a red house", "tags": ["x", None], "q": '"a"'},
        {"id": 8, "hyp": "the dog", "ref": "the dog", "tags": [], "q": "\u2028é"},
        {"id": 9, "hyp": "go we go we go", "ref": "we go", "tags": [1.5], "q": ""},
        {"id": 10, "hyp": "", "ref": "good day", "tags": [], "q": "-"},
    ]
    write_rows(tmp_path, *rows)
    files = ("--keep", "good.jsonl", "--reject", "bad.jsonl")
    done = run_cli("rep", *TEXTS, *files, cwd=tmp_path)
    assert done.stdout == run_cli("rep", *TEXTS, cwd=tmp_path).stdout
    kept, rejected = read_lines(tmp_path / "good.jsonl"), read_lines(tmp_path / "bad.jsonl")
    assert [row.pop("rep") for row in kept] == [0.0]
    scores = [row.pop("rep") for row in rejected]
    reasons = [f"REP: {scores[0]:g}", f"REP: {scores[1]:g}", "empty"]
    assert [row.pop("reason") for row in rejected] == reasons
    assert (kept, rejected) == ([rows[1]], [rows[0], *rows[2:]])


def test_the_case_of_markup_that_the_page_says_is_rejected(run_cli, tmp_path):
    """50 of 600 rows have code fences or bold text, and a fence around all is no part of a text."""
    rows = [
        {"hyp": f"the dog sees {n} cats .", "ref": f"the dog sees {n} cats ."} for n in range(600)
    ]
    for n in range(0, 600, 12):
        text = rows[n]["hyp"]
        rows[n]["hyp"] = f"```\n{text}\n```" if n % 24 else f"**{text}**"
    write_rows(tmp_path, *rows)
    done = run_cli("rep", *TEXTS, "--keep", "good.jsonl", "--reject", "bad.jsonl", cwd=tmp_path)
    assert "50 of 600 outputs have code fences, bold text" in done.stderr
    rejected = read_lines(tmp_path / "bad.jsonl")
    assert [row["reason"].partition(":")[0] for row in rejected] == ["markup"] * 50
    assert len(read_lines(tmp_path / "good.jsonl")) == 550


def test_two_files_appear_together_or_not_at_all(tmp_path):
    """An error in the second leaves no new one beside an old."""
    first, second = (tmp_path / name for name in ("good", "bad"))
    files = {str(first): ["new"], str(second): ["new"]}

    def texts() -> set[str]:
        return {path.read_text().strip() for path in tmp_path.iterdir()}

    def failing() -> Iterator[str]:
        yield "new"
        raise DataError("no")

    for path in (first, second):
        path.write_text("old")
    with pytest.raises(DataError, match="no"):
        write_together({**files, str(second): failing()})
    assert texts() == {"old"}
    write_together(files)
    assert texts() == {"new"}
    assert len([*tmp_path.iterdir()]) == 2


@pytest.mark.parametrize("option", ["--keep", "--reject"])
def test_each_file_is_written_without_the_other(run_cli, tmp_path, option):
    write_rows(tmp_path, {"hyp": "a a", "ref": "a"}, {"hyp": "b", "ref": "b"})
    run_cli("rep", *TEXTS, option, "one.jsonl", cwd=tmp_path)
    (row,) = read_lines(tmp_path / "one.jsonl")
    assert row["rep"] == (0.0 if option == "--keep" else 200.0)
    assert {path.name for path in tmp_path.iterdir()} == {"t.jsonl", "one.jsonl"}


def test_guesses_reject_no_segment():
    errors = {0: [OutputError("truncated")], 1: [OutputError("loop", "'a' 9 times")], 2: []}
    assert error_reasons("REP", [0.0, 3.5, None], errors) == ["", "REP: 3.5; loop: 'a' 9 times", ""]


@pytest.mark.parametrize("options", ["", "--worst 2"])
def test_segments_in_json_lines_have_one_schema_whatever_the_texts_are(run_cli, tmp_path, options):
    rows = [
        {"id": 7, "hyp": "a red red house", "ref": "a red house", "score": "mine"},
        {"id": 8, "hyp": "the dog", "ref": "the dog", "score": "too"},
        {"id": 9, "hyp": "go we go we go", "ref": "we go", "score": None},
    ]
    write_rows(tmp_path, *rows)
    for side in ("hyp", "ref"):
        (tmp_path / side).write_text("".join(f"{row[side]}\n" for row in rows))
    line = ("--sentence-level", *options.split(), "-o")
    run_cli("rep", *TEXTS, *line, "column.jsonl", cwd=tmp_path)
    run_cli("rep", "hyp", "ref", *line, "file.jsonl", cwd=tmp_path)
    run_cli("rep", "hyp", "ref", *line, "file.json", cwd=tmp_path)
    (score,) = json.loads((tmp_path / "file.json").read_text())["scores"]
    of_column, of_file = (read_lines(tmp_path / f"{name}.jsonl") for name in ("column", "file"))
    assert len(of_file) == len(score["sentences"]) == (2 if options else 3)
    for segment, column, file in zip(score["sentences"], of_column, of_file, strict=True):
        row = rows[segment["segment"] - 1]
        assert file == segment | {"hypothesis": row["hyp"], "reference": row["ref"]}
        assert column == segment | {
            {"score": "input score"}.get(name, name): value for name, value in row.items()
        }
    for name in ("column", "file"):
        assert (tmp_path / f"{name}.jsonl.signatures").read_text() == f"{score['signature']}\n"


def test_segments_of_plain_files_have_all_their_texts(run_cli, tmp_path):
    for name, text in {"hyp": "a b\nx x\n", "ref": "a b\nx\n", "other": "b a\nx y\n"}.items():
        (tmp_path / name).write_text(text)
    run_cli("rep", "hyp", "--ref", "ref", "--ref", "other", "--reject", "bad.jsonl", cwd=tmp_path)
    (row,) = read_lines(tmp_path / "bad.jsonl")
    assert row.pop("reason") == f"REP: {row.pop('rep'):g}; loop: 'x' 2 times"
    assert row == {"segment": 2, "hypothesis": "x x", "reference": "x", "reference2": "x y"}


@pytest.mark.parametrize(
    "texts", [("hyp", "ref"), TEXTS, ("t.tsv:hyp", "t.tsv:ref"), ("bare.csv:1", "bare.csv:2")]
)
def test_files_are_opened_for_a_look_then_twice_and_tables_once(
    run_cli, tmp_path, monkeypatch, texts
):
    opened: list[str] = []
    opens = Path.open

    def counting(path: Path, *how: Any, **more: Any) -> Any:
        opened.append(path.name)
        return opens(path, *how, **more)

    for text, lines in {"hyp": "a b\nx x\n", "ref": "a\nx\n"}.items():
        (tmp_path / text).write_text(lines * 1_001)
    (tmp_path / "t.tsv").write_text("hyp\tref\n" + 'a b\ta\n"x" x\t"x"\n' * 1_001)
    (tmp_path / "bare.csv").write_text("a b,a\nx x,x\n" * 1_001)
    write_rows(tmp_path, *[{"hyp": "a b", "ref": "a"}, {"hyp": "x x", "ref": "x"}] * 1_001)
    monkeypatch.setattr(Path, "open", counting)
    run_cli("rep", *texts, cwd=tmp_path)
    name = texts[0].partition(":")[0]
    assert opened.count(name) == (2 if ":" in texts[0] else 3)  # tables are read whole
    opened.clear()
    run_cli("rep", *texts, "--keep", "k.csv", "--reject", "r.jsonl", cwd=tmp_path)
    assert opened.count(name) == (2 if ":" in texts[0] else 5)  # every output is judged


def test_two_columns_with_one_name_are_refused(run_cli, tmp_path):
    (tmp_path / "t.tsv").write_text("hyp\tref\tnote\tnote\na a\ta\t1\t2\n")
    done = run_cli("rep", "t.tsv:hyp", "t.tsv:ref", cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "t.tsv: two columns are called note; there are: hyp, ref, note, note" in done.stderr


def test_rows_without_names_are_all_kept(run_cli, tmp_path):
    (tmp_path / "t.tsv").write_text("a a\ta\t7\nb\tb\t8\n")
    run_cli("rep", "t.tsv:1", "t.tsv:2", "--keep", "k.csv", "--reject", "r.csv", cwd=tmp_path)
    assert read_csv(tmp_path / "k.csv") == [{"rep": "0.0", "1": "b", "2": "b", "3": "8"}]
    (rejected,) = read_csv(tmp_path / "r.csv")
    assert [rejected[name] for name in "123"] == ["a a", "a", "7"]


def test_the_order_of_keys_moves_no_value(run_cli, tmp_path):
    write_rows(
        tmp_path,
        {"hyp": "a a", "ref": "a", "id": 1},
        {"ref": "r", "id": 2, "hyp": "h"},
        {"id": 3, "note": "n", "hyp": "h", "ref": "r"},
    )
    run_cli("rep", *TEXTS, "--keep", "k.csv", "--reject", "r.tsv", cwd=tmp_path)
    assert read_csv(tmp_path / "k.csv") == [
        {"rep": "0.0", "hyp": "h", "ref": "r", "id": "2", "note": ""},
        {"rep": "0.0", "hyp": "h", "ref": "r", "id": "3", "note": "n"},
    ]
    assert (
        (tmp_path / "r.tsv").read_text()
        == "reason\trep\thyp\tref\tid\tnote\nREP: 200; loop: 'a' 2 times\t200.0\ta a\ta\t1\t\n"
    )


def test_a_column_called_like_a_score_stays_beside_it(run_cli, tmp_path):
    write_rows(tmp_path, {"hyp": "a a", "ref": "a", "rep": "mine", "input rep": "too"})
    run_cli("rep", *TEXTS, "--reject", "r.jsonl", cwd=tmp_path)
    (row,) = read_lines(tmp_path / "r.jsonl")
    assert row["rep"] == 200.0
    assert row["input input rep"] == "mine"
    assert row["input rep"] == "too"
    assert free_names(["a", "a", "b"], ["b"]) == {"a": "a", "b": "input b"}


def test_formulas_get_an_apostrophe_in_every_csv(run_cli, tmp_path, capsys):
    assert [text for text in FORMULAS + HARMLESS if is_formula(text)] == FORMULAS
    table = Table(("=a", "b"), tuple((text, 1.5) for text in FORMULAS))
    (tmp_path / "printed.csv").write_text(render(Report((table,)), "csv"), newline="")
    rows = [{"=a": text, "b": 1.5} for text in FORMULAS]
    write_lines(tmp_path / "kept.csv", record_lines("kept.csv", ["=a", "b"], rows))
    assert (
        f"kept.csv: {len(FORMULAS)} cells that a spreadsheet would run" in capsys.readouterr().err
    )
    for name in ("printed.csv", "kept.csv"):
        found = read_csv(tmp_path / name)
        assert [row["'=a"] for row in found] == [f"'{text}" for text in FORMULAS]
        assert [row["b"] for row in found] == ["1.5"] * len(FORMULAS)
    write_rows(tmp_path, {"hyp": "- a", "ref": "- a"})
    done = run_cli("rep", *TEXTS, "--keep", "k.csv", cwd=tmp_path)
    assert "k.csv: 2 cells that a spreadsheet would run as formulas" in done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.tsv", 'h\tn\na, "b"\t1\né\t\n=1\t\n'),
        ("r.CSV", 'h,n\n"a, ""b""",1\né,\n\'=1,\n'),
        ("r.jsonl", '{"h": "a, \\"b\\"", "n": 1}\n{"n": null, "h": "é"}\n{"h": "=1"}\n'),
    ],
)
def test_records_are_written_in_the_form_of_the_files_name(name, text):
    rows = [{"h": 'a, "b"', "n": 1}, {"n": None, "h": "é"}, {"h": "=1"}]
    assert list(record_lines(name, ["h", "n"], rows)) == text.splitlines()


def test_rows_with_values_that_json_lacks_are_written_as_json(run_cli, tmp_path):
    (tmp_path / "t.jsonl").write_text(
        '{"hyp": "a", "ref": "a", "x": NaN, "y": [{"z": -Infinity}]}\n'
    )
    run_cli("rep", *TEXTS, "--keep", "k.jsonl", cwd=tmp_path)
    assert '"x": null, "y": [{"z": null}]}' in (tmp_path / "k.jsonl").read_text()


def test_records_that_a_form_cannot_hold(tmp_path):
    for cell in ("a\tb", "a\nb", "a\rb"):
        with pytest.raises(DataError, match=r"r\.tsv: a text has a tab or a line end, which TSV"):
            list(record_lines("r.tsv", ["h"], [{"h": cell}]))
    half = {"h": "\ud800"}
    write_lines(tmp_path / "r.jsonl", record_lines("r.jsonl", ["h"], [half]))
    assert TextTable(tmp_path / "r.jsonl").rows == [half]
