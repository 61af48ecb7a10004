"""Whether line N of one text belongs to line N of another, as far as their words show.

The thresholds were set as those of :mod:`coverage_eval.core.checks`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, takewhile
from statistics import StatisticsError, correlation, fmean
from typing import TypeVar

from coverage_eval.core.checks import (
    MIN_CASED,
    MIN_SEGMENTS,
    Inputs,
    Sample,
    SampledText,
    percent,
    shown,
)

T = TypeVar("T")

SHIFTED, REORDERED, OUT_OF_STEP = "shifted", "reordered", "out-of-step"
"""Wrong orders: by some lines; in most places no line fits its own; in some places."""

Order = tuple[str, str, str]
"""A wrong order, the name of the text, and what was seen."""

NO_RELATION = 0.03
"""How much better a line fits its own reference than those around it: 1 for a perfect hypothesis,
0.5 for real systems, 0.1 where 90% of the words are wrong, 0 ± 0.03 in 50 shuffled lines."""

BETTER_ELSEWHERE = 0.1
"""How much better a neighbouring line fits: 0.5 to 0.75 where lines are shifted, at most 0.05 where
they are shuffled, and below 0 where they are in order."""

BAD_PIECES = 0.2
"""Smallest share of bad pieces in a bad text, because a part of a text may be out of step."""

LAGS = (-2, -1, 1, 2)
"""The neighbours that a line is compared with."""


def find_orders(sample: Sample) -> Iterator[Order]:
    """Texts whose lines are not those of the first reference, or else of the first output.

    A bad system may share no words with the reference, so nothing is called reordered.
    """
    texts = [*sample.references, *sample.hypotheses]
    for text in texts[1:]:
        for kind, name, said in judge_order(sample, text, texts[0], _lags(sample, text, texts[0])):
            yield OUT_OF_STEP if kind == REORDERED else kind, name, said


def _lags(sample: Sample, text: SampledText, other: SampledText) -> dict[int, int | None]:
    """By the first row of each piece: how many lines further on it fits; None if nowhere."""
    found: dict[int, int | None] = {}
    frequency = Counter(chain.from_iterable(other.words))
    # Frequent words say little about where a segment belongs.
    weights = {w: math.log((1 + len(other.rows)) / n) for w, n in frequency.items()}
    for piece in sample.pieces:
        rows = [i for i in piece if text.words[i] and other.words[i]]
        if len(rows) < MIN_SEGMENTS:
            continue
        one, two = [text.words[i] for i in rows], [other.words[i] for i in rows]
        own, elsewhere = count_shared(one, two, weights)
        most, least = count_shared(two, two, weights)
        scale = most - fmean(least)
        # If all segments are alike, nobody can tell where one belongs.
        if scale < most / 5 or scale <= 0:
            continue
        best = max(range(len(LAGS)), key=elsewhere.__getitem__)
        if elsewhere[best] > own + BETTER_ELSEWHERE * scale:
            found[piece[0]] = LAGS[best]
        else:
            found[piece[0]] = 0 if own - fmean(elsewhere) >= NO_RELATION * scale else None
    return found


def judge_order(
    sample: Sample, text: SampledText, other: SampledText, lags: Mapping[int, int | None]
) -> Iterator[Order]:
    """What is wrong with the order of a text's lines, if anything is.

    Args:
        sample: The sample.
        text: The text.
        other: The text that has the same lines.
        lags: By the first row of each piece, how many lines further on in the other text it fits:
            0 if lines are in order, None if they fit nowhere.
    """
    seen = list(lags)
    bad = [row for row in seen if lags[row] != 0]
    if len(bad) < max(1, BAD_PIECES * len(seen)):  # few, but lines may be missing before the end
        bad = list(takewhile(lambda row: lags[row] and lags[row] == lags[seen[-1]], seen[::-1]))
        bad.reverse()
    if not bad:
        return
    line = sample.line(bad[0])
    place = f"in {len(bad)} of {len(seen)} places"
    if len(bad) == len(seen):
        place = "throughout"
    elif line is not None and bad == seen[-len(bad) :]:
        place = f"from about line {line:,} on"
    ((lag, times),) = Counter(lags[row] for row in bad).most_common(1)
    if lag and 2 * times > len(bad):
        said = f"line N fits line N{lag:+d} of {other.name} better than line N, {place}"
        yield SHIFTED, text.name, said
    else:
        kind = REORDERED if 2 * len(bad) >= len(seen) else OUT_OF_STEP
        said = f"fits its own line of {other.name} no better than the lines around it, {place}"
        yield kind, text.name, said


def count_shared(
    one: Sequence[frozenset[str]], two: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> tuple[float, list[float]]:
    """Mean weight of the words shared with the own line, and with each of :data:`LAGS`."""

    def mean(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
        return fmean(math.fsum(map(weights.__getitem__, a & b)) for a, b in pairs)

    others = [mean(zip(*find_moved(one, two, lag), strict=True)) for lag in LAGS]
    return mean(zip(one, two, strict=True)), others


def find_moved(one: Sequence[T], two: Sequence[T], lag: int) -> tuple[Sequence[T], Sequence[T]]:
    """Two columns side by side, the second one moved up by ``lag`` rows."""
    return one[max(0, -lag) : len(one) - max(0, lag)], two[max(0, lag) : len(two) - max(0, -lag)]


SOURCE_ROWS = 200
"""Rows for a correlation of lengths, which is 0 ± 0.07 by chance."""

LENGTH_CORRELATION = 0.1
"""Correlation of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where
30% of the target's words were dropped; -0.36 to 0.16 where lines are out of step."""


def find_orders_of_lengths(sample: Sample) -> Iterator[Order]:
    """Texts whose lengths are not those of their sources, with which they share no names."""
    source = sample.source
    for target in sample.targets if source else ():
        assert source is not None
        rows = [i for i, row in enumerate(target.rows) if row and source.rows[i]]
        if len(rows) < SOURCE_ROWS:
            continue
        one, two = ([math.log1p(len(text.rows[i])) for i in rows] for text in (source, target))
        words = [(source.words[i], target.words[i]) for i in rows]
        own = sum(len(a & b) for a, b in words)
        next_ = sum(len(a & b) for (a, _), (_, b) in pairwise(words))
        try:
            is_related = correlation(one, two) >= LENGTH_CORRELATION or own > 2 * next_ + 5
        except StatisticsError:  # all lengths of a side are equal
            continue
        if not is_related:
            said = f"long lines of {source.name} do not have long translations"
            yield OUT_OF_STEP, target.name, said


CUT_OTHERWISE = 0.04
"""Words of one text that the other has only with a space inside ("do n't" for "don't"): 0.4% in
outputs of real systems, 0.2% in Japanese from the same segmenter, 9% where long words were cut in
two, 10 to 20% in untokenised text, 70% in text split into letters."""


def look_for_other_words(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Texts whose words are cut in other places than those of the first reference."""
    sample = inputs.words
    for text in [*sample.hypotheses, *sample.references[1:]] if sample.references else ():
        for one, other in ((text, sample.references[0]), (sample.references[0], text)):
            words, crossing = 0, []
            for row, against in zip(one.rows, other.rows, strict=True):
                known, joined, spaced = set(against), "".join(against), " ".join(against)
                longer = [token for token in row if len(token) > 1]
                words += len(longer)
                crossing += [
                    t for t in longer if t not in known and t in joined and t not in spaced
                ]
            share = len(crossing) / max(words, MIN_CASED)
            if text.has_enough and share > CUT_OTHERWISE:
                said = f"{percent(share)} of the words of {one.name}, such as {shown(crossing[0])}"
                yield text.name, f"{said}, are in more than one piece in {other.name}"
