"""Which outputs are no witnesses: what they lack must not become what other outputs may lack.

Where there is no reference, or beside it, the outputs of other systems say what a segment repeats
and covers. An output that is cut off, blank or one word throughout says nothing of that: with it,
omissions of others are not found, and repetitions of others that are right count as errors. Here
such outputs are found by comparison with the others, and metrics that expect what others have leave
them out (:attr:`~coverage_eval.data.dataset.Row.far`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from statistics import median

from coverage_eval.data.dataset import Dataset
from coverage_eval.data.input_checks import Finding, percent
from coverage_eval.data.sample import MIN_SEGMENTS
from fast_align_wrapper.text import tokenize

FAR_SHORT = 0.7
"""Characters of an output divided by the median of the other outputs and references: 0.8 to 1.1 for
real systems, and 0.7 where 30% of the words were left out."""

FAR_POOR = 0.4
"""Different words of an output divided by the median of the others: 0.9 to 1.1 for real systems,
0.7 where half of each segment is cut off, near 0 for a word or sentence said again and again."""

FAR_BLANK = 0.2
"""Share of blank segments for which another output has words; 0 for real systems."""


def find_far_outputs(texts: Dataset) -> tuple[list[int], list[Finding]]:
    """Find outputs that are far from the others, of three or more texts, or of peers of one.

    Args:
        texts: The texts, which are read once.

    Returns:
        The places of these outputs among the peers and then the systems, and what to say.
    """
    names = [*texts.peers, *texts.systems]
    for _ in texts.rows():  # keeps a sample
        pass
    rows = [(*row.peers, *row.hypotheses) for row in texts.sampler.rows]
    words = [[tokenize(text) for text in column] for column in zip(*rows, strict=True)]
    given = zip(*(row.references for row in texts.sampler.rows), strict=True)
    references = [[tokenize(text) for text in column] for column in given]
    if len(rows) < MIN_SEGMENTS or len(words) < 2:
        return [], []
    far, findings = [], []
    for place, name in enumerate(names):
        others = [own for other, own in enumerate(words) if other != place] + references
        # Of two outputs nobody knows which is wrong, but a peer must not cover less.
        if (len(others) > 1 or place < len(texts.peers)) and (said := _far(words[place], others)):
            far.append(place)
            message = f"{name}: {said}; it is left out where other outputs show what a segment "
            message += "should have"
            if references:  # whose scores show what it lacks
                findings.append(Finding("far-output", message, name))
            else:
                message += ", and its own low scores mean nothing"
                findings.append(Finding("says-little", message, name))
    return far, findings


def _far(own: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]]) -> str | None:
    """How far an output is from the others; None if it is one of them."""
    spoken = [place for place in range(len(own)) if any(other[place] for other in others)]
    blank = sum(not own[place] for place in spoken)
    if blank > FAR_BLANK * max(1, len(spoken)):
        return f"{percent(blank / len(spoken))} of the segments are blank, and others have words"
    sizes = [sum(map(len, chain.from_iterable(text))) for text in (own, *others)]
    if sizes[0] < FAR_SHORT * median(sizes[1:]):
        share = percent(sizes[0] / median(sizes[1:]))
        return f"has only {share} of the length of the others, in letters"
    kinds = [len(set(chain.from_iterable(text))) for text in (own, *others)]
    if kinds[0] < FAR_POOR * median(kinds[1:]):
        return f"has only {percent(kinds[0] / median(kinds[1:]))} of the different words of others"
    return None
