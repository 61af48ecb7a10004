"""What both papers print: tables, the translations of Appendix B and Figure 2, and Figure 1.

The data files beside this module have the printed digits.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from statistics import fmean
from typing import Any, TypeAlias

Key: TypeAlias = tuple[str, str, str]
"""System, dataset and metric of a cell."""

Triple: TypeAlias = tuple[str, ...]
"""Three numbers as printed."""

TABLES = ("table1", "table2", "report_table2", "report_table3", "report_table4")
"""Tables 1 and 2 of Malaviya et al. (2018), Tables 2 to 4 of Madsen et al. (2017)."""

SYSTEMS = ("softmax", "sparsemax", "csoftmax", "csparsemax")
"""The four systems of Appendix B, in its order; Figure 2 has the first and the last."""


def read_data(name: str) -> dict[str, Any]:
    """Read ``data/<name>.json`` of this package, which may be installed or zipped."""
    text = (files("coverage_eval.papers") / "data" / f"{name}.json").read_text("utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


@dataclass(frozen=True)
class PrintedCell:
    """One printed figure.

    Attributes:
        text: The printed text, such as ``0.10 ± 0.002``.
        value: The figure.
        half_width: Half the width of its confidence interval; None if none is printed.
    """

    text: str
    value: float
    half_width: float | None = None

    @property
    def low(self) -> float:
        """Lower end of the interval; the value if there is no interval."""
        return self.value - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """Upper end of the interval; the value if there is no interval."""
        return self.value + (self.half_width or 0.0)


@dataclass(frozen=True)
class PrintedTable:
    """A printed table.

    Attributes:
        name: One of :data:`TABLES`.
        citation: Authors, year, title, table and page.
        systems: Its rows, in order.
        columns: Pairs of dataset and metric, in order.
        cells: By system, dataset and metric.
        better: ``higher`` or ``lower`` for each metric that has a better direction.
    """

    name: str
    citation: str
    systems: tuple[str, ...]
    columns: tuple[tuple[str, str], ...]
    cells: dict[Key, PrintedCell]
    better: dict[str, str]

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets, in the order of the columns."""
        return tuple(dict.fromkeys(dataset for dataset, _ in self.columns))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics, in the order of the columns."""
        return tuple(dict.fromkeys(metric for _, metric in self.columns))

    def value(self, system: str, dataset: str, metric: str) -> float:
        """The figure in one cell."""
        return self.cells[system, dataset, metric].value

    def mean(self, metric: str, systems: Sequence[str], datasets: Sequence[str]) -> float:
        """The mean figure of some systems on some data sets."""
        return fmean(self.value(s, d, metric) for s in systems for d in datasets)

    def improvement(self, metric: str, value: float, other: float) -> float:
        """How much better a value is than another; negative if it is worse."""
        return value - other if self.better[metric] == "higher" else other - value


@lru_cache(maxsize=len(TABLES))
def load_table(name: str) -> PrintedTable:
    """Load one of :data:`TABLES`.

    Raises:
        ValueError: There is no table with that name.
    """
    if name not in TABLES:
        raise ValueError(f"unknown table {name!r}; one of {', '.join(TABLES)}")
    data = read_data(name)
    columns = tuple((dataset, metric) for dataset, metric in data["columns"])
    cells = {}
    for system, texts in data["rows"].items():
        for column, text in zip(columns, texts, strict=True):
            value, _, half_width = text.partition(" ± ")
            cells[(system, *column)] = PrintedCell(
                text, float(value), float(half_width) if half_width else None
            )
    rows, citation = tuple(data["rows"]), f"{data['source']}, {data['place']}"
    return PrintedTable(name, citation, rows, columns, cells, data["better"])


@dataclass(frozen=True)
class Example:
    """One example, tokenised and lowercased as printed.

    Attributes:
        source: The German input.
        reference: The English reference.
        outputs: Name of each system → its translation.
    """

    source: str
    reference: str
    outputs: dict[str, str]


@dataclass(frozen=True)
class ExampleSet:
    """Examples that are printed together.

    ``sources``, ``references`` and ``outputs`` give one segment per example.

    Attributes:
        citation: Authors, year, title, and where they are printed.
        examples: In printed order.
    """

    citation: str
    examples: tuple[Example, ...]

    @property
    def sources(self) -> list[str]:
        """The inputs."""
        return [example.source for example in self.examples]

    @property
    def references(self) -> list[str]:
        """The references."""
        return [example.reference for example in self.examples]

    def outputs(self, system: str) -> list[str]:
        """The translations by one of :data:`SYSTEMS`.

        Raises:
            KeyError: There is no system with that name.
        """
        return [example.outputs[system] for example in self.examples]


@lru_cache(maxsize=2)
def _load_examples(name: str) -> ExampleSet:
    data = read_data(name)
    examples = (Example(e["source"], e["reference"], e["outputs"]) for e in data["examples"])
    return ExampleSet(f"{data['source']}, {data['place']}", tuple(examples))


def load_appendix_b() -> ExampleSet:
    """The eight examples of Appendix B of Malaviya et al. (2018), as printed."""
    return _load_examples("appendix_b")


def load_figure2() -> ExampleSet:
    """The two sentence pairs of Figure 2, translated by softmax and csparsemax."""
    return _load_examples("figure2")


@dataclass(frozen=True)
class Figure1:
    """Figure 1 of Malaviya et al. (2018): three rounds of attention over three source words.

    Attributes:
        scores: The scores z of each round.
        attention: Transformation → the attention of each round.
    """

    scores: tuple[Triple, ...]
    attention: dict[str, tuple[Triple, ...]]


@lru_cache(maxsize=1)
def load_figure1() -> Figure1:
    """Figure 1 as printed."""
    data = read_data("figure1")
    attention = {name: tuple(map(tuple, rows)) for name, rows in data["attention"].items()}
    return Figure1(tuple(map(tuple, data["scores"])), attention)
