"""Small files that would take much time or memory, and values that only look like numbers."""

from __future__ import annotations

import json
import struct
import tracemalloc
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from coverage_eval import attention_maps
from coverage_eval.attention_maps.maps import MAX_TOKENS, MAX_WEIGHTS, AttentionMap, check_size
from coverage_eval.compare.given_files import read_given
from coverage_eval.core.errors import DataError, check_encodable
from coverage_eval.core.json_objects import is_number, parse_number
from coverage_eval.core.text import TextTable

TRACED_BYTES = 150 << 20


@pytest.mark.parametrize("value", ["1_0", "\u0661", "1e999", "nan", "inf", "x", True, 10**400])
def test_what_is_no_number(value):
    with pytest.raises(DataError, match=r"line 1: .* is not a finite number"):
        parse_number(value, "line 1")
    assert not (isinstance(value, str) and value[-1] not in "09" and is_number(value))


def test_scores_are_decimal_numbers(tmp_path):
    assert [parse_number(value, "") for value in (" 1.5", "-1e3", 2, 0.5)] == [1.5, -1000, 2, 0.5]
    for text in ("segment,score\n1,1_0\n", "segment,score\n1,1e309\n"):
        (tmp_path / "scores").write_text(text)
        with pytest.raises(DataError, match=r"scores: row [12].* is not a finite number"):
            read_given("x", tmp_path / "scores", ["a"], lower=False)


def test_maps_of_any_stated_size_are_refused_before_they_take_memory(tmp_path):
    np.savez(tmp_path / "wide.npz", np.zeros((0, 4_000_000)))
    load = attention_maps.load
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match="weights; a map of one segment has at most"):
            list(load(tmp_path / "wide.npz"))
        assert tracemalloc.get_traced_memory()[1] < TRACED_BYTES
    finally:
        tracemalloc.stop()
    check_size(0, MAX_TOKENS)
    check_size(1 << 12, MAX_WEIGHTS >> 12)
    with pytest.raises(DataError, match="f: 4,097 × 4,096 weights"):
        check_size((1 << 12) + 1, MAX_WEIGHTS >> 12, "f")


def test_half_a_character_is_no_token(run_cli, tmp_path):
    check_encodable(["a", "\U0001f600"], "it")
    with pytest.raises(DataError, match=r"the source: a\\ud800 has half a character at 2"):
        AttentionMap([[1.0]], source=("a\ud800",))
    files = {
        "sockeye.json": '{"sentence_id": 1, "translation": "\\ud800", "score": 1, '
        '"alignments": [[0, 0]]}\n',
        "nematus.json": '{"links": [["\\ud800", "x", [[0, "1"]]]], "x": 1}\n',
    }
    (tmp_path / "src").write_text("a\n")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        options = ("--src", "src", "-o", "out.jsonl")
        done = run_cli("attention", "convert", name, *options, check=False, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr


# Parquet


def write_parquet(file: Path, columns: dict[str, Any], **options: Any) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rows = len(next(iter(columns.values())))
    texts = {"hyp": ["a"] * rows, "ref": ["a"] * rows}
    parquet.write_table(pa.table(texts | columns), file, **options)


def test_parquet_values_that_json_lacks_are_text(run_cli, tmp_path):
    values = {
        "day": date(2020, 1, 2), "hour": time(1, 2), "sum": Decimal("1.50"), "raw": b"a\xff",
        "record": {"a": [1, None]}, "none": None, "yes": True,
    }  # fmt: skip
    write_parquet(tmp_path / "t.parquet", {name: [value] for name, value in values.items()})
    texts = ("t.parquet:hyp", "t.parquet:ref")
    run_cli("rep", *texts, "--keep", "k.jsonl", cwd=tmp_path)
    row = json.loads((tmp_path / "k.jsonl").read_text())
    expected = {
        "day": "2020-01-02", "hour": "01:02:00", "sum": "1.50", "raw": "b'a\\xff'",
        "record": {"a": [1, None]}, "none": None, "yes": True,
    }  # fmt: skip
    assert {name: row[name] for name in expected} == expected


def far_days(pa: Any) -> Any:
    return pa.array([1 << 40]).cast(pa.timestamp("s"))


def broken_text(pa: Any) -> Any:
    offsets = pa.py_buffer(struct.pack("<ii", 0, 1))
    return pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff")])


def twice_named(pa: Any) -> Any:
    return pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])


@pytest.mark.parametrize("make", [far_days, broken_text, twice_named])
def test_parquet_values_that_python_lacks_are_one_line(run_cli, tmp_path, make):
    pa = pytest.importorskip("pyarrow")
    write_parquet(tmp_path / "t.parquet", {"other": make(pa)})
    texts = ("t.parquet:hyp", "t.parquet:ref")
    done = run_cli("rep", *texts, "--keep", "k.jsonl", check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("coverage-eval: error: t.parquet: ")
    assert list(TextTable(tmp_path / "t.parquet").texts(["hyp"])) == [("a",)]
