"""Batches and Spark: where time goes, throughput by partitions, memory of a worker.

Processor time where one process works, wall time where Spark does. Run it on a machine that does
nothing else: ``python tests/bench/bench_scale.py [SEGMENTS]``.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import pyarrow as pa
import pyarrow.parquet as pq

import coverage_eval as ce
from coverage_eval.scale.scoring_job import ScoringJob, make_metrics
from coverage_eval.scale.text_columns import BatchColumns
from coverage_eval.testbed.demonstration import demonstrate

COLUMNS = BatchColumns({"mt": "mt"}, ("ref",), "src", ("id",))
DOLLARS_PER_CORE_HOUR = 0.04


def job(name: str, *, evidence: bool = True) -> ScoringJob:
    """One metric over the table of this benchmark."""
    return ScoringJob(COLUMNS, partial(make_metrics, metrics={name: {}}), evidence=evidence)


def processor_seconds(function: Callable[[], Any]) -> float:
    """Of this process and of the aligners that it started."""
    before = time.process_time() + _of_children()
    function()
    return time.process_time() + _of_children() - before


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def in_one_process(table: pa.Table, model: str) -> None:
    """Where time goes: reading, counting, evidence, alignment."""
    rows = len(table)
    parts = {
        "read the columns": lambda: [COLUMNS.read(one) for one in table.to_batches(10_000)],
        "align": lambda: sum(1 for _ in _aligned(table, model)),
        "rep, no evidence": lambda: _score(table, "rep", None, evidence=False),
        "rep": lambda: _score(table, "rep", None),
        "drop, no evidence": lambda: _score(table, "drop", model, evidence=False),
        "drop": lambda: _score(table, "drop", model),
    }
    for name, run in parts.items():
        seconds = processor_seconds(run)
        hours = seconds / rows * 1e9 / 3600
        print(
            f"{name:20} {1e6 * seconds / rows:8.1f} µs a segment  "
            f"{hours:7,.0f} core hours a billion, {DOLLARS_PER_CORE_HOUR * hours:6,.0f} $"
        )
    print(f"memory of this process: {_megabytes(resource.RUSAGE_SELF):,.0f} MB")
    print(f"of its greatest aligner: {_megabytes(resource.RUSAGE_CHILDREN):,.0f} MB")


def _aligned(table: pa.Table, model: str) -> Any:
    with ce.Aligner.load(model, threads=1) as aligner:
        for read in map(COLUMNS.read, table.to_batches(10_000)):
            yield from aligner.align(read.rows)


def _score(table: pa.Table, name: str, model: str | None, *, evidence: bool = True) -> None:
    scorer = job(name, evidence=evidence).scorer(model, **({"threads": 1} if model else {}))
    for _ in scorer.score_batches(table.to_batches(10_000)):
        pass


def _megabytes(who: int) -> float:
    return resource.getrusage(who).ru_maxrss / 1024


def on_spark(path: str, model: str, rows: int) -> None:
    """Throughput by partitions, on all cores of this machine."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        print("no PySpark here: not measured")
        return
    from coverage_eval.scale.spark_jobs import read_frame, score_frame, spark_session, sum_frame

    session = spark_session()
    session.sparkContext.setLogLevel("OFF")
    for name, file in (("rep", None), ("drop", model)):
        for partitions in (1, 2, 4, 16, 64):
            frame = read_frame(session, path).repartition(partitions)
            start = time.perf_counter()
            sum_frame(score_frame(frame, job(name), file), [name])
            seconds = time.perf_counter() - start
            print(f"spark {name:5} {partitions:3} partitions {rows / seconds:9,.0f} segments/s")
    session.stop()


def main() -> None:
    """Measure on the demonstration's texts, repeated."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        list(demonstrate(folder))  # which writes texts and a model
        lines = {key: (folder / file).read_text().splitlines() for key, file in _FILES.items()}
        columns = {key: (text * (rows // len(text) + 1))[:rows] for key, text in lines.items()}
        table = pa.table({"id": range(rows), **columns})
        pq.write_table(table, folder / "texts.parquet")
        in_one_process(table, str(folder / "model"))
        on_spark(str(folder / "texts.parquet"), str(folder / "model"), rows)


_FILES = {"src": "test.de", "ref": "test.en", "mt": "dropping.en"}


if __name__ == "__main__":
    main()
