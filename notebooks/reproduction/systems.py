"""The systems of Tables 1 and 2 of Malaviya et al. 2018, and the settings that they share."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.papers.printed import load_table


@dataclass(frozen=True)
class Settings:
    """Sizes and training settings; the defaults are those of section 5 and footnote 4.

    The hidden size (500, 250 per direction), batches of 64 and SGD at rate 1 are only in the
    authors' training logs; initial values, clipping and the epoch from which the rate is always
    halved are the defaults of the toolkit that they used.
    """

    embedding: int = 500
    hidden: int = 500
    layers: int = 2
    dropout: float = 0.3
    merges: int = 32_000
    max_length: int = 50  # training pairs with more pieces on a side are left out
    batch: int = 64
    epochs: int = 13
    rate: float = 1.0
    halve_from: int = 8  # or from an earlier epoch, if validation perplexity rises there
    patience: int = 4
    clip: float = 5.0
    initial: float = 0.1  # parameters are drawn from −initial to initial
    scoring: str = "bilinear"  # or additive (footnote 2)
    beam: int = 10
    tune_on: int | None = None  # validation sentences decoded with each pair of α and β
    dataset: str = "De-En"  # the column of the printed table
    seed: int = 1

    @classmethod
    def read(cls, path: Path) -> Settings:
        """The settings in a JSON file: a run's manifest, or some of the fields above."""
        content = json.loads(path.read_text(encoding="utf-8"))
        found = content.get("settings", content)
        if "preset" in found:  # runs of the former command
            tune_on = found.get("tuning", {}).get("sentences")
            found = {**found["preset"], **found, "tune_on": tune_on}
            found = {name: found[name] for name in found.keys() & {f.name for f in fields(cls)}}
        return cls(**found)


@dataclass(frozen=True)
class System:
    """A row of a table.

    Attributes:
        name: As printed.
        transformation: Of the attention.
        coverage: Whether the scores depend on a coverage vector (Tu et al. 2016, adapted).
        fertility: ``predicted``, ``guided`` or a constant; None without bounds.
        exhaustion: c. It affects words with a finite fertility, so not the sink.
        penalized: Whether the beam has length and coverage penalties (COVPENALTY). The model is the
            same as without them.
    """

    name: str
    transformation: str = "softmax"
    coverage: bool = False
    fertility: str | float | None = None
    exhaustion: float = 0.0
    penalized: bool = False

    @property
    def model(self) -> str:
        """The name of the model; systems with the same name share it."""
        parts = [self.transformation] + ["coverage"] * self.coverage
        if self.fertility is not None:
            constant = not isinstance(self.fertility, str)
            parts += [f"constant-{self.fertility:g}" if constant else str(self.fertility)]
            parts += [f"c{self.exhaustion:g}"]
        return "-".join(parts)

    @property
    def file(self) -> str:
        """The beginning of the names of its files."""
        return f"{self.model}-penalized" if self.penalized else self.model


def _csparsemax(name: str, fertility: str | float = "predicted", c: float = 0.0) -> System:
    return System(name, "constrained_sparsemax", fertility=fertility, exhaustion=c)


# In the authors' logs CONSTANT and GUIDED have no exhaustion (c = 0); c has more values there.
TABLES: dict[str, tuple[System, ...]] = {
    "table1": (
        System("softmax"),
        System("softmax + COVPENALTY", penalized=True),
        System("softmax + COVVECTOR", coverage=True),
        System("sparsemax", "sparsemax"),
        System("sparsemax + COVPENALTY", "sparsemax", penalized=True),
        System("sparsemax + COVVECTOR", "sparsemax", coverage=True),
        System("csoftmax", "constrained_softmax", fertility="predicted", exhaustion=0.2),
        _csparsemax("csparsemax", c=0.2),
    ),
    "table2": (
        _csparsemax("CONSTANT f = 2", 2),
        _csparsemax("CONSTANT f = 3", 3),
        _csparsemax("GUIDED", "guided"),
        *(_csparsemax(f"PREDICTED c = {c:g}", c=c) for c in (0, 0.2, 0.4, 0.6, 0.8)),
    ),
}
"""The rows of each table; the last three of ``table2`` are only in the authors' logs."""


def find_systems(table: str, names: Sequence[str] = ()) -> list[System]:
    """The named systems of a table, in its order; all printed ones if there are no names."""
    wanted: Any = names or load_table(table).systems
    known = [system for system in TABLES[table] if system.name in wanted]
    unknown = set(wanted) - {system.name for system in known}
    if unknown:
        raise SystemExit(f"{table} has no system {unknown.pop()!r}")
    return known


def mean_and_half_width(values: ArrayLike) -> tuple[float, float | None]:
    """The mean and half of its 95% interval, by Student's t, as in the report's tables.

    A single value has no interval.

    >>> mean_and_half_width([70.0])
    (70.0, None)
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 1:
        return float(array[0]), None
    from scipy.stats import t  # slow to import, and not needed for a single value

    error = float(array.std(ddof=1)) / array.size**0.5
    return float(array.mean()), float(t.ppf(0.975, array.size - 1)) * error


def ratio_of_turns(seconds: ArrayLike, base: ArrayLike) -> tuple[float, float, float]:
    """The median over turns of one thing's seconds by another's, and its 95% bootstrap interval."""
    ratios = np.asarray(seconds, dtype=np.float64) / np.asarray(base, dtype=np.float64)
    resamples = np.random.default_rng(0).choice(ratios, (10_000, len(ratios)))
    low, high = np.quantile(np.median(resamples, axis=1), (0.025, 0.975))
    return float(np.median(ratios)), float(low), float(high)
