"""Experiments of the papers run again, as they are printed."""

from __future__ import annotations

from coverage_eval.published.iris import IrisReproduction
from coverage_eval.tables.printout import Printout
from coverage_eval.tables.table import Table

__all__ = ["present_iris"]


def present_iris(result: IrisReproduction) -> Printout:
    """One row a printed figure, ours beside it; below, whether the printed order comes out."""
    rows = tuple(map(tuple, result.rows()))
    return Printout((Table(result.header, rows, notes=tuple(result.verdicts())),))
