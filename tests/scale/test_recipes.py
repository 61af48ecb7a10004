"""Recipes: the batch scorer in other engines than Spark, some ten lines each."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow", reason="needs pyarrow", minversion="15")

from coverage_eval.scale.scoring_job import ScoringJob, make_metrics, worker_scorer
from coverage_eval.scale.text_columns import BatchColumns
from coverage_eval.scale.totals import Totals
from tests.conftest import RunCli
from tests.scale.texts import write_texts

# What is scored, and how; it can be pickled, and the model is a file that every worker sees.
JOB = ScoringJob(
    BatchColumns({"mine": "hyp"}, ("ref",), "src", keys=("id",)),
    partial(make_metrics, metrics={"rep": {}, "drop": {}}),
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> str:
    folder = tmp_path_factory.mktemp("recipes")
    write_texts(folder, 10)
    run_cli("align", "train", "src", "ref", "-o", "m", cwd=folder)
    return str(folder / "m")


@pytest.fixture(scope="module")
def texts(model: str) -> dict[str, list[Any]]:
    found = {
        name: Path(model).with_name(name).read_text(encoding="utf-8").splitlines()
        for name in ("src", "ref", "a")
    }
    hypotheses: list[str | None] = [*found["a"][:-1], None]
    return {
        "id": list(range(len(hypotheses))),
        "hyp": hypotheses,
        "ref": found["ref"],
        "src": found["src"],
    }


@pytest.fixture(scope="module")
def expected(model: str, texts: dict[str, list[Any]]) -> Any:
    return JOB.scorer(model).score_table(pa.table(texts))


def test_pandas(model: str, texts: dict[str, list[Any]], expected: Any) -> None:
    import pandas as pd

    frame = pd.DataFrame(texts)
    scored = JOB.scorer(model).score_table(pa.Table.from_pandas(frame, preserve_index=False))
    scores = JOB.scorer(model).figures
    totals = Totals.of(scored, scores).scores(scores, references=1)
    result = scored.to_pandas().set_index("id")
    assert result.loc[0, "rep"]["mine"]["score"] == 100.0  # a word twice weighs 2, of 2 words
    assert result["set_aside"].dropna().to_list() == ["hyp: there is no text"]
    assert scored.equals(expected)
    assert totals["drop"]["mine"].segments == len(frame) - 1


def test_polars(model: str, texts: dict[str, list[Any]], expected: Any) -> None:
    polars = pytest.importorskip("polars", reason="needs Polars")
    frame = polars.DataFrame(texts)
    scorer = JOB.scorer(model)
    parts = [
        scorer.score_table(part.to_arrow(compat_level=polars.CompatLevel.oldest()))
        for part in frame.iter_slices(7)
    ]
    result = polars.from_arrow(pa.concat_tables(parts))
    scores = result.select(polars.col("drop").struct.field("mine").struct.field("score"))
    cells = [
        None if cell is None else cell["mine"]["score"] for cell in expected["drop"].to_pylist()
    ]
    assert scores["score"].to_list() == cells


def test_datasets(model: str, texts: dict[str, list[Any]], expected: Any) -> None:
    datasets = pytest.importorskip("datasets", reason="needs Hugging Face's datasets")
    datasets.disable_progress_bars()
    pickled = pickle.dumps(JOB)
    dataset = datasets.Dataset.from_dict(texts)
    result = dataset.with_format("arrow").map(
        lambda batch: worker_scorer(pickled, model).score_table(batch),
        batched=True,
        batch_size=7,
        remove_columns=dataset.column_names,
    )
    table = result.with_format("arrow")[:]
    assert table.to_pylist() == expected.to_pylist()


def test_ray(model: str, texts: dict[str, list[Any]], expected: Any) -> None:
    ray = pytest.importorskip("ray", reason="needs Ray")
    pickled = pickle.dumps(JOB)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        result = ray.data.from_arrow(pa.table(texts)).map_batches(
            lambda batch: worker_scorer(pickled, model).score_table(batch),
            batch_format="pyarrow",
            batch_size=7,
        )
        rows = sorted(result.take_all(), key=lambda row: row["id"])
    finally:
        ray.shutdown()
    assert rows == expected.to_pylist()
