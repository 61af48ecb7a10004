"""Coverage errors put into good translations at known rates."""

from __future__ import annotations

import random
from collections.abc import Sequence

__all__ = ["omit_words", "repeat_phrases"]


def repeat_phrases(
    tokens: Sequence[str], rate: float, generator: random.Random, *, longest: int = 3
) -> list[str]:
    """Say a phrase again right after it, with probability ``rate`` after each word.

    Args:
        tokens: A segment.
        rate: Expected repetitions per word, 0 to 1.
        generator: Source of the random choices.
        longest: The longest phrase, in words.
    """
    result: list[str] = []
    for position, token in enumerate(tokens, start=1):
        result.append(token)
        if generator.random() < rate:
            length = generator.randint(1, min(longest, position))
            result += tokens[position - length : position]
    return result


def omit_words(tokens: Sequence[str], rate: float, generator: random.Random) -> list[str]:
    """Leave out each word with probability ``rate``, 0 to 1."""
    return [token for token in tokens if generator.random() >= rate]
