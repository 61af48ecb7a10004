"""What aligners give for each row of a test set, and which side a coverage is of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from coverage_eval.core.metric import Floats
from fast_align_wrapper.links import Links

if TYPE_CHECKING:
    from fast_align_wrapper.model import Direction

SIDES: dict[str, Direction] = {"source": "forward", "target": "reverse"}
"""The side whose words are covered → the direction of the posteriors that say how much."""


class AlignedRow(NamedTuple):
    """One segment of a test set with the links of its source, positions counted from 0.

    Attributes:
        source: Source tokens without a sink, as the model knows them; None if unknown.
        references: Links of the source and each reference, without those of a sink.
        hypotheses: Links of the source and each hypothesis, without those of a sink.
    """

    source: Sequence[str] | None
    references: tuple[Links, ...]
    hypotheses: tuple[Links, ...]


class CoveredRow(NamedTuple):
    """One segment of a test set and how much each text covers its source words.

    The coverage of source word i by a text is min(1, Σ_j p(a_j = i)), the posteriors of the frozen
    forward model summed over the text's words. For the target side it is how much the source
    covers each word of a text, under the reverse model.

    Attributes:
        source: Source tokens without a sink, as the model knows them.
        references: Coverage by each reference, ``[source words]``, 0 to 1.
        outputs: Coverage by each hypothesis, and then by each peer.
        lengths: Number of words of each of these.
    """

    source: Sequence[str]
    references: tuple[Floats, ...]
    outputs: tuple[Floats, ...]
    lengths: tuple[int, ...] = ()


class TokenRow(NamedTuple):
    """The tokens of a row.

    Attributes:
        source: The source without a sink.
        aligned_source: The source as it is aligned, with a sink if there is one.
        texts: References, hypotheses and peers, as far as they are aligned.
        references: The number of references among the texts.
    """

    source: Sequence[str]
    aligned_source: Sequence[str]
    texts: Sequence[Sequence[str]]
    references: int
