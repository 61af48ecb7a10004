"""A warning of attention whose rows are far from summing to 1, as those of attention do."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from coverage_eval.attention_maps.maps import AttentionMap
from coverage_eval.data.files import CorpusWarning

_FAR = 0.5
"""So much is not missing where the end of the source, left out by some toolkits, had the rest."""


def warn_of_row_sums(
    name: str, maps: Iterable[AttentionMap], advice: str, stacklevel: int = 3
) -> None:
    """Warn of rows whose weights sum to something far from 1; those of links may.

    The row of the end of sentence is left out.

    Args:
        name: Where the maps come from.
        maps: The maps of all segments.
        advice: What may be the reason, and what to do.
        stacklevel: Whose line the warning names, as :func:`warnings.warn` counts.

    Warns:
        CorpusWarning: There are such rows; the message has their number and the first of them.
    """
    rows = far = 0
    first = ""
    for segment, item in enumerate(maps, start=1):
        sums = item.row_sums[: len(item.hypothesis_words)]
        rows += len(sums)
        wrong = np.flatnonzero(np.abs(sums - 1.0) > _FAR)
        if len(wrong) and not item.hard:
            first = first or f"segment {segment}, row {wrong[0] + 1}: {sums[wrong[0]]:.2f}"
            far += len(wrong)
    if far:
        message = (
            f"{name}: {far} of {rows} rows of attention are far from summing to 1 ({first}); "
            f"{advice}"
        )
        warnings.warn(message, CorpusWarning, stacklevel=stacklevel)
