"""JSON from files: values, objects of JSON Lines, fields by their path, and numbers.

What counts as a number is the same for every reader of scores, weights and coverages. Python's own
``float`` also reads ``1_0``, digits of other scripts, and booleans; none of them stands in a file
on purpose.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Source, read_segments, source_name

ONE_A_LINE = "write each object of a JSON array on its own line: jq -c '.[]' ARRAY > LINES"
"""What to do with a file that is one JSON array."""


def read_objects(
    source: Source, shown: Source | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the objects of JSON Lines, each with its place, such as ``errors.jsonl: line 7``.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.
        shown: What messages call it; by default its name.

    Raises:
        DataError: As :func:`~coverage_eval.core.files.read_segments`; a line is not an object.
    """
    for number, line in enumerate(read_segments(source, shown), start=1):
        where = f"{source_name(source if shown is None else shown)}: line {number}"
        yield where, parse_object(line, where)


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        DataError: As :func:`parse_json`, or a value that is not an object.
    """
    value = parse_json(text, where)
    if isinstance(value, list):
        raise DataError(f"{where}: JSON, but not an object {{…}}; {ONE_A_LINE}")
    return check_object(value, where)


def check_object(value: Any, where: str) -> dict[str, Any]:
    """Return a JSON value if it is an object.

    Raises:
        DataError: A value that is not an object.
    """
    if not isinstance(value, dict):
        raise DataError(f"{where}: JSON, but not an object {{…}}")
    return value


def parse_json(text: str, where: str) -> Any:
    """Parse a JSON value.

    Raises:
        DataError: Not JSON, nested too deep, or a name that occurs twice in one object, where
            Python's parser would take the last value.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{where}: not JSON: {reason}".replace("\n", " ")) from error


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return found


def field_names(record: Mapping[str, Any]) -> list[str]:
    """The names of an object's fields, and of the fields and items of these."""
    found = []
    for name, value in record.items():
        found.append(name)
        items = enumerate(value) if isinstance(value, list) else ()
        inner = value if isinstance(value, dict) else {str(n): item for n, item in items}
        found += [f"{name}.{path}" for path in field_names(inner)]
    return found


def find_field(record: Mapping[str, Any], name: str) -> Any:
    """A field of an object by its name, or by a path such as ``output.text``.

    >>> find_field({"choices": [{"text": "a house"}]}, "choices.0.text")
    'a house'

    Raises:
        KeyError: There is none.
    """
    if name in record:
        return record[name]
    value: Any = record
    try:
        for part in name.split("."):
            value = value[int(part)] if isinstance(value, list) else value[part]
    except (TypeError, ValueError, LookupError):
        raise KeyError(name) from None
    return value


_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", re.ASCII)


def is_number(text: str) -> bool:
    """Whether a text is a decimal number.

    >>> [text for text in ("1", "-1.5e3", "1_0", "nan", "") if is_number(text)]
    ['1', '-1.5e3']
    """
    return _NUMBER.fullmatch(text) is not None


def parse_number(value: object, where: str) -> float:
    """A score, from a text or a number of JSON.

    Raises:
        DataError: It is something else, or not finite.
    """
    is_text = isinstance(value, str) and is_number(value)
    if is_text or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        with suppress(OverflowError):
            number = float(value)  # type: ignore[arg-type]
            if np.isfinite(number):
                return number
    raise DataError(f"{where}: {value!r:.60} is not a finite number")


def as_array(value: object, where: str, *, columns: int = 0) -> NDArray[np.float64]:
    """Convert nested lists of numbers to an array with one dimension per level.

    An empty list becomes a matrix without rows and with the given number of columns.

    Args:
        value: A value of JSON.
        where: Its place, for messages.
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
