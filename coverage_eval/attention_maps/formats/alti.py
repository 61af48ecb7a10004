"""ALTI+ of stopes: JSON Lines with the contributions of source and target prefix.

``contributions`` is target × (source + target prefix), and its first ``len(src_toks)`` columns are
kept. ``pred_toks`` are the tokens that the rows predict; ``tgt_toks`` are those that the decoder
reads, one position behind. Rows sum to less than 1, because the target prefix has the rest. The
pairs of ``alignment``, (target, source), are not needed here.
Source: facebookresearch/stopes, stopes/eval/alti.
"""

from __future__ import annotations

from collections.abc import Iterator

from coverage_eval.attention_maps.dumps import (
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
    as_tokens,
)
from coverage_eval.data.json_objects import parse_object
from coverage_eval.data.numbers import as_array
from coverage_eval.errors import DataError


def _recognise(dump: Dump) -> bool:
    return bool(dump.probe) and "contributions" in parse_object(dump.probe[0], dump.name)


def _read(dump: Dump, _: ReadOptions) -> Iterator[RawMap]:
    for where, line in dump.places:
        record = parse_object(line, where)
        source, fed, predicted = (
            as_tokens(record.get(name), where) for name in ("src_toks", "tgt_toks", "pred_toks")
        )
        if "contributions" not in record or source is None or (fed is None and predicted is None):
            raise DataError(f"{where}: no ALTI+ record with contributions, src_toks and pred_toks")
        size = len(source)
        matrix = as_array(record["contributions"], where, columns=size)
        if matrix.ndim != 2:
            raise DataError(f"{where}: contributions are not a list of rows")
        rows, columns = matrix.shape
        prefixed = size + (len(fed) if fed is not None else rows)
        if columns not in {size, prefixed}:
            raise DataError(
                f"{where}: contributions have {columns} columns, neither {size} (source) nor "
                f"{prefixed} (source and target prefix)"
            )
        hypothesis = next((t for t in (predicted, fed) if t is not None and len(t) == rows), None)
        if hypothesis is None:
            raise DataError(
                f"{where}: contributions have {rows} rows, which fits neither pred_toks nor "
                "tgt_toks"
            )
        yield RawMap(where, matrix=matrix[:, :size], source=source, hypothesis=hypothesis)


FORMATS = (
    DumpFormat("alti", "stopes ALTI+ JSON Lines", _recognise, _read, Layout(whole_rows=False)),
)
