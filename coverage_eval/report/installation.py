"""What is installed, as it is printed."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.diagnosis import Part
from coverage_eval.tables.table import Printable, Table


def present_findings(findings: Sequence[Part]) -> Printable:
    """One row for each part of the installation, with the command that adds what is missing."""
    header = ("part", "found", "needed_for", "ok", "remedy")
    rows = [(item.part, item.found, item.needed_for, item.ok, item.remedy) for item in findings]
    shown = tuple((p, f or "missing", n, "yes" if ok else "no", r) for p, f, n, ok, r in rows)
    return Printable(
        (Table(header, shown),), data=[dict(zip(header, r, strict=True)) for r in rows]
    )
