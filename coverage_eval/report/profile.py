"""The profile of one output, as it is printed."""

from __future__ import annotations

from coverage_eval.metrics.profile import ROW, Profile
from coverage_eval.metrics.score import nan_to_none
from coverage_eval.tables.table import LazyRows, Printable, Table


def present_profile(profile: Profile) -> Printable:
    """The corpus figures, one row each with what it means."""
    table = Table(
        ROW,
        tuple(item.row for item in profile.figures),
        signatures=tuple(item.signature for item in profile.figures),
    )
    return Printable(
        (table,),
        data={"scores": [item.to_dict() for item in profile.figures]},
        numbers=tuple(item.score.score if item.score else None for item in profile.figures),
    )


def present_profile_segments(profile: Profile) -> Printable:
    """One row a segment, numbered from 1, with a column for each figure.

    An undefined value is an empty cell, in JSON null. JSON has the corpus figures too.
    """
    columns = [
        LazyRows(nan_to_none, item.metric.formula(item.statistics)) for item in profile.figures
    ]
    header = ("segment", *(item.figure.key for item in profile.figures))
    numbers = range(1, len(profile.figures[0].statistics) + 1)
    rows = LazyRows(lambda *row: row, numbers, *columns)
    data = {
        "scores": [item.to_dict() for item in profile.figures],
        "sentences": LazyRows(lambda row: dict(zip(header, row, strict=True)), rows),
    }
    return Printable((Table(header, rows),), data=data)
