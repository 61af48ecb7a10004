"""Differences that more words give, whatever they mean: padding is no merit.

A system whose outputs are short has a better BLEU with any word at each end, and a constant gain in
every segment is always significant. So a better system is also compared with the worse one as it
would be with as many words: first those with which most outputs of the better one begin or end,
then words that mean nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from coverage_eval.core.batches import Row, make_batches
from coverage_eval.core.metric import Measure, Statistics
from coverage_eval.core.report import DECISIVE
from coverage_eval.core.result import Result
from coverage_eval.core.significance import SignificanceTest, pair_tests
from coverage_eval.core.text_metric import FixedMetric
from coverage_eval.core.tokenizers import segment_text

FILLER = "xyzzyx"
"""A word that no text has."""

_MAX_SHARED = 10
"""Words at the beginning or the end that most outputs may share."""

Tokens = Sequence[str]


Won: TypeAlias = tuple[str, str, str]
"""A metric's key, the better system, and the worse one."""


def padding_explains(
    result: Result, won: Sequence[Won], test: SignificanceTest, resamples: int
) -> set[Won]:
    """The differences in quality that are not larger than what more words give.

    Only metrics that score texts by themselves are looked at, not those of other programs.

    Args:
        result: The result of the evaluation.
        won: The significant differences.
        test: How systems are tested.
        resamples: How many resamples to draw.
    """
    if result.texts is None:
        return set()
    by_pair: defaultdict[tuple[str, str], dict[str, FixedMetric]] = defaultdict(dict)
    for name, better, worse in won:
        metric = result.metrics[name]
        if isinstance(metric, FixedMetric) and metric.measures == Measure.QUALITY:
            by_pair[better, worse][name] = metric
    if not by_pair:
        return set()
    rows = list(result.texts.rows())
    columns = zip(*(row.hypotheses for row in rows), strict=True)
    outputs = {
        system: [segment_text(text).split() for text in column]
        for system, column in zip(result.systems, columns, strict=True)
    }
    explained = set[Won]()
    for (better, worse), metrics in by_pair.items():
        padded = list(_pad(outputs[worse], outputs[better]))
        if padded == outputs[worse]:
            continue
        for name, metric in metrics.items():
            both = {
                better: result.statistics_of(name, better),
                worse: _count(metric, rows, padded),
            }
            (tested,) = pair_tests(
                [(metric, both)], [(better, worse)], test=test.test, resamples=resamples,
                seed=test.seed,
            )  # fmt: skip
            found = tested[better, worse]
            is_better = (found.difference > 0) == bool(metric.higher_is_better)
            if not (is_better and found.difference and found.p_value < DECISIVE):
                explained.add((name, better, worse))
    return explained


def _pad(outputs: Sequence[Tokens], others: Sequence[Tokens]) -> Iterator[Tokens]:
    """Outputs with the words that others share; then, if others are longer, as many words."""
    filler = [FILLER] * (sum(map(len, others)) > sum(map(len, outputs)))
    head, tail = shared_words(others), shared_words(others, from_end=True)
    for words, other in zip(outputs, others, strict=True):
        padded = _with_tail(_with_tail(words[::-1], other[::-1], head[::-1])[::-1], other, tail)
        yield [*padded, *filler * (len(other) - len(padded))]


def _with_tail(words: Tokens, other: Tokens, tail: Tokens) -> Tokens:
    """Words with as much of a tail as another output has, of which they may have the beginning.

    >>> _with_tail(["a", "."], ["b", ".", "the", "end"], [".", "the", "end"])
    ['a', '.', 'the', 'end']
    """
    size = next((n for n in range(len(tail), 0, -1) if _ends(other, tail[-n:])), 0)
    common = tail[len(tail) - size :]
    there = next((n for n in range(size, 0, -1) if _ends(words, common[:n])), 0)
    return [*words, *common[there:]]


def _ends(words: Tokens, tail: Tokens) -> bool:
    return [*words[len(words) - len(tail) :]] == [*tail]


def shared_words(outputs: Sequence[Tokens], *, from_end: bool = False) -> Tokens:
    """The words with which most outputs begin, or end; as many as most share.

    >>> shared_words([["a", "b", "x"], ["c", "x"], ["d"]], from_end=True)
    ('x',)
    """
    for size in range(_MAX_SHARED, 0, -1):
        parts = Counter(
            tuple(words[-size:] if from_end else words[:size])
            for words in outputs
            if len(words) >= size
        )
        for part, times in parts.most_common(1):
            if 2 * times > len(outputs):
                return part
    return ()


def _count(metric: FixedMetric, rows: Sequence[Row], outputs: Sequence[Tokens]) -> Statistics:
    """The statistics ``[segments, k]`` of some outputs."""
    padded = (
        row._replace(hypotheses=(" ".join(words),), peers=())
        for row, words in zip(rows, outputs, strict=True)
    )
    return np.concatenate([metric.count(batch)[0] for batch in make_batches(padded)])
