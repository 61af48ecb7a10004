"""Repetition as characters see it: how well a segment compresses, how much of it is duplicated."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from coverage_eval.metrics.profile.ratio import SegmentRatio


@dataclass(frozen=True)
class CompressionRatio(SegmentRatio):
    """Σ bytes of the segments in UTF-8 / Σ bytes of each compressed on its own by zlib.

    A loop compresses well, so a high figure tells of repetition. A segment's ratio is the
    ``compression_ratio`` by which OpenAI's Whisper (Radford et al. 2022) finds looping output.
    """

    name: ClassVar[str] = "compression"
    scale: ClassVar[float] = 1.0
    undefined: ClassVar[str] = "there is no segment"

    def settings(self) -> dict[str, object]:
        """The library's version: another may find shorter codes."""
        return {"zlib": zlib.ZLIB_RUNTIME_VERSION, "level": 6, **self.tokens.settings}

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Bytes before and after compression."""
        text = " ".join(hypothesis)
        data = text.encode("utf-8", "surrogatepass")
        return len(data), len(zlib.compress(data, 6))


@dataclass(frozen=True)
class DuplicateNgrams(SegmentRatio):
    """Characters in repeated n-grams, from the second time on, as percentage of all characters.

    After the filter of Gopher (Rae et al. 2021, table A1), which drops documents above 15 % for
    n = 5 down to 10 % for n = 10. Counted as in ``gopher_repetition_filter.py`` of
    huggingface/datatrove: a repeated n-gram counts with its spaces, and the search goes on behind
    it, so that no character counts twice. Made for documents: few segments are long enough.
    """

    n: int = 5

    name: ClassVar[str] = "duplicate-chars"
    undefined: ClassVar[str] = "the hypotheses have no characters"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Duplicated characters and characters, tokens being joined by single spaces."""
        seen: set[tuple[str, ...]] = set()
        duplicated = start = 0
        while start <= len(hypothesis) - self.n:
            gram = tuple(hypothesis[start : start + self.n])
            if gram in seen:
                duplicated += len(" ".join(gram))
                start += self.n
            else:
                seen.add(gram)
                start += 1
        return duplicated, len(" ".join(hypothesis))
