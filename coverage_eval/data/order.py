"""Whether line N of one text belongs to line N of the other, as far as the texts show it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from statistics import StatisticsError, correlation, fmean, pstdev
from typing import TypeVar

from coverage_eval.data.findings import Finding
from coverage_eval.data.sample import FEWEST_SEGMENTS, Sample, Text

T = TypeVar("T")

NO_RELATION = 0.03
"""Of the words that a perfect hypothesis shares more with its own reference than with those around
it: 0 ± 0.03 in 50 shuffled lines, 0.1 where 90 % of the words are wrong, 0.5 for real systems."""

BETTER_ELSEWHERE = 0.1
"""By so much more a neighbouring line fits: 0.5 to 0.75 where lines are shifted, 0.05 at most where
they are shuffled, and below 0 where they are right."""

BAD_PIECES = 0.2
"""Lines may be out of step in a part of a text only."""

LAGS = (-2, -1, 1, 2)
"""The neighbours that a line is compared with."""


def out_of_step(sample: Sample, output: Text, wanted: Text) -> str | None:
    """A message if lines of the output share no more words with their own reference than others."""
    seen, bad, lags = [], [], []
    frequency = Counter(chain.from_iterable(wanted.words))
    # Words that are in every other segment say little of where one belongs.
    weights = {w: math.log((1 + len(wanted.rows)) / n) for w, n in frequency.items()}
    for piece in sample.pieces:
        rows = [i for i in piece if output.words[i] and wanted.words[i]]
        if len(rows) < FEWEST_SEGMENTS:
            continue
        one, two = [output.words[i] for i in rows], [wanted.words[i] for i in rows]
        own, others = _shared(one, two, weights)
        most, least = _shared(two, two, weights)
        scale = most - fmean(least)
        # Segments that are all alike do not tell where they belong.
        if scale < most / 5 or scale <= 0:
            continue
        seen.append(piece[0])
        best = max(range(len(LAGS)), key=others.__getitem__)
        if others[best] > own + BETTER_ELSEWHERE * scale:
            lags.append(LAGS[best])
        elif own - fmean(others) >= NO_RELATION * scale:
            continue
        bad.append(piece[0])
    if not bad or len(bad) < BAD_PIECES * len(seen):
        return None
    return _step_message(sample, wanted, bad, seen, lags)


def _shared(
    one: Sequence[frozenset[str]], two: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> tuple[float, list[float]]:
    """Mean weight of the words that segments share with their own line, and with each neighbour."""

    def mean(pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
        return fmean(math.fsum(map(weights.__getitem__, a & b)) for a, b in pairs)

    others = [mean(zip(*_moved(one, two, lag), strict=True)) for lag in LAGS]
    return mean(zip(one, two, strict=True)), others


def _moved(one: Sequence[T], two: Sequence[T], lag: int) -> tuple[Sequence[T], Sequence[T]]:
    """Two columns beside each other, the second one moved up by some rows."""
    return one[max(0, -lag) : len(one) - max(0, lag)], two[max(0, lag) : len(two) - max(0, -lag)]


def where(sample: Sample, bad: Sequence[int], seen: Sequence[int]) -> str:
    """Where the bad pieces are, given the first row of each."""
    if len(bad) == len(seen):
        return "all over"
    line = sample.line(bad[0])
    if line is not None and list(bad) == list(seen[-len(bad) :]):
        return f"from about line {line:,} on"
    return f"in {len(bad)} of {len(seen)} places"


def _step_message(
    sample: Sample, wanted: Text, bad: Sequence[int], seen: Sequence[int], lags: Sequence[int]
) -> str:
    place = where(sample, bad, seen)
    lag, times = Counter(lags).most_common(1)[0] if lags else (0, 0)
    if 2 * times > len(bad):
        return (
            f"line N fits line N{lag:+d} of {wanted.name} better than line N, {place}; lines are "
            "shifted: find the line that is missing or too many"
        )
    return (
        f"shares no more words with its own line of {wanted.name} than with the lines around it, "
        f"{place}; lines are in another order, or the texts do not belong together"
    )


SOURCE_ROWS = 200
"""Rows for a correlation of lengths: by chance 0 ± 0.07."""

LENGTH_CORRELATION = 0.1
"""Of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where 30 % of the
target's words were dropped; lines out of step -0.36 to 0.16."""

LENGTHS_ELSEWHERE = 0.2
"""How much better the lengths of a neighbouring line correlate: 0.2 to 1.1 where lines are shifted,
below -0.2 else; files that are sorted in some way correlate with their neighbours too."""

FEWEST_LENGTHS = 0.1
"""Standard deviation of the logarithms of lengths; 0.17 to 0.35 in usual text."""


def check_source_order(sample: Sample) -> Iterator[Finding]:
    """Source and target in another order, as far as lengths and common words show it."""
    source = sample.source_text
    if source is None:
        return
    for target in sample.targets:
        seen, bad = [], []
        parts = len(source.rows) // SOURCE_ROWS
        for part in range(parts):
            start, end = (len(source.rows) * (part + i) // parts for i in (0, 1))
            rows = [i for i in range(start, end) if source.rows[i] and target.rows[i]]
            lengths = [[math.log1p(len(text.rows[i])) for i in rows] for text in (source, target)]
            if len(rows) < SOURCE_ROWS / 2 or min(map(pstdev, lengths)) < FEWEST_LENGTHS:
                continue
            seen.append(start)
            if _strange(*lengths) and not _common(source, target, rows):
                bad.append(start)
        if bad and len(bad) >= BAD_PIECES * len(seen):
            yield Finding(
                "source-out-of-step",
                f"{source.name} and {target.name}: long sources do not have long translations, "
                f"{where(sample, bad, seen)}; lines are in another order, or the texts do not "
                "belong together",
            )


def _strange(one: Sequence[float], two: Sequence[float]) -> bool:
    """Whether lengths of the own lines correlate little, or less than those of neighbours."""
    own = _correlation(one, two)
    others = [_correlation(*_moved(one, two, lag)) for lag in LAGS]
    return own < LENGTH_CORRELATION or max(others) > own + LENGTHS_ELSEWHERE


def _correlation(one: Sequence[float], two: Sequence[float]) -> float:
    """Pearson's; 0 where all values of a side are equal."""
    try:
        return correlation(one, two)
    except StatisticsError:
        return 0.0


def _common(source: Text, target: Text, rows: Sequence[int]) -> bool:
    """Whether sources share more words (names, numbers) with their own line than with the next."""
    one, two = [source.words[i] for i in rows], [target.words[i] for i in rows]
    own = sum(len(a & b) for a, b in zip(one, two, strict=True))
    next_ = sum(len(a & b) for a, b in zip(one, two[1:], strict=False))
    return own > 2 * next_ + 5
