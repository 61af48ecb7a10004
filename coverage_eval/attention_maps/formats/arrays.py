"""Bare arrays: ``.npy``, ``.npz``, and JSON Lines of nested lists, without tokens.

In JSON Lines, each line is one segment: ``[[…], …]``, or with more brackets ``[heads, T, S]`` or
``[layers, heads, T, S]``. NumPy files likewise have one array per segment, in the order of their
numbers; but an array with three dimensions is a stack of segments unless a head is chosen. The
texts decide what is EOS, and whether rows or columns are the target.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from coverage_eval.attention_maps.dumps import (
    ORIENTATIONS,
    Dump,
    DumpFormat,
    Layout,
    RawMap,
    ReadOptions,
)
from coverage_eval.attention_maps.maps import check_size, one_head
from coverage_eval.core.errors import DataError
from coverage_eval.core.json_objects import as_array, parse_json
from fast_align_wrapper.files import check_inflation

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_NESTED = re.compile(r"\s*\[\s*[\[\]]")


def load_arrays(path: str | Path) -> Any:
    """Load an ``.npz`` or ``.npy`` by :func:`numpy.load`, refusing Python objects.

    NumPy allocates whatever a header asks for, so sizes are checked first.

    Raises:
        DataError: Arrays are larger than the file can hold.
        Exception: Whatever NumPy and its decompressors raise.
    """
    size = Path(path).stat().st_size
    if not Path(path).is_file():
        raise DataError(f"{path}: not a regular file, so it cannot be read as arrays")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            check_inflation(path, size, sum(item.file_size for item in members), DataError)
            for item in members:
                with archive.open(item) as member:
                    _check_header(member, item.file_size, f"{path}: array {item.filename!a}")
    else:
        with Path(path).open("rb") as file:
            _check_header(file, size, str(path))
    return np.load(path, allow_pickle=False)


def _check_header(file: IO[bytes], size: int, where: str) -> None:
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise DataError(f"{where}: an array with named fields, which attention never has")
    shape, _, dtype = _HEADERS[version](file)
    if len(shape) > 1:
        check_size(shape[-2], shape[-1], where)
    stated = math.prod(shape) * dtype.itemsize
    if not dtype.hasobject and stated != size - file.tell():
        raise DataError(f"{where}: its size is not the {stated:,} bytes that its header says")


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
        loaded = load_arrays(dump.path)
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


def get_array(arrays: Mapping[str, Any], name: str, dump: Dump) -> Any:
    """One of the arrays; None if no array has that name.

    Raises:
        DataError: It is not an array: any zip file looks like an archive of arrays.
    """
    array = arrays.get(name)
    if array is not None and not isinstance(array, np.ndarray):
        raise DataError(f"{dump.name}: a zip file with {name!a}, which is not a NumPy array")
    return array


def _is_archive(dump: Dump) -> bool:
    return dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY"))


def _read_archive(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    with open_arrays(dump) as arrays:
        for name in sorted(arrays, key=lambda name: (len(name), name)):
            where = f"{dump.name}: array {name!a}" if name else dump.name
            array = get_array(arrays, name, dump)
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
