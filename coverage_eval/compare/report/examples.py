"""For each system a segment with an error that a reader can check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urlencode

import numpy as np

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.compare.breakdowns import segment_scores
from coverage_eval.compare.evidence import (
    marked_tokenizers,
    marking,
    marks_of,
    original_pieces,
    styled_runs,
)
from coverage_eval.compare.table import Comparison
from coverage_eval.core.mark import Mark, MarkKind
from coverage_eval.core.measure import Result, aligner_of
from coverage_eval.core.show.table import format_figure
from coverage_eval.core.tokenizers import Tokenizer
from fast_align_wrapper.text import Segment

READABLE = range(5, 41)
"""Words of a text that proves something, and can be read at a glance."""

EXCERPT = 40
"""Words of a text in an example."""

MarkedWords = Sequence[tuple[str, str, str]]
"""Phrases, each with the style of its marks, or nothing, and the space behind it."""


@dataclass(frozen=True)
class ErrorExample:
    """A segment of a system, and what makes it worth showing.

    Attributes:
        segment: Its number, from 1.
        score: The metric that marks most of its words, and its score.
        link: The URL's fragment, without ``#``, that shows it.
        texts: Source, what proves the error (the reference, or another system's output) and the
            output, by what they are called; the error is marked.
    """

    segment: int
    score: str
    link: str
    texts: Mapping[str, MarkedWords]


class _Marked(NamedTuple):
    """A segment's marked words that an example can show, and the metrics that mark them."""

    places: frozenset[tuple[str, int]]
    metrics: Counter[str]
    is_readable: bool


def find_examples(
    comparison: Comparison, shown: int, doubtful: Collection[str] = ()
) -> dict[str, ErrorExample]:
    """The segment of each system that shows its errors best; none for systems without errors.

    Most words lost or repeated come first, and words that another system has right count, as they
    prove that it can be done. Very short or long segments are shown only if there are no others,
    and words that the aligner's model does not know do not count, since it can only guess their
    translation. Without metrics that mark words, the worst segment by the first metric is taken.

    Args:
        comparison: The systems.
        shown: Only the first segments are looked at.
        doubtful: Keys of metrics whose marks prove nothing.
    """
    result = comparison.measured
    if not marking(result).keys() - doubtful:
        return _worst(comparison, shown)
    marked = {system: _marked(result, system, shown, doubtful) for system in result.systems}
    examples = {}
    for system, segments in marked.items():
        others = [other for name, other in marked.items() if name != system]
        ranked = []
        for index, (places, _, is_readable) in enumerate(segments):
            if places:
                shared = min((len(places & o[index].places) for o in others), default=0)
                ranked.append((is_readable, len(places) - shared, len(places), -index))
        if ranked:
            index = -max(ranked)[-1]
            ((name, _),) = segments[index].metrics.most_common(1)
            examples[system] = _example(comparison, system, index, name, doubtful)
    return examples


def _marked(result: Result, system: str, shown: int, doubtful: Collection[str]) -> list[_Marked]:
    """What is marked in each segment, as far as it is worth showing."""
    aligner = aligner_of(result.metrics.values())
    known = aligner.model.vocabulary()[0] if isinstance(aligner, ModelAligner) else None
    names = {kind.key: name for name, kinds in reversed(marking(result).items()) for kind in kinds}
    of_source, of_output = marked_tokenizers(result)
    place = result.systems.index(system)
    found = []
    for row, marks in zip(result.rows[:shown], marks_of(result, system), strict=False):
        source, output = of_source.as_written(row.source or ""), of_output(row.hypotheses[place])
        places: set[tuple[str, int]] = set()
        metrics: Counter[str] = Counter()
        for kind, mark in marks:
            if names[kind.key] in doubtful:
                continue
            own = {
                (mark.side, position)
                for position in mark.positions
                if mark.side == "output" or _is_known(source[position], known)
            }
            places |= own
            metrics[names[kind.key]] += len(own)
        lengths = {len(source or output), len(output) or min(READABLE)}
        found.append(_Marked(frozenset(places), metrics, lengths <= {*READABLE}))
    return found


def _is_known(word: str, known: Collection[str] | None) -> bool:
    """Whether the model knows a word; without letters or digits, it is no example."""
    return any(map(str.isalnum, word)) and (known is None or word in known or word.lower() in known)


def _worst(comparison: Comparison, shown: int) -> dict[str, ErrorExample]:
    """The worst segment of each system by the first metric."""
    name, metric = next(iter(comparison.metrics.items()))
    examples = {}
    for system in comparison.rows:
        scores = segment_scores(comparison.measured, name, system)[:shown]
        badness = np.nan_to_num(-scores if metric.higher_is_better else scores, nan=-np.inf)
        worst = int(np.argmax(badness))
        if np.isfinite(badness[worst]) and (metric.higher_is_better or scores[worst] > 0):
            examples[system] = _example(comparison, system, worst, name, ())
    return examples


def _example(
    comparison: Comparison, system: str, index: int, name: str, doubtful: Collection[str]
) -> ErrorExample:
    result, metric = comparison.measured, comparison.metrics[name]
    row, place = result.rows[index], result.systems.index(system)
    names = {kind.key: name for name, kinds in reversed(marking(result).items()) for kind in kinds}
    marks = [item for item in marks_of(result, system)[index] if names[item[0].key] not in doubtful]
    of_source, of_output = marked_tokenizers(result)
    texts = {}
    if row.source is not None:
        texts["source"] = _excerpt(row.source, of_source, marks, "source")
    if row.references:
        texts["reference"] = _excerpt(row.references[0], result.tokens)
    texts["output"] = _excerpt(row.hypotheses[place], of_output, marks, "output")
    view = {
        "sort": metric.name,
        "whose": system,
        "descending": "yes" if metric.higher_is_better is False else "",
        "segment": index + 1,
    }
    score = float(np.nan_to_num(segment_scores(result, name, system)[index]))
    return ErrorExample(index + 1, f"{metric.name} {format_figure(score)}", urlencode(view), texts)


def _excerpt(
    text: Segment,
    tokens: Tokenizer,
    marks: Sequence[tuple[MarkKind, Mark]] = (),
    side: str = "",
) -> MarkedWords:
    """The words around the first mark, as they were written; a run of marked words is a phrase."""
    words = tokens.as_written(text)
    pieces = original_pieces(text, tokens) or [f"{word} " for word in words]
    styles = {position: style for run, style in styled_runs(words, marks, side) for position in run}
    start = max(0, min(min(styles, default=0) - EXCERPT // 4, len(pieces) - EXCERPT))
    end = start + EXCERPT
    phrases = [
        ("".join(piece for _, piece in phrase), style)
        for style, phrase in groupby(
            enumerate(pieces[start:end], start), lambda item: styles.get(item[0], "")
        )
    ]
    shown = [(text.rstrip(" "), style, " " * text.endswith(" ")) for text, style in phrases]
    before, behind = [("…", "", " ")] * (start > 0), [("…", "", "")] * (end < len(pieces))
    return [*before, *shown, *behind]
