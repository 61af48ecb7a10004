"""The figures of a profile, one line each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields, replace

from coverage_eval.metrics.base import TextMetric
from coverage_eval.metrics.profile.against_source import (
    CDR,
    LengthRatio,
    SourceREP,
    UncoveredSource,
)
from coverage_eval.metrics.profile.compression import CompressionRatio, DuplicateNgrams
from coverage_eval.metrics.profile.loops import TNG, SubstringRepetition, TailLoop
from coverage_eval.metrics.profile.ngram_repetition import DistinctN, Diversity, RepN, SeqRep
from coverage_eval.metrics.rep import REP

__all__ = ["FIGURES", "Figure", "select_figures"]


@dataclass(frozen=True)
class Figure:
    """One figure of a profile.

    Attributes:
        key: Its name in the profile; the metric's own, with what tells it from its neighbours.
        metric: The metric with its settings.
        better: ``↓`` or ``↑``, the better direction; ``·`` where there is none.
        meaning: What it says, in a few words.
    """

    key: str
    metric: TextMetric
    better: str
    meaning: str


FIGURES = (
    Figure("REP", REP(), "↓", "repetitions that the reference lacks, per 100 reference words"),
    Figure("REP-src", SourceREP(), "↓", "repetitions that the source lacks, per 100 source words"),
    Figure("seq-rep-1", SeqRep(n=1), "↓", "words said before, % of each segment, mean"),
    Figure("seq-rep-2", SeqRep(n=2), "↓", "bigrams said before, % of each segment, mean"),
    Figure("seq-rep-3", SeqRep(n=3), "↓", "trigrams said before, % of each segment, mean"),
    Figure("seq-rep-4", SeqRep(n=4), "↓", "4-grams said before, % of each segment, mean"),
    Figure("rep-2", RepN(n=2), "↓", "bigrams said before in their segment, % of all"),
    Figure("rep-3", RepN(n=3), "↓", "trigrams said before in their segment, % of all"),
    Figure("rep-4", RepN(n=4), "↓", "4-grams said before in their segment, % of all"),
    Figure("rep-2-simctg", RepN(n=2, loop="simctg"), "↓", "rep-2 without each last bigram"),
    Figure("rep-3-simctg", RepN(n=3, loop="simctg"), "↓", "rep-3 without each last trigram"),
    Figure("rep-4-simctg", RepN(n=4, loop="simctg"), "↓", "rep-4 without each last 4-gram"),
    Figure("distinct-1", DistinctN(n=1), "↑", "words new in their segment, % of all"),
    Figure("distinct-2", DistinctN(n=2), "↑", "bigrams new in their segment, % of all"),
    Figure("diversity", Diversity(), "↑", "product of 1 - rep-n for n = 2, 3, 4, from 0 to 1"),
    Figure("diversity-simctg", Diversity(loop="simctg"), "↑", "the same as SimCTG prints it"),
    Figure("tail-loop", TailLoop(), "↓", "segments that end in a loop, %"),
    Figure("tail-loop-top", TailLoop(phrase="top"), "↓", "the same for the top phrase only, %"),
    Figure("substring-rep", SubstringRepetition(), "↓", "segments with a string 3x in a row, %"),
    Figure("duplicate-chars-5", DuplicateNgrams(n=5), "↓", "characters in repeated 5-grams, %"),
    Figure("compression", CompressionRatio(), "↓", "bytes per compressed byte; loops shrink well"),
    Figure("TNG", TNG(), "↓", "segments whose top 4-gram beats the source's by 2, %"),
    Figure(
        "TNG-strict", TNG(n=2, t=6, least_count=10, least_words=10), "↓",
        "segments whose top bigram, 10x or more, beats the source's by 6, %",
    ),
    Figure("length-ratio", LengthRatio(), "·", "output words per source word; low: omissions"),
    Figure("uncovered-source", UncoveredSource(), "↓", "source words without any link, %"),
    Figure("CDR", CDR(), "↑", "source words covered, % of the reference's (experimental)"),
)  # fmt: skip
"""All figures, in the order of the profile."""


def select_figures(columns: Collection[str], *, tok: str = "none") -> list[Figure]:
    """The figures that some columns allow.

    Args:
        columns: What is at hand: ``hypotheses``, ``references``, ``sources``,
            ``hypothesis_links``, ``reference_links``.
        tok: The tokeniser that was applied to the text, for the signatures.
    """
    chosen = [figure for figure in FIGURES if set(figure.metric.columns) <= set(columns)]
    return [replace(figure, metric=_with_tokenizer(figure.metric, tok)) for figure in chosen]


def _with_tokenizer(metric: TextMetric, tok: str) -> TextMetric:
    has_setting = any(item.name == "tok" for item in fields(metric))
    return replace(metric, tok=tok) if has_setting else metric  # type: ignore[call-arg]
