"""Named errors as figures of a profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from coverage_eval.data.dataset import Batch, Request
from coverage_eval.metrics.figures import FigureRow
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.named_errors import KINDS, OF_PAIRS, NamedErrors
from coverage_eval.metrics.score import Statistics


@dataclass(frozen=True)
class NamedShare(Metric):
    """Percentage of outputs with a named error, such as copies of the source.

    Args:
        finder: Finds the errors.
        kind: One of :data:`~coverage_eval.metrics.named_errors.KINDS`.
    """

    finder: NamedErrors
    kind: str

    name: ClassVar[str] = "named-error"
    needs: ClassVar[frozenset[str]] = frozenset()
    higher_is_better: ClassVar[bool] = False
    statistic_names: ClassVar[tuple[str, ...]] = ("outputs_with_the_error", "outputs")
    undefined: ClassVar[str] = "there is no segment"

    def settings(self) -> Mapping[str, object]:
        """The kind of error."""
        return {"kind": self.kind}

    def requests(self) -> Sequence[Request]:
        """The named errors of every output, which all kinds share."""
        return (Request(("named", id(self.finder)), lambda rows: map(self.finder.find_row, rows)),)

    def count(self, batch: Batch) -> Statistics:
        """Whether each output has the error, and 1; ``[systems, segments, 2]``."""
        counts = [
            [(any(error.kind == self.kind for error in errors), 1) for errors in row]
            for row in batch.get(*self.requests())
        ]
        return np.array(counts, dtype=np.int64).swapaxes(0, 1)


class NamedShareOfPairs(NamedShare):
    """The same for errors that only a source shows."""

    needs: ClassVar[frozenset[str]] = frozenset({"sources"})


NAMED_FIGURES = tuple(
    FigureRow(kind, NamedShareOfPairs if kind in OF_PAIRS else NamedShare, f"% that {meaning}")
    for kind, meaning in KINDS.items()
)
"""The figures of a profile, one for each kind of error."""
