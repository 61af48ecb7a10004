"""The marks of each system, and the words that they are positions of: drawn as runs of words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from coverage_eval.align.aligner import aligner_of
from coverage_eval.core.machine import LazyRows
from coverage_eval.core.mark import PHRASES, SIDES, Mark, MarkKind
from coverage_eval.core.metric import Metric
from coverage_eval.core.result import Result
from coverage_eval.core.text_metric import TokenMetric
from coverage_eval.core.tokenizers import Segment, Tokenizer

_MAX_WORDS = 5
"""Longer phrases are shortened in the middle."""


def listed_kinds(result: Result, what: str) -> list[tuple[str, MarkKind]]:
    """The metrics whose marks tables list as ``words`` or as ``phrases``, and how they call them.

    They are in the order of columns.
    """
    return [
        (name, kind)
        for name, metric in result.metrics.items()
        for kind in metric.kinds
        if kind.listed == what
    ]


def marking(result: Result) -> dict[str, list[MarkKind]]:
    """The metrics with marks, and their kinds; of several with the same key, only the first's."""
    kinds_by_metric: dict[str, list[MarkKind]] = {}
    taken: set[str] = set()
    for name, metric in result.metrics.items():
        kinds = [kind for kind in metric.kinds if kind.key not in taken]
        if kinds:
            kinds_by_metric[name] = kinds
            taken |= {kind.key for kind in kinds}
    return kinds_by_metric


def marks_of(result: Result, system: str) -> Sequence[list[tuple[MarkKind, Mark]]]:
    """What is wrong in each segment of a system: marks of all :func:`marking` metrics.

    Marks that are no error by themselves are left out, as
    :attr:`~coverage_eval.core.mark.MarkKind.error_threshold` says.
    """
    kinds = {name: {kind.name: kind for kind in own} for name, own in marking(result).items()}
    columns = {name: result.evidence(name) for name in kinds}
    place = result.systems.index(system)

    def marks(segment: int) -> list[tuple[MarkKind, Mark]]:
        return [
            (kinds[name][mark.kind], mark)
            for name, column in columns.items()
            for mark in column[segment][place].marks
            if mark.kind in kinds[name] and mark.amount >= kinds[name][mark.kind].error_threshold
        ]

    return LazyRows(marks, range(result.segments))


def flags(metric: Metric) -> bool:
    """Whether a metric says of single segments that they have an error.

    What is repeated without a reference that does not repeat it may be right.
    """
    return any(
        not kind.on_demand and (kind.error != "repetition" or "references" in metric.needs)
        for kind in metric.kinds
    )


def flagged_segments(result: Result, name: str, system: str) -> NDArray[np.bool_]:
    """Which segments of a system have an error by a metric; ``[segments]``."""
    return np.asarray(result.metrics[name].formula(result.statistics_of(name, system)) > 0)


def positions_on(side: str, marks: Iterable[Mark]) -> set[int]:
    """All positions of marks on one side."""
    return {position for mark in marks if mark.side == side for position in mark.positions}


def runs(words: Sequence[str], positions: Collection[int]) -> list[range]:
    """Runs of neighbouring positions, without punctuation at their ends.

    >>> runs(["a", "dog", ",", "a", "cat", "."], {0, 1, 2, 4, 5}), runs(["a", "."], {1})
    ([range(0, 2), range(4, 5)], [])
    """
    found = []
    for _, group in groupby(enumerate(sorted(positions)), lambda item: item[1] - item[0]):
        spoken = [at for _, at in group if any(map(str.isalnum, words[at]))]
        if spoken:
            found.append(range(spoken[0], spoken[-1] + 1))
    return found


def styled_runs(
    words: Sequence[str], marks: Iterable[tuple[MarkKind, Mark]], side: str
) -> Iterator[tuple[range, str]]:
    """Runs of words with one error on one side, each in the style of its plainest mark."""
    kinds: dict[int, MarkKind] = {}
    for kind, mark in sorted(marks, key=lambda item: -item[0].error_threshold):
        if mark.side == side:
            kinds |= dict.fromkeys(mark.positions, kind)
    for error in dict.fromkeys(kind.error for kind in kinds.values()):
        for run in runs(words, [at for at, kind in kinds.items() if kind.error == error]):
            yield run, min((kinds[at] for at in run), key=lambda kind: kind.error_threshold).style


def bracketed(words: Sequence[str], positions: Collection[int]) -> str:
    """A text with the runs of some positions in brackets.

    >>> bracketed(["a", "dog", ",", "a", "cat", "."], {1, 3, 4, 5})
    'a [dog] , [a cat] .'
    """
    shown = list(words)
    for run in runs(words, positions):
        shown[run.start] = f"[{shown[run.start]}"
        shown[run.stop - 1] = f"{shown[run.stop - 1]}]"
    return " ".join(shown)


def segment_lines(result: Result, name: str, index: int) -> Iterator[str]:
    """The texts of a segment of one system, with errors in brackets, then what is not in them.

    That is text beside the segment that belongs to no line of a document, and repeated phrases.

    Args:
        result: What was measured, with evidence.
        name: The metric that finds errors.
        index: The segment, from 0.
    """
    of_source, of_output = tokenizers(result, [name])
    row = result.rows[index]
    words = of_output.as_written(row.hypotheses[0])
    kinds = {kind.name: kind for kind in result.metrics[name].kinds}
    found = result.evidence(name)[index][0].marks
    marks = [m for m in found if m.kind not in kinds or m.amount >= kinds[m.kind].error_threshold]
    if row.source is not None:
        source = of_source.as_written(row.source)
        yield f"source     {bracketed(source, positions_on('source', marks))}"
    for reference in row.references:
        yield f"reference  {' '.join(of_output.as_written(reference))}"
    yield f"output     {bracketed(words, positions_on('output', marks))}"
    yield from (f"no line    {mark}" for mark in dict.fromkeys(marks) if not mark.positions)
    of_phrases: defaultdict[str, list[Mark]] = defaultdict(list)
    for mark in found:
        if mark.kind in kinds and kinds[mark.kind].listed == PHRASES:
            of_phrases[kinds[mark.kind].key].append(mark)
    for key, listed in of_phrases.items():
        for run in runs(words, positions_on("output", listed)):
            yield f"'{_shortened(words[run.start : run.stop])}' {key} at {_places(run)}"


def _places(run: range) -> str:
    return str(run.stop) if len(run) == 1 else f"{run.start + 1}–{run.stop}"


def _shortened(words: Sequence[str]) -> str:
    if len(words) <= _MAX_WORDS:
        return " ".join(words)
    return f"{' '.join(words[:3])} … {' '.join(words[-2:])}"


def output_words(result: Result, system: str, index: int) -> Sequence[str]:
    """An output's words, tokenised as for the metrics that mark some.

    Args:
        result: The systems.
        system: The system.
        index: The segment, counted from 0.
    """
    tokens = marked_tokenizers(result)[1]
    return tokens.as_written(result.rows[index].hypotheses[result.systems.index(system)])


def source_words(result: Result, index: int) -> Sequence[str] | None:
    """A source segment's words, tokenised as for the metrics that mark some; None if unknown."""
    source = result.rows[index].source
    return None if source is None else marked_tokenizers(result)[0].as_written(source)


def marked_tokenizers(result: Result) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and output whose tokens the marks on them count."""
    names = {
        side: [name for name, m in result.metrics.items() if any(k.side == side for k in m.kinds)]
        for side in SIDES
    }
    return tokenizers(result, names["source"])[0], tokenizers(result, names["output"])[1]


def tokenizers(result: Result, names: Iterable[str]) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and output whose tokens the marks of some metrics count."""
    metrics = [result.metrics[name] for name in names]
    tokens = next((metric.tokens for metric in metrics if isinstance(metric, TokenMetric)), None)
    if aligner := aligner_of(metrics):
        return aligner.source_tokens, tokens or aligner.tokens
    return (tokens, tokens) if tokens else (result.source_tokens, result.tokens)


def original_pieces(text: Segment, tokens: Tokenizer) -> list[str] | None:
    """The text as it was written, in a piece for each token with what stands behind it.

    A piece is empty where a tokeniser writes a word so differently that it is not found; its
    characters are then in a piece nearby.

    >>> original_pieces("Hello,  World!", Tokenizer("13a", lowercase=True))
    ['Hello', ',  ', 'World', '!']

    Args:
        text: A segment.
        tokens: Its tokeniser.

    Returns:
        One piece for each token; None if that is only the tokens with spaces between them.
    """
    if not isinstance(text, str):
        return None
    words, text = tokens(text), text.strip()
    if not words or " ".join(words) == text:
        return None
    # Lowercasing can change how a text is split.
    plain = tokens.whole(text)
    if len(plain) != len(words):
        return None
    starts = [start for start, _ in tokens.whole.locate(text).spans]
    ends = [0, *starts[1:], len(text)]
    return [text[start:end] for start, end in pairwise(ends)]
