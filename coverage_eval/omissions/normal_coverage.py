"""What the coverage of a word normally is, learnt from text whose translations are complete.

Articles are seldom linked with certainty, names always are: a coverage of 0.4 says nothing of the
one, and much of the other. Words that are rare in the training text, or not there, are taken to be
like all rare words.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coverage_eval.errors import DataError

Floats = NDArray[np.float64]

RARE = 2
"""Words that occur so often or less are rare."""


@dataclass(frozen=True)
class NormalCoverage:
    """Mean and spread of the coverage of words.

    >>> normal = NormalCoverage.learn([(["a", "b"], np.array([1.0, 0.5]))] * 9)
    >>> means, spreads = normal.of(["b", "never seen"])
    >>> round(float(means[0]), 2)
    0.53

    Attributes:
        words: Mean and standard deviation of each word's coverage.
        other: The same of words that are not among them.
    """

    words: Mapping[str, tuple[float, float]]
    other: tuple[float, float]

    @classmethod
    def learn(cls, segments: Iterable[tuple[Sequence[str], Floats]]) -> NormalCoverage:
        """Learn from segments whose translations are complete.

        A word's figures are those of its occurrences and one occurrence of the average rare word.

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
        """Read what :meth:`save` wrote.

        Raises:
            DataError: Something else.
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
        """The first 8 hexadecimal digits of the hash of the figures, which signatures name."""
        return hashlib.sha256(self._json.encode()).hexdigest()[:8]

    @cached_property
    def _json(self) -> str:
        values = {"other": self.other, "words": self.words}
        return json.dumps(values, sort_keys=True)


def _figures(count: float, first: float, second: float) -> tuple[float, float]:
    """Mean and standard deviation of a sum and a sum of squares, to 4 digits."""
    mean = first / count
    return round(mean, 4), round(math.sqrt(max(0.0, second / count - mean * mean)), 4)
