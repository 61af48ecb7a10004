"""The figures of a profile, one line each."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from coverage_eval.metrics.base import Metric
from coverage_eval.metrics.letter_rep import LetterREP
from coverage_eval.metrics.profile.against_source import (
    CDR,
    LengthRatio,
    SourceREP,
    UncoveredSource,
)
from coverage_eval.metrics.profile.compression import CompressionRatio, DuplicateNgrams
from coverage_eval.metrics.profile.loops import TNG, SubstringRepetition, TailLoop
from coverage_eval.metrics.profile.ngram_repetition import (
    DistinctN,
    Diversity,
    LetterRepetition,
    RepN,
    SeqRep,
)
from coverage_eval.metrics.rep import REP


@dataclass(frozen=True)
class Figure:
    """One figure of a profile.

    Attributes:
        key: Its name in the profile; the metric's own, with what tells it from its neighbours.
        make: The metric's class, or the class with some settings; it takes the rest.
        better: ``↓`` or ``↑``, the better direction; ``·`` where there is none.
        meaning: What it says, in a few words.
    """

    key: str
    make: Callable[..., Metric[Any]]
    better: str
    meaning: str

    @property
    def needs(self) -> frozenset[str]:
        """What the metric looks at besides the hypothesis."""
        return self.kind.needs

    @property
    def settings(self) -> set[str]:
        """The names of the metric's settings."""
        return {item.name for item in fields(self.kind)}

    @property
    def kind(self) -> type[Metric[Any]]:
        """The metric's class."""
        kind: Any = self.make.func if isinstance(self.make, partial) else self.make
        found: type[Metric[Any]] = kind
        return found


FIGURES = (
    Figure("REP", REP, "↓", "repetitions that the reference lacks, per 100 reference words"),
    Figure("REP-src", SourceREP, "↓", "repetitions that the source lacks, per 100 source words"),
    Figure(
        "REP-letters", LetterREP, "↓", "letters said again that the reference lacks, per 100 words"
    ),
    Figure("seq-rep-1", partial(SeqRep, n=1), "↓", "words said before, % of each segment, mean"),
    Figure("seq-rep-2", partial(SeqRep, n=2), "↓", "bigrams said before, % of each segment, mean"),
    Figure("seq-rep-3", partial(SeqRep, n=3), "↓", "trigrams said before, % of each segment, mean"),
    Figure("seq-rep-4", partial(SeqRep, n=4), "↓", "4-grams said before, % of each segment, mean"),
    Figure(
        "REP-letters-no-ref",
        LetterRepetition,
        "↓",
        "letters said more than once, per 100 words of the output",
    ),
    Figure("rep-2", partial(RepN, n=2), "↓", "bigrams said before in their segment, % of all"),
    Figure("rep-3", partial(RepN, n=3), "↓", "trigrams said before in their segment, % of all"),
    Figure("rep-4", partial(RepN, n=4), "↓", "4-grams said before in their segment, % of all"),
    Figure(
        "rep-2-simctg", partial(RepN, n=2, loop="simctg"), "↓", "rep-2 without each last bigram"
    ),
    Figure(
        "rep-3-simctg", partial(RepN, n=3, loop="simctg"), "↓", "rep-3 without each last trigram"
    ),
    Figure(
        "rep-4-simctg", partial(RepN, n=4, loop="simctg"), "↓", "rep-4 without each last 4-gram"
    ),
    Figure("distinct-1", partial(DistinctN, n=1), "↑", "words new in their segment, % of all"),
    Figure("distinct-2", partial(DistinctN, n=2), "↑", "bigrams new in their segment, % of all"),
    Figure("diversity", Diversity, "↑", "product of 1 - rep-n for n = 2, 3, 4, from 0 to 1"),
    Figure(
        "diversity-simctg", partial(Diversity, loop="simctg"), "↑", "the same as SimCTG prints it"
    ),
    Figure("tail-loop", TailLoop, "↓", "segments that end in a loop, %"),
    Figure(
        "tail-loop-top", partial(TailLoop, phrase="top"), "↓", "the same for the top phrase only, %"
    ),
    Figure("substring-rep", SubstringRepetition, "↓", "segments with a string 3x in a row, %"),
    Figure(
        "duplicate-chars-5", partial(DuplicateNgrams, n=5), "↓", "characters in repeated 5-grams, %"
    ),
    Figure("compression", CompressionRatio, "↓", "bytes per compressed byte; loops shrink well"),
    Figure("TNG", TNG, "↓", "segments whose top 4-gram beats the source's by 2, %"),
    Figure(
        "TNG-strict",
        partial(TNG, n=2, t=6, least_count=10, least_words=10),
        "↓",
        "segments whose top bigram, 10x or more, beats the source's by 6, %",
    ),
    Figure("length-ratio", LengthRatio, "·", "output words per source word; low: omissions"),
    Figure("uncovered-source", UncoveredSource, "↓", "source words without any link, %"),
    Figure("CDR", CDR, "↑", "source words covered, % of the reference's (experimental)"),
)
"""All figures, in the order of the profile."""


def select_figures(have: Collection[str]) -> list[Figure]:
    """The figures that can be had.

    Args:
        have: What is at hand, of ``references``, ``sources`` and ``links``.
    """
    return [figure for figure in FIGURES if figure.needs <= set(have)]
