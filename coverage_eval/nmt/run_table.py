"""The table of a run's systems, of those that are there, and the same figures as CSV files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.comparison.comparison import Comparison, compare
from coverage_eval.comparison.presentation import present_comparison
from coverage_eval.data.files import atomic_write, read_segments
from coverage_eval.errors import DataError
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.registry import default_metrics, make_metric
from coverage_eval.nmt.experiment import hypotheses_of
from coverage_eval.nmt.roster import System
from coverage_eval.nmt.run_folder import RunFolder
from coverage_eval.published.tables import load_table
from coverage_eval.tables.formats import render


@dataclass(frozen=True)
class RunTable:
    """Scores of a run.

    Attributes:
        comparison: Systems by metrics, with intervals and tests against the first system.
        note: Why METEOR is not among the metrics; None if it is.
    """

    comparison: Comparison
    note: str | None


def score_run(run: RunFolder, table: str, systems: Sequence[System]) -> RunTable:
    """Score the systems that are finished, and write ``TABLE.csv`` and ``TABLE.scores.csv``.

    BLEU is lowercased and of the tokens as they are, as the authors' scripts compute it; METEOR,
    REP and DROP have their defaults. DROP's links are by a model of the training text's words.

    Args:
        run: The run.
        table: ``table1`` or ``table2``.
        systems: The rows to look for.

    Raises:
        DataError: None of them is finished.
    """
    hypotheses = hypotheses_of(run, systems)
    if not hypotheses:
        raise DataError(f"{run.path}: no system of {table} is finished yet")
    with Aligner.load(run.path / "prepared" / "words.model") as aligner:
        metrics, note = _metrics(aligner)
        comparison = compare(
            hypotheses,
            list(read_segments(run.path / "test.ref")),
            list(read_segments(run.path / "test.src")),
            aligner,
            metrics=metrics,
        )
    with atomic_write(run.path / f"{table}.csv") as file:
        file.write(render(present_comparison(comparison), "csv", width=6) + "\n")
    _write_scores(run, table, comparison)
    return RunTable(comparison, note)


def _metrics(aligner: Aligner) -> tuple[list[Metric], str | None]:
    names, missing = default_metrics(aligned=True)
    settings = {"bleu": {"tokenize": "none", "lowercase": True}}
    made = [make_metric(name, {"aligner": aligner, **settings.get(name, {})}) for name in names]
    return made, missing


def _write_scores(run: RunFolder, table: str, comparison: Comparison) -> None:
    printed = load_table(table).cells
    with atomic_write(run.path / f"{table}.scores.csv") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("system", "dataset", "metric", "value"))
        for system, cells in comparison.rows.items():
            for cell in cells.values():
                key = (system, run.settings.dataset, cell.score.metric)
                if key in printed:  # Table 2 has neither REP nor DROP
                    writer.writerow((*key, round(cell.score.score, 4)))
