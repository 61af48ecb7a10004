"""The normal coverage of words, and the runs of words that lose most of it.

Articles are seldom linked with certainty, and names always are: a coverage of 0.4 says nothing
about an article, but much about a name. So the normal coverage of each word is learnt from text
with complete translations. A word that is rare in this text, or missing, is treated like the
average rare word.

Words are left out together, so a run of them is visible where a single word is not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from coverage_eval.core.errors import DataError
from coverage_eval.core.metric import Floats

T = TypeVar("T")

RARE = 2
"""The most occurrences of a rare word."""


@dataclass(frozen=True)
class NormalCoverage:
    """Mean and spread of the coverage of words.

    >>> normal = NormalCoverage.learn([(["a", "b"], np.array([1.0, 0.5]))] * 9)
    >>> means, spreads = normal.of(["b", "never seen"])
    >>> round(float(means[0]), 2)
    0.53

    Attributes:
        words: Mean and standard deviation of each word's coverage.
        other: Mean and standard deviation for all other words.
    """

    words: Mapping[str, tuple[float, float]]
    other: tuple[float, float]

    @classmethod
    def learn(cls, segments: Iterable[tuple[Sequence[str], Floats]]) -> NormalCoverage:
        """Learn from segments with complete translations.

        Each word's figures come from its occurrences and one occurrence of the average rare word.

        Args:
            segments: The words of each segment and their coverages ``[words]``.

        Raises:
            DataError: There is no word.
        """
        numbers: dict[str, int] = {}
        places: list[int] = []
        coverages = [np.zeros(0)]
        for words, covered in segments:
            places += [numbers.setdefault(word, len(numbers)) for word in words]
            coverages.append(covered)
        if not numbers:
            raise DataError("there is no word to learn normal coverages from")
        values = np.concatenate(coverages)
        counts = np.bincount(places)
        sums, squares = np.bincount(places, values), np.bincount(places, values * values)
        is_rare = counts <= max(RARE, counts.min())
        count = int(counts[is_rare].sum())
        mean, square = (sum(each[is_rare].tolist()) / count for each in (sums, squares))
        columns = zip(numbers, counts.tolist(), sums.tolist(), squares.tolist(), strict=True)
        figures = {
            word: _figures(times + 1, first + mean, second + square)
            for word, times, first, second in columns
        }
        return cls(figures, _figures(1, mean, square))

    def of(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Means and spreads ``[words]`` of words."""
        pairs = (self.words.get(word, self.other) for word in words)
        figures = np.fromiter(chain.from_iterable(pairs), np.float64, 2 * len(words))
        return figures[::2], figures[1::2]

    def save(self, path: Path) -> None:
        """Write the figures as JSON."""
        path.write_text(self._json, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> NormalCoverage:
        """Read a file of :meth:`save`.

        Raises:
            DataError: The file holds no normal coverages.
        """

        def parse(values: dict[str, Any]) -> NormalCoverage:
            mean, spread = values["other"]
            words = {word: (float(one), float(two)) for word, (one, two) in values["words"].items()}
            other = float(mean), float(spread)
            if not all(0 <= figure <= 1 for pair in (other, *words.values()) for figure in pair):
                raise ValueError("figures beyond 0 to 1")
            return cls(words, other)

        return load_figures(path, "normal coverages", parse)

    @cached_property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the figures, for signatures."""
        return sha256(self._json.encode()).hexdigest()[:8]

    @cached_property
    def _json(self) -> str:
        return json.dumps({"other": self.other, "words": self.words}, sort_keys=True)


def load_figures(path: Path, what: str, parse: Callable[[Any], T]) -> T:
    """What a JSON file of a model holds.

    Args:
        path: The file.
        what: Its figures, for messages.
        parse: Makes them from the file's values.

    Raises:
        DataError: The file does not hold them.
    """
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except (
        AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError,
    ) as error:  # fmt: skip
        raise DataError(f"{path.name} of the model has no {what}: {error}") from error


def _figures(count: float, first: float, second: float) -> tuple[float, float]:
    """Mean and standard deviation of a sum and a sum of squares, to 4 digits."""
    mean = first / count
    return round(mean, 4), round(math.sqrt(max(0.0, second / count - mean * mean)), 4)


class WordRun(NamedTuple):
    """A run of words.

    Attributes:
        start: Its first position, from 0.
        end: The position after its last word.
        sum: The sum of its values, above 0.
    """

    start: int
    end: int
    sum: float


def best_run(values: Floats) -> WordRun | None:
    """The run with the greatest sum (Kadane's algorithm).

    Of several such runs, it is the first and then the shortest.

    >>> best_run(np.array([-1.0, 2.0, -1.0, 2.0, -3.0, 1.0]))
    WordRun(start=1, end=4, sum=3.0)

    Args:
        values: ``[words]``, of any sign.

    Returns:
        The run; None if no value is above 0.
    """
    sums = np.concatenate([[0.0], np.cumsum(values)])
    lowest = np.minimum.accumulate(sums)
    end = int(np.argmax(sums - lowest))
    gain = float(sums[end] - lowest[end])
    if gain <= 0:
        return None
    start = int(np.flatnonzero(sums[:end] == lowest[end])[-1])
    return WordRun(start, end, gain)


def disjoint_runs(values: Floats) -> list[WordRun]:
    """The best run, then the best runs to its left and right, and so on, sorted by position.

    These are the maximal scoring runs of Ruzzo and Tompa (1999).

    >>> [run[:2] for run in disjoint_runs(np.array([-1.0, 2.0, -1.0, 2.0, -3.0, 1.0]))]
    [(1, 4), (5, 6)]
    """
    found = []
    open_parts = [(0, len(values))]
    while open_parts:
        first, last = open_parts.pop()
        run = best_run(values[first:last])
        if run is not None:
            start, end = first + run.start, first + run.end
            found.append(WordRun(start, end, run.sum))
            open_parts += [(first, start), (end, last)]
    return sorted(found)


def strongest_runs(losses: Sequence[Floats], penalty: float) -> Floats:
    """The sum of the best run of losses, each minus the penalty, of many segments at once.

    Kadane's algorithm on all segments in step; it gives what
    :func:`best_run` gives, and 0 without a run.

    Args:
        losses: The words' losses of each segment, ``[words]``.
        penalty: The penalty.

    Returns:
        ``[segments]``, at least 0.
    """
    lengths = np.fromiter(map(len, losses), np.intp, len(losses))
    if not lengths.sum():
        return np.zeros(len(losses))
    sums = np.zeros((len(losses), 1 + int(lengths.max())))
    inside = np.arange(1, sums.shape[1]) <= lengths[:, None]
    sums[:, 1:][inside] = np.concatenate(losses) - penalty
    np.cumsum(sums, axis=1, out=sums)  # after its end, a segment's sum stays
    return np.asarray((sums - np.minimum.accumulate(sums, axis=1)).max(axis=1))
