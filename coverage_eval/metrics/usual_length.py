"""How long an output is, compared with what a text of its source usually has.

The median of two other outputs is their mean, so one of them that says everything three times makes
right ones "half as long as the others". A reference, or without one the ratio of the model's
training text, does not depend on who else is compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.alignment.aligner import Aligner, ModelAligner
from coverage_eval.data.dataset import Row

FAR_SHORT = 0.7
"""Words of an output divided by the usual number: 0.8 to 1.2 for real systems, and 0.7 where 30% of
the words were left out. One that is longer than 1 / 0.7 of the usual is as far."""


def usual_length(rows: Sequence[Row], aligner: Aligner | None = None) -> float | None:
    """The number of words that an output of these segments usually has.

    Args:
        rows: Some or all segments.
        aligner: Cuts the texts into words; of a model, the training text's ratio of target words to
            source words serves where there is no reference.

    Returns:
        The mean number of the references; or that of the source times the ratio; None if there is
        neither.
    """
    if not rows:
        return None
    if rows[0].references:
        counts = [_words(row.references, aligner) / len(row.references) for row in rows]
        return sum(counts)
    if not isinstance(aligner, ModelAligner) or rows[0].source is None:
        return None
    manifest = aligner.model.manifest
    words = sum(len(aligner.source_tokens(row.source or "")) for row in rows)
    return words * manifest.target_tokens / max(1, manifest.source_tokens)


def far_from_usual(rows: Sequence[Row], place: int, aligner: Aligner | None = None) -> float | None:
    """How many times the usual number of words an output has, if it is far from it; else None.

    >>> rows = [Row(("a b c", "a b c a b c a b c", "a"), ("a b d",))] * 20
    >>> [far_from_usual(rows, place) for place in range(3)]
    [None, 3.0, 0.3333333333333333]

    Args:
        rows: Some or all segments.
        place: Which of their outputs, peers first and then hypotheses.
        aligner: As for :func:`usual_length`.
    """
    usual = usual_length(rows, aligner)
    if not usual:
        return None
    own = sum(_words((((*row.peers, *row.hypotheses))[place],), aligner) for row in rows)
    share = own / usual
    return None if FAR_SHORT <= share <= 1 / FAR_SHORT else share


def _words(texts: Sequence[str | Sequence[str]], aligner: Aligner | None) -> int:
    if aligner is not None:
        return sum(len(aligner.tokens(text)) for text in texts)
    return sum(len(text.split() if isinstance(text, str) else text) for text in texts)
