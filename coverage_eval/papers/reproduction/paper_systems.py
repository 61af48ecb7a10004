"""The systems of Tables 1 and 2 of Malaviya et al. 2018, by the names printed there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coverage_eval.errors import DataError
from coverage_eval.papers.printed import load_table

STRATEGIES = ("constant", "guided", "actual", "predicted")


@dataclass(frozen=True)
class Attention:
    """What makes a system's attention.

    Attributes:
        transformation: ``softmax``, ``sparsemax``, ``constrained_softmax`` or
            ``constrained_sparsemax``.
        coverage: Whether a coverage vector conditions the scores (Tu et al. 2016, adapted).
        exhaustion: c; acts on words with a finite fertility, hence not on the sink.
    """

    transformation: str = "softmax"
    coverage: bool = False
    exhaustion: float = 0.0

    @property
    def constrained(self) -> bool:
        """Whether fertilities bound the attention."""
        return self.transformation.startswith("constrained_")


@dataclass(frozen=True)
class Fertility:
    """How fertilities are set.

    Attributes:
        strategy: One of ``STRATEGIES``.
        value: f of CONSTANT.
    """

    strategy: str
    value: float = 2.0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(f"unknown fertilities {self.strategy!r}; one of {STRATEGIES}")

    def __str__(self) -> str:
        return f"constant {self.value:g}" if self.strategy == "constant" else self.strategy


_PREDICTED = Fertility("predicted")


@dataclass(frozen=True)
class System:
    """A row of a table.

    Attributes:
        name: As printed.
        attention: Of the model.
        fertility: What bounds it; None if nothing does.
        penalized: Decoded with length and coverage penalties (COVPENALTY): the model is that of
            the row without them, and only their weights are decided, on the validation set.
    """

    name: str
    attention: Attention
    fertility: Fertility | None = None
    penalized: bool = False

    @property
    def model(self) -> str:
        """The name of the trained model, a folder's; systems with the same one share it."""
        parts = [self.attention.transformation]
        parts += ["coverage"] if self.attention.coverage else []
        if self.fertility is not None:
            parts += [str(self.fertility).replace(" ", "-"), f"c{self.attention.exhaustion:g}"]
        return "-".join(parts)

    @property
    def folder(self) -> str:
        """The name of the folder of its translations."""
        return f"{self.model}-penalized" if self.penalized else self.model


def _csparsemax(name: str, fertility: Fertility, exhaustion: float = 0.0) -> System:
    attention = Attention("constrained_sparsemax", exhaustion=exhaustion)
    return System(name, attention, fertility)


# The authors' logs have CONSTANT and GUIDED without exhaustion (c = 0), and further values of c.
TABLES: dict[str, tuple[System, ...]] = {
    "table1": (
        System("softmax", Attention()),
        System("softmax + COVPENALTY", Attention(), penalized=True),
        System("softmax + COVVECTOR", Attention(coverage=True)),
        System("sparsemax", Attention("sparsemax")),
        System("sparsemax + COVPENALTY", Attention("sparsemax"), penalized=True),
        System("sparsemax + COVVECTOR", Attention("sparsemax", coverage=True)),
        System("csoftmax", Attention("constrained_softmax", exhaustion=0.2), _PREDICTED),
        _csparsemax("csparsemax", _PREDICTED, 0.2),
    ),
    "table2": (
        _csparsemax("CONSTANT f = 2", Fertility("constant", 2)),
        _csparsemax("CONSTANT f = 3", Fertility("constant", 3)),
        _csparsemax("GUIDED", Fertility("guided")),
        _csparsemax("PREDICTED c = 0", _PREDICTED),
        _csparsemax("PREDICTED c = 0.2", _PREDICTED, 0.2),
        _csparsemax("PREDICTED c = 0.4", _PREDICTED, 0.4),
        _csparsemax("PREDICTED c = 0.6", _PREDICTED, 0.6),
        _csparsemax("PREDICTED c = 0.8", _PREDICTED, 0.8),
    ),
}
"""The rows of each table; the last three of ``table2`` are only in the authors' logs."""


def find_systems(table: str, names: Sequence[str]) -> list[System]:
    """The named systems of a table, in its order; without names, all printed ones.

    Raises:
        DataError: A name that the table has not.
    """
    known = {system.name: system for system in TABLES[table]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(f"{table} has no system {unknown[0]!r}; one of {', '.join(known)}")
    wanted = names or load_table(table).systems
    return [system for name, system in known.items() if name in wanted]


def all_systems() -> list[System]:
    """The systems of all tables; a system in two tables has its name from the first."""
    found: dict[str, System] = {}
    for systems in TABLES.values():
        for system in systems:
            found.setdefault(system.folder, system)
    return list(found.values())


def find_system(name: str) -> System:
    """The system of any table that has this name.

    Raises:
        DataError: There is none.
    """
    known = {system.name: system for systems in TABLES.values() for system in systems}
    if name not in known:
        raise DataError(f"no system is called {name!r}; one of {', '.join(known)}")
    return known[name]
