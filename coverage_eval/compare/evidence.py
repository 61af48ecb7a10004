"""The marks of each system, and the words that they are positions of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from coverage_eval.core.mark import Mark, MarkKind
from coverage_eval.core.measure import Metric, Result
from coverage_eval.core.tokenizers import Tokenizer
from coverage_eval.documents.words import find_tokens
from coverage_eval.registry import METRICS, metric_class
from fast_align_wrapper.text import Segment


class ExpectedWord(NamedTuple):
    """A source word that should be translated.

    Attributes:
        word: The word.
        position: Its position in the source, from 0.
        length: The source's length in words.
        marked: Whether the system's output does not translate it.
    """

    word: str
    position: int
    length: int
    marked: bool


def lists(metric: type[Metric] | Metric, what: str) -> bool:
    """Whether tables list marks of a metric as ``words`` or as ``phrases``."""
    return any(kind.listed == what for kind in metric.kinds)


def metrics_that_list(what: str) -> list[str]:
    """The names of this package's metrics whose marks tables list so."""
    return [name for name in METRICS if lists(metric_class(name), what)]


def find_metric(result: Result, what: str) -> str | None:
    """The name of the first metric whose marks tables list so; None if there is none."""
    return next((name for name, metric in result.metrics.items() if lists(metric, what)), None)


def required_metric(result: Result, what: str) -> tuple[str, MarkKind]:
    """The name of the first metric whose marks tables list so, and how it calls them.

    Raises:
        ValueError: No metric has such marks.
    """
    name = find_metric(result, what)
    if name is None:
        raise ValueError(f"none of the metrics has marks that are listed as {what}")
    return name, next(kind for kind in result.metrics[name].kinds if kind.listed == what)


def expected_words(result: Result, name: str, system: str) -> Iterator[ExpectedWord]:
    """All source words that a metric expects, and whether it marks them for a system."""
    rows = zip(result.expected(name), result.evidence_of(name, system), strict=True)
    for (source, positions), found in rows:
        marked = {position for mark in found.marks for position in mark.positions}
        for position in positions:
            yield ExpectedWord(source[position], position, len(source), position in marked)


def marking(result: Result) -> dict[str, list[MarkKind]]:
    """The metrics with marks, and their kinds; of several with the same key, only the first's."""
    found: dict[str, list[MarkKind]] = {}
    taken: set[str] = set()
    for name, metric in result.metrics.items():
        kinds = [kind for kind in metric.kinds if kind.key not in taken]
        if kinds:
            found[name] = kinds
            taken |= {kind.key for kind in kinds}
    return found


def marks_of(result: Result, system: str) -> Iterator[list[tuple[MarkKind, Mark]]]:
    """The marks in each segment of a system by all of its :func:`marking` metrics."""
    kinds = [{kind.name: kind for kind in own} for own in marking(result).values()]
    columns = [result.evidence_of(name, system) for name in marking(result)]
    for found in zip(*columns, strict=True) if columns else [()] * result.segments:
        yield [
            (own[mark.kind], mark)
            for own, one in zip(kinds, found, strict=True)
            for mark in one.marks
            if mark.kind in own
        ]


def positions_on(side: str, marks: Iterable[Mark]) -> set[int]:
    """All positions of marks on one side."""
    return {position for mark in marks if mark.side == side for position in mark.positions}


def start_of(mark: Mark) -> int:
    """Where the phrase begins that a mark is part of; otherwise its own first position."""
    start: int = mark.detail.get("start", mark.positions[0])
    return start


def output_words(result: Result, system: str, index: int) -> Sequence[str]:
    """An output's words, tokenised as for the metrics that mark some.

    Args:
        result: The systems.
        system: The system.
        index: The segment, counted from 0.
    """
    tokens = tokenizers(result, _names_on("output", result))[1]
    return tokens.as_written(result.rows[index].hypotheses[result.systems.index(system)])


def source_words(result: Result, index: int) -> Sequence[str] | None:
    """A source segment's words, tokenised as for the metrics that mark some; None if unknown."""
    source = result.rows[index].source
    if source is None:
        return None
    return tokenizers(result, _names_on("source", result))[0].as_written(source)


def marked_tokenizers(result: Result) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and output whose tokens the marks on them count."""
    source, output = (tokenizers(result, _names_on(side, result)) for side in ("source", "output"))
    return source[0], output[1]


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
    ends = [0, *list(find_tokens(text, plain))[1:], len(text)]
    return [text[start:end] for start, end in pairwise(ends)]


def _names_on(side: str, result: Result) -> list[str]:
    return [
        name
        for name, metric in result.metrics.items()
        if any(kind.side == side for kind in metric.kinds)
    ]


def tokenizers(result: Result, names: Iterable[str]) -> tuple[Tokenizer, Tokenizer]:
    """The tokenisers of source and output whose tokens the marks of some metrics count."""
    metrics: list[Any] = [result.metrics[name] for name in names]
    aligner = next((metric.aligner for metric in metrics if hasattr(metric, "aligner")), None)
    own = [metric.tokens for metric in metrics if hasattr(metric, "tokens")]
    if aligner is not None:
        return aligner.source_tokens, own[0] if own else aligner.tokens
    return (own[0], own[0]) if own else (result.source_tokens, result.tokens)
