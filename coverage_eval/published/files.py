"""Reading the data files that lie beside this module, installed or zipped."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Citation:
    """Where a printed figure stands.

    Attributes:
        source: Authors, year and title of the paper.
        place: Table, figure or section, with its page.
    """

    source: str
    place: str

    def __str__(self) -> str:
        return f"{self.source}, {self.place}"


def read_data(name: str) -> dict[str, Any]:
    """Read the data file ``data/<name>.json`` of this package."""
    text = (files("coverage_eval.published") / "data" / f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data
