"""Scoring of Spark data frames: the batch scorer in ``mapInArrow``, a frozen model on every worker.

The model file goes to every executor once (``SparkContext.addFile``); a worker process, which Spark
uses again for task after task, unpacks it once and keeps one aligner of it running. Rows are
written under ``status=scored`` and ``status=set_aside`` by Spark's own commit of tasks, so that a
task which fails, is repeated or runs twice leaves each row once. Totals are exact, so they do not
depend on partitions.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.metrics.base import Statistics
from coverage_eval.scale.arrow import pa
from coverage_eval.scale.batch_scorer import SET_ASIDE
from coverage_eval.scale.scoring_job import ScoringJob, worker_scorer
from coverage_eval.scale.totals import Totals

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_COLLECTED = 20_000_000
"""Rows of which statistics are collected for resampling: some gigabytes of memory."""


def spark_session(master: str | None = None) -> SparkSession:
    """The session that runs, that of ``spark-submit``, or a new one.

    Args:
        master: Of a new one; by default all cores of this machine.

    Raises:
        MissingDependencyError: There is no PySpark, or no Java.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingDependencyError(
            "Spark needs PySpark and pyarrow; pip install 'coverage-eval[spark]'"
        ) from error
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("coverage-eval")
    builder = builder.config("spark.ui.showConsoleProgress", sys.stderr.isatty())
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ or SparkSession.getActiveSession()
    if not is_submitted:
        builder = builder.master(master or "local[*]")
    try:
        return builder.getOrCreate()
    except Exception as error:  # of PySpark and py4j, by no common class
        raise MissingDependencyError(
            "Spark does not start; it needs Java 17 or newer, found by JAVA_HOME or on the PATH "
            f"({str(error).partition(chr(10))[0]})"
        ) from error


def read_frame(session: SparkSession, path: str) -> DataFrame:
    """The rows of a Parquet file or folder.

    Raises:
        DataError: There is none, or it cannot be read.
    """
    with _one_line_errors(path):
        return session.read.parquet(path)


def score_frame(frame: DataFrame, job: ScoringJob, model: str | None = None) -> DataFrame:
    """Score the rows of a data frame, lazily.

    Args:
        frame: Has the job's columns.
        job: What is scored and how.
        model: The file of the aligner's model, on the driver.

    Returns:
        The keys, ``set_aside`` (why a row has no figures; null if it has), and a figure a column, a
        struct of the systems' scores, statistics and evidence; see
        :meth:`coverage_eval.scale.batch_scorer.BatchScorer.schema`.

    Raises:
        DataError: A column is not there, or holds no text.
        AlignerError: A damaged model.
    """
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType

    job.columns.check_names(frame.columns)
    chosen = frame.select(*(f"`{name}`" for name in job.columns.needed))
    made = job.scorer(model).schema(to_arrow_schema(chosen.schema))
    kept = len(job.columns.keys)
    figures = from_arrow_schema(pa.schema(list(made)[kept:]))
    schema = StructType([*(chosen.schema[name] for name in job.columns.keys), *figures.fields])
    name = None
    if model is not None:
        context = chosen.sparkSession.sparkContext
        context.addFile(str(Path(model).resolve()))
        name = Path(model).name
    score = partial(_score_partition, pickled=pickle.dumps(job), model=name)
    return chosen.mapInArrow(score, schema)


def _score_partition(
    batches: Iterator[pa.RecordBatch], *, pickled: bytes, model: str | None
) -> Iterator[pa.RecordBatch]:
    from pyspark import SparkFiles

    scorer = worker_scorer(pickled, None if model is None else SparkFiles.get(model))
    yield from scorer.score_batches(batches)


def write_scored(scored: DataFrame, path: str) -> DataFrame:
    """Write scored rows as Parquet: what was set aside, and the rest, in folders of their own.

    Args:
        scored: Of :func:`score_frame`.
        path: A folder that is not there yet.

    Returns:
        The rows, read from there.

    Raises:
        DataError: It is there, or Spark ended with an error.
    """
    from pyspark.sql import functions

    status = functions.when(functions.col(SET_ASIDE).isNull(), "scored").otherwise("set_aside")
    written = scored.withColumn("status", status)
    with _one_line_errors(path):
        written.write.partitionBy("status").mode("error").parquet(path)
        return scored.sparkSession.read.schema(written.schema).parquet(path)


def sum_frame(scored: DataFrame, figures: Iterable[str]) -> Totals:
    """The totals of scored rows: each partition is summed where it is, exactly.

    Args:
        scored: Of :func:`score_frame`, or as written.
        figures: Names of figures.
    """
    names = list(figures)
    chosen = scored.select(SET_ASIDE, *(f"`{name}`" for name in names))
    summed = chosen.mapInArrow(partial(_sum_partition, figures=names), "totals string")
    rows = (Totals.from_plain(json.loads(row["totals"])) for row in summed.toLocalIterator())
    return reduce(add, rows, Totals())


def _sum_partition(
    batches: Iterator[pa.RecordBatch], *, figures: list[str]
) -> Iterator[pa.RecordBatch]:
    found = reduce(add, (Totals.of(batch, figures) for batch in batches), Totals())
    yield pa.RecordBatch.from_pydict({"totals": [json.dumps(found.to_plain())]})


def collect_statistics(
    scored: DataFrame, job: ScoringJob, figures: Mapping[str, Any]
) -> dict[str, dict[str, Statistics]]:
    """Statistics ``[segments, k]`` of all scored rows, in the order of their keys, for resampling.

    Args:
        scored: Of :func:`score_frame`, or as written.
        job: The job, whose keys say the order.
        figures: The figures by name.

    Raises:
        DataError: There are no keys, or too many rows for the memory of one machine.
    """
    from pyspark.sql import functions

    if not job.columns.keys:
        raise DataError("resampling needs the order of the segments: name a key with --key-col")
    kept = scored.where(functions.col(SET_ASIDE).isNull())
    if (count := kept.count()) > _MOST_COLLECTED:
        raise DataError(
            f"resampling draws from at most {_MOST_COLLECTED:,} rows, and there are {count:,}: "
            "take a sample of them, or leave intervals and tests out"
        )
    chosen = [
        functions.col(f"`{name}`.`{system}`.`{statistic}`").alias(f"{name}/{system}/{statistic}")
        for name, formula in figures.items()
        for system in job.columns.hypotheses
        for statistic in formula.statistic_names
    ]
    table = kept.orderBy(*(f"`{key}`" for key in job.columns.keys)).select(*chosen).toArrow()
    return {
        name: {
            system: np.column_stack(
                [table[f"{name}/{system}/{one}"].to_numpy() for one in formula.statistic_names]
            )
            for system in job.columns.hypotheses
        }
        for name, formula in figures.items()
    }


@contextmanager
def _one_line_errors(what: str) -> Iterator[None]:
    """What Spark says, in one line."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        told = [line for line in lines if "Error: " in line or "Exception: " in line]
        raise DataError(f"{what}: Spark: {(told or lines or ['failed'])[-1]}") from error
