"""Whether line N of one text belongs to line N of another, as words and lengths show.

:func:`judge_order` also judges what a model shows, in :mod:`coverage_eval.checks.model`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise, takewhile

from coverage_eval.core.batches import BLOCK_ROWS
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.sampled_texts import MIN_SEGMENTS, SampledText, SampledTexts

NO_RELATION = 0.03
"""How much better a line fits its own reference than those around it: 1 for a perfect hypothesis,
0.5 for real systems, 0.1 where 90% of the words are wrong, 0 ± 0.03 in 50 shuffled lines."""

BETTER_ELSEWHERE = 0.1
"""How much better a neighbouring line fits: 0.5 to 0.75 where lines are shifted, at most 0.05 where
they are shuffled, and below 0 where they are in order."""

MIN_BAD_BLOCKS = 0.2
"""Smallest share of bad blocks in a bad text, because a part of a text may be out of step."""

LAGS = (-2, -1, 1, 2)
"""The neighbours that a line is compared with."""

Lags = Mapping[int, int | None]
"""By the first row of each block, how many lines further on in the other text it fits: 0 if lines
are in order, None if they fit nowhere."""

_OTHER_ORDER = "the lines are in another order, or the texts do not belong together"


def look_for_other_order(texts: SampledTexts) -> Iterator[Finding]:
    """Texts whose lines are not those of the first reference, or else of the first output.

    A bad system may share no words with the reference, so nothing is called reordered.
    """
    first, *others = [*texts.references, *texts.hypotheses]
    for text in others:
        lags = _lags_of_words(texts.blocks, text, first)
        yield from judge_order(texts.lines, text, first, lags, unrelated="out-of-step")


def _lags_of_words(blocks: Sequence[list[int]], text: SampledText, other: SampledText) -> Lags:
    found: dict[int, int | None] = {}
    frequency = Counter(chain.from_iterable(other.words))
    # Frequent words say little about where a segment belongs.
    weights = {w: math.log((1 + len(other.rows)) / n) for w, n in frequency.items()}
    for block in blocks:
        rows = [i for i in block if text.words[i] and other.words[i]]
        if len(rows) < MIN_SEGMENTS:
            continue
        text_words, other_words = [text.words[i] for i in rows], [other.words[i] for i in rows]
        own_fit, fits = count_shared(text_words, other_words, weights)
        perfect_fit, chance_fits = count_shared(other_words, other_words, weights)
        scale = perfect_fit - _mean(chance_fits)
        # If all segments are alike, nobody can tell where one belongs.
        if scale < perfect_fit / 5 or scale <= 0:
            continue
        best = max(range(len(LAGS)), key=fits.__getitem__)
        if fits[best] > own_fit + BETTER_ELSEWHERE * scale:
            found[block[0]] = LAGS[best]
        else:
            found[block[0]] = 0 if own_fit - _mean(fits) >= NO_RELATION * scale else None
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def count_shared(
    text: Sequence[frozenset[str]], other: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> tuple[float, list[float]]:
    """Mean weight of the words shared with the line of the same number, and with each lag."""
    means = []
    for lag in (0, *LAGS):
        pairs = zip(text[max(0, -lag) :], other[max(0, lag) :], strict=False)
        means.append(_mean([math.fsum(map(weights.__getitem__, a & b)) for a, b in pairs]))
    return means[0], means[1:]


def judge_order(
    lines: Sequence[int],
    text: SampledText,
    other: SampledText,
    lags: Lags,
    unrelated: str = "reordered",
) -> Iterator[Finding]:
    """What is wrong with the order of a text's lines, if anything is.

    Args:
        lines: The number of each row's line in the whole text.
        text: The text.
        other: The text that has the same lines.
        lags: Where the lines of each block fit.
        unrelated: What it is if most blocks fit nowhere.
    """
    bad = _bad_blocks(lags)
    if not bad:
        return
    is_last_piece = bad == [*lags][-1:] and len(lines) - bad[0] < BLOCK_ROWS
    if is_last_piece and len(lags) > 1:  # a few lines at the end may look like it
        return
    where = f"in {len(bad)} of {len(lags)} places"
    if len(bad) == len(lags):
        where = "throughout"
    elif bad == list(lags)[-len(bad) :]:
        where = f"from about line {lines[bad[0]]:,} on"
    ((lag, times),) = Counter(lags[row] for row in bad).most_common(1)
    if lag and 2 * times > len(bad):
        yield Finding.of_text(
            text.name,
            f"line N fits line N{lag:+d} of {other.name} better than line N, {where}",
            "lines are shifted: find the missing or extra line",
            "shifted",
            Severity.FATAL,
            suppresses={"out-of-step"},
        )
        return
    check = unrelated if 2 * len(bad) >= len(lags) else "out-of-step"
    is_certain = check == "reordered"
    yield Finding.of_text(
        text.name,
        f"fits its own line of {other.name} no better than the lines around it, {where}",
        _OTHER_ORDER,
        check,
        Severity.FATAL if is_certain else Severity.WARNING,
        suppresses={"out-of-step"} if is_certain else (),
    )


def _bad_blocks(lags: Lags) -> list[int]:
    """The first rows of the blocks that are out of step; none if they are few."""
    bad = [row for row, lag in lags.items() if lag != 0]
    if len(bad) >= max(1, MIN_BAD_BLOCKS * len(lags)):
        return bad
    # They are few, but lines may be missing before the end.
    rows = list(lags)[::-1]
    return list(takewhile(lambda row: lags[row] and lags[row] == lags[rows[0]], rows))[::-1]


MIN_LENGTHS = 200
"""Rows for a correlation of lengths, which is 0 ± 0.07 by chance."""

LENGTH_CORRELATION = 0.1
"""Correlation of the logarithms of source and target lengths: 0.47 to 0.89, and 0.28 to 0.78 where
30% of the target's words were dropped; -0.36 to 0.16 where lines are out of step."""


def look_for_other_lengths(texts: SampledTexts) -> Iterator[Finding]:
    """Texts whose lengths are not those of their sources, with which they share no names."""
    source = texts.source
    assert source is not None
    for target in texts.targets:
        rows = [i for i, row in enumerate(target.rows) if row and source.rows[i]]
        if len(rows) < MIN_LENGTHS:
            continue
        lengths = ([math.log1p(len(text.rows[i])) for i in rows] for text in (source, target))
        words = [(source.words[i], target.words[i]) for i in rows]
        shared = sum(len(a & b) for a, b in words)
        shared_with_next = sum(len(a & b) for (a, _), (_, b) in pairwise(words))
        from statistics import StatisticsError, correlation  # slow to import

        try:
            is_related = correlation(*lengths) >= LENGTH_CORRELATION
        except StatisticsError:  # all lengths of a side are equal
            continue
        if not is_related and shared <= 2 * shared_with_next + 5:
            yield Finding.of_text(
                target.name,
                f"long lines of {source.name} do not have long translations",
                _OTHER_ORDER,
                "out-of-step",
            )
