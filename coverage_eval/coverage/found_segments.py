"""What a finder of omissions says of an output, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from coverage_eval.core.mark import Mark
from coverage_eval.core.metric import Floats
from coverage_eval.core.tokenizers import Span, Words

if TYPE_CHECKING:
    import pandas as pd


class FoundSegment(NamedTuple):
    """What is found in an output of a segment.

    Attributes:
        words: The words on the side of interest, in the text as the user wrote it.
        losses: The coverage loss of each word by all peers used, ``[words]``; they rank segments
            and have the marks.
        target_length: Number of words of the output.
        score: At least 0, without a unit; greater if more seems to be missing. It ranks segments.
        score_alone: The score without what peers cover; with their lengths, if there are three.
        strength: The sum of the best run of losses without peers, each minus the penalty.
        peer_median: The median score of other outputs without peers and lengths; NaN for too few.
            It and ``score_alone`` are read only by ``notebooks/evidence``.
        p_value: The share of complete translations of this length with a run as strong, 0 to 1.
        probability: The probability of an omission, or of an addition, 0 to 1.
        is_flagged: Whether one is stated.
        marks: The runs that are reasons for the flag, from left to right; none without a flag. A
            mark's amount is its strength: the sum of its losses, each minus the penalty.
        reasons: Why the output is more likely wrong than not: its output errors, and ``omission``
            or ``addition`` if it is flagged; empty for an output to keep.
        is_certain: Whether an output error that is no guess is among the reasons.
    """

    words: Words
    losses: Floats
    target_length: int
    score: float
    score_alone: float
    strength: float
    peer_median: float
    p_value: float
    probability: float
    is_flagged: bool
    marks: tuple[Mark, ...]
    reasons: tuple[str, ...]
    is_certain: bool


class Checked(NamedTuple):
    """What is found in an output of a source; :meth:`OmissionFinder.check` yields it.

    >>> Checked(0.97, ("probable",), ((9, 18),)).probability
    0.97

    Attributes:
        probability: The probability of an omission, or of an addition, 0 to 1.
        reasons: Why the output is more likely wrong than not; empty for one to keep.
        spans: The characters of what is left out of the source, or added to the output: where each
            run starts and ends, from 0.
    """

    probability: float
    reasons: tuple[str, ...]
    spans: tuple[Span, ...]


class FoundSegments(list[FoundSegment]):
    """The findings in a text, a list with a table."""

    def to_frame(self) -> pd.DataFrame:
        """A row per segment, numbered from 1; marks are lists of mappings, characters from 0."""
        import pandas as pd

        return pd.DataFrame(
            {
                "segment": range(1, len(self) + 1),
                "score": [segment.score for segment in self],
                "probability": [segment.probability for segment in self],
                "reason": ["; ".join(segment.reasons) for segment in self],
                "marks": [[mark.to_dict() for mark in segment.marks] for segment in self],
            }
        )
