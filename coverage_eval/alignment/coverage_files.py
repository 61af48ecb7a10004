"""Soft links of a source and a text, made by any aligner or attention: JSON Lines, read in step.

A line is one segment: a row with the coverage of each source word, ``[0.9, 0, 1]``, or a matrix
with a row of source words for each target word, whose sums over target words are the coverage.
Values are 0 or greater, and a coverage above 1 counts as 1. Attention that ``attention convert
--words`` writes as JSON Lines is such a matrix; its row and column of the end are left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.files import STDIN, Source, check_source, read_segments, source_name
from coverage_eval.data.tables import parse_json
from coverage_eval.errors import DataError

Floats = NDArray[np.float64]

CoverageSource: TypeAlias = "Source | Sequence[Any]"
"""Soft links of a text: a file of JSON Lines, or an array for each segment."""


class CoverageColumn:
    """The soft links of source and one text, from a file or from memory.

    Iterating gives each line's number, counted from 1, and its array, ``[source words]`` or
    ``[target words, source words]``.
    """

    def __init__(self, soft: CoverageSource, name: str) -> None:
        self._file: Source | None = None
        self._lines: list[str] | None = None
        if isinstance(soft, (str, os.PathLike)):
            name, self._file = source_name(soft), soft
            check_source(soft)
            if str(soft) == STDIN or not Path(soft).is_file():  # it can be read only once
                self._lines = list(read_segments(soft))
        else:
            # As text, so that arrays in memory are checked and signed like those of a file.
            self._lines = [json.dumps(np.asarray(one).tolist()) for one in soft]
        self.name = name

    def _texts(self) -> Iterator[str]:
        if self._lines is not None:
            return iter(self._lines)
        assert self._file is not None
        return read_segments(self._file)

    def __iter__(self) -> Iterator[tuple[int, Floats]]:
        for number, line in enumerate(self._texts(), start=1):
            yield number, _array(line, f"{self.name}: line {number}")

    @cached_property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the lines, which signatures name."""
        found = sha256()
        for line in self._texts():
            found.update(line.encode() + b"\n")
        return found.hexdigest()[:8]


def _array(line: str, where: str) -> Floats:
    value = parse_json(line, where)
    is_map = isinstance(value, dict) and "attention" in value
    try:
        found = np.array(value["attention"] if is_map else value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{where}: is neither a row of numbers [source words] nor a matrix of them "
            "[target words][source words]"
        ) from None
    if found.ndim not in {1, 2} or not np.isfinite(found).all() or (found < 0).any():
        raise DataError(f"{where}: values are finite numbers from 0, in a row or a matrix")
    if is_map and found.ndim == 2:
        found = found[
            : -1 if value.get("tgt_eos") else None, : -1 if value.get("src_eos") else None
        ]
    return found


def coverage_columns(
    soft: CoverageSource | Sequence[Source] | Mapping[str, CoverageSource], name: str
) -> list[CoverageColumn]:
    """The columns of the soft links of one text, or of several by name.

    Args:
        soft: A file, an array for each segment, several files, or a mapping from names to these.
        name: What arrays in memory are called in messages.

    Raises:
        DataError: An unreadable file.
        TypeError: Neither files nor arrays.
    """
    if isinstance(soft, (str, os.PathLike)):
        return [CoverageColumn(soft, name)]
    if isinstance(soft, Mapping):
        return [CoverageColumn(one, name) for one in soft.values()]
    if not isinstance(soft, Iterable):
        raise TypeError(f"{name}: a file or a list with an array for each segment, not {soft!r}")
    listed = list(soft)
    if not listed or isinstance(listed[0], (str, os.PathLike)):
        return [CoverageColumn(file, name) for file in listed]
    return [CoverageColumn(listed, name)]
