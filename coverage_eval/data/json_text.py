"""JSON as files have it: one reader for all, whose errors say where and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from coverage_eval.data.corpus import Source, read_segments, source_name
from coverage_eval.errors import DataError


def read_objects(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of JSON Lines, each behind its place, such as ``errors.jsonl: line 7``.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.data.corpus.read_segments`; a line that is no object.
    """
    for number, line in enumerate(read_segments(source), start=1):
        where = f"{source_name(source)}: line {number}"
        yield where, parse_object(line, where)


def parse_object(text: str, where: str) -> dict[str, Any]:
    """A JSON object.

    Raises:
        DataError: As :func:`parse_json`, or another value.
    """
    return check_object(parse_json(text, where), where)


def check_object(value: Any, where: str) -> dict[str, Any]:
    """A JSON value, if it is an object.

    Raises:
        DataError: Another value.
    """
    if not isinstance(value, dict):
        raise DataError(f"{where}: JSON, but not an object {{…}}")
    return value


def parse_json(text: str, where: str) -> Any:
    """A JSON value.

    Raises:
        DataError: Not JSON, nested too deep, a number of too many digits, or a name that is twice
            in one object, of which JSON would take the last.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise not_json(error, where) from error


def not_json(error: Exception, where: str) -> DataError:
    """What to raise where JSON's parser fails."""
    reason = str(error) or type(error).__name__
    return DataError(f"{where}: not JSON: {reason}".replace("\n", " "))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice in an object")
    return found
