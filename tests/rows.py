"""Rows and batches of one system, from lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coverage_eval.data.dataset import Batch, Row, make_rows


def make_text_rows(hypotheses: Any, references: Any = None, sources: Any = None) -> list[Row]:
    """The rows of one system's texts."""
    return make_rows({"the hypothesis": hypotheses}, references, sources)


def make_batch(rows: Sequence[Row]) -> Batch:
    """One batch of some rows."""
    return Batch(list(rows))
