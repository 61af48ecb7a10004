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

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.checks import MIN_SEGMENTS, Finding, Gravity, percent
from coverage_eval.core.dataset import RowSample
from fast_align_wrapper.text import tokenize

FAR_SHORT = 0.7
"""Words of an output divided by the usual number: 0.8 to 1.2 for real systems, and 0.7 where 30% of
the words were left out. One that is longer than 1 / 0.7 of the usual is as far."""

FAR_POOR = 0.4
"""Different words of an output divided by the median of the others: 0.9 to 1.1 for real systems,
0.7 where half of each segment is cut off, near 0 for a word or sentence said again and again."""

FAR_BLANK = 0.2
"""Share of blank segments for which another output has words; 0 for real systems."""


def find_far_outputs(sample: RowSample, aligner: ModelAligner) -> tuple[list[int], list[Finding]]:
    """Find outputs that are far from the others, of several systems, or of peers of one.

    Args:
        sample: The texts, with a source.
        aligner: Cuts the texts into words.

    Returns:
        The places of these outputs among the peers and then the systems, and what to say.
    """
    names = [*sample.peers, *sample.systems]
    if len(sample.rows) < MIN_SEGMENTS or len(names) < 2:
        return [], []
    rows = [(*row.peers, *row.hypotheses) for row in sample.rows]
    outputs = list(zip(*rows, strict=True))
    references = list(zip(*(row.references for row in sample.rows), strict=True))
    words = [[tokenize(text) for text in texts] for texts in (*outputs, *references)]
    usual = _usual_length(sample, aligner)
    far, findings = [], []
    for index, name in enumerate(names):
        length = sum(len(aligner.tokens(text)) for text in outputs[index])
        share = length / usual if usual else 1.0
        if FAR_SHORT <= share <= 1 / FAR_SHORT:
            reason = _far(words[index], [text for n, text in enumerate(words) if n != index])
        else:
            reason = f"has {percent(share)} of the usual length"
        if not reason:
            continue
        far.append(index)
        reason += "; it is left out where other outputs show what a segment should have"
        if references or share > 1 / FAR_SHORT:  # the scores show what it lacks
            findings.append(Finding("far-output", f"{name}: {reason}", (name,)))
        else:
            reason += ", and its own low scores mean nothing"
            findings.append(Finding("says-little", f"{name}: {reason}", (name,), Gravity.VOID))
    return far, findings


def _far(output: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]]) -> str:
    """How far an output is from the others; nothing if it is one of them.

    Of two others the poorer one counts, because a single odd one must not decide.
    """
    spoken = [index for index in range(len(output)) if any(other[index] for other in others)]
    blank = sum(not output[index] for index in spoken)
    if blank > FAR_BLANK * max(1, len(spoken)):
        return f"{percent(blank / len(spoken))} of the segments are blank, and others have words"
    kinds = [len(set(chain.from_iterable(text))) for text in (output, *others)]
    usual = median_low(kinds[1:])
    if kinds[0] < FAR_POOR * usual:
        return f"has only {percent(kinds[0] / usual)} of the different words of others"
    return ""


def _usual_length(sample: RowSample, aligner: ModelAligner) -> float:
    """The number of words that an output of these segments usually has.

    It is the mean of the references; without them, that of the source times the training text's
    ratio of target words to source words.
    """
    if sample.references:
        return sum(
            sum(len(aligner.tokens(text)) for text in row.references) / len(row.references)
            for row in sample.rows
        )
    manifest = aligner.model.manifest
    words = sum(len(aligner.source_tokens(row.source or "")) for row in sample.rows)
    return words * manifest.target_tokens / max(1, manifest.source_tokens)
