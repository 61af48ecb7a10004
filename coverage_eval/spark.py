"""Scoring of test sets that are too large for one machine, as batches of Arrow rows.

Spark, Ray, Polars, pandas and ``datasets`` all read and write Arrow batches. Every row comes back
once, with its keys and either figures or the reason why it has none. Spark sends the model file to
each executor once (``SparkContext.addFile``). It writes rows under ``status=scored`` and
``status=set_aside`` and commits them task by task, so that each row is there once even if a task
fails or runs twice.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.alignment.cut_documents import cut_row
from coverage_eval.alignment.segmentation import Segmenter
from coverage_eval.data.dataset import BLOCK_ROWS, MAX_BLOCKS, Batch, Dataset, Row
from coverage_eval.data.documents import DocumentSettings
from coverage_eval.data.files import MAX_LINE_BYTES
from coverage_eval.data.input_checks import Finding
from coverage_eval.errors import DataError, MissingDependencyError
from coverage_eval.metrics.evaluation import TokenMetric
from coverage_eval.metrics.mark import Explanation
from coverage_eval.metrics.measure import Metric, Result, count_batches, fit_metrics
from coverage_eval.metrics.profile import make_figures
from coverage_eval.metrics.registry import make_metric, metric_class
from coverage_eval.metrics.score import Statistics
from coverage_eval.metrics.text_checks import fit_words
from fast_align_wrapper.text import MAX_CELLS

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise MissingDependencyError(
        "batches of Arrow rows and Spark need pyarrow; pip install 'coverage-eval[spark]'"
    ) from error

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SET_ASIDE = "set_aside"
"""The column that says why a row has no figures."""

_MAX_COLLECTED = 20_000_000
"""The most rows to collect for resampling, which needs a few gigabytes of memory."""

CutRow = Callable[[Row], "list[Row]"]
"""Cuts a row of documents into rows of lines."""

MakeFigures = Callable[..., "Mapping[str, Metric]"]
"""Makes metrics by name from an aligner or None."""


class ReadBatch(NamedTuple):
    """The rows of a batch.

    Attributes:
        batch: The batch.
        rows: The segments of the rows that can be scored, in order.
        reasons: For every row of the batch, why it cannot be scored; None if it can.
        sizes: For every row that can be scored, its number of segments: 1, or the lines of its
            document.
    """

    batch: pa.RecordBatch
    rows: list[Row]
    reasons: list[str | None]
    sizes: list[int]


@dataclass(frozen=True)
class BatchColumns:
    """The columns of a table that hold the texts of a test set.

    Attributes:
        hypotheses: The column of each system's output, by the system's name.
        references: Columns of references.
        source: The column of the source.
        keys: Further columns to keep beside the scores.
        peers: Columns of other systems' outputs, which are not scored.
    """

    hypotheses: Mapping[str, str]
    references: tuple[str, ...] = ()
    source: str | None = None
    keys: tuple[str, ...] = ()
    peers: tuple[str, ...] = ()

    @property
    def texts(self) -> list[str]:
        """The columns of text, hypotheses first."""
        source = [] if self.source is None else [self.source]
        return [*self.hypotheses.values(), *self.references, *self.peers, *source]

    @property
    def needed(self) -> list[str]:
        """All columns to read, each once."""
        return list(dict.fromkeys([*self.keys, *self.texts]))

    def check(self, schema: pa.Schema) -> None:
        """Refuse a table without these columns.

        Raises:
            DataError: A column is missing, or does not hold text.
        """
        self.check_names(schema.names)
        for name in self.texts:
            kind = schema.field(name).type
            if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                raise DataError(f"column {name!r} holds {kind}, but text is needed")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse a table without columns of these names.

        Raises:
            DataError: A column is missing.
        """
        for name in self.needed:
            if name not in names:
                raise DataError(f"there is no column {name!r}; there are: {', '.join(names)}")

    def read(
        self, batch: pa.RecordBatch, *, max_cells: int = MAX_CELLS, cut: CutRow | None = None
    ) -> ReadBatch:
        """The rows of a batch that can be scored, and why the others cannot.

        Args:
            batch: A batch with these columns.
            max_cells: Set rows with more source × target words aside.
            cut: Cuts a row into the lines of its documents; None if rows are segments.
        """
        several = cut is not None
        columns = [_decoded(batch.column(name), name, several=several) for name in self.texts]
        rows: list[Row] = []
        sizes: list[int] = []
        reasons: list[str | None] = []
        first, second = len(self.hypotheses), len(self.hypotheses) + len(self.references)
        last = second + len(self.peers)
        for cells in zip(*columns, strict=True):
            wrong = next((cell for cell in cells if isinstance(cell, _Wrong)), None)
            if wrong is None:
                source = cells[-1] if self.source is not None else None
                row = Row(cells[:first], cells[first:second], source, cells[second:last])
                found, reason = _segments_of(row, cut, max_cells)
            else:
                reason = wrong.reason
            reasons.append(reason)
            if reason is None:
                rows += found
                sizes.append(len(found))
        return ReadBatch(batch, rows, reasons, sizes)


class _Wrong(NamedTuple):
    """A cell that is not text."""

    reason: str


def _segments_of(row: Row, cut: CutRow | None, max_cells: int) -> tuple[list[Row], str | None]:
    """The segments of a row, and why it cannot be scored; None if it can."""
    try:
        found = [row] if cut is None else cut(row)
    except DataError as error:
        return [], str(error)
    return found, next(filter(None, (_too_long(one, max_cells) for one in found)), None)


def _decoded(column: pa.Array, name: str, *, several: bool = False) -> Iterator[Any]:
    """The texts of a column; a cell that is not text is replaced by the reason.

    Args:
        column: The column.
        name: Its name.
        several: Whether a cell may have several lines.
    """
    kind = pa.large_binary() if pa.types.is_large_string(column.type) else pa.binary()
    most = MAX_LINE_BYTES.get()
    for cell in column.cast(kind).to_pylist():
        if cell is None:
            yield _Wrong(f"{name}: there is no text")
        elif len(cell) > most:
            yield _Wrong(f"{name}: is longer than {most:,} bytes")
        else:
            try:
                text = cell.decode().removesuffix("\r")  # as readers of other files do
            except UnicodeDecodeError as error:
                byte = f"0x{cell[error.start]:02x}"
                yield _Wrong(f"{name}: not valid UTF-8 at byte offset {error.start} (byte {byte})")
                continue
            ended = "has a line end inside; a segment is one line, see --unaligned"
            yield _Wrong(f"{name}: {ended}") if "\n" in text and not several else text


def _too_long(row: Row, max_cells: int) -> str | None:
    """Why the posteriors of a row do not fit into memory; None if they do."""
    if row.source is None:
        return None
    texts = (row.source, *row.hypotheses, *row.references, *row.peers)
    source, *targets = (str(text).count(" ") + 1 for text in texts)
    if source * max(targets) <= max_cells:
        return None
    return f"source of about {source:,} words and translation of {max(targets):,}: too long"


@dataclass(frozen=True)
class BatchScorer:
    """Scores batches of rows.

    >>> import coverage_eval as ce
    >>> columns = BatchColumns({"mine": "hyp"}, ("ref",), keys=("id",))
    >>> table = pa.table({"id": [7, 8], "hyp": ["a red red house", None], "ref": ["a house", ""]})
    >>> one, other = BatchScorer(columns, {"rep": ce.REP()}).score_table(table).to_pylist()
    >>> one["rep"]["mine"]["repeated_words"], other["id"], other["set_aside"]
    (1, 8, 'hyp: there is no text')

    Args:
        columns: Where the texts are.
        figures: Metrics by name.
        evidence: Whether to keep evidence, as JSON.
        segmenter: Cuts the documents of each row by the lines of its source, or without one of its
            first reference; None if rows are segments. A document's figures are sums over its
            lines, and its evidence names the lines that have some.
    """

    columns: BatchColumns
    figures: Mapping[str, Metric]
    evidence: bool = True
    segmenter: Segmenter | None = None

    @property
    def cut(self) -> CutRow | None:
        """Cuts a row into the lines of its documents; None if rows are segments."""
        if self.segmenter is None:
            return None
        by_source = self.segmenter.knows is not None
        return partial(cut_row, segmenter=self.segmenter, by_source=by_source)

    def __post_init__(self) -> None:
        columns = self.columns
        sizes = (len(columns.hypotheses), len(columns.references), len(columns.peers))
        figures = {name: metric.for_parts() for name, metric in self.figures.items()}
        object.__setattr__(self, "figures", fit_metrics(figures, *sizes))

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of scored batches: the keys, the reason, and one column for each figure.

        A figure is a struct with a field for each system. That field is a struct, too: ``score``
        (null if undefined), the statistics by name, and ``evidence``.

        Args:
            given: The schema of the batches to score.

        Raises:
            DataError: A column is missing, or does not hold text.
        """
        self.columns.check(given)
        keys = [given.field(name) for name in self.columns.keys]
        names = [*self.columns.keys, SET_ASIDE, *self.figures]
        if len(set(names)) < len(names):
            raise DataError(f"two columns of the result have the same name: {', '.join(names)}")
        figures = [
            pa.field(
                name, pa.struct([(system, self._kind(name)) for system in self.columns.hypotheses])
            )
            for name in self.figures
        ]
        return pa.schema([*keys, pa.field(SET_ASIDE, pa.string()), *figures])

    def _kind(self, name: str) -> pa.StructType:
        metric = self.figures[name]
        kind = pa.from_numpy_dtype(metric.statistic_type)
        fields = [("score", pa.float64()), *((one, kind) for one in metric.statistic_names)]
        return pa.struct([*fields, *([("evidence", pa.string())] if self.evidence else [])])

    def score_table(self, table: pa.Table) -> pa.Table:
        """Score a table; rows keep their order.

        Raises:
            DataError: As :meth:`schema`.
            AlignerError: The aligner failed.
        """
        schema = self.schema(table.schema)
        batches = self.score_batches(table.combine_chunks().to_batches())
        return pa.Table.from_batches(batches, schema)

    def score_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Score a stream of batches with one aligner; only a few batches are in memory.

        Raises:
            DataError, AlignerError: As :meth:`score_table`.
        """
        reads: deque[ReadBatch] = deque()

        def texts() -> Iterator[Batch]:
            for batch in batches:
                reads.append(self.columns.read(batch, cut=self.cut))
                yield Batch(reads[-1].rows)

        for batch, counts in count_batches(self.figures, texts()):
            yield self._scored(reads.popleft(), batch, counts)

    def _scored(
        self, read: ReadBatch, batch: Batch, counts: Mapping[str, Statistics]
    ) -> pa.RecordBatch:
        good = np.array([reason is None for reason in read.reasons], dtype=bool)
        places = pa.array(np.cumsum(good) - 1, mask=~good)
        columns = {name: read.batch.column(name) for name in self.columns.keys}
        columns[SET_ASIDE] = pa.array(read.reasons, pa.string())
        for name, metric in self.figures.items():
            column = self._column(name, metric, batch, counts.get(name), read.sizes)
            columns[name] = column.take(places)
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def _column(
        self,
        name: str,
        metric: Metric,
        batch: Batch,
        counts: Statistics | None,
        sizes: Sequence[int],
    ) -> pa.StructArray:
        starts = np.cumsum([0, *sizes])
        if counts is None:  # no row of the batch can be scored
            shape = (len(self.columns.hypotheses), 0, len(metric.statistic_names))
            counts = np.zeros(shape, metric.statistic_type)
        elif self.segmenter is not None:
            counts = np.add.reduceat(counts, starts[:-1], axis=1)
        kind = list(self._kind(name))
        asked = self.evidence or metric.explains_scores
        found = list(metric.explain(batch)) if asked and len(batch) else []
        systems = []
        for number, statistics in enumerate(counts):
            scores = metric.segment_scores(statistics)
            if metric.explains_scores and self.segmenter is None:
                scores = [row[number].score for row in found]
            cells = [pa.array(scores, pa.float64()), *(pa.array(values) for values in statistics.T)]
            if self.evidence:
                own = [row[number] for row in found]
                plain: Iterable[Any] = (one.to_dict() for one in own)
                if self.segmenter is not None:
                    plain = (_of_lines(own[first:last]) for first, last in pairwise(starts))
                evidence = (json.dumps(one, ensure_ascii=False) for one in plain)
                cells.append(pa.array(evidence, pa.string()))
            systems.append(pa.StructArray.from_arrays(cells, fields=kind))
        return pa.StructArray.from_arrays(systems, list(self.columns.hypotheses))

    def result(self, scored: pa.Table | pa.RecordBatch) -> Result:
        """The counts of a scored table by segment, without the rows set aside."""
        kept = scored.filter(scored[SET_ASIDE].is_null())
        systems = list(self.columns.hypotheses)
        statistics = {
            name: np.stack(
                [
                    np.column_stack(
                        [_numbers(kept[name], system, one) for one in metric.statistic_names]
                    )
                    for system in systems
                ]
            )
            for name, metric in self.figures.items()
        }
        return self.result_of(statistics, kept.num_rows)

    def result_of(self, statistics: Mapping[str, Statistics], segments: int) -> Result:
        """A result from statistics ``[systems, segments, k]`` or sums ``[systems, 1, k]``."""
        typed = {
            name: found.astype(self.figures[name].statistic_type)
            for name, found in statistics.items()
        }
        references = len(self.columns.references)
        found = Result(self.figures, tuple(self.columns.hypotheses), typed, segments, references)
        return replace(found, segmentation=self.segmenter.name) if self.segmenter else found


def _of_lines(lines: Sequence[Explanation]) -> dict[str, Any]:
    """The evidence of a document: that of its lines with marks, which count from 1."""
    marked = [(number, one) for number, one in enumerate(lines, start=1) if one.marks]
    return {"lines": [{"line": number, **one.to_dict()} for number, one in marked]}


def _numbers(column: Any, system: str, statistic: str) -> NDArray[Any]:
    """A statistic of one system, row by row."""
    values = pc.struct_field(column, [system, statistic])
    return np.asarray(
        values.to_numpy()
        if isinstance(values, pa.ChunkedArray)
        else values.to_numpy(zero_copy_only=False)
    )


def make_metrics(
    aligner: Aligner | None,
    *,
    metrics: Mapping[str, Mapping[str, Any]],
    tokenize: str | None = None,
) -> dict[str, Metric]:
    """Metrics with their settings, by the names of :data:`coverage_eval.metrics.registry.METRICS`.

    Args:
        aligner: Links the texts for metrics that need links.
        metrics: Settings by name.
        tokenize: The tokeniser of metrics of words; None for that of their settings.
    """
    made = {}
    for name, settings in metrics.items():
        # BLEU has its own tokeniser under the same name.
        of_words = tokenize is not None and issubclass(metric_class(name), TokenMetric)
        words = {"tokenize": tokenize} if of_words else {}
        source = {"source_tokens": aligner.source_tokens} if aligner else {}
        made[name] = make_metric(name, {"aligner": aligner, **source, **settings, **words})
    return made


def make_profile(aligner: Aligner | None, **settings: Any) -> dict[str, Metric]:
    """The figures of :func:`coverage_eval.profile`, with the same settings."""
    return dict(make_figures(aligner=aligner, **settings))


@dataclass(frozen=True)
class ScoringJob:
    """What to score and how; it can be pickled, and holds no model.

    Args:
        columns: Where the texts are.
        make: Makes the figures from an aligner or None: a :func:`functools.partial` of a function
            of this module.
        alignment: Options of :meth:`coverage_eval.Aligner.load`.
        evidence: Whether to keep evidence.
        documents: How the documents of each row are cut; None if rows are segments.
    """

    columns: BatchColumns
    make: MakeFigures
    alignment: Mapping[str, Any] = field(default_factory=dict)
    evidence: bool = True
    documents: DocumentSettings | None = None

    def fitted(self, sample: Dataset, model: str | None) -> tuple[ScoringJob, list[Finding]]:
        """A job of :func:`make_metrics` with the tokeniser that fits the texts, and a note of it.

        Args:
            sample: Some of the texts.
            model: As for :meth:`scorer`.
        """
        aligner = self.aligner(model)
        tokenize, fitted, notes = fit_words(sample.rows(), aligner)
        alignment = dict(self.alignment)
        if fitted is not None and fitted is not aligner:
            alignment["tokenize"] = fitted.tokens.name
        return replace(self, make=partial(self.make, tokenize=tokenize), alignment=alignment), notes

    def aligner(self, model: str | None, **options: Any) -> ModelAligner | None:
        """The aligner of a model file, with the job's options and others."""
        return None if model is None else Aligner.load(model, **self.alignment, **options)

    def scorer(self, model: str | None = None, **options: Any) -> BatchScorer:
        """A scorer of batches, with its own aligner.

        Args:
            model: The model file on this machine.
            **options: Further options of :meth:`coverage_eval.Aligner.load`.
        """
        aligner = self.aligner(model, **options)
        segmenter = None
        if self.documents is not None:
            by_source = aligner is not None and self.columns.source is not None
            segmenter = (
                Segmenter.of_model(aligner)
                if by_source and aligner
                else Segmenter.of_references(self.documents.tokenize)
            )
        return BatchScorer(self.columns, self.make(aligner), self.evidence, segmenter)


@lru_cache(maxsize=2)
def worker_scorer(pickled: bytes, model: str | None) -> BatchScorer:
    """The scorer of a job in a worker process; all tasks of the process share one aligner.

    Args:
        pickled: The job, pickled by the driver of the same program.
        model: As for :meth:`ScoringJob.scorer`.
    """
    job: ScoringJob = pickle.loads(pickled)  # noqa: S301 (from our own driver)
    return job.scorer(model, threads=1)


def spark_session(master: str | None = None) -> SparkSession:
    """The running session, such as that of ``spark-submit``, or a new one.

    Args:
        master: Spark's master for a new session; by default all cores of this machine.

    Raises:
        MissingDependencyError: PySpark or Java is not installed.
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
        session = builder.getOrCreate()
    except Exception as error:  # PySpark's and py4j's errors have no common class
        raise MissingDependencyError(
            "Spark does not start; it needs Java 17 or newer, found by JAVA_HOME or on the PATH "
            f"({str(error).partition(chr(10))[0]})"
        ) from error
    if not is_submitted and (master or "local").startswith("local"):
        session.sparkContext.setLogLevel("OFF")  # no Java stacks; the error has the last cause
    return session


def read_frame(session: SparkSession, path: str) -> DataFrame:
    """The rows of a Parquet file or folder.

    Raises:
        DataError: It is missing or cannot be read.
    """
    with one_line_errors(path):
        return session.read.parquet(path)


def score_frame(frame: DataFrame, job: ScoringJob, model: str | None = None) -> DataFrame:
    """Score the rows of a data frame, lazily.

    Args:
        frame: Has the job's columns.
        job: What to score, and how.
        model: The aligner's model file on the driver.

    Returns:
        The keys, ``set_aside`` (why a row has no figures; null if it has some), and one column for
        each figure; see :meth:`BatchScorer.schema`.

    Raises:
        DataError: A column is missing, or does not hold text.
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
    # mapInArrow would take a dot in a column's name for a field of a struct.
    plain = chosen.toDF(*(f"column{number}" for number in range(len(chosen.columns))))
    score = partial(_score_partition, names=chosen.columns, pickled=pickle.dumps(job), model=name)
    return plain.mapInArrow(score, schema)


def _score_partition(
    batches: Iterator[pa.RecordBatch], *, names: list[str], pickled: bytes, model: str | None
) -> Iterator[pa.RecordBatch]:
    from pyspark import SparkFiles

    scorer = worker_scorer(pickled, None if model is None else SparkFiles.get(model))
    named = (pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)
    yield from scorer.score_batches(named)


def write_scored(scored: DataFrame, path: str) -> DataFrame:
    """Write scored rows as Parquet, and rows set aside in a separate folder.

    Args:
        scored: The rows of :func:`score_frame`.
        path: A new folder.

    Returns:
        The rows, read from that folder.

    Raises:
        DataError: The folder exists, or Spark ended with an error.
    """
    from pyspark.sql import functions

    status = functions.when(functions.col(SET_ASIDE).isNull(), "scored").otherwise("set_aside")
    written = scored.withColumn("status", status)
    was_there = Path(path).exists()
    try:
        with one_line_errors(path):
            written.write.partitionBy("status").mode("error").parquet(path)
            return scored.sparkSession.read.schema(written.schema).parquet(path)
    except DataError:
        if not was_there:  # on this machine; elsewhere Spark leaves an empty folder
            shutil.rmtree(path, ignore_errors=True)
        raise


def sample_frame(
    frame: DataFrame, columns: BatchColumns, name: str, cut: CutRow | None = None
) -> Dataset:
    """The first rows that can be scored, for the checks of texts: 2,000 segments, or 50 documents.

    Args:
        frame: The data frame.
        columns: Where the texts are.
        name: The frame's name in messages.
        cut: As for :meth:`BatchColumns.read`.

    Raises:
        DataError: The rows cannot be read.
    """
    with one_line_errors(name):
        first = frame.select(*(f"`{text}`" for text in dict.fromkeys(columns.texts)))
        most = BLOCK_ROWS * (1 if cut else MAX_BLOCKS)
        found = first.limit(most).toArrow().combine_chunks()
    rows = [row for batch in found.to_batches() for row in columns.read(batch, cut=cut).rows]
    names = [f"{name}: column {text}" for text in columns.references]
    source = None if columns.source is None else f"{name}: column {columns.source}"
    dataset = Dataset(lambda: rows, list(columns.hypotheses), names, source)
    for _ in dataset.rows():  # checks need the rows read once
        pass
    return dataset


def sum_frame(scored: DataFrame, scorer: BatchScorer) -> tuple[Result, int]:
    """The sums of scored rows, and the number of rows set aside.

    Sums are exact and rounded once, so they do not depend on partitions.

    Args:
        scored: The rows of :func:`score_frame` or :func:`write_scored`.
        scorer: The scorer.
    """
    chosen = scored.select(SET_ASIDE, *(f"`{name}`" for name in scorer.figures))
    names = {name: metric.statistic_names for name, metric in scorer.figures.items()}
    systems = list(scorer.columns.hypotheses)
    summed = chosen.mapInArrow(
        partial(sum_partition, statistics=names, systems=systems), "sums string"
    )
    with one_line_errors("the scored rows"):
        parts = [json.loads(row["sums"]) for row in summed.toLocalIterator()]
    sums = {
        name: sum(
            (np.array(part["sums"][name], object) for part in parts),
            np.zeros((len(systems), len(ones)), object),
        )
        for name, ones in names.items()
    }
    rounded = {name: (found / FLOATS_IN_ONE)[:, None] for name, found in sums.items()}
    result = scorer.result_of(rounded, sum(part["scored"] for part in parts))
    return result, sum(part["set_aside"] for part in parts)


def collect_frame(scored: DataFrame, scorer: BatchScorer) -> Result:
    """The counts of all segments in the order of the keys, for resampling.

    Args:
        scored: The rows of :func:`score_frame` or :func:`write_scored`.
        scorer: The scorer; its keys give the order.

    Raises:
        DataError: There are no keys, or too many rows for the memory of one machine.
    """
    from pyspark.sql import functions

    if not scorer.columns.keys:
        raise DataError("resampling needs the order of the segments: name a key with --key-col")
    kept = scored.where(functions.col(SET_ASIDE).isNull())
    if (count := kept.count()) > _MAX_COLLECTED:
        raise DataError(
            f"resampling draws from at most {_MAX_COLLECTED:,} rows, but there are {count:,}: "
            "take a sample of them, or leave intervals and tests out"
        )
    ordered = kept.orderBy(*(f"`{key}`" for key in scorer.columns.keys))
    return scorer.result(
        ordered.select(SET_ASIDE, *(f"`{name}`" for name in scorer.figures)).toArrow()
    )


def sum_partition(
    batches: Iterator[pa.RecordBatch],
    *,
    statistics: Mapping[str, Sequence[str]],
    systems: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """The sums of a partition by figure, system and statistic, as one row of JSON."""
    scored = set_aside = 0
    sums = {name: np.zeros((len(systems), len(ones)), object) for name, ones in statistics.items()}
    for batch in batches:
        kept = batch.filter(batch[SET_ASIDE].is_null())
        scored += kept.num_rows
        set_aside += batch.num_rows - kept.num_rows
        for name, names in statistics.items():
            for place, system in enumerate(systems):
                for number, one in enumerate(names):
                    values = _numbers(kept[name], system, one).tolist()
                    sums[name][place, number] += sum(map(_in_least_floats, values))
    totals = {name: found.tolist() for name, found in sums.items()}
    found = {"scored": scored, "set_aside": set_aside, "sums": totals}
    yield pa.RecordBatch.from_pydict({"sums": [json.dumps(found)]})


FLOATS_IN_ONE = 2**1074
"""The number of smallest positive floats in 1: every float is a multiple of it, and whole numbers
add exactly."""


def _in_least_floats(value: float) -> int:
    above, below = value.as_integer_ratio()
    return above * (FLOATS_IN_ONE // below)


_KILLED_WORKER = re.compile(r"Python worker exited|PythonWorkerFactory\.create(Worker|Socket)")
"""Spark's words for a killed worker, or where its stack is if it was killed while it started: then
the message says only that a pipe broke or a stream ended."""


@contextmanager
def one_line_errors(what: str) -> Iterator[None]:
    """Report Spark's errors in one line."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        messages = [line for line in lines if "Error: " in line or "Exception: " in line]
        if _KILLED_WORKER.search(str(error)):
            messages = [
                "a Python worker was killed (out of memory?); give each worker more memory, or use "
                "fewer of them"
            ]
        raise DataError(f"{what}: Spark: {(messages or lines or ['failed'])[-1]}") from error
