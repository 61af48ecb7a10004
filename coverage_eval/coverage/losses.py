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
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from coverage_eval.core.errors import DataError
from coverage_eval.core.score import Floats

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
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for words, coverages in segments:
            for word, value in zip(words, coverages.tolist(), strict=True):
                item = sums[word]
                item[0] += 1
                item[1] += value
                item[2] += value * value
        if not sums:
            raise DataError("there is no word to learn normal coverages from")
        fewest = min(item[0] for item in sums.values())
        rare = [item for item in sums.values() if item[0] <= max(RARE, fewest)]
        count, first, second = map(sum, zip(*rare, strict=True))
        mean, square = first / count, second / count
        figures = {
            word: _figures(n + 1, one + mean, two + square) for word, (n, one, two) in sums.items()
        }
        return cls(figures, _figures(1, mean, square))

    def of(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Means and spreads ``[words]`` of words."""
        found = np.array([self.words.get(word, self.other) for word in words]).reshape(-1, 2)
        return found[:, 0], found[:, 1]

    def save(self, path: Path) -> None:
        """Write the figures as JSON."""
        path.write_text(self._json, encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> NormalCoverage:
        """Read a file of :meth:`save`.

        Raises:
            DataError: The file holds no normal coverages.
        """
        try:
            values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            mean, spread = values["other"]
            words = {word: (float(one), float(two)) for word, (one, two) in values["words"].items()}
            other = float(mean), float(spread)
            if not all(0 <= figure <= 1 for pair in (other, *words.values()) for figure in pair):
                raise ValueError("figures beyond 0 to 1")
            return cls(words, other)
        except (
            AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError,
        ) as error:  # fmt: skip
            raise DataError(f"{path.name} of the model has no normal coverages: {error}") from error

    @cached_property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the figures, for signatures."""
        return sha256(self._json.encode()).hexdigest()[:8]

    @cached_property
    def _json(self) -> str:
        return json.dumps({"other": self.other, "words": self.words}, sort_keys=True)


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
