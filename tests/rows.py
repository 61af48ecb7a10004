"""Rows and batches of one system's texts, made from lists."""

from __future__ import annotations

from typing import Any

from coverage_eval.core.batches import Row, Texts


def make_text_rows(hypotheses: Any, references: Any = None, sources: Any = None) -> list[Row]:
    """One row for each segment."""
    return list(Texts.from_lists({"the hypothesis": hypotheses}, references, sources).rows())
