"""Where systems differ: scores by class, the commonest errors, the most different segments.

Every breakdown is a function from a :class:`~coverage_eval.core.result.Result` to a table.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import aligner_of
from coverage_eval.comparison.evidence import (
    bracketed,
    listed_kinds,
    mark_kinds,
    marks_of,
    spans_on,
)
from coverage_eval.core.batches import Row, make_batches
from coverage_eval.core.errors import require_integer
from coverage_eval.core.mark import LIST_PHRASES, LIST_WORDS, Explanation
from coverage_eval.core.report import Cell, Table
from coverage_eval.core.result import Result
from coverage_eval.core.text_metric import FixedMetric, TokenMetric
from coverage_eval.core.tokenizers import Tokenizer, Words, segment_text
from coverage_eval.registry import METRICS, metric_class

T = TypeVar("T", str, tuple[str, str])

LENGTHS = (0, 1, 11, 21, 31, 41, 51)
"""The lower end of each class of lengths, in words."""

FIFTHS = tuple(f"{20 * i}–{20 * (i + 1)}%" for i in range(5))
"""Names of the fifths of a sentence."""

DEFAULT_TOP = 5


def scores_by_length(result: Result, _: int = DEFAULT_TOP) -> Table:
    """Every metric by the length of the source."""
    classes = [
        *(str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(LENGTHS)),
        f"{LENGTHS[-1]}+",
    ]
    aligner = aligner_of(result.metrics.values())
    counting = (m.tokenizer for m in result.metrics.values() if isinstance(m, TokenMetric))
    tokenizer = aligner.source_tokenizer if aligner else next(counting, Tokenizer())
    lengths = [len(tokenizer(row.source or "")) for row in result.rows]
    numbers = np.searchsorted(LENGTHS, lengths, side="right") - 1
    rows = []
    for number in np.unique(numbers).tolist():
        members = numbers == number
        for system in result.systems:
            scores = [
                metric.scores_of(
                    result.statistics_of(name, system)[members].sum(axis=0, keepdims=True)
                )[0]
                for name, metric in result.metrics.items()
            ]
            rows.append((classes[number], int(members.sum()), system, *scores))
    labels = [metric.presentation.name for metric in result.metrics.values()]
    header = ("source words", "segments", "system", *labels)
    return Table(header, tuple(rows), "By length of the source, in words", "source-length")


def _expected_words(result: Result, name: str) -> Iterator[tuple[str, Words, int, bool]]:
    """Each source word that should be translated: system, words, its position, if it is marked."""
    for system in result.systems:
        for explanation in result.explanations_of(name, system):
            if explanation.words is None:
                continue
            marked = spans_on("source", explanation.marks)
            for position in explanation.expected:
                is_marked = explanation.words.spans[position] in marked
                yield system, explanation.words, position, is_marked


def dropped_by_position(result: Result, _: int = DEFAULT_TOP) -> Table:
    """Dropped words by their position in the source."""
    (name, kind), *_others = listed_kinds(result, LIST_WORDS)
    expected: Counter[tuple[str, str]] = Counter()
    dropped: Counter[tuple[str, str]] = Counter()
    for system, words, position, is_dropped in _expected_words(result, name):
        key = (FIFTHS[5 * position // len(words)], system)
        expected[key] += 1
        dropped[key] += is_dropped
    rows = [
        (*key, expected[key], dropped[key], 100.0 * dropped[key] / expected[key])
        for key in product(FIFTHS, result.systems)
        if expected[key]
    ]
    title = f"{kind.key.capitalize()} source words by their place in the source sentence"
    header = ("place", "system", "expected", kind.key, f"% {kind.key}")
    return Table(header, tuple(rows), title, "source-position")


def repeated_by_position(result: Result, _: int = DEFAULT_TOP) -> Table:
    """Repetitions by their position in the output; a system's parts sum to its REP."""
    (name, kind), *_others = listed_kinds(result, LIST_PHRASES)
    metric = result.metrics[name]
    parts: defaultdict[tuple[str, str], float] = defaultdict(float)
    counts: Counter[tuple[str, str]] = Counter()
    for system in result.systems:
        for explanation in result.explanations_of(name, system):
            starts = [start for start, _ in explanation.words.spans] if explanation.words else []
            for mark in explanation.marks:
                # Where the phrase begins that the mark is part of.
                start = mark.detail.get("ngram_start", mark.spans[0][0])
                key = (FIFTHS[5 * bisect_left(starts, start) // len(starts)], system)
                counts[key] += 1
                parts[key] += mark.amount
    # The reference words of REP's own denominator.
    words = {
        system: int(result.statistics_of(name, system)[:, -1].sum()) for system in result.systems
    }
    rows = [
        (*key, counts[key], 100.0 * parts[key] / words[key[1]] if words[key[1]] else None)
        for key in product(FIFTHS, result.systems)
    ]
    many, name = f"{kind.singular}s", metric.presentation.name
    title = f"{many.capitalize()} by their place in the output, and what they add to {name}"
    header = ("place", "system", many, f"part of {name}")
    return Table(header, tuple(rows), title, "output-position")


def _commonest(counts: Counter[T], top: int) -> list[tuple[T, int]]:
    """The commonest entries with their counts; ties are in alphabetical order."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:top]


def most_dropped_words(result: Result, top: int) -> Table:
    """The source words that each system drops most often.

    Args:
        result: The systems, DROP among the metrics.
        top: Words of each system; ties are in alphabetical order.
    """
    (name, kind), *_others = listed_kinds(result, LIST_WORDS)
    expected: Counter[tuple[str, str]] = Counter()
    dropped: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for system, words, position, is_dropped in _expected_words(result, name):
        expected[system, words[position]] += 1
        if is_dropped:
            dropped[system][words[position]] += 1
    rows = [
        (system, word, times, expected[system, word], 100.0 * times / expected[system, word])
        for system in result.systems
        for word, times in _commonest(dropped[system], top)
    ]
    header = ("system", "word", kind.key, "expected", f"% {kind.key}")
    title = f"Source words {kind.key} most often"
    return Table(header, tuple(rows), title, "dropped-words")


def most_repeated_ngrams(result: Result, top: int) -> Table:
    """The n-grams that each system repeats most often, beyond the text whose own are no errors.

    Those that references repeat as often, beyond the outputs, are left out, such as "it 's": each
    has some where the other has none.

    Args:
        result: The systems, REP among the metrics.
        top: N-grams of each system; ties are in alphabetical order.
    """
    (name, kind), *_others = listed_kinds(result, LIST_PHRASES)
    rows: list[tuple[Cell, ...]] = []
    for system in result.systems:
        times, segments = _repeated(result.explanations_of(name, system))
        usual, _ = _repeated(_evidence_of_references(result, name, system))
        special = Counter({key: count for key, count in times.items() if count > usual[key]})
        rows += [(system, *key, count, segments[key]) for key, count in _commonest(special, top)]
    header = ("system", "n-gram", "kind", "times", "segments")
    beyond = f" beyond the {kind.allowed_by}" if kind.allowed_by else ""
    title = f"N-grams {kind.key} most often{beyond}"
    return Table(header, tuple(rows), title, "repeated-ngrams")


def _repeated(
    explanations: Iterable[Explanation],
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """How often n-grams are repeated, with their kinds, and in how many segments."""
    times: Counter[tuple[str, str]] = Counter()
    segments: Counter[tuple[str, str]] = Counter()
    for explanation in explanations:
        keys = [(mark.phrase or mark.text, mark.kind) for mark in explanation.marks]
        times.update(keys)
        segments.update(set(keys))
    return times, segments


def _evidence_of_references(result: Result, name: str, system: str) -> Iterator[Explanation]:
    """What a metric finds in the first references, with a system's outputs as references."""
    metric, number = result.metrics[name], result.systems.index(system)
    if isinstance(metric, FixedMetric):
        swapped = (
            Row((row.nonblank_references[0],), (row.hypotheses[number],), row.source)
            for row in result.rows
            if row.nonblank_references
        )
        for batch in make_batches(swapped):
            yield from (explanation for explanation, *_ in metric.explain(batch))


def most_different(result: Result, baseline: str, top: int) -> Table:
    """For each metric and system, the segments whose scores differ most from the baseline's.

    If the baseline is the only system, these are its worst. Each segment has a row for the
    reference and one for each output (of the baseline and the system), with the runs of words in
    brackets that metrics mark. If a metric marks source words, a row for the source before each
    output has them in brackets.

    Args:
        result: The systems.
        baseline: One of them.
        top: Segments of each metric and system; ties are in the order of the text.
    """
    others = [system for system in result.systems if system != baseline]
    kinds = [kind for kind in chain(*mark_kinds(result).values()) if not kind.on_demand]
    notes = []
    for side, where, whose in (
        ("output", "an output", ""),
        ("source", "a source", " of the system named beside it"),
    ):
        if words := {kind.plural: None for kind in kinds if kind.side == side}:
            notes.append(f"[Brackets] in {where}: {' or '.join(words)}{whose}.")
    with_source = any(kind.side == "source" for kind in kinds)
    rows: list[tuple[Cell, ...]] = []
    for name in result.metrics:
        for systems in [[baseline, other] for other in others] or [[baseline]]:
            rows += _segment_rows(result, name, systems, top, with_source=with_source)
    return Table(
        ("metric", "segment", "text", "score", "words"),
        tuple(rows),
        f"Segments whose scores differ most from {baseline}'s" if others else "Worst segments",
        "differences" if others else "worst",
        notes=tuple(notes),
    )


def _segment_rows(
    result: Result, name: str, systems: Sequence[str], top: int, *, with_source: bool
) -> Iterator[tuple[Cell, ...]]:
    """The rows of a metric's segments: of two systems where they differ most, or one's worst."""
    metric = result.metrics[name]
    scores = [segment_scores(result, name, system) for system in systems]
    if len(systems) > 1:
        badness = np.abs(scores[0] - scores[1])
    elif metric.presentation.higher_is_better:
        badness = np.nanmax(scores[0], initial=0.0) - scores[0]
    else:
        badness = (
            scores[0] if metric.presentation.higher_is_better is False else np.zeros_like(scores[0])
        )
    for index in largest(badness, top).tolist():
        segment, row = (metric.presentation.name, index + 1), result.rows[index]
        for number, reference in enumerate(row.references, start=1):
            which = "reference" if len(row.references) == 1 else f"reference {number}"
            yield *segment, which, None, segment_text(reference)
        for system, values in zip(systems, scores, strict=True):
            marks = [mark for kind, mark in marks_of(result, system)[index] if not kind.on_demand]
            if row.source is not None and with_source:
                text = bracketed(segment_text(row.source), spans_on("source", marks))
                yield *segment, f"source of {system}", None, text
            output = segment_text(row.hypotheses[result.systems.index(system)])
            text = bracketed(output, spans_on("output", marks))
            yield *segment, system, float(values[index]), text


def segment_scores(result: Result, name: str, system: str) -> NDArray[np.float64]:
    """A system's scores of segments by one metric, NaN where they are undefined."""
    return np.array(result.segment_scores(name, system), dtype=np.float64)


def largest(differences: NDArray[np.float64], top: int) -> NDArray[np.int64]:
    """Indices of the largest differences above zero, undefined ones left out."""
    order = np.argsort(-np.nan_to_num(differences), kind="stable")[:top]
    return order[np.nan_to_num(differences[order]) > 0]


@dataclass(frozen=True)
class Breakdown:
    """A breakdown that has a name.

    Attributes:
        make: Makes the table, with so many entries in each of its lists.
        needs: ``"words"`` or ``"phrases"`` if tables must list marks of one of the metrics so; None
            for neither.
        needs_source: Whether it needs the source.
    """

    make: Callable[[Result, int], Table]
    needs: str | None = None
    needs_source: bool = False


BREAKDOWNS: Mapping[str, Breakdown] = {
    "source-length": Breakdown(scores_by_length, needs_source=True),
    "source-position": Breakdown(dropped_by_position, LIST_WORDS, needs_source=True),
    "output-position": Breakdown(repeated_by_position, LIST_PHRASES),
    "dropped-words": Breakdown(most_dropped_words, LIST_WORDS, needs_source=True),
    "repeated-ngrams": Breakdown(most_repeated_ngrams, LIST_PHRASES),
}


def break_down(
    result: Result, names: Sequence[str] | None = None, top: int = DEFAULT_TOP
) -> list[Table]:
    """Make tables of where systems differ.

    Args:
        result: The result of an evaluation that kept the texts.
        names: Names of :data:`BREAKDOWNS`; by default all that the metrics allow.
        top: Entries of each list of words or n-grams.

    Raises:
        TypeError: ``top`` is not a whole number.
        ValueError: An unknown name, ``top`` below 1, or a metric or text that a breakdown needs is
            missing.
    """
    require_integer("top", top, 1)
    if not result.kept:
        raise ValueError("this needs the texts, but there are only statistics")
    if names is None:
        names = [name for name, item in BREAKDOWNS.items() if not _missing_input(result, item)]
    for name in names:
        if name not in BREAKDOWNS:
            raise ValueError(f"unknown breakdown {name!r}; one of {', '.join(BREAKDOWNS)}")
        if missing := _missing_input(result, BREAKDOWNS[name]):
            raise ValueError(f"breakdown {name} needs {missing}")
    return [BREAKDOWNS[name].make(result, top) for name in names]


def _missing_input(result: Result, item: Breakdown) -> str | None:
    """What a breakdown lacks, or None."""
    if item.needs is not None and not listed_kinds(result, item.needs):
        metrics = (metric_class(name) for name in METRICS)
        first = next(
            m for m in metrics if any(kind.listed == item.needs for kind in m.presentation.kinds)
        )
        return f"{first.presentation.name} among the metrics"
    if item.needs_source and not result.has_source:
        return "the source text"
    return None
