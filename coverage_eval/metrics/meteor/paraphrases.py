"""Meteor's paraphrase table: which phrases of a sentence pair paraphrase each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

__all__ = ["PhraseMatches"]

PhraseMatches: TypeAlias = "Sequence[tuple[int, int, int, int]]"
"""Paraphrases of a pair: (reference start, hypothesis start, hypothesis length, reference length)."""
