"""The gold file of injected errors: JSON Lines, one line for each error.

``{"segment": 7, "kind": "omission-phrase", "hypothesis": [2, 2], "source": [3, 4], "removed":
"the dog"}`` has the segment's number, from 1; the span in the output's tokens, from 0, its end
excluded (empty if words were left out and nothing replaced them); the source positions that the
error concerns, from 0, or null without links; and the removed words. A segment without an error
has no line.

A gold file of damaged documents is read, too: ``{"document": 1, "kind": "passage", "lines": [7, 8],
…}`` concerns the segments 7 and 8 of the output once it is cut by the source's lines.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from coverage_eval.data.files import Source, read_segments, source_name
from coverage_eval.data.json_objects import parse_object
from coverage_eval.errors import DataError
from coverage_eval.metrics.mark import Mark


@dataclass(frozen=True)
class GoldError:
    """An error of a known kind at a known place.

    Attributes:
        segment: Number of its segment, from 1.
        kind: One of :data:`coverage_eval.testbed.injection.KINDS`; files may have other names.
        hypothesis: Its span in the output's tokens, from 0, the end excluded.
        source: The source positions that are untranslated or translated twice, from 0, ascending;
            empty if the error does not concern the source; None if they are unknown.
        removed: The words of the correct translation that were removed.
    """

    segment: int
    kind: str
    hypothesis: tuple[int, int]
    source: tuple[int, ...] | None
    removed: str = ""

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The words concerned: those of the source, and those of the output."""
        sides = (("source", self.source or ()), ("output", tuple(range(*self.hypothesis))))
        return tuple(Mark(side, places, self.kind) for side, places in sides if places)

    def to_json(self) -> str:
        """The error as a line of the gold file."""
        return json.dumps(vars(self), ensure_ascii=False)


def read_gold_errors(source: Source) -> Iterator[GoldError]:
    """Read a gold file.

    Args:
        source: A file's name (``.gz`` and ``.zst`` are unpacked) or ``-`` for standard input.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_segments`; a line is not such an error
            (the message names file and line).
    """
    for number, line in enumerate(read_segments(source), start=1):
        place = f"{source_name(source)}: line {number}"
        where = f"{place}: is not a line of a gold file that 'coverage-eval inject' wrote"
        values = parse_object(line, where)
        try:
            errors = _of_document(values) if "document" in values else [_parse(values)]
        except KeyError as lacking:
            raise DataError(f"{where}: {lacking} is missing") from None
        except (TypeError, ValueError) as wrong:
            raise DataError(f"{where}: {wrong}") from None
        yield from errors


def _of_document(values: Mapping[str, Any]) -> list[GoldError]:
    """The error of a document in each of its lines; none if it is in no line, as a preface."""
    lines, kind = _positions(values["lines"], "lines"), values["kind"]
    return [_checked(GoldError(line, kind, (0, 0), None)) for line in lines]


def _parse(values: Mapping[str, Any]) -> GoldError:
    start, end = _positions(values["hypothesis"], "hypothesis")
    source = values["source"]
    error = GoldError(
        values["segment"],
        values["kind"],
        (start, end),
        None if source is None else _positions(source, "source"),
        values.get("removed", ""),
    )
    if end < start:
        raise ValueError("the span in the hypothesis ends before it begins")
    return _checked(error)


def _checked(error: GoldError) -> GoldError:
    if type(error.segment) is not int or error.segment < 1:
        raise ValueError("segment is not a number from 1")
    if not (isinstance(error.kind, str) and isinstance(error.removed, str)):
        raise TypeError("kind and removed are not texts")
    return error


def _positions(values: Any, name: str) -> tuple[int, ...]:
    if not isinstance(values, list) or any(type(n) is not int or n < 0 for n in values):
        raise TypeError(f"{name} is not a list of positions from 0")
    return tuple(values)
