"""Systems compared, as they are printed: one table with intervals and p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.testing import Cell as Figure
from coverage_eval.metrics.score import interval_ends
from coverage_eval.tables.table import Cell, Printable, RowLabel, ScoreCell, Table, tables_as_dicts

_TESTS = {
    "bootstrap": "sacreBLEU's paired bootstrap, with some 10 % false positives at 0.05",
    "randomization": "approximate randomisation, two-sided",
}
_RECORDS = (
    "system", "metric", "score", "low", "high", "difference", "p", "p_holm", "best", "better",
    "baseline", "signature",
)  # fmt: skip


def present_comparison(comparison: Compared, breakdowns: Sequence[Table] = ()) -> Printable:
    """The table with its notes and the metrics' signatures, and breakdowns.

    CSV, being one table, has no place for breakdowns.
    """
    tables = {"breakdowns": tables_as_dicts(breakdowns)} if breakdowns else {}
    table = _main_table(comparison)
    cells = (cell for row in table.rows for cell in row)
    return Printable(
        (table, *breakdowns),
        records=None if breakdowns else Table(_RECORDS, tuple(_records(comparison))),
        data=comparison_as_dict(comparison) | tables,
        numbers=tuple(cell.value for cell in cells if isinstance(cell, ScoreCell)),
    )


def _main_table(comparison: Compared) -> Table:
    metrics = comparison.metrics.values()
    arrows = [f"{metric.name} {'↑' if metric.higher_is_better else '↓'}" for metric in metrics]
    rows = tuple(
        (
            RowLabel(system, "(baseline)") if system == comparison.baseline else system,
            *map(_measured, figures.values()),
        )
        for system, figures in comparison.rows.items()
    )
    return Table(
        ("system", *arrows),
        rows,
        notes=tuple(comparison_notes(comparison)),
        signatures=tuple(comparison.signatures.values()),
        caption=f"{_listed([metric.name for metric in metrics])} scores.",
    )


def _measured(figure: Figure) -> ScoreCell:
    score = figure.score
    return ScoreCell(score.score, *interval_ends(score.interval), figure.adjusted, figure.best)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _figures(comparison: Compared) -> Iterator[tuple[str, Figure]]:
    """System and figure of every cell."""
    for system, figures in comparison.rows.items():
        for figure in figures.values():
            yield system, figure


def comparison_as_dict(comparison: Compared) -> dict[str, Any]:
    """The comparison as plain values, its scores in the schema of single scores."""
    testing = comparison.testing
    return {
        "baseline": comparison.baseline,
        "segments": comparison.segments,
        "test": testing.test if testing.resamples else None,
        "resamples": testing.resamples,
        "seed": testing.seed,
        "notes": comparison_notes(comparison),
        "scores": [
            {
                **figure.score.to_dict(),
                "best": figure.best,
                "difference": figure.difference,
                "p_value": figure.p_value,
                "p_value_holm": figure.adjusted,
            }
            for _, figure in _figures(comparison)
        ],
    }


def comparison_notes(comparison: Compared) -> list[str]:
    """What must be known to read the figures: one sentence a line."""
    testing = comparison.testing
    notes = [f"{comparison.segments:,} segments."]
    if testing.resamples == 0:
        return notes
    drawn = f"{testing.resamples:,} resamples, seed {testing.seed}"
    notes.append(f"[low, high]: 95 % interval (percentile bootstrap, {drawn}).")
    others = len(comparison.rows) - 1
    if others:
        what = f"{_TESTS[testing.test]}, {drawn}"
        correction = (
            f"Holm-corrected, in each metric, over the {others} systems compared with it"
            if others > 1
            else "one system, no correction"
        )
        notes.append(f"p: against {comparison.baseline} ({what}; {correction}).")
    return notes


def _records(comparison: Compared) -> Iterator[tuple[Cell, ...]]:
    for system, figure in _figures(comparison):
        score = figure.score
        yield (
            system,
            score.metric,
            score.score,
            *interval_ends(score.interval),
            figure.difference,
            figure.p_value,
            figure.adjusted,
            "yes" if figure.best else "no",
            "higher" if score.higher_is_better else "lower",
            comparison.baseline,
            str(score.signature),
        )
