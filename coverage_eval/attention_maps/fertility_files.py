"""Files of fertilities: one line per segment, one number per source word.

Numbers have up to 12 significant digits, and the fertility of a sink is ``inf``.
:mod:`coverage_eval.attention.fertility` computes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.attention import fertility
from coverage_eval.data.files import Source, read_parallel, read_segments, source_name
from coverage_eval.errors import DataError
from fast_align_wrapper.errors import AlignerDataError
from fast_align_wrapper.links import Links, parse_links
from fast_align_wrapper.text import tokenize

Fertilities = NDArray[np.float64]
T = TypeVar("T")
R = TypeVar("R")


def format_fertilities(fertilities: Iterable[float]) -> str:
    """Write the fertilities of one segment, without a line end.

    >>> format_fertilities([2.0, 1.25, float("inf")])
    '2 1.25 inf'
    """
    return " ".join(f"{number:.12g}" for number in map(float, fertilities))


def parse_fertilities(line: str) -> Fertilities:
    """Read the fertilities of one segment.

    Returns:
        ``[words]``, each above 0, ``inf`` for a sink.

    Raises:
        DataError: A token is not a number above 0; names it.
    """
    return np.array([_fertility(token) for token in tokenize(line)], dtype=np.float64)


def read_fertilities(source: Source) -> Iterator[Fertilities]:
    """Read the fertilities of one segment from each line; an empty line has no words.

    Raises:
        DataError: As :func:`~coverage_eval.data.files.read_segments`, or a malformed number; names
            file and line.
    """
    return _each(source, read_segments(source), parse_fertilities)


def with_sink(fertilities: Iterable[Fertilities]) -> Iterator[Fertilities]:
    """Append the unbounded fertility of a sink to each segment."""
    for row in fertilities:
        yield np.append(row, np.inf)


def constant_fertilities(source: Source, value: float) -> Iterator[Fertilities]:
    """CONSTANT: one fertility for every word of a text."""
    for segment in read_segments(source):
        yield fertility.constant(len(tokenize(segment)), value)


def actual_fertilities(
    source: Source, links: Source, *, added: float = 0.0
) -> Iterator[Fertilities]:
    """Each word's number of links, at least 1, plus a constant.

    Args:
        source: The text.
        links: Pharaoh links of the same segments.
        added: The constant; 1 gives the paper's training targets for a fertility predictor, and the
            bounds that the authors' scripts use.

    Raises:
        DataError: Unequal files, malformed links, or links out of range; names file and line.
    """
    for words, pairs in _aligned(source, links):
        yield fertility.training_targets(pairs, len(words), added=added)


def guided_fertilities(
    source: Source, training_source: Source, training_links: Source
) -> Iterator[Fertilities]:
    """GUIDED: each word's largest number of links in the training data, 1 if it had none.

    Raises:
        DataError: As :func:`actual_fertilities`, for the training data.
    """
    table = fertility.guided(_aligned(training_source, training_links))
    for segment in read_segments(source):
        yield table.fertilities(tokenize(segment))


def predicted_fertilities(
    probabilities: Source, *, source: Source | None = None, first: float = 1.0, added: float = 0.0
) -> Iterator[Fertilities]:
    """PREDICTED: expected fertilities under the class probabilities of any model.

    Args:
        probabilities: One line per segment. Words are separated by spaces, the probabilities of a
            word by commas: ``0.1,0.9 0.5,0.5``.
        source: The text, to check the numbers of words; None for no check.
        first: Fertility of the first class.
        added: A constant; 1 gives the bounds that the authors' scripts use.

    Raises:
        DataError: Malformed probabilities, or another number of words than the source; names file
            and line.
    """
    files = (probabilities,) if source is None else (probabilities, source)

    def compute(row: tuple[str, ...]) -> Fertilities:
        words = [list(map(_number, token.split(","))) for token in tokenize(row[0])]
        if len(row) > 1 and len(words) != len(tokenize(row[1])):
            raise DataError(f"{len(words)} words, but the source has {len(tokenize(row[1]))}")
        return np.array([fertility.expected(word, first=first) + added for word in words])

    return _each(probabilities, read_parallel(*files), compute)


def _fertility(token: str) -> float:
    value = _number(token)
    if not value > 0:
        raise DataError(f"'{token}' is not a fertility: a number above 0, or inf")
    return value


def _number(token: str) -> float:
    try:
        value = float(token)
    except ValueError:
        value = math.nan
    if math.isnan(value) or "_" in token:
        raise DataError(f"'{token}' is not a number")
    return value


def _aligned(source: Source, links: Source) -> Iterator[tuple[Sequence[str], Links]]:
    """The words and links of each segment; a link out of range is an error that names the line."""

    def parse(row: tuple[str, ...]) -> tuple[Sequence[str], Links]:
        words, pairs = tokenize(row[0]), parse_links(row[1])
        fertility.link_counts(pairs, len(words))
        return words, pairs

    return _each(links, read_parallel(source, links), parse)


def _each(source: Source, rows: Iterable[T], compute: Callable[[T], R]) -> Iterator[R]:
    """Apply a function to each line, adding file and line to its errors."""
    for number, row in enumerate(rows, start=1):
        try:
            yield compute(row)
        except (DataError, AlignerDataError) as error:  # noqa: PERF203
            raise DataError(f"{source_name(source)}: line {number}: {error}") from None
