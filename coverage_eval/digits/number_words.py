"""Numbers spelled digit by digit, drawn at random, and their digits with an end sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
END = "#"
LETTERS = "".join(sorted(set(" ".join(WORDS))))
"""The characters of the input; as numbers they count from 1, and 0 is padding."""
SYMBOLS = "0123456789" + END
"""The symbols of the output; as numbers they count from 0, and −1 is padding."""


@dataclass(frozen=True)
class Examples:
    """A batch.

    Attributes:
        numbers: Digits, as ``374``.
        letters: ``[B, S]`` their words' letters, as numbers.
        symbols: ``[B, T]`` the digits and the end sign, as numbers.
    """

    numbers: tuple[str, ...]
    letters: NDArray[np.int64]
    symbols: NDArray[np.int64]


def spell(number: str) -> str:
    """The words of the digits.

    >>> spell("374")
    'three seven four'
    """
    return " ".join(WORDS[int(digit)] for digit in number)


def draw_examples(rng: np.random.Generator, count: int, *, shortest: int, longest: int) -> Examples:
    """Draw numbers with ``shortest`` to ``longest`` digits, every length being as likely."""
    lengths = rng.integers(shortest, longest + 1, size=count)
    return encode_numbers(
        tuple("".join(map(str, rng.integers(0, 10, size=length))) for length in lengths)
    )


def encode_numbers(numbers: tuple[str, ...]) -> Examples:
    """The batch of given numbers."""
    letters = [[LETTERS.index(letter) + 1 for letter in spell(number)] for number in numbers]
    symbols = [[SYMBOLS.index(symbol) for symbol in number + END] for number in numbers]
    return Examples(numbers, _padded(letters, 0), _padded(symbols, -1))


def _padded(rows: list[list[int]], padding: int) -> NDArray[np.int64]:
    array = np.full((len(rows), max(map(len, rows), default=0)), padding, dtype=np.int64)
    for row, values in zip(array, rows, strict=True):
        row[: len(values)] = values
    return array
