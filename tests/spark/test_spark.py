"""Spark gives the figures of one process, with any partitions."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import coverage_eval as ce

pa = pytest.importorskip("pyarrow", reason="needs the extra 'spark'")
pyspark = pytest.importorskip("pyspark", reason="needs the extra 'spark'")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs Java, which is not here", allow_module_level=True)

import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from coverage_eval.spark import Job, corpus_scores, score_frame
from tests.conftest import RunCli
from tests.spark.texts import write_texts

TIMES = 20
METRICS = ("rep", "rep-letters", "drop", "softdrop", "omissions", "bleu")
JOB = Job("a", METRICS, references=("ref",), source="src", keys=("id",))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_cli: RunCli) -> Path:
    folder = tmp_path_factory.mktemp("spark")
    texts: dict[str, list[Any]] = dict(write_texts(folder, TIMES))
    run_cli("align", "train", "src", "ref", "-o", "m", cwd=folder)
    table = pa.table({"id": range(len(texts["src"])), **texts, "a.b": texts["a"]})
    pq.write_table(table, folder / "in.parquet")
    return folder


@pytest.fixture(scope="module")
def session() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def comparison(folder: Path) -> Any:
    texts = {name: list(ce.read_segments(folder / name)) for name in ("a", "ref", "src")}
    aligner = ce.Aligner.load(folder / "m")
    names = list(METRICS)
    return ce.compare(
        {"a": texts["a"]}, texts["ref"], texts["src"], aligner, metrics=names, resamples=0
    )


@pytest.mark.parametrize("partitions", [1, 11])
def test_partitions_give_the_figures_of_one_process(partitions, session, folder, comparison):
    frame = session.read.parquet(str(folder / "in.parquet")).repartition(partitions)
    job = JOB.fit(frame, str(folder / "m"))
    scored = score_frame(frame, job, str(folder / "m")).cache()
    found = corpus_scores(scored, job, str(folder / "m"))
    rows = sorted(scored.collect(), key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(range(5 * TIMES))
    for name, score in found.items():
        expected = comparison.result.score(name, "a")
        assert float(score) == pytest.approx(float(expected), rel=1e-12), name
        assert score.signature == expected.signature, name
        segments = comparison.result.segment_scores(name, "a")
        assert [row[name]["score"] for row in rows] == pytest.approx(segments, nan_ok=True), name


def test_the_program_writes_the_rows_and_prints_the_scores(folder, run_cli):
    options = ("--hyp", "a.b", "--ref", "ref", "--key", "id", "-m", "rep")
    done = subprocess.run(
        [sys.executable, "-m", "coverage_eval.spark", "in.parquet", "-o", "out.parquet", *options],
        cwd=folder, capture_output=True, text=True, check=True, timeout=300,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    expected = run_cli("rep", "a", "ref", "-b", "-w", "10", cwd=folder)
    assert f"{float(expected.stdout):.2f}" in done.stdout
    table = pq.read_table(folder / "out.parquet")
    assert sorted(table["id"].to_pylist()) == list(range(5 * TIMES))


def test_a_row_without_a_source_ends_the_job(session):
    frame = session.createDataFrame([("a", "b"), (None, "b")], "hyp string, ref string")
    job = Job("ref", ("rep",), references=("ref",), source="hyp")
    with pytest.raises(PySparkException, match=r"column 'hyp': row [12] of a batch is no text"):
        score_frame(frame, job).collect()
