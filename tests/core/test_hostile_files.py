"""Small files that would take much time or memory, and values that only look like numbers."""

from __future__ import annotations

import json
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from coverage_eval.comparison.external_scores import parse_number, read_external_scores
from coverage_eval.core.errors import DataError


@pytest.mark.parametrize(
    "value", ["1_0", "\u0661", "1e999", "1e308", "nan", "inf", "x", True, 10**400]
)
def test_what_is_no_number(value):
    with pytest.raises(DataError, match=r"line 1: .* is not a finite number"):
        parse_number(value, "line 1")


def test_scores_are_decimal_numbers(tmp_path):
    assert [parse_number(value, "") for value in (" 1.5", "-1e3", 2, 0.5)] == [1.5, -1000, 2, 0.5]
    for text in ("segment,score\n1,1_0\n", "segment,score\n1,1e309\n"):
        (tmp_path / "scores").write_text(text)
        with pytest.raises(DataError, match=r"scores: row [12].* is not a finite number"):
            read_external_scores("x", tmp_path / "scores", ["a"])


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
