"""Experiments of the papers run again, as they are printed."""

from __future__ import annotations

from pathlib import Path

from coverage_eval.attention_maps.load import load
from coverage_eval.digits.accuracy import ATTENTIONS, DigitsResult
from coverage_eval.published.iris import IrisReproduction
from coverage_eval.published.timing import TimingReproduction
from coverage_eval.report.pictures import save_figure
from coverage_eval.tables.table import Printable, Table


def present_iris(result: IrisReproduction) -> Printable:
    """One row a printed figure, ours beside it; below, whether the printed order comes out."""
    rows = tuple(map(tuple, result.rows()))
    return Printable((Table(result.header, rows, notes=tuple(result.verdicts())),))


def present_digits(result: DigitsResult) -> Printable:
    """One row an attention, the printed accuracy beside ours; below, the signature of each."""
    rows = tuple(map(tuple, result.rows()))
    notes, signatures = tuple(result.verdicts()), tuple(result.signatures())
    return Printable((Table(result.header, rows, notes=notes, signatures=signatures),))


def draw_digits(folder: Path) -> None:
    """Figures 2 and 3 of Madsen et al. (2017): attention for one validation example."""
    from coverage_eval.plotting import attention_heatmap
    from coverage_eval.plotting.canvas import figure_of

    for attention in ATTENTIONS:
        item = load(folder / f"{attention}.attention.jsonl")[0]
        labels = (item.source_labels, item.hypothesis_labels)
        ax = attention_heatmap(item.weights, *labels, repeated=(), dropped=(), title=attention)
        save_figure(figure_of(ax), folder / f"{attention}.png", tight=True)


def present_timing(result: TimingReproduction) -> Printable:
    """One row for each data and implementation."""
    rows = tuple(map(tuple, result.rows()))
    table = Table(
        result.header, rows, notes=tuple(result.notes()), signatures=tuple(result.signatures())
    )
    return Printable((table,))
