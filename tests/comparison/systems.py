"""Outputs with known errors, for tests of comparisons."""

from __future__ import annotations

import random
from collections.abc import Sequence

from coverage_eval.testbed.injected_errors import omit_words, repeat_phrases

__all__ = ["damaged"]


def damaged(
    references: Sequence[str], seed: int, *, repeated: float = 0.0, omitted: float = 0.0
) -> list[str]:
    """References with phrases said again and words left out, at these rates per word."""
    generator = random.Random(seed)
    return [
        " ".join(repeat_phrases(omit_words(line.split(), omitted, generator), repeated, generator))
        for line in references
    ]
