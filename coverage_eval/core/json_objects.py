"""JSON from files: values, objects of JSON Lines, and fields by their path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import Source, read_segments, source_name

ONE_A_LINE = "write each object of a JSON array on its own line: jq -c '.[]' ARRAY > LINES"
"""What to do with a file that is one JSON array."""

_MAX_DIGITS = 640
"""The lowest limit that Python can set on the digits of an integer."""


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
        if "digits" in str(error):  # a huge integer becomes infinite, as 1e400 does
            with suppress(ValueError, RecursionError):
                return json.loads(text, object_pairs_hook=_without_repeats, parse_int=_parse_whole)
        raise not_json(error, where) from error


def _parse_whole(digits: str) -> float:
    """An integer; infinite if it has thousands of digits."""
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def not_json(error: Exception, where: str) -> DataError:
    """The error to raise where JSON's parser fails."""
    reason = str(error) or type(error).__name__
    return DataError(f"{where}: not JSON: {reason}".replace("\n", " "))


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
