"""Flags for an output that runs in circles; the figure is the share of flagged segments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from coverage_eval.metrics.profile.ratio import SegmentRatio


@dataclass(frozen=True)
class TailLoop(SegmentRatio):
    """Segments that end in a loop, in percent.

    A segment is flagged if it ends with a phrase of at least ``least`` tokens that stands there
    twice in a row or more, or with any phrase more than ``most`` times. Holtzman et al., The
    Curious Case of Neural Text Degeneration (ICLR 2020); ``metrics/repetition.py`` of
    ari-holtzman/degen. That script looks at one phrase only, the one with most repeats (the
    shortest of them), and so misses "a b b a b b": ``phrase="top"`` does as it does.
    """

    least: int = 3
    most: int = 50
    longest: int = 90
    phrase: str = "any"

    name: ClassVar[str] = "tail-loop"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """1 for a flagged segment, else 0; and 1."""
        repeats = tail_repeats(hypothesis, self.longest)
        if self.phrase == "top" and repeats:
            top = max(repeats, key=lambda n: (repeats[n], -n))
            repeats = {top: repeats[top]}
        flagged = any(
            times > self.most or (n >= self.least and times > 1) for n, times in repeats.items()
        )
        return int(flagged), 1


def tail_repeats(tokens: Sequence[str], longest: int) -> dict[int, int]:
    """How often in a row the last n tokens stand at the end, for n from 1 to ``longest``.

    >>> tail_repeats("x a b a b".split(), 3)
    {1: 1, 2: 2, 3: 1}
    """
    repeats = {}
    for n in range(1, min(longest, len(tokens)) + 1):
        phrase = tokens[-n:]
        times = 1
        while phrase == tokens[-n * (times + 1) : -n * times]:
            times += 1
        repeats[n] = times
    return repeats


@dataclass(frozen=True)
class SubstringRepetition(SegmentRatio):
    """Segments with a string of characters three times in a row or more, in percent.

    ``RepetitionFilter`` of Helsinki-NLP/OpusFilter (Aulamo et al., ACL 2020 demonstrations): the
    string starts with no space, has ``least`` characters up to ``most`` + 1 (the bound is one off
    there), and is followed by at least ``repeats`` copies, with or without spaces between. It
    needs no word boundaries.
    """

    least: int = 3
    most: int = 100
    repeats: int = 2

    name: ClassVar[str] = "substring-rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """1 for a flagged segment, else 0; and 1."""
        text = " ".join(hypothesis)
        return int(bool(_substring(self.least, self.most, self.repeats).search(text))), 1


@lru_cache(maxsize=8)
def _substring(least: int, most: int, repeats: int) -> re.Pattern[str]:
    return re.compile(rf"(\S.{{{least - 1},{most}}}?)(?: *\1){{{repeats},}}")


@dataclass(frozen=True)
class TNG(SegmentRatio):
    """Top n-gram count: segments whose top n-gram is more frequent than the source's, in percent.

    A segment is flagged if max cₙ(hypothesis) − max cₙ(source) ≥ t. Raunak, Menezes and
    Junczys-Dowmunt (NAACL 2021) and Guerreiro, Voita and Martins (EACL 2023), there with n = 4 and
    t = 2. The filter ``oscillatory_hallucination`` of GEM-benchmark/NL-Augmenter is more cautious:
    n = 2, t = 6, and only where the top count is at least 10 in at least 10 words.
    """

    n: int = 4
    t: int = 2
    least_count: int = 0
    least_words: int = 0

    name: ClassVar[str] = "TNG"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})

    def ratio(self, hypothesis: Sequence[str], source: Sequence[str]) -> tuple[float, float]:
        """1 for a flagged segment, else 0; and 1."""
        if len(hypothesis) < self.least_words:
            return 0, 1
        top = top_ngram_count(hypothesis, self.n)
        excess = top - top_ngram_count(source, self.n)
        return int(top >= self.least_count and excess >= self.t), 1


def top_ngram_count(tokens: Sequence[str], n: int) -> int:
    """How often the most frequent n-gram occurs; 0 if there is no n-gram."""
    grams = zip(*(tokens[start:] for start in range(n)), strict=False)
    return max(Counter(grams).values(), default=0)
