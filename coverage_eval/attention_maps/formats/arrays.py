"""Bare arrays: ``.npy``, ``.npz``, and JSON Lines of nested lists, without tokens.

In JSON Lines, each line is one segment: ``[[…], …]``, or with more brackets ``[heads, T, S]`` or
``[layers, heads, T, S]``. Arrays of NumPy are the same, one a segment in the order of their
numbers, except that one with three dimensions is a stack of segments unless a head is chosen.
The texts settle EOS, and which of rows and columns is the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
from coverage_eval.data.tables import parse_json
from coverage_eval.errors import DataError

_NESTED = re.compile(r"\s*\[\s*[\[\]]")


class Archive(Mapping[str, Any]):
    """The arrays of an ``.npz``, or the one of an ``.npy``, each read when it is asked for.

    Raises:
        DataError: Neither, or damaged, or there are Python objects in it, which are not loaded; so
            does asking for an array.
    """

    def __init__(self, dump: Dump) -> None:
        if not _is_archive(dump):
            raise DataError(f"{dump.name}: not a file of NumPy arrays")
        self._name = dump.name
        with self._naming_damage():
            loaded = load_arrays(dump.path)
        self._opened = ExitStack()
        self._arrays: Mapping[str, Any]
        if isinstance(loaded, np.ndarray):
            self._arrays = {"": loaded}
        else:
            self._arrays = self._opened.enter_context(loaded)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def __getitem__(self, name: str) -> Any:
        with self._naming_damage():
            array = self._arrays[name]
        if not isinstance(array, np.ndarray):  # any zip file looks like an archive of arrays
            raise DataError(f"{self._name}: a zip file of {name!a}, which is no NumPy array")
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        try:
            yield
        except (DataError, KeyError):
            raise
        except Exception as error:  # zip, zlib, lzma, struct and NumPy's headers each have theirs
            reason = str(error).replace("\n", " ")[:200]
            message = f"{self._name}: damaged file of NumPy arrays ({reason!a})"
            raise DataError(message) from error


def _is_archive(dump: Dump) -> bool:
    return dump.head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY"))


def _read_archive(dump: Dump, options: ReadOptions) -> Iterator[RawMap]:
    with Archive(dump) as arrays:
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
