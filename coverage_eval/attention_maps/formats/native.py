"""Our own formats: ``.npz`` and JSON Lines, with target × source arrays, tokens and flags.

JSON Lines has one object a segment::

    {"attention": [[0.9, 0.1], [0.0, 1.0]], "source": ["a", "b"], "hypothesis": ["x", "</s>"],
     "tgt_eos": true, "src_eos": false, "level": "bpe", "hard": false}

``attention`` has one list a target token; all else may be left out, and tokens may be null. Without
``tgt_eos`` and ``src_eos`` the texts must settle what is EOS. ``.npz`` has the arrays as
``attention_0``, ``attention_1``, … and the rest as JSON in the text array ``segments``. Bare
arrays, as in a ``.npy`` of one map or of a stack, are read too; the texts settle how they lie.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from coverage_eval.attention_maps.formats.parsing import as_matrix, as_tokens, parse_object
from coverage_eval.attention_maps.formats.raw import (
    ORIENTATIONS,
    Dump,
    Format,
    Layout,
    RawMap,
    ReadOptions,
)
from coverage_eval.attention_maps.maps import LEVELS, AttentionMap, Weights
from coverage_eval.errors import DataError
from coverage_eval.text.files import atomic_path, atomic_write

__all__ = ["ARRAYS", "JSONL", "NPZ", "save"]

_FLAGS = ("tgt_eos", "src_eos", "hard")


def save(maps: Iterable[AttentionMap], path: str | os.PathLike[str]) -> None:
    """Write maps so that :func:`coverage_eval.attention_maps.load` gives them back.

    Args:
        maps: One a segment.
        path: Ends in ``.npz`` or ``.jsonl``.

    Raises:
        DataError: Another ending, or the file cannot be written.
    """
    ending = os.path.splitext(path)[1]  # noqa: PTH122 (text or Path)
    if ending == ".jsonl":
        with atomic_write(path) as file:
            for item in maps:
                record = {"attention": item.weights.tolist(), **_record(item)}
                file.write(json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n")
    elif ending == ".npz":
        kept = list(maps)
        arrays: dict[str, Any] = {f"attention_{i}": item.weights for i, item in enumerate(kept)}
        records = np.array(json.dumps([_record(item) for item in kept], ensure_ascii=False))
        with atomic_path(path) as temporary, temporary.open("wb") as out:
            np.savez_compressed(out, segments=records, **arrays)
    else:
        raise DataError(f"{os.fspath(path)}: attention maps are written as .npz or .jsonl")


def _record(item: AttentionMap) -> dict[str, Any]:
    return {
        "source": item.source,
        "hypothesis": item.hypothesis,
        "tgt_eos": item.tgt_eos,
        "src_eos": item.src_eos,
        "level": item.level,
        "hard": item.hard,
    }


def _is_jsonl(dump: Dump) -> bool:
    return bool(dump.probe) and "attention" in parse_object(dump.probe[0], dump.where(1))


def _is_npz(dump: Dump) -> bool:
    return dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and "segments" in _archive(dump)


def _read_jsonl(dump: Dump, _: ReadOptions) -> list[RawMap]:
    raws = []
    for number, line in enumerate(dump.lines, start=1):
        where = dump.where(number)
        record = parse_object(line, where)
        if "attention" not in record:
            raise DataError(f"{where}: an object without 'attention'")
        raw = _raw(record, where)
        columns = len(raw.source) if raw.source is not None else None
        matrix = as_matrix(record["attention"], where, columns=columns)
        raws.append(replace(raw, matrix=matrix))
    return raws


def _read_npz(dump: Dump, _: ReadOptions) -> list[RawMap]:
    arrays = _archive(dump)
    if "segments" not in arrays:
        raise DataError(f"{dump.name}: has no array 'segments'; name its format 'arrays'")
    records = _records(arrays.pop("segments"), dump, len(arrays))
    raws = []
    for index, record in enumerate(records):
        where = f"{dump.name}: array 'attention_{index}'"
        array = arrays.get(f"attention_{index}")
        raws.append(replace(_raw(record, where), matrix=_matrix(array, where)))
    return raws


def _is_arrays(dump: Dump) -> bool:
    return dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY"))


def _read_arrays(dump: Dump, _: ReadOptions) -> list[RawMap]:
    arrays = _archive(dump)
    raws = []
    for name in sorted(arrays, key=lambda name: (len(name), name)):
        array = arrays[name]
        parts = array if array.ndim == 3 else [array]
        for number, part in enumerate(parts, start=1):
            where = f"{dump.name}: array {name!a}, part {number}"
            raws.append(RawMap(where, matrix=_matrix(part, where)))
    return raws


def _matrix(array: Any, where: str) -> Weights:
    if array is None or array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(f"{where}: not a two-dimensional array of numbers")
    matrix: Weights = array.astype(np.float64)
    return matrix


def _archive(dump: Dump) -> dict[str, Any]:
    """The arrays of an ``.npz``, or the one of an ``.npy``; Python objects are refused."""
    if not _is_arrays(dump):
        raise DataError(f"{dump.name}: not a file of NumPy arrays")
    try:
        loaded = np.load(dump.path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        with loaded as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # zip, zlib, lzma, struct and NumPy's header parser each have theirs
        reason = str(error).replace("\n", " ")[:200]
        raise DataError(f"{dump.name}: damaged file of NumPy arrays ({reason!a})") from error


def _records(text: Any, dump: Dump, count: int) -> list[Any]:
    try:
        records = json.loads(str(text[()]))
    except (ValueError, RecursionError, IndexError, TypeError) as error:
        raise DataError(f"{dump.name}: its array 'segments' is not JSON") from error
    if not isinstance(records, list) or len(records) != count:
        raise DataError(f"{dump.name}: its array 'segments' is not a list of {count} records")
    return records


def _raw(record: Any, where: str) -> RawMap:
    """What a record says, its matrix aside."""
    if not isinstance(record, dict):
        raise DataError(f"{where}: its record is not an object")
    for flag in _FLAGS:
        if not isinstance(record.get(flag), bool | None):
            raise DataError(f"{where}: {flag} is neither true nor false")
    level = record.get("level")
    if level is not None and level not in LEVELS:
        raise DataError(f"{where}: level is none of {', '.join(LEVELS)}")
    return RawMap(
        where,
        source=as_tokens(record.get("source"), where),
        hypothesis=as_tokens(record.get("hypothesis"), where),
        tgt_eos=record.get("tgt_eos"),
        src_eos=record.get("src_eos"),
        level=level,
        hard=bool(record.get("hard")),
    )


JSONL = Format(
    name="jsonl",
    title="coverage-eval JSON Lines",
    layout=Layout(),
    recognise=_is_jsonl,
    read=_read_jsonl,
)
NPZ = Format(
    name="npz",
    title="coverage-eval .npz",
    layout=Layout(),
    recognise=_is_npz,
    read=_read_npz,
    binary=True,
)
ARRAYS = Format(
    name="arrays",
    title=".npz or .npy of bare arrays",
    layout=Layout(orientations=ORIENTATIONS),
    recognise=_is_arrays,
    read=_read_arrays,
    binary=True,
)
