"""Outputs with known errors, for tests of comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.testbed.injection import inject_lines

__all__ = ["damaged"]


def damaged(
    references: Sequence[str], seed: int, *, repeated: float = 0.0, omitted: float = 0.0
) -> list[str]:
    """References with words left out and phrases repeated, at these rates per word."""
    shorter = inject_lines(references, "omission-word", omitted, seed)
    return inject_lines(shorter, "repetition-phrase", repeated, seed)
