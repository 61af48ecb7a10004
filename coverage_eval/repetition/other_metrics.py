"""Figures of an output alone, or of an output and its source: repetition and length."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch
from coverage_eval.core.metric import Presentation
from coverage_eval.core.text_metric import FixedMetric, TokenMetric
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.repetition.loops import TOKEN_PATTERN, find_loop
from coverage_eval.repetition.rep import find_ngrams


@dataclass(frozen=True)
class SegmentRatio(TokenMetric):
    """A figure of the form factor · Σ numerators / Σ denominators over segments.

    Shares of flagged segments and means over segments have this form too, with denominators of 1.
    """

    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("numerator", "denominator")
    statistic_type: ClassVar[type[np.generic]] = np.float64

    @abstractmethod
    def ratio(self, *args: Any, **kwargs: Any) -> tuple[float, float]:
        """Numerator and denominator of one segment.

        It takes the tokens of the hypothesis and, if the figure needs them, of the source.
        """

    def count(self, batch: Batch) -> NDArray[np.float64]:
        """Numerator and denominator of each segment, ``[systems, segments, 2]``."""
        counts = []
        for row in batch.rows:
            source = [self.tokenizer(row.source or "")] if "sources" in self.needs else []
            counts.append([self.ratio(self.tokenizer(text), *source) for text in row.hypotheses])
        return np.array(counts, dtype=np.float64).swapaxes(0, 1)


@dataclass(frozen=True)
class LengthRatio(SegmentRatio):
    """Σ |hypothesis| / Σ |source| in tokens; a low ratio of a segment hints at omissions."""

    presentation: ClassVar[Presentation] = Presentation(
        "length-ratio",
        higher_is_better=None,
        undefined="the source has no words at all",
        caveat=(
            "Words of the output per word of the source. Neither a high nor a low ratio is good "
            "in itself; a ratio below other systems' hints at omissions, one above at additions."
        ),
    )
    needs: ClassVar[frozenset[str]] = frozenset({"sources"})
    factor: ClassVar[float] = 1.0

    def ratio(self, hypothesis: Sequence[str], source: Sequence[str]) -> tuple[float, float]:
        """Tokens of hypothesis and source."""
        return len(hypothesis), len(source)


@dataclass(frozen=True)
class Shortfall(FixedMetric):
    """How much shorter outputs are than the others of the same segment, in percent.

    The mean over segments of max(0, 1 − length / median length of the others), in letters. On
    people's labels it ranks systems by what they leave out as well as any flag of omissions.
    """

    presentation: ClassVar[Presentation] = Presentation(
        "shortfall",
        higher_is_better=False,
        more_errors="is shorter",
        undefined="there are no other outputs to compare the length with",
        caveat=(
            "A mean of 1 − length / median length of the other outputs, 0 where an output is as "
            "long. Terse outputs are short, too, and what all systems leave out does not show."
        ),
    )
    needs: ClassVar[frozenset[str]] = frozenset()
    statistic_names: ClassVar[tuple[str, ...]] = ("shortfall", "segments")
    statistic_type: ClassVar[type[np.generic]] = np.float64
    one_more_error: ClassVar[tuple[float, ...] | None] = (0.1, 0.1)  # a tenth of a segment

    def settings(self) -> Mapping[str, object]:
        """What is counted."""
        return {"length": "letters"}

    def count(self, batch: Batch) -> NDArray[np.float64]:
        """The shortfall of each segment, and 1, or 0 without others; ``[systems, segments, 2]``."""
        counts = []
        for row in batch.rows:
            texts = map(segment_text, (*row.hypotheses, *row.peers))
            lengths = [len("".join(text.split())) for text in texts]
            found = []
            for number in range(len(row.hypotheses)):
                others = lengths[:number] + lengths[number + 1 :]
                usual = median(others) if others else 0
                share = lengths[number] / usual if usual else 1.0
                found.append((max(0.0, 1.0 - share), bool(others)))
            counts.append(found)
        return np.array(counts, dtype=np.float64).swapaxes(0, 1)


@dataclass(frozen=True)
class SeqRep(SegmentRatio):
    """seq-rep-n: mean over segments of 1 − |different n-grams| / |n-grams|, in percent.

    Welleck et al., Neural Text Generation with Unlikelihood Training (ICLR 2020); as in
    ``custom/metrics.py`` of facebookresearch/unlikelihood_training, except that a segment without
    n-grams counts as 0 here, where that script divides by zero.
    """

    n: int = 4

    presentation: ClassVar[Presentation] = Presentation(
        "seq-rep",
        higher_is_better=False,
        more_errors="repeats more",
        undefined="no hypothesis is long enough for this figure",
    )
    one_more_error: ClassVar[tuple[float, ...] | None] = (0.1, 0.1)  # a tenth of a segment

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """The repeated share of one segment's n-grams, and 1."""
        ngrams = find_ngrams(hypothesis, self.n)
        return (1 - len(set(ngrams)) / len(ngrams) if ngrams else 0.0), 1


@dataclass(frozen=True)
class TailLoop(SegmentRatio):
    """Segments with a loop, in percent, by :func:`coverage_eval.repetition.loops.find_loop`.

    The loop is at the end, long, or all of the segment. Text is split into words, and into letters
    where a script has no spaces. The output error ``loop`` is the same, but for loops that the
    source or a reference has, too.
    """

    presentation: ClassVar[Presentation] = replace(SeqRep.presentation, name="tail-loop")
    one_more_error: ClassVar[tuple[float, ...] | None] = (1.0, 1.0)  # a segment
    counts_words: ClassVar[bool] = False  # it finds loops in text that is not split, too

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """1 for a segment with a loop, else 0; and 1."""
        return int(find_loop(TOKEN_PATTERN.findall(" ".join(hypothesis))) is not None), 1


@dataclass(frozen=True)
class TNG(SegmentRatio):
    """Top n-gram count: segments whose top n-gram is more frequent than the source's, in percent.

    A segment is flagged if max cₙ(hypothesis) − max cₙ(source) ≥ t. Raunak, Menezes and
    Junczys-Dowmunt (NAACL 2021) and Guerreiro, Voita and Martins (EACL 2023), there with n = 4 and
    t = 2.
    """

    n: int = 4
    t: int = 2

    presentation: ClassVar[Presentation] = replace(SeqRep.presentation, name="TNG")
    one_more_error: ClassVar[tuple[float, ...] | None] = (1.0, 1.0)  # a segment
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

    presentation: ClassVar[Presentation] = replace(
        SeqRep.presentation, name="compression", undefined="there is no segment"
    )
    factor: ClassVar[float] = 1.0

    def settings(self) -> dict[str, object]:
        """The library's version, because other versions may compress better."""
        return {"zlib": zlib.ZLIB_RUNTIME_VERSION, "level": 6, **self.tokenizer.settings}

    def ratio(self, hypothesis: Sequence[str]) -> tuple[float, float]:
        """Bytes before and after compression."""
        text = " ".join(hypothesis)
        data = text.encode("utf-8", "surrogatepass")
        return len(data), len(zlib.compress(data, 6))
