"""Figure 1 of Malaviya et al. (2018): three rounds of attention over three source words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from coverage_eval.published.files import read_data

Triple: TypeAlias = tuple[str, str, str]
"""Three numbers as they are printed."""


@dataclass(frozen=True)
class Figure1:
    """The figure's numbers.

    Attributes:
        scores: z of each round.
        attention: The attention of each round by transformation.
    """

    scores: tuple[Triple, ...]
    attention: dict[str, tuple[Triple, ...]]


@lru_cache(maxsize=1)
def load_figure1() -> Figure1:
    """Figure 1 as it is printed."""
    data = read_data("figure1")
    attention = {name: _triples(rows) for name, rows in data["attention"].items()}
    return Figure1(_triples(data["scores"]), attention)


def _triples(rows: list[list[str]]) -> tuple[Triple, ...]:
    return tuple((one, two, three) for one, two, three in rows)
