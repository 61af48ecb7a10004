"""The figures of a profile: repetition, length and coverage, from text and links alone.

Each is a metric; :data:`FIGURES` lists them with their meanings.
"""

from __future__ import annotations

import re
import zlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import AlignedRow
from coverage_eval.data.dataset import Batch, Request, Row
from coverage_eval.metrics.drop import DROP, AlignedMetric
from coverage_eval.metrics.measure import Metric, TokenMetric
from coverage_eval.metrics.rep import REP, LetterREP, Tokens
from coverage_eval.metrics.score import Evidence, Statistics, ratio_of_sums


@dataclass(frozen=True)
class SegmentRatio(TokenMetric):
    """A figure of the form scale · Σ numerators / Σ denominators over segments.

    Shares of flagged segments and means over segments have this form too, with denominators of 1.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    scale: ClassVar[float] = 100.0
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "no hypothesis is long enough for this figure"

    @abstractmethod
    def ratio(self, *args: Any, **kwargs: Any) -> tuple[float, float]:
        """Numerator and denominator of one segment.

        It takes the tokens of the hypothesis and, if the figure needs them, of the source.
        """

    def count(self, batch: Batch) -> NDArray[np.float64]:
        """Numerator and denominator of each segment, ``[systems, segments, 2]``."""
        counts = []
        for row in batch.rows:
            source = [self.tokens(row.source or "")] if "sources" in self.needs else []
            counts.append([self.ratio(self.tokens(text), *source) for text in row.hypotheses])
        return np.array(counts, dtype=np.float64).swapaxes(0, 1)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """``scale · numerator / denominator``; NaN for an empty denominator."""
        return ratio_of_sums(summed, self.scale)


def count_ngrams(tokens: Sequence[str], n: int, loop: str = "exact") -> tuple[int, int]:
    """The number of different n-grams of a segment, and the number of n-grams.

    ``loop="simctg"`` leaves out the last n-gram of a segment, as SimCTG's loop does.

    >>> count_ngrams(["a", "b", "a", "b"], 2)
    (2, 3)
    >>> count_ngrams(["a", "b", "a", "b"], 2, "simctg")
    (2, 2)
    """
    if loop == "simctg":
        tokens = tokens[:-1]
    grams = list(zip(*(tokens[start:] for start in range(n)), strict=False))
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
    ``simctg/evaluation.py`` of yxuansu/SimCTG leaves out the last n-gram of each segment, as
    ``loop="simctg"`` does.
    """

    n: int = 2
    loop: str = "exact"

    name: ClassVar[str] = "rep"

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Repeated n-grams and n-grams of one segment."""
        unique, total = count_ngrams(hypothesis, self.n, self.loop)
        return total - unique, total


@dataclass(frozen=True)
class DistinctN(SegmentRatio):
    """distinct-n: Σ |different n-grams| / Σ |n-grams|, in percent; 100 − rep-n.

    An n-gram is counted once in each segment, as in SimCTG. Li et al. (NAACL 2016), who named the
    figure, count the different n-grams of a whole corpus, which is no sum over segments.
    """

    n: int = 2
    loop: str = "exact"

    name: ClassVar[str] = "distinct"
    higher_is_better: ClassVar[bool] = True

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Different n-grams and n-grams of one segment."""
        return count_ngrams(hypothesis, self.n, self.loop)


@dataclass(frozen=True)
class LetterRepetition(LetterREP):
    """REP in letters without a reference, per 100 words of the output.

    Every occurrence of a repeated word counts, including the first. See
    :class:`coverage_eval.metrics.rep.LetterREP`.
    """

    name: ClassVar[str] = "REP-letters-no-ref"
    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = (
        "letters_of_repeated_ngrams",
        "letters_of_repeated_words",
        "hypothesis_words",
    )
    norm: ClassVar[str] = "hypwords"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """As with a reference, but 0 for an output without words."""
        return np.nan_to_num(super().formula(summed))

    def _expected(self, row: Row) -> Sequence[Any]:  # noqa: ARG002 (it ignores references)
        return [""]

    def _length(self, hypothesis: Tokens, references: Sequence[Tokens]) -> int:  # noqa: ARG002
        return len(hypothesis)


@dataclass(frozen=True)
class PeerREP(LetterRepetition):
    """REP in letters against other systems' outputs, per 100 words of the output.

    A repetition that a peer has too does not count. A peer with the same text as the hypothesis is
    ignored in that segment, unless all peers have this text. Without peers, every repetition
    counts. See :class:`coverage_eval.metrics.rep.LetterREP`.

    Args:
        peers: How many peers and other systems are witnesses; None for all.
    """

    peers: int | None = None

    name: ClassVar[str] = "REP-peers"
    limits: ClassVar[str] = (
        "Letters of words and phrases that an output has more often than any other system. Without "
        "a reference, a repetition that all systems share is taken to be right. It is not a "
        "percentage and not comparable with REP."
    )

    def for_texts(self, *, systems: int, references: int, peers: int) -> PeerREP:  # noqa: ARG002
        """With the witnesses that these texts have."""
        have = peers + systems - 1
        return replace(self, peers=have if self.peers is None else min(self.peers, have))

    def settings(self) -> Mapping[str, object]:
        """REP's settings, then the number of witnesses."""
        return {**super().settings(), "expect": f"peers{self.peers or 0}"}

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """REP's counts of each system against the others."""
        return np.concatenate([super(PeerREP, self).count(one) for one in self._alone(batch)])

    def explain(self, batch: Batch) -> Iterator[tuple[Evidence, ...]]:
        """REP's evidence, with the counts of the peer that has an n-gram most often."""
        found = [super(PeerREP, self).explain(one) for one in self._alone(batch)]
        return (sum(systems, ()) for systems in zip(*found, strict=True))

    def _alone(self, batch: Batch) -> Iterator[Batch]:
        """Each system by itself, with its witnesses as references."""
        for number in range(len(batch.rows[0].hypotheses)):
            yield Batch([self._witnessed(row, number) for row in batch.rows])

    def _witnessed(self, row: Row, number: int) -> Row:
        own = row.hypotheses[number]
        others = (*row.peers, *row.hypotheses[:number], *row.hypotheses[number + 1 :])
        others = others[: self.peers or 0]
        return Row((own,), tuple(text for text in others if text != own) or others)

    def _expected(self, row: Row) -> Sequence[Any]:
        return row.references or [""]


@dataclass(frozen=True)
class Diversity(TokenMetric):
    """diversity: Π over n = 2…4 of (1 − rep-n), between 0 and 1.

    As in SimCTG (see :class:`RepN`). SimCTG also rounds each rep-n to a percentage with two digits
    before it multiplies: ``loop="simctg"`` does the same, ``"exact"`` neither rounds nor leaves out
    an n-gram.
    """

    loop: str = "exact"

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
            counts.append([[count_ngrams(t, n, self.loop) for n in (2, 3, 4)] for t in texts])
        pairs = np.array(counts, dtype=np.int64)
        return np.concatenate([pairs[..., 0], pairs[..., 1]], axis=-1).swapaxes(0, 1)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The product of the three shares of different n-grams; NaN where there are none."""
        values = np.asarray(summed, dtype=np.float64)
        different, total = values[..., :3], values[..., 3:]
        with np.errstate(divide="ignore", invalid="ignore"):
            repeated = np.where(total > 0, 1 - different / total, np.nan)
        if self.loop == "simctg":
            repeated = np.vectorize(_two_digits, otypes=[np.float64])(repeated)
        result: NDArray[np.float64] = np.prod(1 - repeated, axis=-1)
        return result


def _two_digits(share: float) -> float:
    """A share rounded as a percentage with two digits, by Python's own rounding."""
    return float(round(share * 100.0, 2) / 100.0)


@dataclass(frozen=True)
class TailLoop(SegmentRatio):
    """Segments that end in a loop, in percent.

    A segment is flagged if it ends with a phrase of at least ``least`` tokens that occurs there
    twice in a row or more, or with any phrase more than ``most`` times. Holtzman et al., The
    Curious Case of Neural Text Degeneration (ICLR 2020); ``metrics/repetition.py`` of
    ari-holtzman/degen. That script looks only at the phrase with most repeats (the shortest of
    several) and so misses "a b b a b b"; ``phrase="top"`` does the same.
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
    """How often in a row the last n tokens occur at the end, for n from 1 to ``longest``.

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
    string does not start with a space, has from ``least`` to ``most`` + 1 characters (the filter's
    bound is off by one), and is followed by at least ``repeats`` copies, with or without spaces
    between them. It needs no word boundaries.
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


@dataclass(frozen=True)
class CompressionRatio(SegmentRatio):
    """Σ bytes of the segments in UTF-8 / Σ bytes of each compressed on its own by zlib.

    Loops compress well, so a high ratio hints at repetition. A segment's ratio is the
    ``compression_ratio`` with which OpenAI's Whisper (Radford et al. 2022) finds looping output.
    """

    name: ClassVar[str] = "compression"
    scale: ClassVar[float] = 1.0
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
class SourceREP(REP):
    """REP against the source instead of the reference, per 100 source words.

    N-grams are compared across languages, so a repetition that translates a repetition still
    counts; the figure is useful because few sources repeat anything. See
    :class:`coverage_eval.metrics.rep.REP`.
    """

    name: ClassVar[str] = "REP-src"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})
    statistic_names: ClassVar[tuple[str, ...]] = (
        "repeated_ngrams",
        "repeated_words",
        "source_words",
    )
    undefined: ClassVar[str] = "the source has no words at all, and the score is per source word"
    norm: ClassVar[str] = "srcwords"

    def _expected(self, row: Row) -> Sequence[Any]:
        return [row.source or ""]


@dataclass(frozen=True)
class LengthRatio(SegmentRatio):
    """Σ |hypothesis| / Σ |source| in tokens; a low ratio of a segment hints at omissions."""

    name: ClassVar[str] = "length-ratio"
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})
    scale: ClassVar[float] = 1.0
    higher_is_better: ClassVar[bool] = True
    has_better: ClassVar[bool] = False
    limits: ClassVar[str] = (
        "Words of the output per word of the source. Neither a high nor a low ratio is good in "
        "itself; a ratio below other systems' hints at omissions, one above at additions."
    )
    undefined: ClassVar[str] = "the source has no words at all"

    def ratio(self, hypothesis: Sequence[str], source: Sequence[str]) -> tuple[float, float]:
        """Tokens of hypothesis and source."""
        return len(hypothesis), len(source)


@dataclass(frozen=True)
class UncoveredSource(AlignedMetric):
    """1 − Σ |C(hypothesis)| / Σ |source|, in percent: source words without any link.

    C(x) are the source positions aligned to some word of x. Without a reference, it also counts
    words that no translation expresses, so compare systems, not languages. Stop words are ignored.
    """

    name: ClassVar[str] = "uncovered-source"
    needs: ClassVar[frozenset[str]] = frozenset({"sources", "links"})
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    higher_is_better: ClassVar[bool] = False
    undefined: ClassVar[str] = "the source has no words at all"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 · numerator / denominator; NaN for an empty denominator."""
        return ratio_of_sums(summed)

    def requests(self) -> Sequence[Request]:
        """The links between source and hypotheses, and references if the aligner has them."""
        return (self.aligner.links(references=self.aligner.links_references),)

    def count(self, batch: Batch) -> Statistics:
        """Source words without a link, and source words; ``[systems, segments, 2]``."""
        counts = [self._count_row(row) for row in batch.get(*self.requests())]
        return np.array(counts, dtype=np.int64).swapaxes(0, 1)

    def _count_row(self, row: AlignedRow) -> list[tuple[int, int]]:
        source = enumerate(row.source or ())
        counted = {position for position, word in source if word not in self.stopwords}
        linked = [{position for position, _ in links} for links in row.hypotheses]
        return [(len(counted - covered), len(counted)) for covered in linked]


@dataclass(frozen=True)
class CDR(DROP):
    """Coverage difference ratio: 1 − Σ |C(ref) without C(hyp)| / Σ |C(ref)|, in percent.

    Kong et al., Neural Machine Translation with Adequacy-Oriented Learning (AAAI 2019,
    arXiv:1811.08541), where it is the reward of one sentence. It is 100 − DROP with the same links
    and settings. Experimental: the formula was written from memory and not compared with the paper.
    """

    name: ClassVar[str] = "CDR"
    higher_is_better: ClassVar[bool] = True
    undefined: ClassVar[str] = "no source word is aligned with the reference"

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """100 − DROP, 0 to 100."""
        return 100.0 - super().formula(summed)


@dataclass(frozen=True)
class Figure:
    """One figure of a profile.

    Attributes:
        key: Its name in the profile: the metric's name and the settings that tell it apart.
        make: The metric's class, perhaps with some settings.
        better: ``↓`` or ``↑``, the better direction; ``·`` if there is none.
        meaning: Its meaning in a few words.
    """

    key: str
    make: Callable[..., Metric]
    better: str
    meaning: str

    @property
    def needs(self) -> frozenset[str]:
        """The texts that the metric needs besides the hypothesis."""
        return self.kind.needs

    @property
    def settings(self) -> set[str]:
        """The names of the metric's settings."""
        return {item.name for item in fields(self.kind)}

    @property
    def kind(self) -> type[Metric]:
        """The metric's class."""
        kind: Any = self.make.func if isinstance(self.make, partial) else self.make
        found: type[Metric] = kind
        return found


FIGURES = (
    Figure("REP", REP, "↓", "repetitions that the reference lacks, per 100 reference words"),
    Figure("REP-src", SourceREP, "↓", "repetitions that the source lacks, per 100 source words"),
    Figure(
        "REP-letters",
        LetterREP,
        "↓",
        "letters of repetitions that the reference lacks, per 100 words",
    ),
    Figure("seq-rep-1", partial(SeqRep, n=1), "↓", "repeated words, % of each segment, mean"),
    Figure("seq-rep-2", partial(SeqRep, n=2), "↓", "repeated bigrams, % of each segment, mean"),
    Figure("seq-rep-3", partial(SeqRep, n=3), "↓", "repeated trigrams, % of each segment, mean"),
    Figure("seq-rep-4", partial(SeqRep, n=4), "↓", "repeated 4-grams, % of each segment, mean"),
    Figure(
        "REP-letters-no-ref",
        LetterRepetition,
        "↓",
        "letters of repeated words and phrases, per 100 output words",
    ),
    Figure("rep-2", partial(RepN, n=2), "↓", "bigrams repeated in their segment, % of all"),
    Figure("rep-3", partial(RepN, n=3), "↓", "trigrams repeated in their segment, % of all"),
    Figure("rep-4", partial(RepN, n=4), "↓", "4-grams repeated in their segment, % of all"),
    Figure(
        "rep-2-simctg",
        partial(RepN, n=2, loop="simctg"),
        "↓",
        "rep-2 without each segment's last bigram",
    ),
    Figure(
        "rep-3-simctg",
        partial(RepN, n=3, loop="simctg"),
        "↓",
        "rep-3 without each segment's last trigram",
    ),
    Figure(
        "rep-4-simctg",
        partial(RepN, n=4, loop="simctg"),
        "↓",
        "rep-4 without each segment's last 4-gram",
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
    """The figures that some texts allow.

    Args:
        have: Which of ``references``, ``sources`` and ``links`` there are.
    """
    return [figure for figure in FIGURES if figure.needs <= set(have)]
