"""Soft links of a source and a text, made by any aligner or attention: JSON Lines, read in step.

A line is one segment: a row with the coverage of each source word, ``[0.9, 0, 1]``, or a matrix
with a row of source words for each target word, whose sums over target words are the coverage.
Values are 0 or greater, and a coverage above 1 counts as 1. ``attention convert --words`` writes
attention as such matrices; rows and columns of an end-of-sentence token are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from coverage_eval.alignment.link_files import GivenColumn
from coverage_eval.arrays import Floats
from coverage_eval.data.files import Source
from coverage_eval.data.json_objects import parse_json
from coverage_eval.data.numbers import as_array
from coverage_eval.errors import DataError

CoverageSource: TypeAlias = "Source | Sequence[Any]"
"""Soft links of a text: a file of JSON Lines, or an array for each segment."""


class CoverageColumn(GivenColumn[Floats]):
    """Soft links: arrays ``[source words]`` or ``[target words, source words]``."""

    @staticmethod
    def write(segment: Any, where: str) -> str:  # noqa: ARG004 (the line is checked when read)
        """An array as a line of JSON."""
        return json.dumps(np.asarray(segment).tolist())

    @staticmethod
    def parse(line: str, where: str) -> Floats:
        """The array of a line, without rows and columns of an end-of-sentence token."""
        value = parse_json(line, where)
        is_map = isinstance(value, dict) and "attention" in value
        try:
            found = as_array(value["attention"] if is_map else value, where, what="soft links")
        except DataError:
            raise DataError(
                f"{where}: is neither a row of numbers [source words] nor a matrix of them "
                "[target words][source words]"
            ) from None
        if found.ndim not in {1, 2} or not np.isfinite(found).all() or (found < 0).any():
            raise DataError(f"{where}: values are finite numbers from 0, in a row or a matrix")
        if is_map and found.ndim == 2:
            rows, columns = (-1 if value.get(f"{side}_eos") else None for side in ("tgt", "src"))
            found = found[:rows, :columns]
        return found


def coverage_of(
    soft: Floats, source_words: int, target_words: int, side: str, *, sink: bool, where: str
) -> Floats:
    """The coverage of each source word or each target word, 0 to 1.

    Args:
        soft: An array of a :class:`CoverageColumn`.
        source_words: Words of the source, without a sink.
        target_words: Words of the text.
        side: Whose words are covered, ``source`` or ``target``.
        sink: Whether the last column is a sink's.
        where: The line, for messages.

    Raises:
        DataError: An array of another shape; a row when target words are covered.
    """
    width = source_words + sink
    if soft.size == 0 and not (source_words and target_words):  # a side without words
        soft = np.zeros((target_words, width))
    shape = " x ".join(map(str, soft.shape)) if soft.size else "no"
    if soft.shape != ((width,) if soft.ndim == 1 else (target_words, width)):
        raise DataError(
            f"{where}: has {shape} values, but there are "
            f"{target_words} target words and {width} source words; are these the soft links "
            "of this text, in this tokenisation?"
        )
    if side == "source":
        return np.asarray(np.minimum(1.0, np.atleast_2d(soft).sum(axis=0)[:source_words]))
    if soft.ndim == 1:
        raise DataError(f"{where}: a row of source words does not say what covers the target's")
    return np.asarray(np.minimum(1.0, soft[:, :source_words].sum(axis=1)))
