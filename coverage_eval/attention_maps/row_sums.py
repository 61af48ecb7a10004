"""A warning of attention whose rows are far from summing to 1, as those of attention do."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.text.corpus import CorpusWarning

__all__ = ["warn_of_row_sums"]

_FAR = 0.5
"""So much is not missing where the end of the source, left out by some toolkits, had the rest."""


def warn_of_row_sums(name: str, maps: Sequence[AttentionMap], advice: str) -> None:
    """Warn of rows whose weights sum to something far from 1; those of links may.

    The row of the end of sentence is left out.

    Args:
        name: Where the maps come from.
        maps: The maps of all segments.
        advice: What may be the reason, and what to do.

    Warns:
        CorpusWarning: There are such rows; the message has their number and the first of them.
    """
    sums = [item.row_sums[: len(item.hypothesis_words)] for item in maps]
    far = [
        (segment, row, total)
        for segment, (item, totals) in enumerate(zip(maps, sums, strict=True), start=1)
        for row, total in enumerate(totals, start=1)
        if abs(total - 1.0) > _FAR and not item.hard
    ]
    if far:
        segment, row, total = far[0]
        message = (
            f"{name}: {len(far)} of {sum(map(len, sums))} rows of attention are far from summing "
            f"to 1 (segment {segment}, row {row}: {total:.2f}); {advice}"
        )
        warnings.warn(message, CorpusWarning, stacklevel=3)
