"""Scores of a Spark data frame, row by row, and of all of it.

    spark-submit … -m coverage_eval.spark texts.parquet -o scores.parquet --hyp mt --ref ref \
      --src src --model de-en.model -m rep,drop --key id

A row is a segment. It gets the score of each metric and the numbers whose sums the corpus score is
a formula of, so totals do not depend on partitions, up to the rounding of sums of fractions. Spark
sends the model to each executor once; a Python worker keeps its aligner from task to task.
"""

from __future__ import annotations

import argparse
import io
import os
import pickle
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coverage_eval.align.aligner import Aligner, ModelAligner, aligner_of
from coverage_eval.align.model_text import require_tokenised, tokenized_by_user
from coverage_eval.core.batches import ONE_SYSTEM, Batch, Row, RowSample
from coverage_eval.core.counting import count_batches
from coverage_eval.core.errors import DataError, MissingDependencyError
from coverage_eval.core.metric import FittedMetric, Statistics
from coverage_eval.core.score import Score
from coverage_eval.core.tables import is_missing, join_lines
from coverage_eval.core.word_splitting import find_unsegmented
from coverage_eval.registry import make_metric

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingDependencyError(
        "Spark needs pyarrow and PySpark; pip install 'coverage-eval[spark]'"
    ) from error

SAMPLE_ROWS = 2000
"""Rows that metrics are fitted to."""

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Job:
    """What to score; it can be pickled, and holds no model.

    >>> job = Job("hyp", ("rep",), references=("ref",), keys=("id",))
    >>> table = pa.table({"id": [7], "hyp": ["a red red house"], "ref": ["a house"]})
    >>> (batch,) = job.score_batches(table.to_batches())
    >>> batch.to_pylist()[0]["rep"]["repeated_words"]
    1

    Attributes:
        hypothesis: The column of the output.
        metrics: Names of metrics, as ``compare -m`` has them.
        references: Columns of references.
        source: The column of the source.
        keys: Further columns to keep beside the scores.
        peers: Columns of other systems' outputs, which show what can be translated.
        settings: Settings of the metrics by name, such as ``{"rep": {"n": 3}}``.
        fitted: The metrics as :meth:`fit` has fitted them, pickled without the model; empty if they
            adapt to no text.
    """

    hypothesis: str
    metrics: tuple[str, ...]
    references: tuple[str, ...] = ()
    source: str | None = None
    keys: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fitted: bytes = field(default=b"", repr=False)

    @property
    def columns(self) -> list[str]:
        """All columns to read, each once."""
        source = [] if self.source is None else [self.source]
        texts = [self.hypothesis, *self.references, *self.peers, *source]
        return list(dict.fromkeys([*self.keys, *texts]))

    def make(self, model: str | None = None) -> dict[str, FittedMetric]:
        """The metrics by name, as :meth:`fit` has fitted them; else they adapt to no text.

        Args:
            model: The aligner's model file, for metrics that need links.

        Raises:
            ValueError: No metric has one of the names, or it needs a model.
        """
        aligner = None if model is None else _load(model)
        if self.fitted:
            fitted: dict[str, FittedMetric] = _Unpickler(self.fitted, aligner).load()
            return fitted
        return self._fit(self._sample(), aligner)

    def _fit(self, sample: RowSample, aligner: ModelAligner | None) -> dict[str, FittedMetric]:
        tokenizer = {"source_tokenizer": aligner.source_tokenizer} if aligner else {}
        metrics = {
            name: make_metric(
                name, {"aligner": aligner, **tokenizer, **self.settings.get(name, {})}
            )
            for name in self.metrics
        }
        for name, findings in find_unsegmented(sample, metrics).items():
            raise DataError(f"{metrics[name].presentation.name}: {findings[0].message}")
        return {name: metric.fit(sample) for name, metric in metrics.items()}

    def _sample(self, rows: Iterable[Row] = ()) -> RowSample:
        return RowSample(rows, [ONE_SYSTEM], self.references, self.source, self.peers)

    def fit(self, frame: DataFrame, model: str | None = None) -> Job:
        """This job with its metrics fitted to a sample of a data frame, as one process fits them.

        The sample does not depend on partitions: it has the rows with the lowest hashes.

        Args:
            frame: Has the job's columns.
            model: As for :meth:`make`.

        Raises:
            DataError: A source is missing, or a metric counts words in texts
                that are not split into them.
            AlignerError: The aligner failed.
        """
        from pyspark.sql import functions

        chosen = frame.select(*(f"`{name}`" for name in self.columns))
        lowest = functions.xxhash64(*(f"`{name}`" for name in self.columns))
        table = chosen.orderBy(lowest).limit(SAMPLE_ROWS).toArrow()
        sample = self._sample(row for batch in table.to_batches() for row in self._rows(batch))
        return self.with_fitted(self._fit(sample, None if model is None else _load(model)))

    def with_fitted(self, fitted: Mapping[str, FittedMetric]) -> Job:
        """This job with metrics that are fitted, as those of a result of one process are.

        Args:
            fitted: The metrics by name; each executor gives them its own copy of the model.
        """
        pickled = io.BytesIO()
        _Pickler(pickled).dump(dict(fitted))
        return replace(self, metrics=tuple(fitted), fitted=pickled.getvalue())

    def score_batches(
        self, batches: Iterable[pa.RecordBatch], model: str | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Score Arrow batches: the keys, and for each metric its score and its statistics.

        A batch without rows, as of an empty partition, gives one without rows.

        Raises:
            DataError: A column is missing, or a source is missing.
            AlignerError: The aligner failed.
        """
        metrics = self.make(model)
        aligner = aligner_of(metric.metric for metric in metrics.values())
        read: deque[pa.RecordBatch] = deque()

        def checked() -> Iterator[Batch]:
            for batch in batches:
                read.append(batch)
                rows = list(self._rows(batch))
                if isinstance(aligner, ModelAligner):
                    sources = [row.source or "" for row in rows]
                    tokenizers = (aligner.source_tokenizer, aligner.tokenizer)
                    texts = [(*row.hypotheses, *row.references) for row in rows]
                    for text in zip(*texts, strict=True):
                        require_tokenised(
                            tokenized_by_user(aligner.model), tokenizers, sources, text
                        )
                yield Batch(rows)

        for counted, counts in count_batches(metrics, checked()):
            batch = read.popleft()
            columns = {key: batch.column(key) for key in self.keys}
            for name, fitted in metrics.items():
                columns[name] = _scored(fitted, counted, counts.get(name))
            yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def _rows(self, batch: pa.RecordBatch) -> Iterator[Row]:
        for name in self.columns:
            if name not in batch.schema.names:
                there = ", ".join(batch.schema.names)
                raise DataError(f"there is no column {name!r}; there are: {there}")

        def column(name: str) -> list[str]:
            values: list[Any] = batch.column(name).to_pylist()
            if name != self.source:
                values = ["" if is_missing(value) else value for value in values]
            for number, value in enumerate(values, start=1):
                if not isinstance(value, str):
                    raise DataError(
                        f"column {name!r}: row {number} of a batch is no text; leave such rows out"
                    )
            return [join_lines(value).removesuffix("\r") for value in values]

        sources = [None] * len(batch) if self.source is None else column(self.source)
        sides = [list(map(column, names)) for names in (self.references, self.peers)]
        for number, text in enumerate(column(self.hypothesis)):
            references, peers = (tuple(texts[number] for texts in side) for side in sides)
            yield Row((text,), references, sources[number], peers)


class _Pickler(pickle.Pickler):
    """Pickles metrics without their model."""

    def persistent_id(self, obj: object) -> str | None:
        return "aligner" if isinstance(obj, ModelAligner) else None


class _Unpickler(pickle.Unpickler):
    """Unpickles metrics with an executor's own model."""

    def __init__(self, pickled: bytes, aligner: ModelAligner | None) -> None:
        super().__init__(io.BytesIO(pickled))
        self._aligner = aligner

    def persistent_load(self, _: object) -> ModelAligner | None:
        return self._aligner


def _scored(fitted: FittedMetric, batch: Batch, counts: Statistics | None) -> pa.StructArray:
    """The score and the statistics of each row; no row if nothing was counted."""
    metric = fitted.metric
    if counts is None:
        counts = np.empty((1, 0, len(metric.statistic_names)), metric.statistic_type)
    known = fitted.segment_scores(batch) if fitted.has_segment_scores and batch.rows else None
    scores = metric.scores_of(counts[0]) if known is None else known[0]
    cells = [pa.array(scores, pa.float64()), *map(pa.array, counts[0].T)]
    if fitted.has_segment_scores:
        found = [one for (one,) in fitted.explain(batch)] if batch.rows else []
        cells.append(pa.array([one.probability for one in found], pa.float64()))
        cells.append(pa.array([one.detail["reason"] for one in found], pa.string()))
    return pa.StructArray.from_arrays(cells, fields=list(_fields(fitted)))


def _fields(fitted: FittedMetric) -> Iterator[pa.Field]:
    metric = fitted.metric
    yield pa.field("score", pa.float64())
    kind = pa.from_numpy_dtype(metric.statistic_type)
    yield from (pa.field(name, kind) for name in metric.statistic_names)
    if fitted.has_segment_scores:
        yield from (pa.field("probability", pa.float64()), pa.field("reason", pa.string()))


@lru_cache(maxsize=2)
def _load(model: str) -> Any:
    return Aligner.load(model, threads=1)


def score_frame(frame: DataFrame, job: Job, model: str | None = None) -> DataFrame:
    """Score the rows of a data frame, lazily.

    Args:
        frame: Has the job's columns.
        job: What to score.
        model: The aligner's model file on the driver.

    Returns:
        The keys, and for each metric a struct of ``score`` (null if undefined) and its statistics,
        for omissions and additions with ``probability`` and ``reason`` as the command has them.
    """
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    chosen = frame.select(*(f"`{name}`" for name in job.columns))
    metrics = job.make(model)
    structs = [(name, pa.struct(list(_fields(metric)))) for name, metric in metrics.items()]
    keys = [chosen.schema[name] for name in job.keys]
    schema = StructType([*keys, *from_arrow_schema(pa.schema(structs)).fields])
    name = None
    if model is not None:
        chosen.sparkSession.sparkContext.addFile(str(Path(model).resolve()))
        name = Path(model).name
    # mapInArrow would take a dot in a column's name for a field of a struct.
    plain = chosen.toDF(*(f"column{number}" for number in range(len(chosen.columns))))
    return plain.mapInArrow(partial(_score, job=job, names=chosen.columns, model=name), schema)


def _score(
    batches: Iterator[pa.RecordBatch], *, job: Job, names: list[str], model: str | None
) -> Iterator[pa.RecordBatch]:
    from pyspark import SparkFiles

    named = (pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)
    yield from job.score_batches(named, None if model is None else SparkFiles.get(model))


def corpus_scores(scored: DataFrame, job: Job, model: str | None = None) -> dict[str, Score]:
    """The corpus score of each metric, from the sums of scored rows.

    Args:
        scored: The rows of :func:`score_frame`.
        job: As there.
        model: As there.
    """
    from pyspark.sql import functions

    fitted = job.make(model)
    metrics = {name: metric.metric for name, metric in fitted.items()}
    sums = [
        functions.sum(functions.col(f"`{name}`.`{statistic}`")).alias(f"{name} {statistic}")
        for name, metric in metrics.items()
        for statistic in metric.statistic_names
    ]
    (row,) = scored.agg(*sums).collect()
    scores = {}
    for name, metric in metrics.items():
        values = [[row[f"{name} {statistic}"] or 0 for statistic in metric.statistic_names]]
        statistics = np.array(values, metric.statistic_type)
        signature = fitted[name].signature_for(references=len(job.references))
        scores[name] = metric.score(statistics, signature)
    return scores


def main() -> None:
    """Score a Parquet file or folder, write the rows, and print the corpus scores."""
    from pyspark.sql import SparkSession

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("input", help="Parquet file or folder")
    parser.add_argument("-o", "--output", required=True, help="new folder for the scores")
    parser.add_argument("--hyp", required=True, help="column of the output")
    parser.add_argument("--ref", nargs="*", default=[], help="columns of references")
    parser.add_argument("--src", help="column of the source")
    parser.add_argument("--key", nargs="*", default=[], help="columns to keep")
    parser.add_argument("--peer", nargs="*", default=[], help="columns of other systems' outputs")
    parser.add_argument("--model", help="model of 'coverage-eval align train'")
    parser.add_argument("-m", "--metrics", default="rep", help="metrics, separated by commas")
    arguments = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    metrics, keys = tuple(arguments.metrics.split(",")), tuple(arguments.key)
    job = Job(
        arguments.hyp, metrics, tuple(arguments.ref), arguments.src, keys, tuple(arguments.peer)
    )
    session = SparkSession.builder.appName("coverage-eval").getOrCreate()
    frame = session.read.parquet(arguments.input)
    job = job.fit(frame, arguments.model)
    scored = score_frame(frame, job, arguments.model)
    scored.write.parquet(arguments.output)
    written = session.read.parquet(arguments.output)
    for score in corpus_scores(written, job, arguments.model).values():
        print(score)  # noqa: T201


if __name__ == "__main__":
    # Workers find a job in a module, not in this program.
    import_module("coverage_eval.spark").main()
