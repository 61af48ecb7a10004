"""An output may be missing: None, NaN or null is an empty output, wherever outputs come from."""

from __future__ import annotations

import json

import pandas as pd
import pytest

import coverage_eval as ce
from coverage_eval.core.batches import Texts
from coverage_eval.core.errors import DataError
from coverage_eval.core.texts import open_text

REFERENCES = ["a red house", "a small dog", "the big tree"]
EMPTY = ["a red red house", "", "the big big tree"]

pytestmark = pytest.mark.filterwarnings("ignore:.*blank segment")


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_lists_and_columns_of_pandas(missing):
    outputs = [text or missing for text in EMPTY]
    for given in (outputs, pd.Series(outputs, dtype=object)):
        assert float(ce.rep(given, REFERENCES)) == float(ce.rep(EMPTY, REFERENCES))
    compared = ce.compare({"a": outputs, "b": REFERENCES}, REFERENCES, metrics=["rep", "bleu"])
    expected = ce.compare({"a": EMPTY, "b": REFERENCES}, REFERENCES, metrics=["rep", "bleu"])
    pd.testing.assert_frame_equal(compared.to_frame(), expected.to_frame())


def write_columns(path, rows):
    frame = pd.DataFrame(rows)
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.mark.parametrize("ending", ["jsonl", "json", "parquet"])
def test_cells_of_tables(tmp_path, run_cli, ending):
    table = tmp_path / f"t.{ending}"
    rows = [{"h": text or None, "r": ref} for text, ref in zip(EMPTY, REFERENCES, strict=True)]
    write_columns(table, rows)
    (tmp_path / "h").write_text("".join(f"{text}\n" for text in EMPTY), encoding="utf-8")
    expected = run_cli("rep", f"{tmp_path}/h", f"{table}:r", "-f", "json")
    done = run_cli("rep", f"{table}:h", f"{table}:r", "-f", "json")
    assert json.loads(done.stdout)["scores"] == json.loads(expected.stdout)["scores"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_null_in_an_array_of_texts(tmp_path, run_cli, place):
    outputs: list[str | None] = [*REFERENCES]
    outputs[place] = None
    (tmp_path / "h.json").write_text(json.dumps(outputs), encoding="utf-8")
    (tmp_path / "r").write_text("".join(f"{text}\n" for text in REFERENCES), encoding="utf-8")
    done = run_cli("bleu", f"{tmp_path}/h.json", f"{tmp_path}/r", "-f", "json")
    expected = float(ce.bleu([text or "" for text in outputs], REFERENCES))
    (score,) = json.loads(done.stdout)["scores"]
    assert score["score"] == pytest.approx(expected)


def test_a_missing_source_is_an_error(tmp_path):
    with pytest.raises(TypeError, match="segment 1 is neither a string nor"):
        ce.compare({"a": EMPTY}, REFERENCES, [None, "ein hund", "der baum"], metrics=["rep"])
    for name, text in (("a", EMPTY), ("b", [None, "ein hund", "der baum"])):
        rows = "".join(f"{json.dumps({'text': item})}\n" for item in text)
        (tmp_path / f"{name}.jsonl").write_text(rows, encoding="utf-8")
    # A column of the same name in another table may lack no value.
    outputs, sources = (open_text(f"{tmp_path}/{name}.jsonl:text") for name in "ab")
    with pytest.raises(DataError, match=r"b.jsonl: row 1, column 'text': a missing value"):
        list(Texts({"a": outputs}, source=sources).rows())
