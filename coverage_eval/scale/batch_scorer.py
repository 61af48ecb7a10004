"""The engine-free core: batches of rows in, batches of segment statistics and evidence out.

Batches are Arrow's, which Spark, Ray, Polars, pandas and ``datasets`` all give and take. Every row
that comes in goes out once, with its keys: with figures, or with the reason why it has none.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, tee
from typing import Any

import numpy as np

from coverage_eval.data.rows import Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.base import Formula
from coverage_eval.scale.arrow import pa
from coverage_eval.scale.batch_figures import BatchFigure, MeasuredRows, batch_figure
from coverage_eval.scale.text_columns import BatchColumns, ReadBatch

SET_ASIDE = "set_aside"
"""The column with the reason why a row has no figures."""


@dataclass(frozen=True)
class BatchScorer:
    """Scores batches of rows by some figures.

    >>> import coverage_eval as ce
    >>> columns = BatchColumns({"mine": "hyp"}, ("ref",), keys=("id",))
    >>> table = pa.table({"id": [7, 8], "hyp": ["a red red house", None], "ref": ["a house", ""]})
    >>> one, other = BatchScorer(columns, {"rep": ce.REP()}).score_table(table).to_pylist()
    >>> one["rep"]["mine"]["repeated_words"], other["id"], other["set_aside"]
    (1, 8, 'hyp: there is no text')

    Args:
        columns: Where the texts are.
        figures: Metrics by name, or the share of segments with omissions.
        evidence: Whether evidence is kept, as JSON.
    """

    columns: BatchColumns
    figures: Mapping[str, Formula]
    evidence: bool = True

    def schema(self, given: pa.Schema) -> pa.Schema:
        """The columns of scored batches: keys, the reason, and a figure each.

        A figure is a struct with a field for each system, itself a struct of ``score`` (null where
        undefined), the statistics by name, and ``evidence``.

        Args:
            given: Of the batches to be scored.

        Raises:
            DataError: They lack a column, or it holds no text.
        """
        self.columns.check(given)
        keys = [given.field(name) for name in self.columns.keys]
        names = [*self.columns.keys, SET_ASIDE, *self.figures]
        if len(set(names)) < len(names):
            raise DataError(f"two columns of the result have one name: {', '.join(names)}")
        figures = [
            pa.field(
                name, pa.struct([(system, self._kind(name)) for system in self.columns.hypotheses])
            )
            for name in self.figures
        ]
        return pa.schema([*keys, pa.field(SET_ASIDE, pa.string()), *figures])

    def _kind(self, name: str) -> pa.StructType:
        formula = self.figures[name]
        kind = pa.from_numpy_dtype(formula.statistic_type)
        fields = [("score", pa.float64()), *((one, kind) for one in formula.statistic_names)]
        return pa.struct([*fields, *([("evidence", pa.string())] if self.evidence else [])])

    def score_table(self, table: pa.Table) -> pa.Table:
        """Score a table; each row stands where it stood.

        Raises:
            DataError: As :meth:`schema`.
            AlignerError: The aligner failed.
        """
        schema = self.schema(table.schema)
        batches = self.score_batches(table.combine_chunks().to_batches())
        return pa.Table.from_batches(batches, schema)

    def score_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Score a stream of batches, of which few are held; one aligner serves all of them.

        Raises:
            DataError, AlignerError: As :meth:`score_table`.
        """
        reads = map(self.columns.read, batches)
        observers = {figure.observes: figure for figure in self._made.values()}
        mine, *theirs = tee(reads, 1 + len(observers))
        streams = {
            what: figure.observe(_rows(copy))
            for (what, figure), copy in zip(observers.items(), theirs, strict=True)
        }
        for read in mine:
            yield self._scored(
                read, {what: list(islice(one, len(read.rows))) for what, one in streams.items()}
            )
        for stream in streams.values():
            next(stream, None)  # an aligner that ends badly is told of

    @cached_property
    def _made(self) -> dict[str, BatchFigure]:
        return {name: batch_figure(formula) for name, formula in self.figures.items()}

    def _scored(self, read: ReadBatch, observed: Mapping[str, list[Any]]) -> pa.RecordBatch:
        good = np.array([reason is None for reason in read.reasons], dtype=bool)
        places = pa.array(np.cumsum(good) - 1, mask=~good)
        columns = {name: read.batch.column(name) for name in self.columns.keys}
        columns[SET_ASIDE] = pa.array(read.reasons, pa.string())
        for name, figure in self._made.items():
            seen = observed[figure.observes]
            measured = figure.measure(seen, len(self.columns.hypotheses), explain=self.evidence)
            columns[name] = self._column(name, measured).take(places)
        return pa.RecordBatch.from_arrays(list(columns.values()), list(columns))

    def _column(self, name: str, measured: MeasuredRows) -> pa.StructArray:
        kind = list(self._kind(name))
        systems = []
        for number, (statistics, scores) in enumerate(
            zip(measured.statistics, measured.scores, strict=True)
        ):
            cells = [pa.array(scores, pa.float64())]
            cells += [pa.array(values) for values in statistics.T]
            if self.evidence:
                found = [json.dumps(row[number], ensure_ascii=False) for row in measured.evidence]
                cells.append(pa.array(found, pa.string()))
            systems.append(pa.StructArray.from_arrays(cells, fields=kind))
        return pa.StructArray.from_arrays(systems, list(self.columns.hypotheses))


def _rows(reads: Iterable[ReadBatch]) -> Iterator[Row]:
    for read in reads:
        yield from read.rows
