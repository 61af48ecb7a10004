"""The marks of each system, drawn as runs of words in the text as it was written."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import aligner_of
from coverage_eval.core.lists import LazyRows
from coverage_eval.core.mark import LIST_PHRASES, Explanation, Mark, MarkKind
from coverage_eval.core.metric import Metric
from coverage_eval.core.result import Result
from coverage_eval.core.tokenizers import Segment, Span, Words, segment_text

FUNCTION_SHARE = 0.005
"""The share of all words that a function word has at least, 0 to 1."""

FUNCTION_FACTOR = 5
"""How many times as frequent as the average word it is at least."""

FUNCTION_SEGMENTS = 10_000
"""The first segments, in which words are counted."""

_MAX_WORDS = 5
"""Longer phrases are shortened in the middle."""


def listed_kinds(result: Result, what: str) -> list[tuple[str, MarkKind]]:
    """The metrics whose marks tables list as ``words`` or as ``phrases``, and how they call them.

    They are in the order of columns.
    """
    return [
        (name, kind)
        for name, metric in result.metrics.items()
        for kind in metric.presentation.kinds
        if kind.listed == what
    ]


def mark_kinds(result: Result) -> dict[str, list[MarkKind]]:
    """The metrics with marks, and their kinds; of several with the same key, only the first's."""
    kinds_by_metric: dict[str, list[MarkKind]] = {}
    taken: set[str] = set()
    for name, metric in result.metrics.items():
        kinds = [kind for kind in metric.presentation.kinds if kind.key not in taken]
        if kinds:
            kinds_by_metric[name] = kinds
            taken |= {kind.key for kind in kinds}
    return kinds_by_metric


def linking_metric(result: Result) -> Any:
    """The first metric that asks an aligner for links; None if there is none."""
    return next((metric for metric in result.metrics.values() if "links" in metric.needs), None)


def marks_of(
    result: Result, system: str, function_words: Set[str] = frozenset()
) -> Sequence[list[tuple[MarkKind, Mark]]]:
    """What is wrong in each segment of a system: the marks that :func:`mark_kinds` lists.

    Marks that are no error by themselves are left out, as
    :attr:`~coverage_eval.core.mark.MarkKind.error_threshold` and :func:`quiet_marks` say.
    """
    kinds = {
        name: {kind.name: kind for kind in listed} for name, listed in mark_kinds(result).items()
    }
    columns = {name: result.explanations(name) for name in kinds}
    position = result.systems.index(system)

    def marks(segment: int) -> list[tuple[MarkKind, Mark]]:
        found = [
            (kinds[name][mark.kind], mark)
            for name, column in columns.items()
            for mark in column[segment][position].marks
            if mark.kind in kinds[name] and mark.amount >= kinds[name][mark.kind].error_threshold
        ]
        if not function_words:
            return found
        return shown_marks(segment_text(result.rows[segment].source or ""), found, function_words)

    return LazyRows(marks, range(result.segments))


def flags_segments(metric: Metric) -> bool:
    """Whether a metric says of single segments that they have an error.

    What is repeated without a reference that does not repeat it may be right.
    """
    return any(
        not kind.on_demand and (kind.error != "repetition" or "references" in metric.needs)
        for kind in metric.presentation.kinds
    )


def flagged_segments(
    result: Result, name: str, system: str, function_words: Set[str] = frozenset()
) -> NDArray[np.bool_]:
    """Which segments of a system have an error by a metric; ``[segments]``.

    A metric that knows how likely an error is counts its flags; by others, an output has an error
    if a mark of it is not quiet, as :func:`quiet_marks` says.

    Args:
        result: The result of an evaluation that kept the texts.
        name: The metric.
        system: The system.
        function_words: Words that are no error alone.
    """
    metric, statistics = result.metrics[name], result.statistics_of(name, system)
    if "flagged" in metric.statistic_names:
        return np.asarray(statistics[:, metric.statistic_names.index("flagged")] > 0)
    position, explanations = result.systems.index(system), result.explanations(name)
    flagged = np.asarray(metric.formula(statistics) > 0)
    for index in np.flatnonzero(flagged).tolist() if function_words else ():
        marks, source = explanations[index][position].marks, result.rows[index].source
        if marks:
            flagged[index] = not all(quiet_marks(segment_text(source or ""), marks, function_words))
    return flagged


def function_words(result: Result) -> frozenset[str]:
    """The source words that a model links with everything, in lower case, known by frequency.

    Such a word has :data:`FUNCTION_SHARE` of all words, and is :data:`FUNCTION_FACTOR` times as
    frequent as the average word, so that a text of few words has no function words for that.
    """
    aligner = aligner_of(result.metrics.values())
    if aligner is None or not result.has_source:
        return frozenset()
    tokenizer = aligner.source_tokenizer
    counts: Counter[str] = Counter()
    for row in islice(result.rows, FUNCTION_SEGMENTS):
        counts.update(word.lower() for word in tokenizer(row.source or ""))
    total = counts.total()
    least = total * max(FUNCTION_SHARE, FUNCTION_FACTOR / max(1, len(counts)))
    return frozenset(word for word, count in counts.items() if count >= least and word.isalpha())


def quiet_marks(text: str, marks: Sequence[Mark], function_words: Set[str]) -> list[bool]:
    """Which marks are of one source word each, in runs of nothing but function words.

    Args:
        text: The source.
        marks: Marks of one kind.
        function_words: Words that are no error alone.
    """
    single = [m.side == "source" and len(m.spans) == 1 for m in marks]
    spans = {m.spans[0] for m, is_single in zip(marks, single, strict=True) if is_single}
    loud = [span for span in spans if text[slice(*span)].lower() not in function_words]
    loud_runs = [
        run for run in runs(text, spans) if any(run[0] <= at and end <= run[1] for at, end in loud)
    ]
    return [
        is_single and not any(s <= m.spans[0][0] and m.spans[0][1] <= e for s, e in loud_runs)
        for m, is_single in zip(marks, single, strict=True)
    ]


def shown_marks(
    text: str, marks: Sequence[tuple[MarkKind, Mark]], function_words: Set[str]
) -> list[tuple[MarkKind, Mark]]:
    """The marks of a segment without quiet ones."""
    shown = []
    for kind in dict.fromkeys(kind for kind, _ in marks):
        own = [mark for other, mark in marks if other == kind]
        quiet = quiet_marks(text, own, function_words)
        shown += [(kind, mark) for mark, is_quiet in zip(own, quiet, strict=True) if not is_quiet]
    return shown


def spans_on(side: str, marks: Iterable[Mark]) -> set[Span]:
    """The characters of all words of marks on one side."""
    return {span for mark in marks if mark.side == side for span in mark.spans}


def runs(text: str, spans: Iterable[Span]) -> list[Span]:
    """Runs of words with at most white space between them, without punctuation at their ends.

    >>> runs("a dog, a cat.", [(0, 1), (2, 5), (5, 6), (9, 12), (12, 13)]), runs("a .", [(2, 3)])
    ([(0, 5), (9, 12)], [])

    Args:
        text: The text.
        spans: The characters of the words.
    """
    found: list[Span] = []
    reach, is_open = 0, False
    for start, end in sorted(spans):
        is_open = is_open and not text[reach:start].strip()
        reach = max(reach, end)
        if any(map(str.isalnum, text[start:end])):
            first = found.pop()[0] if is_open else start
            found.append((first, reach))
            is_open = True
    return found


def styled_runs(
    text: str, marks: Sequence[tuple[MarkKind, Mark]], side: str
) -> Iterator[tuple[Span, str]]:
    """Runs of words with one error on one side, each in the style of its plainest mark.

    Where words overlap, because metrics split the text otherwise, those with the plainest mark
    count.
    """
    kinds: dict[Span, MarkKind] = {}
    plainest_first = sorted(marks, key=lambda item: item[0].error_threshold)
    for kind in dict.fromkeys(kind for kind, _ in plainest_first):
        known = sorted(kinds)
        of_kind = spans_on(side, (mark for other, mark in marks if other == kind))
        kinds |= {span: kind for span in of_kind if not _overlaps(span, known)}
    for error in dict.fromkeys(kind.error for kind in kinds.values()):
        of_error = sorted(span for span, kind in kinds.items() if kind.error == error)
        for start, end in runs(text, of_error):
            inside = of_error[bisect_left(of_error, (start,)) : bisect_left(of_error, (end,))]
            plainest = min((kinds[span] for span in inside), key=lambda kind: kind.error_threshold)
            yield (start, end), plainest.style


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    """Whether a span shares characters with one of some others, which do not overlap."""
    before = bisect_left(others, (span[1],))
    return before > 0 and others[before - 1][1] > span[0]


def bracketed(text: str, spans: Iterable[Span]) -> str:
    """A text with the runs of some words in brackets.

    >>> bracketed("a dog, a cat.", {(2, 5), (7, 8), (9, 12), (12, 13)})
    'a [dog], [a cat].'
    """
    pieces = []
    end = 0
    for start, stop in runs(text, spans):
        pieces += [text[end:start], "[", text[start:stop], "]"]
        end = stop
    return "".join([*pieces, text[end:]])


def segment_lines(result: Result, name: str, index: int) -> Iterator[str]:
    """The texts of a segment of one system, with errors in brackets, then what is not in them.

    That is text beside the segment that belongs to no line of a document, and repeated phrases.

    Args:
        result: The result of an evaluation that kept the texts.
        name: The metric that finds errors.
        index: The segment, from 0.
    """
    row = result.rows[index]
    kinds = {kind.name: kind for kind in result.metrics[name].presentation.kinds}
    explanation = result.explanations(name)[index][0]
    marks = [
        mark
        for mark in explanation.marks
        if mark.kind not in kinds or mark.amount >= kinds[mark.kind].error_threshold
    ]
    if row.source is not None:
        yield f"source     {_bracketed_side('source', row.source, marks)}"
    for reference in row.references:
        yield f"reference  {segment_text(reference)}"
    yield f"output     {_bracketed_side('output', row.hypotheses[0], marks)}"
    yield from (f"no line    {mark}" for mark in dict.fromkeys(marks) if is_beside(mark))
    yield from _repeated_lines(explanation, kinds.values())


def _bracketed_side(side: str, segment: Segment, marks: Iterable[Mark]) -> str:
    return bracketed(segment_text(segment), spans_on(side, marks))


def is_beside(mark: Mark) -> bool:
    """Whether a mark is of text beside its segment, which belongs to no line of a document."""
    return not mark.spans and bool(mark.text)


def _repeated_lines(explanation: Explanation, kinds: Iterable[MarkKind]) -> Iterator[str]:
    """The runs of phrases, and the numbers of their words in the output, counted from 1."""
    words = explanation.words
    if words is None:
        return
    starts = [start for start, _ in words.spans]
    of_key: defaultdict[str, set[str]] = defaultdict(set)
    for kind in kinds:
        if kind.listed == LIST_PHRASES:
            of_key[kind.key].add(kind.name)
    for key, names in of_key.items():
        listed = [mark for mark in explanation.marks if mark.kind in names]
        for start, end in runs(words.text, spans_on("output", listed)):
            first, last = bisect_left(starts, start) + 1, bisect_left(starts, end)
            where = f"{last}" if first == last else f"{first}–{last}"
            yield f"'{_shortened(words, first - 1, last)}' {key} at {where}"


def _shortened(words: Words, first: int, last: int) -> str:
    """The text from one word to before another; a long one without its middle."""
    if last - first <= _MAX_WORDS:
        return words.text_of(range(first, last))
    return f"{words.text_of(range(first, first + 3))} … {words.text_of(range(last - 2, last))}"
