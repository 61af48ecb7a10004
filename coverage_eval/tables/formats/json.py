"""Facts as JSON, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from coverage_eval.tables.formats.cells import escape_json
from coverage_eval.tables.printout import Printout, Style


def render(printout: Printout, _: Style) -> Iterator[str]:
    """Plain values, text in UTF-8 but for controls; NaN is refused rather than written."""
    encoder = json.JSONEncoder(ensure_ascii=False, indent=1, allow_nan=False, default=_Listed)
    return map(escape_json, _lines(encoder.iterencode(printout.as_data())))


class _Listed(list[Any]):
    """A sequence that the encoder takes for a list, without making one of it."""

    def __init__(self, items: Sequence[Any]) -> None:
        super().__init__()
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces."""
    line: list[str] = []
    for piece in pieces:
        first, *others = piece.split("\n")
        line.append(first)
        for other in others:
            yield "".join(line)
            line = [other]
    yield "".join(line)
