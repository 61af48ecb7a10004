"""Bare arrays: ``.npy``, ``.npz``, and JSON Lines of nested lists, without tokens.

In JSON Lines, each line is one segment: ``[[…], …]``, or with more brackets ``[heads, T, S]`` or
``[layers, heads, T, S]``. NumPy files likewise have one array per segment, in the order of their
numbers; but an array with three dimensions is a stack of segments unless a head is chosen. The
texts decide what is EOS, and whether rows or columns are the target.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coverage_eval.attention_maps.dumps import Dump, DumpFormat, RawMap, ReadOptions
from coverage_eval.attention_maps.maps import one_head
from coverage_eval.core.errors import DataError
from coverage_eval.core.json_objects import as_array, parse_json
from fast_align_wrapper.files import check_inflation

_NESTED = re.compile(r"\s*\[\s*[\[\]]")


@contextmanager
def open_arrays(dump: Dump) -> Iterator[Mapping[str, Any]]:
    """Open the arrays of an ``.npz``, or the one of an ``.npy``; each is read on access.

    Raises:
        DataError: Neither, damaged, or with Python objects, which are not loaded; also raised on
            access to an array.
    """
    if not _is_archive(dump):
        raise DataError(f"{dump.name}: not a file of NumPy arrays")
    try:
        if zipfile.is_zipfile(dump.path):
            with zipfile.ZipFile(dump.path) as archive:
                unpacked = sum(item.file_size for item in archive.infolist())
            check_inflation(dump.path, Path(dump.path).stat().st_size, unpacked, DataError)
        loaded = np.load(dump.path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            yield {"": loaded}
        else:
            with loaded:
                yield loaded
    except DataError:
        raise
    except Exception as error:  # zip, zlib, lzma, struct and NumPy's headers each have theirs
        reason = str(error).replace("\n", " ")[:200]
        raise DataError(f"{dump.name}: damaged file of NumPy arrays ({reason!a})") from error


def _is_archive(dump: Dump) -> bool:
    return dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY"))


def _read_archive(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    with open_arrays(dump) as arrays:
        for name in sorted(arrays, key=lambda name: (len(name), name)):
            where = f"{dump.name}: array {name!a}" if name else dump.name
            array = arrays[name]
            stack = np.ndim(array) == 3 and options.head is None and options.layer is None
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
        "arrays", "NumPy .npy or .npz of bare arrays", _is_archive, _read_archive,
        bare=True, several_heads=True, count_hint=_STACKS,
    ),
    DumpFormat(
        "json-arrays", "JSON Lines of bare matrices or nested lists", _is_lines, _read_lines,
        bare=True, several_heads=True,
    ),
)  # fmt: skip
