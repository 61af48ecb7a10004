"""What an aligner makes of a row of a test set: links, or coverages of the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fast_align_wrapper.links import Links

if TYPE_CHECKING:
    from fast_align_wrapper import Posterior

Floats = NDArray[np.float64]


class AlignedRow(NamedTuple):
    """One segment of a test set with the links of its source, positions counted from 0.

    Attributes:
        source: The source's tokens, without a sink; None if they are not known.
        references: Links of source and each reference; none with a sink.
        hypotheses: Links of source and each hypothesis.
    """

    source: Sequence[str] | None
    references: tuple[Links, ...]
    hypotheses: tuple[Links, ...]


class CoveredRow(NamedTuple):
    """One segment of a test set and how much each text covers its source words.

    The coverage of source word i by a text is min(1, Σ_j p(a_j = i)), the posteriors of the frozen
    forward model summed over the text's words.

    Attributes:
        source: The source's tokens, without a sink.
        references: Coverage by each reference, ``[source words]``, 0 to 1.
        hypotheses: Coverage by each hypothesis.
    """

    source: Sequence[str]
    references: tuple[Floats, ...]
    hypotheses: tuple[Floats, ...]


class PosteriorRow(NamedTuple):
    """One segment of a test set and the probabilities of all links of its source.

    Attributes:
        source: The source's tokens, without a sink.
        references: Posteriors of source and each reference.
        hypotheses: Posteriors of source and each hypothesis.
    """

    source: Sequence[str]
    references: tuple[Posterior, ...]
    hypotheses: tuple[Posterior, ...]
