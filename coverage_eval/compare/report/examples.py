"""Segments worth showing: those that lose or repeat most words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.compare.breakdowns import segment_scores
from coverage_eval.compare.evidence import marking, marks_of, output_words, source_words
from coverage_eval.compare.table import Comparison
from coverage_eval.core.measure import Result, aligner_of

MIN_WORDS = 5
"""A shorter source or output proves little: one word more or less is a large share of it."""


class ErrorExample(NamedTuple):
    """A segment of a system, and what makes it worth showing.

    Attributes:
        place: Its number, from 0.
        metric: The key of the metric that marks most of its words.
        score: The segment's score by it.
        words: How many words are marked, beyond those of the other system that does best here.
    """

    place: int
    metric: str
    score: float
    words: int


class _Found(NamedTuple):
    """Marked words of a segment: places, and how many each metric marks."""

    places: frozenset[tuple[str, int]]
    by_metric: Counter[str]
    is_short: bool


def find_examples(
    comparison: Comparison,
    shown: int,
    most: int,
    marked: Result | None = None,
    doubtful: Collection[str] = (),
) -> dict[str, list[ErrorExample]]:
    """The segments of each system that show its errors best.

    Most words lost or repeated come first, and words that another system has right count, as they
    prove that it can be done. Left out are short segments if there are longer ones, and words that
    the aligner's model does not know, since it can only guess their translation. Without metrics
    that mark words, the worst segments by the first metric are taken.

    Args:
        comparison: The systems.
        shown: Only the first segments are looked at.
        most: How many segments for each system.
        marked: The same texts by all metrics whose marks count; by default the comparison's.
        doubtful: Keys of metrics whose marks prove nothing.
    """
    result = marked or comparison.measured
    if not marking(result).keys() - doubtful:
        return {system: list(_worst(comparison, system, shown, most)) for system in comparison.rows}
    found = {system: _marked_words(result, system, shown, doubtful) for system in comparison.rows}
    return {
        system: list(_ranked(comparison, system, found, shown, most)) for system in comparison.rows
    }


def _ranked(
    comparison: Comparison,
    system: str,
    found: dict[str, list[_Found]],
    shown: int,
    most: int,
) -> Iterator[ErrorExample]:
    others = [items for name, items in found.items() if name != system]
    counted = []
    for index in range(shown):
        own = found[system][index]
        shared = [len(own.places & items[index].places) for items in others]
        alone = len(own.places) - min(shared, default=0)
        if own.places:
            counted.append((own.is_short, -alone, -len(own.places), index))
    counted.sort()
    for is_short, alone, _, index in counted[:most]:
        if is_short > counted[0][0]:
            return  # there are longer ones
        by_metric = found[system][index].by_metric
        metric = max(by_metric, key=lambda name: by_metric[name])
        measured = metric if metric in comparison.metrics else next(iter(comparison.metrics))
        score = segment_scores(comparison.measured, measured, system)[index]
        yield ErrorExample(index, measured, float(np.nan_to_num(score)), -alone)


def _marked_words(
    result: Result, system: str, shown: int, doubtful: Collection[str]
) -> list[_Found]:
    """What is marked in each segment, as far as it is worth showing."""
    known = _known_words(result)
    names = {kind.key: name for name, kinds in reversed(marking(result).items()) for kind in kinds}
    found = []
    for index, marks in zip(range(shown), marks_of(result, system), strict=False):
        source, output = source_words(result, index), output_words(result, system, index)
        places: set[tuple[str, int]] = set()
        by_metric: Counter[str] = Counter()
        for kind, mark in marks:
            if mark.amount < kind.striking or names[kind.key] in doubtful:
                continue
            own = {(mark.side, position) for position in mark.positions}
            if mark.side == "source" and source is not None:
                own = {place for place in own if _is_known(source[place[1]], known)}
            places |= own
            by_metric[names[kind.key]] += len(own)
        is_short = min(len(source or output), len(output) or MIN_WORDS) < MIN_WORDS
        found.append(_Found(frozenset(places), by_metric, is_short))
    return found


def _is_known(word: str, known: Collection[str] | None) -> bool:
    """Whether the model knows a word; without letters or digits, it is no example."""
    return any(map(str.isalnum, word)) and (known is None or word in known or word.lower() in known)


def _known_words(result: Result) -> Collection[str] | None:
    """The source words of the aligner's model; None without a model."""
    aligner = aligner_of(result.metrics.values())
    return aligner.model.vocabulary()[0] if isinstance(aligner, ModelAligner) else None


def _worst(comparison: Comparison, system: str, shown: int, most: int) -> Iterator[ErrorExample]:
    """The worst segments by the first metric."""
    name, metric = next(iter(comparison.metrics.items()))
    scores = segment_scores(comparison.measured, name, system)[:shown]
    order = np.argsort(scores if metric.higher_is_better else -scores, kind="stable")
    for index in [number for number in order.tolist() if not np.isnan(scores[number])][:most]:
        if metric.higher_is_better or scores[index] > 0:
            yield ErrorExample(index, name, float(scores[index]), 0)
