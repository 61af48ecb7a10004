"""Outlier systems: outputs unlike the others', so that the others must not be judged by them.

Where there is no reference, or beside it, the outputs of other systems say what a segment repeats
and covers. An output that is cut off, blank or one word throughout says nothing of that: with it,
omissions of others are not found, and repetitions of others that are right count as errors. Such
outputs are found by comparison with the others, and metrics that expect what others have leave them
out; also a copy of a reference, which says nothing that the reference does not say.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from statistics import median_low

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import RowSample
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.sampled_texts import MIN_SEGMENTS, percent
from coverage_eval.core.tokenizers import tokenize

OUTLIER_SHORT = 0.7
"""Words of an output divided by the usual number: 0.77 to 1.12 for real systems, and 0.7 where 30%
of the words were left out."""

OUTLIER_LONG = 1.25
"""Such a share above which an output says so much more that it explains source words by chance:
1.4 with a preamble, 1.24 where four other words stand in each line. Real systems have 1.12 at most
by the ratio of a model of another domain, 1.04 by one of theirs or by the reference; references
have 0.93 to 1.1 by models. In samples of twenty lines, 99% of all of them have 1.17 at most."""

OUTLIER_POOR = 0.4
"""Different words of an output divided by the median of the others: 0.9 to 1.1 for real systems,
0.7 where half of each segment is cut off, near 0 for a word or sentence said again and again."""

OUTLIER_BLANK = 0.2
"""Share of blank segments for which another output has words; 0 for real systems."""


def find_outlier_systems(
    sample: RowSample, aligner: ModelAligner
) -> tuple[list[int], list[Finding]]:
    """Find outputs that are unlike the others, of several systems, or of peers of one.

    Args:
        sample: The texts, with a source.
        aligner: Splits the texts into words.

    Returns:
        The indices of these outputs among the peers and then the systems, and what to say; nothing
        of a copy of a reference, which :mod:`coverage_eval.checks.texts` names.
    """
    names = [*sample.peers, *sample.systems]
    if len(sample.rows) < MIN_SEGMENTS or len(names) < 2:
        return [], []
    outputs = list(zip(*((*row.peers, *row.hypotheses) for row in sample.rows), strict=True))
    references = list(zip(*(row.references for row in sample.rows), strict=True))
    copies = {index for index, text in enumerate(outputs) if text in references}
    words = {
        index: list(map(tokenize, text))
        for index, text in enumerate((*outputs, *references))
        if index not in copies
    }
    expected = _expected_length(sample, aligner)
    outliers, findings = [*copies], []
    for index, name in enumerate(names):
        if index in copies:
            continue
        length = sum(len(aligner.tokenizer(segment)) for segment in outputs[index])
        share = length / expected if expected else 1.0
        if OUTLIER_SHORT <= share <= OUTLIER_LONG:
            others = [text for other, text in words.items() if other != index]
            label = _why_outlier(words[index], others)
        else:
            label = f"has {percent(share)} of the usual length"
        if label:
            outliers.append(index)
            is_long = share > OUTLIER_LONG
            findings.append(_finding(name, label, bool(references), is_long))
    return sorted(outliers), findings


def _finding(name: str, label: str, has_references: bool, is_long: bool) -> Finding:
    """What to say of an outlier; references show what it lacks."""
    message = f"{name}: {label}; it is left out where other outputs show what a segment should have"
    if has_references:
        return Finding(message, Severity.WARNING, (name,), "outlier", (label,))
    return Finding(
        f"{message}, and its own low scores mean nothing",
        Severity.WARNING,
        (name,),
        "outlier",
        (label,),
        suppresses=frozenset() if is_long else frozenset({"too-short", "blank"}),
    )


def _why_outlier(output: Sequence[Sequence[str]], others: Sequence[Sequence[Sequence[str]]]) -> str:
    """Why an output is an outlier; empty if it is none.

    Of two others the poorer one counts, because a single odd one must not decide; beside one other,
    which may be rich in wrong words, an output is an outlier with half as many different words.
    """
    answered = [index for index in range(len(output)) if any(other[index] for other in others)]
    blank = sum(not output[index] for index in answered)
    if blank > OUTLIER_BLANK * max(1, len(answered)):
        return f"{percent(blank / len(answered))} of the segments are blank, and others have words"
    different, *of_others = [len(set(chain.from_iterable(text))) for text in (output, *others)]
    expected = median_low(of_others)
    if different < OUTLIER_POOR * expected * (0.5 if len(others) == 1 else 1):
        return f"has only {percent(different / expected)} of the different words of others"
    return ""


def _expected_length(sample: RowSample, aligner: ModelAligner) -> float:
    """The number of words that an output of these segments usually has.

    It is the mean of the references; without them, that of the source times the training text's
    ratio of target words to source words.
    """
    if sample.references:
        return sum(
            sum(len(aligner.tokenizer(text)) for text in row.nonblank_references)
            / len(row.nonblank_references)
            for row in sample.rows
        )
    manifest = aligner.model.manifest
    words = sum(len(aligner.source_tokenizer(row.source or "")) for row in sample.rows)
    return words * manifest.target_tokens / max(1, manifest.source_tokens)
