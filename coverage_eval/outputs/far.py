"""Which outputs are no witnesses: what they lack must not become what other outputs may lack.

Where there is no reference, or beside it, the outputs of other systems say what a segment repeats
and covers. An output that is cut off, blank or one word throughout says nothing of that: with it,
omissions of others are not found, and repetitions of others that are right count as errors. Here
such outputs are found by comparison with the others, and metrics that expect what others have leave
them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from statistics import median_low

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.checks import Finding, Gravity, percent
from coverage_eval.core.dataset import Row, RowSample
from coverage_eval.core.sample import MIN_SEGMENTS
from fast_align_wrapper.text import tokenize

FAR_SHORT = 0.7
"""Words of an output divided by the usual number: 0.8 to 1.2 for real systems, and 0.7 where 30% of
the words were left out. One that is longer than 1 / 0.7 of the usual is as far."""

FAR_POOR = 0.4
"""Different words of an output divided by the median of the others: 0.9 to 1.1 for real systems,
0.7 where half of each segment is cut off, near 0 for a word or sentence said again and again."""

FAR_BLANK = 0.2
"""Share of blank segments for which another output has words; 0 for real systems."""


def find_far_outputs(
    sample: RowSample, aligner: Aligner | None = None
) -> tuple[list[int], list[Finding]]:
    """Find outputs that are far from the others, of three or more texts, or of peers of one.

    Args:
        sample: The texts.
        aligner: As for :func:`usual_length`.

    Returns:
        The places of these outputs among the peers and then the systems, and what to say.
    """
    names = [*sample.peers, *sample.systems]
    rows = [(*row.peers, *row.hypotheses) for row in sample.rows]
    words = [[tokenize(text) for text in column] for column in zip(*rows, strict=True)]
    given = zip(*(row.references for row in sample.rows), strict=True)
    references = [[tokenize(text) for text in column] for column in given]
    if len(rows) < MIN_SEGMENTS or len(words) < 2:
        return [], []
    far, findings = [], []
    usual = usual_length(sample.rows, aligner)
    for place, name in enumerate(names):
        others = [own for other, own in enumerate(words) if other != place] + references
        # Of two outputs nobody knows which is wrong, but a peer must not cover less.
        if len(others) < 2 and usual is None and place >= len(sample.peers):
            continue
        share = far_from_usual(sample.rows, place, aligner)
        if share is not None:
            said = f"has {percent(share)} of the usual length"
        elif not (said := _far(words[place], others, has_usual=usual is not None)):
            continue
        far.append(place)
        said += "; it is left out where other outputs show what a segment should have"
        if references or (share or 0.0) > 1:  # the scores show what it lacks
            findings.append(Finding("far-output", f"{name}: {said}", (name,)))
        else:
            said += ", and its own low scores mean nothing"
            findings.append(Finding("says-little", f"{name}: {said}", (name,), Gravity.VOID))
    return far, findings


def _far(
    own: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]], *, has_usual: bool
) -> str:
    """How far an output is from the others; nothing if it is one of them.

    Of two others the shorter or poorer one counts, because a single odd one must not decide.
    """
    spoken = [place for place in range(len(own)) if any(other[place] for other in others)]
    blank = sum(not own[place] for place in spoken)
    if blank > FAR_BLANK * max(1, len(spoken)):
        return f"{percent(blank / len(spoken))} of the segments are blank, and others have words"
    sizes = [sum(map(len, chain.from_iterable(text))) for text in (own, *others)]
    usual = median_low(sizes[1:])
    if not has_usual and sizes[0] < FAR_SHORT * usual:
        return f"has only {percent(sizes[0] / usual)} of the length of the others, in letters"
    kinds = [len(set(chain.from_iterable(text))) for text in (own, *others)]
    usual = median_low(kinds[1:])
    if kinds[0] < FAR_POOR * usual:
        return f"has only {percent(kinds[0] / usual)} of the different words of others"
    return ""


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
