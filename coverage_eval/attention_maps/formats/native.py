"""Our formats: ``.npz`` and JSON Lines, with target × source arrays, tokens and flags.

JSON Lines has one object per segment::

    {"attention": [[0.9, 0.1], [0.0, 1.0]], "source": ["a", "b"], "hypothesis": ["x", "</s>"],
     "tgt_eos": true, "src_eos": false, "level": "bpe", "hard": false}

``attention`` has one list per target token, or is ``[heads, T, S]`` or ``[layers, heads, T, S]``,
from which the user chooses. Everything else is optional, and tokens may be null. Without
``tgt_eos`` and ``src_eos`` the texts must show where EOS is. ``chosen`` names the layer and the
head that a map was chosen from, such as ``{"layer": "1", "head": "mean"}``. ``.npz`` has the arrays
as ``attention_0``, ``attention_1``, … and the rest as JSON in the text array ``segments``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from coverage_eval.attention_maps.dumps import (
    Dump,
    DumpFormat,
    RawMap,
    ReadOptions,
    as_tokens,
)
from coverage_eval.attention_maps.formats.arrays import get_array, open_arrays
from coverage_eval.attention_maps.maps import LEVELS, AttentionMap, one_head
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import atomic_path, atomic_write
from coverage_eval.core.json_objects import as_array, parse_object

ENDINGS = (".npz", ".jsonl")
"""Endings of files of maps."""

_FLAGS = ("tgt_eos", "src_eos", "hard")


def save(maps: Iterable[AttentionMap], path: str | os.PathLike[str]) -> None:
    """Write maps so that :func:`coverage_eval.attention_maps.load` returns them.

    Args:
        maps: One per segment.
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
        raise DataError(f"{os.fspath(path)}: attention maps can be written only as .npz or .jsonl")


def _record(item: AttentionMap) -> dict[str, Any]:
    names = ("source", "hypothesis", "tgt_eos", "src_eos", "level", "hard")
    chosen = {"chosen": dict(item.chosen)} if item.chosen else {}
    return {name: getattr(item, name) for name in names} | chosen


def _is_jsonl(dump: Dump) -> bool:
    return bool(dump.probe) and "attention" in parse_object(dump.probe[0], dump.where(1))


def _is_npz(dump: Dump) -> bool:
    if not dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return False
    with open_arrays(dump) as arrays:
        return "segments" in arrays


def _read_jsonl(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    for where, line in dump.places:
        record = parse_object(line, where)
        if "attention" not in record:
            raise DataError(f"{where}: an object without 'attention'")
        raw = _raw(record, where)
        array = as_array(record["attention"], where, columns=len(raw.source or ()))
        matrix = one_head(array, where, options.layer, options.head)
        yield replace(raw, matrix=matrix)


def _read_npz(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    with open_arrays(dump) as arrays:
        if "segments" not in arrays:
            raise DataError(f"{dump.name}: has no array 'segments'; name its format 'arrays'")
        text, count = get_array(arrays, "segments", dump), len(arrays) - 1
        try:
            records = json.loads(str(text[()]))
        except (ValueError, RecursionError, IndexError, TypeError) as error:
            raise DataError(f"{dump.name}: its array 'segments' is not JSON") from error
        if not isinstance(records, list) or len(records) != count:
            raise DataError(f"{dump.name}: its array 'segments' is not a list of {count} records")
        for index, record in enumerate(records):
            where = f"{dump.name}: array 'attention_{index}'"
            array = get_array(arrays, f"attention_{index}", dump)
            matrix = one_head(array, where, options.layer, options.head)
            yield replace(_raw(record, where), matrix=matrix)


def _raw(record: Any, where: str) -> RawMap:
    """Everything in a record but its matrix."""
    if not isinstance(record, dict):
        raise DataError(f"{where}: its record is not an object")
    for flag in _FLAGS:
        if not isinstance(record.get(flag), bool | None):
            raise DataError(f"{where}: {flag} is neither true nor false")
    level = record.get("level")
    if level is not None and level not in LEVELS:
        raise DataError(f"{where}: level is not one of {', '.join(LEVELS)}")
    chosen = record.get("chosen") or {}
    if not isinstance(chosen, dict) or not all(map(_is_choice, chosen, chosen.values())):
        raise DataError(f"{where}: chosen is no layer and head, counted from 1")
    return RawMap(
        where,
        source=as_tokens(record.get("source"), where),
        hypothesis=as_tokens(record.get("hypothesis"), where),
        tgt_eos=record.get("tgt_eos"),
        src_eos=record.get("src_eos"),
        level=level,
        hard=bool(record.get("hard")),
        chosen=tuple(chosen.items()),
    )


def _is_choice(kind: str, place: object) -> bool:
    is_place = isinstance(place, str) and bool(re.fullmatch("-?[1-9][0-9]{0,8}|mean", place))
    return kind in {"layer", "head"} and is_place


FORMATS = (
    DumpFormat("npz", "coverage-eval .npz", _is_npz, _read_npz, binary=True, several_heads=True),
    DumpFormat("jsonl", "coverage-eval JSON Lines", _is_jsonl, _read_jsonl, several_heads=True),
)
