"""Tables with a row for each segment and system give what a file for each system gives."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from coverage_eval.core.errors import DataError, ReadingNote
from coverage_eval.core.tables import TextTable, find_systems
from coverage_eval.core.texts import read_parallel, read_segments

SOURCES = ["ein Haus", "ein Hund", "ein Haus", "eine Katze"]
OUTPUTS = {"A": ["a house", "a dog", "the house", "a cat cat"], "B": ["a", "b b", "c", "d"],
           "C 5-shot": ["e", "f", "g", ""]}  # fmt: skip
KEYS: dict[str, Any] = {
    "segment": lambda n: {"segment": n},
    "seg_id": lambda n: {"seg_id": f"s{n}"},
    "id": lambda n: {"id": n},
    "doc and seg": lambda n: {"doc": n // 2, "seg": n % 2},
}
FILES = [f"{name}.txt" for name in ("A", "B", "C")]


def rows(key: str) -> list[dict[str, Any]]:
    return [
        {"system": name, **KEYS[key](n), "source": SOURCES[n], "mt": output[n]}
        for name, output in OUTPUTS.items()
        for n in range(len(SOURCES))
    ]


def write(path: Path, table: list[dict[str, Any]]) -> Path:
    if path.suffix == ".tsv":
        lines = ["\t".join(table[0]), *("\t".join(map(str, row.values())) for row in table)]
    else:
        lines = [json.dumps(row) for row in table]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def texts_of(path: Path, column: str = "system") -> dict[str, list[str]]:
    found = find_systems(TextTable(path), column)
    assert found is not None
    found.check()
    return {name: list(found.of_system(name, "mt")) for name in found.systems}


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("order", ["by system", "by segment", "shuffled", "per error"])
def test_each_system_has_its_text(tmp_path, ending, key, order):
    table = rows(key)
    if order == "by segment":
        table.sort(key=lambda row: [str(row[name]) for name in KEYS[key](0)])
    if order == "per error":
        marked = {**table[0], "mt": "a <v>house</v>", "source": "ein <v>Haus</v>"}
        table = [{**row, "severity": "minor"} for row in (*table, marked, *table[2:7])]
    if order == "shuffled":  # the segments are in the order of their first rows
        random.Random(1).shuffle(table)
    found = texts_of(write(tmp_path / f"t.{ending}", table))
    if order == "shuffled":
        assert {name: sorted(text) for name, text in found.items()} == {
            name: sorted(text) for name, text in OUTPUTS.items()
        }
        return
    assert found == OUTPUTS
    shared = find_systems(TextTable(tmp_path / f"t.{ending}"))
    assert shared is not None
    assert shared.shared.texts("source") == SOURCES
    assert len(shared.pooled.texts("mt")) == len(shared.pooled.rows) == 12


def test_without_names_of_segments_systems_have_the_same_order(tmp_path):
    table = [{k: v for k, v in row.items() if k != "segment"} for row in rows("segment")]
    path = write(tmp_path / "t.jsonl", table)
    assert texts_of(path) == OUTPUTS
    with pytest.raises(DataError, match="no column says which segment a row is of"):
        texts_of(write(path, table[:-1]))
    table[1], table[2] = table[2], table[1]
    long = find_systems(TextTable(write(path, table)))
    assert long is not None
    with pytest.raises(DataError, match="column 'source': another text than in row"):
        long.shared.texts("source")


def test_segments_that_a_system_lacks_are_left_out_and_counted(tmp_path):
    table = rows("segment")
    del table[5]
    with pytest.warns(UserWarning, match="1 segments are left out, since not all"):
        found = texts_of(write(tmp_path / "t.jsonl", table))
    assert found["A"] == ["a house", "the house", "a cat cat"]


def test_two_texts_of_a_system_for_one_segment_are_refused(tmp_path):
    path = write(tmp_path / "t.jsonl", [*rows("segment"), {**rows("segment")[0], "mt": "other"}])
    with pytest.raises(DataError, match="row 13, column 'mt': another text than in row 1"):
        texts_of(path)


@pytest.mark.parametrize(
    "systems",
    [["You are a very good translator.", "x"] * 6, [{"name": "a"}, {"name": "b"}] * 6,
     [f"s{n}" for n in range(12)], ["A"] * 12, [None, "A"] * 6],
    ids=["prompt", "object", "varying", "one", "null"],
)  # fmt: skip
def test_other_columns_of_that_name_are_no_systems(tmp_path, systems):
    table = [{"system": name, "mt": "a"} for name in systems]
    path = write(tmp_path / "t.jsonl", table)
    assert find_systems(TextTable(path)) is None
    assert list(read_segments(f"{path}:mt")) == ["a"] * 12


def test_an_id_that_a_system_has_twice_is_no_segment_s(tmp_path):
    """It may be a document's; then the rows of each system are in the same order."""
    table = [{**row, "id": n % 2} for n, row in enumerate(rows("segment"))]
    for row in table:
        del row["segment"]
    assert texts_of(write(tmp_path / "t.jsonl", table)) == texts_of(
        write(tmp_path / "u.jsonl", rows("segment"))
    )


@pytest.mark.parametrize("column", ["system", "model"])
def test_commands_take_the_systems_or_the_rows(run_cli, tmp_path, column):
    table = [{column: row.pop("system"), **row} for row in rows("seg_id")]
    write(tmp_path / "t.jsonl", table)
    for output, file in zip(OUTPUTS.values(), FILES, strict=True):
        (tmp_path / file).write_text("".join(f"{line}\n" for line in output))
    (tmp_path / "src").write_text("".join(f"{line}\n" for line in SOURCES))
    options = ("-m", "length-ratio,tng", "--resamples", 0, "-b")
    option = () if column == "system" else ("--systems-in", column)
    given = ("t.jsonl:mt", "--src", "t.jsonl:source", *option, *options)
    long = run_cli("compare", *given, cwd=tmp_path)
    assert long.stdout == run_cli("compare", *FILES, "--src", "src", *options, cwd=tmp_path).stdout
    if column == "system":
        refused = run_cli("rep", "t.jsonl:mt", "t.jsonl:mt", cwd=tmp_path, check=False)
        assert "its segments are told by seg_id" in " ".join(refused.stderr.split())
        line = " ".join(refused.stderr.split()).partition("type: coverage-eval ")[2]
        assert line == "compare t.jsonl:mt --src t.jsonl:source"
        run_cli(*line.split(), "--resamples", 0, cwd=tmp_path)
        done = run_cli("align", "train", "t.jsonl:source", "t.jsonl:mt", "-o", "m", cwd=tmp_path)
        assert "trained on 12 pairs" in done.stderr
    else:
        warned = run_cli("rep", "t.jsonl:mt", "t.jsonl:mt", cwd=tmp_path)
        line = " ".join(warned.stderr.split()).partition("type: coverage-eval ")[2]
        assert line.partition(" coverage-eval")[0].endswith("--systems-in model")
        wrong = run_cli("compare", "t.jsonl:mt", "--src", "t.jsonl:source", "--systems-in", "mt",
                        cwd=tmp_path, check=False)  # fmt: skip
        assert wrong.returncode == 2 or "no table has systems" in wrong.stderr


@pytest.mark.parametrize("ending", ["tsv", "jsonl"])
@pytest.mark.parametrize("key", ["id", "segment", "seg_id"])
def test_rows_are_joined_by_an_id_if_their_order_differs(tmp_path, ending, key):
    table = [{key: f"s{n}", "mt": f"text {n}", "ref": f"text {n}"} for n in range(30)]
    first = write(tmp_path / f"a.{ending}", table)
    random.Random(2).shuffle(table)
    second = write(tmp_path / f"b.{ending}", table)
    with pytest.warns(ReadingNote, match=f"in the order of {first}, joined by '{key}'"):
        joined = list(read_parallel(f"{first}:mt", f"{second}:ref"))
    assert joined == [(f"text {n}", f"text {n}") for n in range(30)]
    write(second, table[2:])
    with pytest.raises(DataError, match=f"{first} has rows whose '{key}' {second} lacks: s"):
        list(read_parallel(f"{second}:ref", f"{first}:mt"))
    later = [{**row, key: f"t{n}"} for n, row in enumerate(table)]  # other ids join nothing
    write(second, later)
    assert next(read_parallel(f"{first}:mt", f"{second}:ref")) == ("text 0", later[0]["ref"])


@pytest.mark.parametrize("seed", range(3))
def test_shuffled_rows_give_the_same_scores(run_cli, tmp_path, seed):
    table = rows("seg_id")
    write(tmp_path / "t.jsonl", table)
    random.Random(seed).shuffle(table)
    write(tmp_path / "shuffled.jsonl", table)
    given = ("-m", "length-ratio,tng", "--resamples", 0, "-f", "json")
    scores = []
    for name in ("t.jsonl", "shuffled.jsonl"):
        done = run_cli("compare", f"{name}:mt", "--src", f"{name}:source", *given, cwd=tmp_path)
        found = json.loads(done.stdout)["scores"]
        scores.append(sorted((row["system"], row["metric"], row["score"]) for row in found))
    assert scores[0] == scores[1]
    assert len(scores[0]) == 6
