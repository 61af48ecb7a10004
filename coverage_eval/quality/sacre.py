"""BLEU, chrF and TER as sacreBLEU computes them, as metrics of this package."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch, RowSample
from coverage_eval.core.errors import DataError, Finding, Severity
from coverage_eval.core.metric import Presentation, Statistics, setting
from coverage_eval.core.sampled_texts import MIN_SEGMENTS
from coverage_eval.core.score import Signature
from coverage_eval.core.text_metric import FixedMetric
from coverage_eval.core.tokenizers import (
    TOKENIZERS,
    Segment,
    Tokenizer,
    sacre_tokenizer,
    segment_text,
)
from coverage_eval.version import __version__

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as SacreMetric

# Python's functions for every item of an array; NumPy's own may differ in the last bit.
_log, _exp = (np.vectorize(function, otypes=[np.float64]) for function in (math.log, math.exp))

_ORDERS = range(1, 5)
_SMOOTHINGS = ("exp", "floor", "add-k", "none")
_TOKENIZE_HELP = "Use this tokeniser of sacreBLEU; give it untokenised text."


@dataclass(frozen=True)
class SacreBLEUMetric(FixedMetric):
    """A metric of sacreBLEU (Post 2018), 0 to 100."""

    @cached_property
    @abstractmethod
    def _sacre_metric(self) -> SacreMetric:
        """sacreBLEU's metric with these settings; nothing here changes it, so threads share it."""

    def signature_for(self, *, references: int) -> Signature:
        """sacreBLEU's signature and, at its end, the version of this package."""
        signed = copy(self._sacre_metric)
        setattr(signed, "num_refs", references or 1)  # noqa: B010 (untyped there)
        pairs = [pair.split(":", 1) for pair in str(signed.get_signature()).split("|")]
        settings = [(name, value) for name, value in pairs if references or name != "nrefs"]
        return Signature(self.presentation.name, (*settings, ("coverage-eval", __version__)))

    def count(self, batch: Batch) -> Statistics:
        """sacreBLEU's sufficient statistics of each segment, ``[systems, segments, k]``."""
        metric, counts = self._sacre_metric, []
        for row in batch.rows:
            known = [
                metric._preprocess_segment(self._text(text)) for text in row.nonblank_references
            ]
            expected = metric._extract_reference_info(known)  # once for all systems
            texts = [metric._preprocess_segment(self._text(text)) for text in row.hypotheses]
            counts.append([metric._compute_segment_statistics(text, expected) for text in texts])
        return np.array(counts, dtype=self.statistic_type).swapaxes(0, 1)

    def _text(self, segment: Segment) -> str:
        """A segment as sacreBLEU gets it."""
        return segment if isinstance(segment, str) else " ".join(segment)

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """sacreBLEU's score of summed statistics, 0 to 100."""
        rows = np.asarray(summed)
        compute = self._sacre_metric._compute_score_from_stats
        flat = [compute(row.tolist()).score for row in rows.reshape(-1, rows.shape[-1])]
        return np.array(flat, dtype=np.float64).reshape(rows.shape[:-1])


@dataclass(frozen=True)
class BLEU(SacreBLEUMetric):
    """Corpus BLEU (Papineni et al. 2002) as sacreBLEU computes it.

    >>> float(BLEU().sentence_score("the cat sat on the mat", "the cat sat on the mat"))
    100.00000000000004

    Args:
        tokenize: One of sacreBLEU's tokenisers, or ``none``.
        lowercase: Lowercase both sides.
        smooth: sacreBLEU's smoothing method: ``exp``, ``floor``, ``add-k`` or ``none``.

    Raises:
        ValueError: An unknown tokeniser or smoothing method.
    """

    tokenize: str = setting("13a", _TOKENIZE_HELP, choices=TOKENIZERS)
    lowercase: bool = setting(False, "Lowercase both sides.")
    smooth: str = setting("exp", "Smooth by this method of sacreBLEU.", choices=_SMOOTHINGS)

    presentation: ClassVar[Presentation] = Presentation(
        "BLEU",
        higher_is_better=True,
        undefined="not defined for this corpus",
        caveat=(
            "BLEU counts n-grams shared with the reference: another good wording scores low, and "
            "a dropped or repeated word changes it little. Its score of one segment means almost "
            "nothing."
        ),
    )
    statistic_names: ClassVar[tuple[str, ...]] = (
        "hypothesis_words",
        "reference_words",
        *(f"matches_{n}" for n in _ORDERS),
        *(f"ngrams_{n}" for n in _ORDERS),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.tokenizer  # fails now if a package is missing

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokeniser."""
        return Tokenizer(self.tokenize)

    def check(self, sample: RowSample) -> Iterable[Finding]:
        """Texts of which BLEU says little: most outputs are short, or they are tokenised.

        sacreBLEU says that texts are tokenised from a hundred lines on that end in a separate full
        stop; here most outputs that end in a full stop must have a space before it.
        """
        for name in sample.systems:
            sizes = [len(self.tokenizer(text)) for text in sample.texts()[name]]
            short = sum(0 < size < _ORDERS[-1] for size in sizes)
            if short >= MIN_SEGMENTS and 2 * short > sum(map(bool, sizes)):
                finding = Finding.of_text(
                    name,
                    f"{short:,} of {len(sizes):,} outputs have fewer than four words",
                    "BLEU finds no 4-gram in these, and tells of the others alone; use chrF "
                    "(-m chrf)",
                    "short-outputs",
                )
                is_part = len(sample.rows) < sample.size
                yield finding._replace(sample=len(sample.rows) if is_part else 0)
        ends = [
            text[-2:-1].isspace()
            for row in sample.rows
            for text in map(segment_text, row.hypotheses)
            if text.endswith(".")
        ]
        if self.tokenize != "none" and sum(ends) >= MIN_SEGMENTS and sum(ends) > len(ends) / 2:
            yield Finding(
                "the outputs are tokenised (a space before the full stop), so their BLEU is not "
                "comparable with that of other work: detokenise outputs and references for that",
                Severity.NOTE,
                kind="tokenised",
            )

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """sacreBLEU's score of summed statistics, 0 to 100.

        Rows with matches of every order, as in any resample of a corpus, are computed together, in
        sacreBLEU's order of operations, so the results are equal to the last bit.
        """
        rows = np.asarray(summed, dtype=np.float64)
        flat = rows.reshape(-1, rows.shape[-1])
        ordinary = (flat[:, 2:] > 0).all(axis=1) & (self.smooth != "add-k")
        scores = np.empty(len(flat))
        scores[ordinary] = _unsmoothed(flat[ordinary])
        if not ordinary.all():
            scores[~ordinary] = super().formula(flat[~ordinary])
        return scores.reshape(rows.shape[:-1])

    def scores_of(self, statistics: Statistics) -> list[float | None]:
        """The score of each segment; in one to three words, of the n-grams that there are.

        sacreBLEU calls that the effective order, and scores sentences so.
        """
        scores = super().scores_of(statistics)
        of_sentences = copy(self._sacre_metric)
        setattr(of_sentences, "effective_order", True)  # noqa: B010 (untyped there)
        for index in np.flatnonzero(statistics[:, -1] == 0):
            row = statistics[index].tolist()
            scores[index] = of_sentences._compute_score_from_stats(row).score
        return scores

    @cached_property
    def _sacre_metric(self) -> SacreMetric:
        from sacrebleu.metrics.bleu import BLEU as SacreBLEU

        metric = SacreBLEU(
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            smooth_method=self.smooth,
            force=True,
        )
        metric.tokenizer = sacre_tokenizer(self.tokenize)  # checks split the same texts
        return metric


def _unsmoothed(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """BLEU of rows with matches of every order, which need no smoothing."""
    length, reference, matches, ngrams = rows[:, 0], rows[:, 1], rows[:, 2:6], rows[:, 6:]
    logs = _log(100.0 * matches / ngrams)
    mean = (logs[:, 0] + logs[:, 1] + logs[:, 2] + logs[:, 3]) / len(_ORDERS)
    brevity = np.where(length < reference, _exp(1 - reference / length), 1.0)
    scores: NDArray[np.float64] = brevity * _exp(mean)
    return scores


@dataclass(frozen=True)
class CHRF(SacreBLEUMetric):
    """Corpus chrF2 (Popović 2015) as sacreBLEU computes it, without word n-grams.

    >>> round(float(CHRF().sentence_score("the cat sat", "the cat sits")), 2)
    61.03

    Args:
        lowercase: Lowercase both sides.
    """

    lowercase: bool = setting(False, "Lowercase both sides.")

    presentation: ClassVar[Presentation] = Presentation(
        "chrF2",
        higher_is_better=True,
        undefined="not defined for this corpus",
        caveat=(
            "chrF2 counts letters shared with the reference: another good wording scores low, and"
            " a dropped or repeated word changes it little. It does not tell one kind of error "
            "from another."
        ),
    )
    statistic_names: ClassVar[tuple[str, ...]] = tuple(
        f"{what}_{n}" for n in range(1, 7) for what in ("hypothesis", "reference", "matches")
    )

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """sacreBLEU's score of summed statistics, 0 to 100.

        All rows are computed together, in sacreBLEU's order of operations, so the results are equal
        to the last bit.
        """
        counts = np.asarray(summed, dtype=np.float64)
        precision, recall, orders = (np.zeros(counts.shape[:-1]) for _ in range(3))
        for first in range(0, counts.shape[-1], 3):
            hypothesis, reference, matches = np.moveaxis(counts[..., first : first + 3], -1, 0)
            is_there = (hypothesis > 0) & (reference > 0)
            precision += np.divide(matches, hypothesis, where=is_there, out=np.zeros_like(matches))
            recall += np.divide(matches, reference, where=is_there, out=np.zeros_like(matches))
            orders += is_there
        precision /= np.maximum(orders, 1)
        recall /= np.maximum(orders, 1)
        weight = 2.0**2  # chrF2's: recall counts twice
        below = weight * precision + recall
        above = (1 + weight) * precision * recall
        scores: NDArray[np.float64] = 100 * (above / np.where(below > 0, below, 1.0))
        return scores

    @cached_property
    def _sacre_metric(self) -> SacreMetric:
        from sacrebleu.metrics.chrf import CHRF as SacreCHRF

        return SacreCHRF(lowercase=self.lowercase)


MAX_TER_PAIRS = 200_000
"""The most words of an output times words of its reference, about 450 each: then the search for
words that moved takes 15 seconds for one segment, and twice as many words take four times as long.
"""


@dataclass(frozen=True)
class TER(SacreBLEUMetric):
    """Translation edit rate (Snover et al. 2006) as sacreBLEU computes it; it can exceed 100.

    >>> round(float(TER().sentence_score("the cat sat", "the cat sits")), 2)
    33.33

    Args:
        cased: Be case-sensitive, unlike sacreBLEU's default.
        normalize: Split off punctuation as Tercom does.
        tokenize: Split both sides by this tokeniser of sacreBLEU first; ``none`` does not.

    Raises:
        ValueError: An unknown tokeniser.
    """

    cased: bool = setting(False, "Be case-sensitive.")
    normalize: bool = setting(False, "Normalise and tokenise as Tercom does.")
    tokenize: str = setting("none", "Split by this tokeniser first.", choices=TOKENIZERS)

    presentation: ClassVar[Presentation] = Presentation(
        "TER",
        higher_is_better=False,
        undefined="not defined for this corpus",
        caveat=(
            "TER counts edits to reach the reference: another good wording scores high. It does "
            "not tell one kind of error from another."
        ),
    )
    statistic_type: ClassVar[type[np.generic]] = np.float64
    statistic_names: ClassVar[tuple[str, ...]] = ("edits", "reference_words")

    def count(self, batch: Batch) -> Statistics:
        """sacreBLEU's sufficient statistics of each segment, ``[systems, segments, 2]``.

        Raises:
            DataError: A segment has more than :data:`MAX_TER_PAIRS` pairs of words.
        """
        for row in batch.rows:
            sizes = [len(self.tokenizer(text)) for text in row.nonblank_references]
            for text in row.hypotheses:
                words = len(self.tokenizer(text))
                if words * max(sizes, default=0) > MAX_TER_PAIRS and text not in row.references:
                    raise DataError(
                        f"TER: a segment of {words:,} words against {max(sizes):,} would take it "
                        "many seconds, because it looks for words that moved; it begins "
                        f"{' '.join(self.tokenizer(text)[:6])[:60]!r}: split it, or leave TER out"
                    )
        return super().count(batch)

    def signature_for(self, *, references: int) -> Signature:
        """sacreBLEU's signature, with the tokeniser before Tercom's own."""
        signature = super().signature_for(references=references)
        if self.tokenize == "none":
            return signature
        settings = dict(signature.settings)
        settings["tok"] = f"{self.tokenize}+{settings['tok']}"
        return Signature(self.presentation.name, tuple(settings.items()))

    def _text(self, segment: Segment) -> str:
        return super()._text(segment if self.tokenize == "none" else self.tokenizer(segment))

    @cached_property
    def tokenizer(self) -> Tokenizer:  # kept, because it is asked often
        """The tokeniser."""
        return Tokenizer(self.tokenize)

    @cached_property
    def _sacre_metric(self) -> SacreMetric:
        from sacrebleu.metrics.ter import TER as SacreTER

        return SacreTER(case_sensitive=self.cased, normalized=self.normalize)
