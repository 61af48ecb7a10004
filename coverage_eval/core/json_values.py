"""JSON in files: the rows of JSON Lines and of arrays, and the fields of objects."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coverage_eval.core.errors import DataError

if TYPE_CHECKING:
    from coverage_eval.core.files import FileText

_BEGINNING = re.compile(r'\s*[\[{]\s*([\[{"]|null\b|$)')
"""How JSON over several lines, or an array, begins."""


def read_array(file: FileText) -> list[Any] | None:
    """The items of a file that is one JSON array; None for any other file.

    A text may begin like JSON, and a file of JSON Lines does.

    Raises:
        DataError: The file cannot be read, is one object over several lines or in ``.json``, or an
            array of objects that is damaged.
    """
    lines = [*filter(str.strip, file.first_lines), ""]
    if not _BEGINNING.match(lines[0]) or (is_object(lines[0]) and not _is_one_row(file, lines)):
        return None
    text = "\n".join(file.lines(quietly=True))
    try:
        value = _parse(text)
    except (ValueError, RecursionError) as error:
        if re.match(r'\s*\[\s*\{\s*"', text):
            message = f"{file.name}: is no whole JSON array: {error}"
            raise DataError(message.replace("\n", " ")) from None
        return None
    if isinstance(value, dict):
        raise DataError(
            f"{file.name}: is one JSON object; write its rows as JSON Lines, an object a line"
            f"{_how_to_write(value, file)}"
        )
    return value if isinstance(value, list) else None


def _is_one_row(file: FileText, lines: Sequence[str]) -> bool:
    """Whether a line is no row of JSON Lines: all of a file, a list or an object in ``.json``."""
    is_alone = sum(map(bool, lines)) == 1
    is_json = re.search(r"\.json(\.gz|\.zst)?$", str(file.path)) is not None
    return is_alone and (is_json or not is_object(lines[0]))


def _how_to_write(value: Mapping[str, Any], file: FileText) -> str:
    """The line that writes the rows of an object: one of its lists, or its fields."""
    rows = (name for name, inner in value.items() if isinstance(inner, list) and inner)
    name = next((name for name in rows if all(isinstance(row, dict) for row in value[name])), None)
    fields = list(value.values())
    if name is not None:
        rows_of = f".[{json.dumps(name)}][]"
    elif len(fields) > 1 and all(isinstance(field, str) for field in fields):
        rows_of = "to_entries[] | {id: .key, text: .value}"
    elif all(isinstance(field, dict) and len(field) < len(fields) for field in fields):
        rows_of = ".[]"
    elif all(isinstance(field, list) and len(field) == len(fields[0]) for field in fields):
        rows_of = (  # columns of equal length, as Hugging Face's datasets has them
            ". as $columns | range(.[keys[0]] | length) as $row | $columns | map_values(.[$row])"
        )
    elif all(isinstance(field, dict) and "0" in field for field in fields):
        rows_of = (  # columns by name, as pandas writes them
            ". as $columns | .[keys[0]] | keys_unsorted[] as $row | $columns | map_values(.[$row])"
        )
    else:
        return ""
    return f": jq -c {shlex.quote(rows_of)} {shlex.quote(str(file))} > ROWS.jsonl"


def is_object(text: str) -> bool:
    """Whether a text is a JSON object with a field."""
    found = _json_or_none(text) if text.lstrip().startswith("{") else None
    return isinstance(found, dict) and len(found) > 0


def is_row(text: str) -> bool:
    """Whether a text is a row of JSON Lines: an object, or a list of several texts."""
    cells = _json_or_none(text) if text.lstrip().startswith("[") else None
    if not isinstance(cells, list):
        return is_object(text)
    return len(cells) > 1 and all(isinstance(cell, str) for cell in cells)


def _json_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def holds_objects(file: FileText) -> bool:
    """Whether a file is JSON Lines or a JSON array of rows, whatever its name.

    The first two lines of JSON Lines tell, since the output of a language model may be JSON.

    Raises:
        DataError: As :func:`read_array`.
    """
    lines = [line for line in file.first_lines if line.strip()][:2]
    if lines and all(map(is_row, lines)) and not _is_one_row(file, lines):
        return True
    array = read_array(file)
    return bool(array) and all(isinstance(item, (dict, list)) for item in array or ())


class WrittenNumber(float):
    """A number of a user's file that its float would not be written as, such as ``1e400``.

    Args:
        written: The number as it stands in the file, which is its text.
    """

    def __init__(self, written: str) -> None:
        self.written = written

    def __str__(self) -> str:
        return self.written

    def __reduce__(self) -> tuple[type[WrittenNumber], tuple[str]]:
        return WrittenNumber, (self.written,)


def _number(written: str) -> float:
    number = float(written)
    return number if repr(number) == written else WrittenNumber(written)


def exact_json(value: Any) -> str:
    """A value as one line of JSON, with the numbers of a user's file as they stand there.

    >>> exact_json({"a": [1, WrittenNumber("1e400")], "b": (0.5,)})
    '{"a": [1, 1e400], "b": [0.5]}'

    Raises:
        ValueError: NaN or an infinite number that no file had.
    """
    if isinstance(value, WrittenNumber):
        return value.written
    if not _holds_written(value):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, dict):
        fields = (f"{exact_json(name)}: {exact_json(item)}" for name, item in value.items())
        return f"{{{', '.join(fields)}}}"
    return f"[{', '.join(map(exact_json, value))}]"


def _holds_written(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    is_inner = isinstance(value, (dict, list, tuple))
    return isinstance(value, WrittenNumber) or (is_inner and any(map(_holds_written, items)))


def _parse(text: str) -> Any:
    """A JSON value; ValueError if a name occurs twice in an object."""
    return json.loads(text, object_pairs_hook=_without_repeats, parse_float=_number)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name occurs twice in an object")
    return record


def parse_json(text: str, where: str) -> Any:
    """Parse a JSON value.

    Raises:
        DataError: Not JSON, nested too deep, or a name that occurs twice in one object, where
            Python's parser would take the last value.
    """
    try:
        return _parse(text)
    except (ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise DataError(f"{where}: not JSON: {reason}".replace("\n", " ")) from error


def parse_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object.

    Raises:
        DataError: As :func:`parse_json`, or a value that is not an object.
    """
    value = parse_json(text, where)
    if not isinstance(value, dict):
        raise DataError(f"{where}: JSON, but not an object {{…}}")
    return value


def field_names(record: Mapping[str, Any]) -> list[str]:
    """The names of an object's fields, and of the fields and items of these."""
    names = []
    for name, value in record.items():
        names.append(name)
        items = enumerate(value) if isinstance(value, list) else ()
        inner = value if isinstance(value, dict) else {str(n): item for n, item in items}
        names += [f"{name}.{path}" for path in field_names(inner)]
    return names


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
