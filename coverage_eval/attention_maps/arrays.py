"""Attention as arrays in files: our ``.npz`` and JSON Lines, and bare arrays.

Ours have target × source arrays, tokens and flags; JSON Lines has one object per segment::

    {"attention": [[0.9, 0.1], [0.0, 1.0]], "source": ["a", "b"], "hypothesis": ["x", "</s>"],
     "tgt_eos": true, "src_eos": false, "level": "bpe", "hard": false}

``attention`` has one list per target token, or is ``[heads, T, S]`` or ``[layers, heads, T, S]``,
from which the user chooses. Everything else is optional, and tokens may be null. Without
``tgt_eos`` and ``src_eos`` the texts must show where EOS is. ``chosen`` names the layer and the
head that a map was chosen from, such as ``{"layer": "1", "head": "mean"}``. ``.npz`` has the arrays
as ``attention_0``, ``attention_1``, … and the rest as JSON in the text array ``segments``.

Bare arrays are ``.npy``, ``.npz``, and JSON Lines of nested lists, without tokens. In JSON Lines,
each line is one segment: ``[[…], …]``, or with more brackets ``[heads, T, S]`` or
``[layers, heads, T, S]``. NumPy files likewise have one array per segment, in the order of their
numbers; but an array with three dimensions, or a file that is one JSON array of matrices, is a
stack of segments unless a head is chosen. The texts decide what is EOS, and whether rows or columns
are the target. Padding is cut: rows and columns behind a text's words that are zero or NaN.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention_maps.dumps import Dump, DumpFormat, RawMap
from coverage_eval.attention_maps.maps import LEVELS, AttentionMap
from coverage_eval.core.errors import DataError
from coverage_eval.core.files import STDIN, check_file
from coverage_eval.core.tables import parse_json, read_value
from coverage_eval.core.writing import atomic_path, atomic_write

ENDINGS = (".npz", ".jsonl")
"""Endings of files of maps."""

_NAMES = ("source", "hypothesis", "tgt_eos", "src_eos", "level", "hard")


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
    chosen = {"chosen": dict(item.chosen)} if item.chosen else {}
    return {name: getattr(item, name) for name in _NAMES} | chosen


def _is_jsonl(dump: Dump) -> bool:
    array = _read_array(dump)
    first = array[0] if array else dump.probe and parse_json(dump.probe[0], dump.name)
    return isinstance(first, dict) and "attention" in first


def _read_array(dump: Dump) -> list[Any] | None:
    """The items of a file that is one JSON array; None for JSON Lines."""
    begins = next(filter(str.strip, dump.file.first_lines), "").lstrip().startswith("[")
    value = read_value(dump.file) if begins else None
    return value if isinstance(value, list) and value else None


def _values(dump: Dump) -> tuple[bool, Iterator[tuple[str, Any]]]:
    """Whether a file of JSON is a stack of maps, and where each of its values is, and the value."""
    array = _read_array(dump)
    if array is None:
        return False, ((where, parse_json(line, where)) for where, line in dump.lines)
    is_chosen = (dump.layer, dump.head) != (None, None)
    if isinstance(array[0], dict) or (not is_chosen and max(map(_depth, array)) == 2):
        items = enumerate(array, start=1)
        return True, ((f"{dump.name}: item {number}", item) for number, item in items)
    return False, iter([(f"{dump.name}: line 1", array)])


def _depth(value: Any) -> int:
    """How deep lists are nested, by the first item of each."""
    return 1 + (_depth(value[0]) if value else 0) if isinstance(value, list) else 0


def _is_npz(dump: Dump) -> bool:
    with open_arrays(dump) as arrays:
        return "segments" in arrays


def _read_jsonl(dump: Dump) -> Iterator[RawMap]:
    for where, record in _values(dump)[1]:
        if not isinstance(record, dict) or "attention" not in record:
            raise DataError(f"{where}: an object without 'attention'")
        raw = _raw(record, where)
        array = _as_array(record["attention"], where, columns=len(raw.source or ()))
        yield replace(raw, matrix=dump.matrix(array, where))


def _read_npz(dump: Dump) -> Iterator[RawMap]:
    with open_arrays(dump) as arrays:
        if "segments" not in arrays:
            raise DataError(f"{dump.name}: has no array 'segments'; name its format 'arrays'")
        records = parse_json(str(arrays["segments"]), f"{dump.name}: array 'segments'")
        count = len(arrays) - 1
        is_list = isinstance(records, list) and all(isinstance(record, dict) for record in records)
        if not is_list or len(records) != count:
            raise DataError(f"{dump.name}: its array 'segments' is not a list of {count} records")
        for index, record in enumerate(records):
            where = f"{dump.name}: array 'attention_{index}'"
            array = arrays.get(f"attention_{index}")
            raw = _raw(record, where)
            yield replace(raw, matrix=dump.matrix(array, where))


def _raw(record: dict[str, Any], where: str) -> RawMap:
    """Everything in a record but its matrix.

    Raises:
        DataError: A value is of a wrong kind.
    """
    chosen = record.get("chosen") or {}
    is_choice = isinstance(chosen, dict) and all(
        kind in {"layer", "head"} and re.fullmatch("-?[1-9][0-9]*|mean", str(number))
        for kind, number in chosen.items()
    )
    fields = {name: record[name] for name in _NAMES if record.get(name) is not None}
    for name, value in fields.items():
        if name == "level":
            is_right, needed = value in LEVELS, f"one of {', '.join(LEVELS)}"
        elif name in {"source", "hypothesis"}:
            is_right = isinstance(value, list) and all(isinstance(token, str) for token in value)
            needed = "a list of strings"
        else:
            is_right, needed = isinstance(value, bool), "true or false"
        if not is_right:
            raise DataError(f"{where}: {name} is not {needed}")
    if not is_choice:
        raise DataError(f"{where}: chosen is not a layer and a head, counted from 1")
    choice = tuple((kind, str(number)) for kind, number in chosen.items())
    return RawMap(where, chosen=choice, **fields)


def _as_array(value: object, where: str, *, columns: int = 0) -> NDArray[np.float64]:
    """Convert nested lists of numbers to an array with one dimension per level.

    An empty list becomes a matrix without rows and with the given number of columns.

    Args:
        value: A value of JSON.
        where: Where it is, for messages.
        columns: As above.

    Raises:
        DataError: Not lists, lists of different lengths, or lists of anything but numbers.
    """
    if not isinstance(value, list):
        raise DataError(f"{where}: attention is not a list of rows")
    if not value:
        return np.zeros((0, columns))
    try:
        array = np.array(value)
    except ValueError as error:
        raise DataError(f"{where}: rows of attention differ in length, or nest too deep") from error
    if array.dtype.kind not in "iuf":
        raise DataError(f"{where}: attention has something other than numbers")
    return array.astype(np.float64)


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
        loaded = np.load(dump.path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            yield {"": loaded}
        else:
            with loaded:
                yield loaded
    except DataError:
        raise
    except Exception as error:  # zip, zlib, lzma, struct and NumPy's headers each have theirs
        if str(error).startswith("Object arrays cannot"):
            raise DataError(_how_to_save(dump)) from None
        reason = str(error).replace("\n", " ")[:200]
        raise DataError(f"{dump.name}: damaged file of NumPy arrays ({reason!a})") from error


def _how_to_save(dump: Dump) -> str:
    """What to do with arrays of Python objects, such as matrices of different shapes."""
    loaded = f"np.load({str(dump.path)!r}, allow_pickle=True)"
    if Path(dump.path).suffix == ".npz":
        loaded = f"(a for v in {loaded}.values() for a in (v if v.dtype == object else [v]))"
    new = str(Path(dump.path).with_suffix(".safe.npz"))
    return (
        f"{dump.name}: an array of Python objects, which is not read, since it can run any "
        "program; if you trust it, save its matrices as arrays: "
        f'python -c "import numpy as np; np.savez({new!r}, *{loaded})"'
    )


def _is_archive(dump: Dump) -> bool:
    check_file(dump.path)
    if str(dump.path) == STDIN:  # it is only read as text
        return False
    with Path(dump.path).open("rb") as file:
        return file.read(8).startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x93NUMPY"))


def _read_archive(dump: Dump) -> Iterator[RawMap]:
    with open_arrays(dump) as arrays:
        for name in sorted(arrays, key=lambda name: (len(name), name)):
            where = f"{dump.name}: array {name!a}" if name else dump.name
            array = arrays[name]
            stack = np.ndim(array) == 3 and (dump.layer, dump.head) == (None, None)
            for number, part in enumerate(array if stack else [array], start=1):
                location = f"{where}: part {number} of a stack" if stack else where
                yield RawMap(location, matrix=dump.matrix(part, location), stacked=stack)


def _is_nested(dump: Dump) -> bool:
    return bool(re.match(r"\s*\[\s*[\[\]]", "".join(dump.probe[:2])))


def _read_nested(dump: Dump) -> Iterator[RawMap]:
    is_stack, values = _values(dump)
    for where, value in values:
        matrix = dump.matrix(_as_array(value, where), where)
        yield RawMap(where, matrix=matrix, stacked=is_stack)


OUR_FORMATS = (
    DumpFormat("npz", "coverage-eval .npz", _is_npz, _read_npz, several_heads=True),
    DumpFormat("jsonl", "coverage-eval JSON Lines", _is_jsonl, _read_jsonl, several_heads=True),
)
_STACKS = (
    "an array of three dimensions is read as a stack of segments; if it is [heads, T, S], choose "
    "with --head"
)
BARE_FORMATS = (
    DumpFormat(
        "arrays", "NumPy .npy or .npz of bare arrays", _is_archive, _read_archive,
        bare=True, several_heads=True, count_hint=_STACKS,
    ),
    DumpFormat(
        "json-arrays", "JSON Lines or one JSON array of bare matrices", _is_nested, _read_nested,
        bare=True, several_heads=True,
    ),
)  # fmt: skip
