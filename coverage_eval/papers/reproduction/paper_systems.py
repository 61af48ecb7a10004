"""The systems of Tables 1 and 2 of Malaviya et al. 2018, by their printed names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coverage_eval.errors import DataError
from coverage_eval.papers.printed import load_table

STRATEGIES = ("constant", "guided", "actual", "predicted")


@dataclass(frozen=True)
class Attention:
    """The attention of a system.

    Attributes:
        transformation: ``softmax``, ``sparsemax``, ``constrained_softmax`` or
            ``constrained_sparsemax``.
        coverage: Whether the scores depend on a coverage vector (Tu et al. 2016, adapted).
        exhaustion: c. It affects words with a finite fertility, so not the sink.
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
        attention: The model's attention.
        fertility: The bounds of the attention; None if it has none.
        penalized: Whether it is decoded with length and coverage penalties (COVPENALTY). The model
            is the same as without them; only their weights are chosen, on the validation set.
    """

    name: str
    attention: Attention
    fertility: Fertility | None = None
    penalized: bool = False

    @property
    def model(self) -> str:
        """The name of the model and of its folder; systems with the same name share it."""
        parts = [self.attention.transformation]
        parts += ["coverage"] if self.attention.coverage else []
        if self.fertility is not None:
            parts += [str(self.fertility).replace(" ", "-"), f"c{self.attention.exhaustion:g}"]
        return "-".join(parts)

    @property
    def folder(self) -> str:
        """The name of the folder with its translations."""
        return f"{self.model}-penalized" if self.penalized else self.model


def _csparsemax(name: str, fertility: Fertility, exhaustion: float = 0.0) -> System:
    attention = Attention("constrained_sparsemax", exhaustion=exhaustion)
    return System(name, attention, fertility)


# In the authors' logs CONSTANT and GUIDED have no exhaustion (c = 0); c has more values there.
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
    """The named systems of a table, in its order; all printed ones if there are no names.

    Raises:
        DataError: The table has no system with one of the names.
    """
    known = {system.name: system for system in TABLES[table]}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(f"{table} has no system {unknown[0]!r}; one of {', '.join(known)}")
    wanted = names or load_table(table).systems
    return [system for name, system in known.items() if name in wanted]


def all_systems() -> list[System]:
    """The systems of all tables; a system in two tables has its name in the first."""
    found: dict[str, System] = {}
    for systems in TABLES.values():
        for system in systems:
            found.setdefault(system.folder, system)
    return list(found.values())


def find_system(name: str) -> System:
    """The system with this name, in any table.

    Raises:
        DataError: There is none.
    """
    known = {system.name: system for systems in TABLES.values() for system in systems}
    if name not in known:
        raise DataError(f"no system is called {name!r}; one of {', '.join(known)}")
    return known[name]
