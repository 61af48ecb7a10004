"""The figures of a profile: repetition, length and coverage, from text and links alone.

Each is a metric; :data:`FIGURES` lists them with their meanings.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.data.dataset import Batch
from coverage_eval.metrics.evaluation import TokenMetric
from coverage_eval.metrics.measure import Metric
from coverage_eval.metrics.ngram_counts import find_ngrams
from coverage_eval.metrics.rep import REP, LetterREP, LetterRepetition, SourceREP
from coverage_eval.metrics.score import Statistics
from coverage_eval.metrics.without_references import LengthRatio, SegmentRatio, UncoveredSource


def count_ngrams(tokens: Sequence[str], n: int) -> tuple[int, int]:
    """The number of different n-grams of a segment, and the number of n-grams.

    >>> count_ngrams(["a", "b", "a", "b"], 2)
    (2, 3)
    """
    grams = find_ngrams(tokens, n)
    return len(set(grams)), len(grams)


@dataclass(frozen=True)
class SeqRep(SegmentRatio):
    """seq-rep-n: mean over segments of 1 − |different n-grams| / |n-grams|, in percent.

    Welleck et al., Neural Text Generation with Unlikelihood Training (ICLR 2020); as in
    ``custom/metrics.py`` of facebookresearch/unlikelihood_training, except that a segment without
    n-grams counts as 0 here, where that script divides by zero.
    """

    n: int = 4

    name: ClassVar[str] = "seq-rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """The repeated share of one segment's n-grams, and 1."""
        unique, total = count_ngrams(hypothesis, self.n)
        return (1 - unique / total if total else 0.0), 1


@dataclass(frozen=True)
class RepN(SegmentRatio):
    """rep-n: 1 − Σ |different n-grams| / Σ |n-grams|, in percent, both summed over segments.

    Su et al., A Contrastive Framework for Neural Text Generation (NeurIPS 2022). The loop in
    ``simctg/evaluation.py`` of yxuansu/SimCTG also leaves out the last n-gram of each segment.
    """

    n: int = 2

    name: ClassVar[str] = "rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Repeated n-grams and n-grams of one segment."""
        unique, total = count_ngrams(hypothesis, self.n)
        return total - unique, total


@dataclass(frozen=True)
class DistinctN(SegmentRatio):
    """distinct-n: Σ |different n-grams| / Σ |n-grams|, in percent; 100 − rep-n.

    An n-gram is counted once in each segment, as in SimCTG. Li et al. (NAACL 2016), who named the
    figure, count the different n-grams of a whole corpus, which is no sum over segments.
    """

    n: int = 2

    name: ClassVar[str] = "distinct"
    higher_is_better: ClassVar[bool] = True

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Different n-grams and n-grams of one segment."""
        return count_ngrams(hypothesis, self.n)


@dataclass(frozen=True)
class Diversity(TokenMetric):
    """diversity: Π over n = 2…4 of (1 − rep-n), between 0 and 1.

    As in SimCTG (see :class:`RepN`), which also rounds each rep-n to a percentage with two digits
    before it multiplies.
    """

    name: ClassVar[str] = "diversity"
    needs: ClassVar[frozenset[str]] = frozenset()
    higher_is_better: ClassVar[bool] = True
    statistic_names: ClassVar[tuple[str, ...]] = (
        *(f"different_{n}" for n in (2, 3, 4)),
        *(f"ngrams_{n}" for n in (2, 3, 4)),
    )
    undefined: ClassVar[str] = "no hypothesis has four words"

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Different n-grams, then n-grams, for n = 2, 3, 4; ``[systems, segments, 6]``."""
        counts = []
        for row in batch.rows:
            texts = [self.tokens(text) for text in row.hypotheses]
            counts.append([[count_ngrams(t, n) for n in (2, 3, 4)] for t in texts])
        pairs = np.array(counts, dtype=np.int64)
        return np.concatenate([pairs[..., 0], pairs[..., 1]], axis=-1).swapaxes(0, 1)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The product of the three shares of different n-grams; NaN where there are none."""
        values = np.asarray(summed, dtype=np.float64)
        different, total = values[..., :3], values[..., 3:]
        with np.errstate(divide="ignore", invalid="ignore"):
            repeated = np.where(total > 0, 1 - different / total, np.nan)
        result: NDArray[np.float64] = np.prod(1 - repeated, axis=-1)
        return result


@dataclass(frozen=True)
class TailLoop(SegmentRatio):
    """Segments that end in a loop, in percent.

    A segment is flagged if it ends with a phrase of at least ``min_words`` tokens that occurs there
    twice in a row or more, or with any phrase more than ``max_times`` times. Holtzman et al., The
    Curious Case of Neural Text Degeneration (ICLR 2020); ``metrics/repetition.py`` of
    ari-holtzman/degen. That script looks only at the phrase with most repeats (the shortest of
    several) and so misses "a b b a b b".
    """

    min_words: int = 3
    max_times: int = 50
    max_words: int = 90

    name: ClassVar[str] = "tail-loop"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """1 for a flagged segment, else 0; and 1."""
        repeats = tail_repeats(hypothesis, self.max_words)
        flagged = any(
            times > self.max_times or (n >= self.min_words and times > 1)
            for n, times in repeats.items()
        )
        return int(flagged), 1


def tail_repeats(tokens: Sequence[str], max_words: int) -> dict[int, int]:
    """How often in a row the last n tokens occur at the end, for n from 1 to ``max_words``.

    >>> tail_repeats("x a b a b".split(), 3)
    {1: 1, 2: 2, 3: 1}
    """
    repeats = {}
    for n in range(1, min(max_words, len(tokens)) + 1):
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
    string does not start with a space, has from ``min_length`` to ``max_length`` + 1 characters
    (the filter's bound is off by one), and is followed by at least ``repeats`` copies, with or
    without spaces between them. It needs no word boundaries.
    """

    min_length: int = 3
    max_length: int = 100
    repeats: int = 2

    name: ClassVar[str] = "substring-rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """1 for a flagged segment, else 0; and 1."""
        text = " ".join(hypothesis)
        return int(bool(_substring(self.min_length, self.max_length, self.repeats).search(text))), 1


@lru_cache(maxsize=8)
def _substring(minimum: int, maximum: int, repeats: int) -> re.Pattern[str]:
    return re.compile(rf"(\S.{{{minimum - 1},{maximum}}}?)(?: *\1){{{repeats},}}")


@dataclass(frozen=True)
class TNG(SegmentRatio):
    """Top n-gram count: segments whose top n-gram is more frequent than the source's, in percent.

    A segment is flagged if max cₙ(hypothesis) − max cₙ(source) ≥ t. Raunak, Menezes and
    Junczys-Dowmunt (NAACL 2021) and Guerreiro, Voita and Martins (EACL 2023), there with n = 4 and
    t = 2.
    """

    n: int = 4
    t: int = 2

    name: ClassVar[str] = "TNG"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})

    def ratio(self, hypothesis: Sequence[str], source: Sequence[str]) -> tuple[float, float]:
        """1 for a flagged segment, else 0; and 1."""
        excess = top_ngram_count(hypothesis, self.n) - top_ngram_count(source, self.n)
        return int(excess >= self.t), 1


def top_ngram_count(tokens: Sequence[str], n: int) -> int:
    """How often the most frequent n-gram occurs; 0 if there is no n-gram."""
    return max(Counter(find_ngrams(tokens, n)).values(), default=0)


@dataclass(frozen=True)
class CompressionRatio(SegmentRatio):
    """Σ bytes of the segments in UTF-8 / Σ bytes of each compressed on its own by zlib.

    Loops compress well, so a high ratio hints at repetition. A segment's ratio is the
    ``compression_ratio`` with which OpenAI's Whisper (Radford et al. 2022) finds looping output.
    """

    name: ClassVar[str] = "compression"
    factor: ClassVar[float] = 1.0
    undefined: ClassVar[str] = "there is no segment"

    def settings(self) -> dict[str, object]:
        """The library's version, because other versions may compress better."""
        return {"zlib": zlib.ZLIB_RUNTIME_VERSION, "level": 6, **self.tokens.settings}

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Bytes before and after compression."""
        text = " ".join(hypothesis)
        data = text.encode("utf-8", "surrogatepass")
        return len(data), len(zlib.compress(data, 6))


@dataclass(frozen=True)
class DuplicateNgrams(SegmentRatio):
    """Characters in repeated n-grams, from the second time on, as percentage of all characters.

    After the filter of Gopher (Rae et al. 2021, table A1), which drops documents above 15% for n =
    5, and above 10% for n = 10. Counted as in ``gopher_repetition_filter.py`` of
    huggingface/datatrove: a repeated n-gram counts with its spaces, and the search continues after
    it, so no character counts twice. The figure is made for documents: few segments are long
    enough.
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


@dataclass(frozen=True)
class FigureRow:
    """One figure of a profile.

    Attributes:
        key: Its name in the profile: the metric's name and the settings that tell it apart.
        make: The metric's class, perhaps with some settings.
        meaning: Its meaning in a few words.
    """

    key: str
    make: Callable[..., Metric]
    meaning: str

    @property
    def better(self) -> str:
        """``↓`` or ``↑``, the better direction; ``·`` if there is none."""
        return {True: "↑", False: "↓", None: "·"}[self.kind.higher_is_better]

    @property
    def needs(self) -> frozenset[str]:
        """The texts that the metric needs besides the hypothesis."""
        return self.kind.needs

    @property
    def kind(self) -> type[Metric]:
        """The metric's class."""
        kind: Any = self.make.func if isinstance(self.make, partial) else self.make
        found: type[Metric] = kind
        return found


FIGURES = (
    FigureRow("REP", REP, "repetitions that the reference lacks, per 100 reference words"),
    FigureRow("REP-src", SourceREP, "repetitions that the source lacks, per 100 source words"),
    FigureRow(
        "REP-letters", LetterREP, "letters of repetitions that the reference lacks, per 100 words"
    ),
    FigureRow("seq-rep-1", partial(SeqRep, n=1), "repeated words, % of each segment, mean"),
    FigureRow("seq-rep-2", partial(SeqRep, n=2), "repeated bigrams, % of each segment, mean"),
    FigureRow("seq-rep-3", partial(SeqRep, n=3), "repeated trigrams, % of each segment, mean"),
    FigureRow("seq-rep-4", partial(SeqRep, n=4), "repeated 4-grams, % of each segment, mean"),
    FigureRow(
        "REP-letters-no-ref",
        LetterRepetition,
        "letters of repeated words and phrases, per 100 output words",
    ),
    FigureRow("rep-2", partial(RepN, n=2), "bigrams repeated in their segment, % of all"),
    FigureRow("rep-3", partial(RepN, n=3), "trigrams repeated in their segment, % of all"),
    FigureRow("rep-4", partial(RepN, n=4), "4-grams repeated in their segment, % of all"),
    FigureRow("distinct-1", partial(DistinctN, n=1), "words new in their segment, % of all"),
    FigureRow("distinct-2", partial(DistinctN, n=2), "bigrams new in their segment, % of all"),
    FigureRow("diversity", Diversity, "product of 1 - rep-n for n = 2, 3, 4, from 0 to 1"),
    FigureRow("tail-loop", TailLoop, "segments that end in a loop, %"),
    FigureRow("substring-rep", SubstringRepetition, "segments with a string 3x in a row, %"),
    FigureRow(
        "duplicate-chars-5", partial(DuplicateNgrams, n=5), "characters in repeated 5-grams, %"
    ),
    FigureRow("compression", CompressionRatio, "bytes per compressed byte; loops shrink well"),
    FigureRow("TNG", TNG, "segments whose top 4-gram beats the source's by 2, %"),
    FigureRow("length-ratio", LengthRatio, "output words per source word; low: omissions"),
    FigureRow("uncovered-source", UncoveredSource, "source words without any link, %"),
)
"""All figures, in the order of the profile."""


def select_figures(have: Collection[str]) -> list[FigureRow]:
    """The figures that some texts allow.

    Args:
        have: Which of ``references``, ``sources`` and ``links`` there are.
    """
    return [figure for figure in FIGURES if figure.needs <= set(have)]
