"""Bare arrays: ``.npy``, ``.npz``, and JSON Lines of nested lists, without tokens.

In JSON Lines, each line is one segment: ``[[…], …]``, or with more brackets ``[heads, T, S]`` or
``[layers, heads, T, S]``. Arrays of NumPy are the same, one a segment in the order of their
numbers, except that one with three dimensions is a stack of segments unless a head is chosen.
The texts settle EOS, and which of rows and columns is the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from coverage_eval.attention_maps.array_files import load_arrays
from coverage_eval.attention_maps.dumps import (
    ORIENTATIONS,
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
)
from coverage_eval.attention_maps.heads import one_head
from coverage_eval.attention_maps.parsing import as_array
from coverage_eval.errors import DataError
from coverage_eval.text.json_text import parse_json

__all__ = ["FORMATS", "read_archive"]

_NESTED = re.compile(r"\s*\[\s*[\[\]]")


def read_archive(dump: Dump) -> dict[str, Any]:
    """The arrays of an ``.npz``, or the one of an ``.npy``, by name.

    Raises:
        DataError: Neither, or damaged, or there are Python objects in it, which are not loaded.
    """
    if not _is_archive(dump):
        raise DataError(f"{dump.name}: not a file of NumPy arrays")
    try:
        loaded = load_arrays(dump.path)
        if isinstance(loaded, np.ndarray):
            return {"": loaded}
        with loaded as archive:
            arrays = {name: archive[name] for name in archive.files}
    except DataError:
        raise
    except Exception as error:  # zip, zlib, lzma, struct and NumPy's header parser each have theirs
        reason = str(error).replace("\n", " ")[:200]
        raise DataError(f"{dump.name}: damaged file of NumPy arrays ({reason!a})") from error
    others = [name for name, array in arrays.items() if not isinstance(array, np.ndarray)]
    if others:  # any zip file looks like an archive of arrays
        raise DataError(f"{dump.name}: a zip file of {others[0]!a}, which is no NumPy array")
    return arrays


def _is_archive(dump: Dump) -> bool:
    return dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY"))


def _read_archive(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    arrays = read_archive(dump)
    for name in sorted(arrays, key=lambda name: (len(name), name)):
        where = f"{dump.name}: array {name!a}" if name else dump.name
        array = arrays[name]
        stack = array.ndim == 3 and options.head is None and options.layer is None
        for number, part in enumerate(array if stack else [array], start=1):
            place = f"{where}: part {number} of a stack" if stack else where
            yield RawMap(place, matrix=one_head(part, place, options.layer, options.head))


def _is_lines(dump: Dump) -> bool:
    return bool(dump.probe) and bool(_NESTED.match(dump.probe[0]))


def _read_lines(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    for where, line in dump.places:
        array = as_array(parse_json(line, where), where)
        yield RawMap(where, matrix=one_head(array, where, options.layer, options.head))


_STACKS = (
    "an array of three dimensions is read as a stack of segments; if it is [heads, T, S], choose "
    "with --head"
)

FORMATS = (
    DumpFormat(
        "arrays",
        "NumPy .npy or .npz of bare arrays",
        _is_archive,
        _read_archive,
        Layout(orientations=ORIENTATIONS, count_hint=_STACKS),
        binary=True,
        several_heads=True,
    ),
    DumpFormat(
        "json-arrays",
        "JSON Lines of bare matrices or nested lists",
        _is_lines,
        _read_lines,
        Layout(orientations=ORIENTATIONS),
        several_heads=True,
    ),
)
