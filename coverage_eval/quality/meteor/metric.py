"""METEOR 1.5 as a metric of this package: settings, signature, statistics, score, evidence.

Meteor has 23 sufficient statistics, and the score of a corpus is that of their sum.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch, Row, RowSample, Texts
from coverage_eval.core.errors import DataError, Finding, SegmentError
from coverage_eval.core.mark import Explanation
from coverage_eval.core.metric import FittedMetric, Metric, Presentation, Statistics, setting
from coverage_eval.core.tokenizers import (
    Segment,
    Span,
    Tokenizer,
    Words,
    find_tokens,
    segment_text,
    tokenize,
)
from coverage_eval.quality.meteor.matching import (
    EXACT,
    MODULES,
    PARAPHRASE,
    Match,
    align,
    find_candidates,
    is_too_long,
)
from coverage_eval.quality.meteor.paraphrases import (
    PhraseTable,
    find_paraphrases,
    open_index,
    phrase_index,
)
from coverage_eval.quality.meteor.words import (
    FOR_ENGLISH,
    JAR,
    PARAPHRASES,
    check_english,
    check_tokenised,
    data_file,
    get_word,
    normalize,
    package_version,
)

ALPHA, BETA, GAMMA, DELTA = 0.85, 0.2, 0.6, 0.75
"""Meteor 1.5's English parameters, tuned to rank systems (Denkowski and Lavie 2014)."""

MODULE_WEIGHTS = (1.0, 0.6, 0.8, 0.6)
"""The weights of an exact, stem, synonym and paraphrase match."""

_MODULE_FIELDS = ("hyp_content", "ref_content", "hyp_function", "ref_function")

FIELDS = (
    "hyp_len",
    "ref_len",
    "hyp_function",
    "ref_function",
    *(f"{m}_{f}" for m in MODULES for f in _MODULE_FIELDS),
    "chunks",
    "hyp_matched",
    "ref_matched",
)
"""The statistics' names, in the order in which Meteor prints them."""

_CHUNKS, _HYP_MATCHED, _REF_MATCHED = 20, 21, 22

VARIANTS = {"full": 4, "exact-stem": 2}
"""Number of matchers that each variant uses."""


def pair_statistics(
    matches: Sequence[Match],
    hypothesis_functions: Sequence[bool],
    reference_functions: Sequence[bool],
) -> list[int]:
    """The 23 counts of one pair.

    Meteor does not count the chunk of a perfect segment, whose sides match as a whole. This changes
    the corpus score, but not the segment's own. (``-ssOut`` prints the chunk.)

    Args:
        matches: The chosen matches, in the order of the reference.
        hypothesis_functions: Whether each token of the hypothesis is a function word.
        reference_functions: Whether each token of the reference is a function word.
    """
    counts = [0] * len(FIELDS)
    counts[0], counts[1] = len(hypothesis_functions), len(reference_functions)
    counts[2], counts[3] = sum(hypothesis_functions), sum(reference_functions)
    end = reference_end = -1
    for position, (start, length, reference_length, module) in matches:
        # Matches that follow each other on both sides are one chunk.
        counts[_CHUNKS] += start != end or position != reference_end
        end, reference_end = start + length, position + reference_length
        functions = sum(hypothesis_functions[start:end])
        reference_function = sum(reference_functions[position:reference_end])
        first = 4 + 4 * module
        counts[first] += length - functions
        counts[first + 1] += reference_length - reference_function
        counts[first + 2] += functions
        counts[first + 3] += reference_function
        counts[_HYP_MATCHED] += length
        counts[_REF_MATCHED] += reference_length
    if counts[_CHUNKS:] == [1, *counts[:2]]:
        counts[_CHUNKS] = 0
    return counts


class Parts(NamedTuple):
    """A Meteor score and its parts; arrays of one shape."""

    precision: NDArray[np.float64]
    """Weighted share of the hypothesis that is matched, 0 to 1."""
    recall: NDArray[np.float64]
    """Weighted share of the reference that is matched, 0 to 1."""
    penalty: NDArray[np.float64]
    """The fragmentation penalty gamma * (chunks / matches) ** beta, 0 to gamma."""
    score: NDArray[np.float64]
    """The harmonic mean of precision and recall, weighted by alpha, times (1 - penalty)."""


def score_parts(counts: NDArray[Any]) -> Parts:
    """The Meteor 1.5 score, from 0 to 1, and its parts.

    Denkowski and Lavie, "Meteor Universal" (WMT 2014), section 2: precision and recall with weights
    for content and function words, their harmonic mean, and a fragmentation penalty. Without a
    match, or with an empty side, the score and all its parts are 0.

    Args:
        counts: The 23 statistics ``[..., 23]`` (see :data:`FIELDS`), of segments or summed.
    """
    counts = np.asarray(counts, dtype=np.float64)
    # Each pair of statistics is of the hypothesis and of the reference.
    functions = counts[..., 2:4]
    length = DELTA * (counts[..., :2] - functions) + (1.0 - DELTA) * functions
    weighted = np.zeros_like(length)
    for first, weight in zip(range(4, _CHUNKS, 4), MODULE_WEIGHTS, strict=True):
        content, function = counts[..., first : first + 2], counts[..., first + 2 : first + 4]
        weighted += weight * (DELTA * content + (1.0 - DELTA) * function)
    ratios = np.divide(weighted, length, out=np.zeros_like(length), where=length > 0)
    precision, recall = ratios[..., 0], ratios[..., 1]
    matched = (counts[..., _HYP_MATCHED] + counts[..., _REF_MATCHED]) / 2.0
    any_match = (precision > 0) & (recall > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        f_mean = 1.0 / ((1.0 - ALPHA) / precision + ALPHA / recall)
        penalty = GAMMA * (counts[..., _CHUNKS] / matched) ** BETA
    penalty = np.where(any_match, penalty, 0.0)
    return Parts(precision, recall, penalty, np.where(any_match, f_mean, 0.0) * (1.0 - penalty))


class _AlignedPair(NamedTuple):
    """The tokens of a hypothesis and its best reference, and the matches between them."""

    hypothesis: list[str]
    reference: list[str]
    matches: list[Match]
    counts: list[int]
    """The 23 statistics."""
    best: int = 0
    """Which reference it is, from 0."""


@dataclass(frozen=True)
class MeteorMatch:
    """Evidence of METEOR: words of the hypothesis matched with words of the reference.

    Attributes:
        kind: ``"exact"``, ``"stem"``, ``"synonym"`` or ``"paraphrase"``.
        hypothesis: The matched words of the hypothesis.
        reference: The matched words of the reference.
        hypothesis_span: The characters of these words in the hypothesis as the user wrote it.
        reference_span: The characters of these words in the reference as the user wrote it.
        numbers: The number of the first matched word in both, from 1.
    """

    kind: str
    hypothesis: tuple[str, ...]
    reference: tuple[str, ...]
    hypothesis_span: Span
    reference_span: Span
    numbers: tuple[int, int]

    def to_dict(self) -> dict[str, Any]:
        """The match as plain values: its words, and the characters where they start and end."""
        return {
            "kind": self.kind,
            "hypothesis": list(self.hypothesis),
            "reference": list(self.reference),
            "hypothesis_start": self.hypothesis_span[0],
            "hypothesis_end": self.hypothesis_span[1],
            "reference_start": self.reference_span[0],
            "reference_end": self.reference_span[1],
        }

    def __str__(self) -> str:
        """Both texts, the kind of match, and the numbers of both first words."""
        words = f"{' '.join(self.hypothesis)} ~ {' '.join(self.reference)}"
        return f"{words} ({self.kind}) {self.numbers[0]}-{self.numbers[1]}"


@dataclass(frozen=True)
class METEOR(Metric):
    """METEOR 1.5 for English, as ``meteor-1.5.jar HYP REF -l en`` scores, but from 0 to 100.

    >>> metric = METEOR()
    >>> round(float(metric.sentence_score("the cat sat on the mat", "a cat sits on the mat")), 2)
    48.98
    >>> print(metric.evidence("the cat sat on the mat", "a cat sits on the mat")[1])
    sat ~ sits (synonym) 3-3

    The corpus score is computed from summed statistics; it is not the mean of the segments' scores.
    A segment with an empty side scores 0, and its words count in the corpus. Each segment is scored
    against its best reference, as with the jar's ``-r``.

    Args:
        variant: ``"full"``, or ``"exact-stem"`` for Meteor without synonyms and paraphrases.
        norm: Tokenise, normalise punctuation and lowercase, as ``-norm`` does.
        lower: Lowercase, as ``-lower`` does; ``norm`` includes it.
        scale: The score's upper end: 100, or 1 as in the jar.

    Raises:
        ValueError: Unknown variant or scale.
    """

    variant: str = field(default="full", metadata={"choices": VARIANTS})
    norm: bool = setting(False, "Tokenise, normalise punctuation and lowercase.")
    lower: bool = setting(False, "Lowercase both sides.")
    scale: int = setting(
        100, "Upper end of the scale; Meteor's own program prints 0 to 1.", choices=(100, 1)
    )

    presentation: ClassVar[Presentation] = Presentation(
        "METEOR",
        higher_is_better=True,
        undefined="there are no segments",
        caveat=(
            "METEOR knows English stems, synonyms and paraphrases, and no other rewordings. It "
            "stresses recall, so dropped words lower it, but it does not tell them from other "
            "errors."
        ),
    )
    statistic_names: ClassVar[tuple[str, ...]] = FIELDS
    tokenizer: ClassVar[Tokenizer] = Tokenizer()
    unsegmented_advice: ClassVar[str] = FOR_ENGLISH

    @property
    def eval_id(self) -> str:
        """Meteor's own name for its settings, which the jar prints as "Eval ID"."""
        used = VARIANTS[self.variant]
        text = "norm" if self.norm else "lc_only" if self.lower else "no_norm"
        parameters = "_".join(str(value) for value in (ALPHA, BETA, GAMMA, DELTA))
        modules = "_".join(module[:2] for module in MODULES[:used])
        weights = "_".join(str(weight) for weight in MODULE_WEIGHTS[:used])
        return f"meteor-1.5-wo-en-{text}-{parameters}-{modules}-{weights}"

    def settings(self) -> Mapping[str, object]:
        """Meteor's Eval ID, and the versions of the packages with its data.

        Raises:
            MissingDependencyError: The ``meteor`` extra is not installed.
        """
        data_file(JAR)
        return {
            "id": self.eval_id,
            "scale": int(self.scale),
            "backend": "python",  # earlier releases could say "java"
            "data": f"pycocoevalcap-{package_version('pycocoevalcap')}",
            "stemmer": f"snowballstemmer-{package_version('snowballstemmer')}",
        }

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """F-mean · (1 − fragmentation penalty), see :func:`score_parts`; never NaN."""
        return self.scale * score_parts(summed).score

    def check(self, sample: RowSample) -> Sequence[Finding]:
        """Doubts about texts that are not English, or not tokenised."""
        findings = check_english(sample)
        if not self.norm:
            findings += check_tokenised(sample, ", or type 'meteor' with --norm")
        return findings

    def fit(self, sample: RowSample) -> FittedMETEOR:  # noqa: ARG002 (it adapts to no text)
        """Return what counts."""
        return FittedMETEOR(self)

    def evidence(
        self, hypothesis: Segment, references: Any = None, source: Segment | None = None
    ) -> list[MeteorMatch]:
        """All matches of a segment with its best reference, in the order of the reference."""
        texts = Texts.from_segment(hypothesis, references, source)
        (row,) = texts.sample.rows
        fitted = self.fit(texts.sample)
        (pair,) = fitted.align([row])
        return fitted.matches(row, row.hypotheses[0], pair)


@dataclass(eq=False)
class FittedMETEOR(FittedMetric):
    """METEOR of some texts."""

    metric: METEOR

    @cached_property
    def index(self) -> Path | None:
        """The index of paraphrases, made when it is first needed; None if none are matched."""
        matches_phrases = VARIANTS[self.metric.variant] > PARAPHRASE
        return phrase_index(data_file(PARAPHRASES)) if matches_phrases else None

    def __getstate__(self) -> dict[str, Any]:
        """What other processes get: with the index of paraphrases, so that it is made once."""
        _ = self.index
        return self.__dict__

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """The 23 statistics of each segment, ``[systems, segments, 23]``."""
        counts = [pair.counts for pair in self.align(batch.rows)]
        shaped = np.array(counts, dtype=np.int64).reshape(len(batch.rows), -1, len(FIELDS))
        return shaped.swapaxes(0, 1)

    def explain(self, batch: Batch) -> Iterator[tuple[Explanation, ...]]:
        """Precision, recall and penalty of each score, 0 to 1, and the inexact matches."""
        for row in batch.rows:
            pairs = zip(row.hypotheses, self.align([row]), strict=True)
            yield tuple(_explain_pair(pair, self.matches(row, text, pair)) for text, pair in pairs)

    def matches(self, row: Row, hypothesis: Segment, pair: _AlignedPair) -> list[MeteorMatch]:
        """All matches of a hypothesis with its best reference, in the order of the reference."""
        hyp = self._locate(hypothesis, pair.hypothesis)
        ref = self._locate(row.nonblank_references[pair.best], pair.reference)
        matches = []
        for position, (start, length, reference_length, module) in pair.matches:
            end, reference_end = start + length, position + reference_length
            matches.append(
                MeteorMatch(
                    MODULES[module],
                    tuple(pair.hypothesis[start:end]),
                    tuple(pair.reference[position:reference_end]),
                    (hyp.spans[start][0], hyp.spans[end - 1][1]),
                    (ref.spans[position][0], ref.spans[reference_end - 1][1]),
                    (start + 1, position + 1),
                )
            )
        return matches

    def _locate(self, segment: Segment, tokens: list[str]) -> Words:
        """The tokens as words of the user's own text."""
        text = segment_text(segment)
        lowered = text.lower() if self.metric.norm or self.metric.lower else text
        return Words(
            text, tuple(find_tokens(lowered if len(lowered) == len(text) else text, tokens))
        )

    def align(self, rows: Sequence[Row]) -> list[_AlignedPair]:
        """Align each hypothesis with its best reference, row by row.

        Of several best references, the first counts, as with the jar's ``-r N``.

        Raises:
            SegmentError: A segment repeats words so often that aligning it would take long.
        """
        table = open_index(self.index, os.getpid()) if self.index else None
        pairs = []
        for number, row in enumerate(rows):
            references = list(map(self._split, row.nonblank_references))
            for system, text in enumerate(row.hypotheses):
                hypothesis = self._split(text)
                try:
                    choices = [self._align(hypothesis, words, table) for words in references]
                except DataError as error:
                    raise SegmentError(str(error), number, system) from None
                best = 0
                if len(choices) > 1:
                    scores = score_parts(np.array([pair.counts for pair in choices])).score
                    best = int(np.argmax(scores))
                pairs.append(choices[best]._replace(best=best))
        return pairs

    def _align(
        self, hypothesis: list[str], reference: list[str], table: PhraseTable | None
    ) -> _AlignedPair:
        hyp, ref = ([get_word(token) for token in side] for side in (hypothesis, reference))
        is_equal = hyp == ref  # equal segments get only exact matches
        modules = [EXACT] if is_equal else range(VARIANTS[self.metric.variant])
        candidates = find_candidates(hyp, ref, modules)
        if table and not is_equal and not is_too_long(candidates):
            phrases = find_paraphrases(table, hypothesis, reference)
            for here, more in zip(candidates, phrases, strict=True):
                here.extend(more)
        if is_too_long(candidates):
            raise DataError(
                f"it repeats words too often for METEOR ({len(hyp):,} words, {len(ref):,} in the "
                "reference); put each sentence on a line of its own, or leave METEOR out"
            )
        matches = align(candidates)
        flags = ([word.is_function for word in side] for side in (hyp, ref))
        return _AlignedPair(hypothesis, reference, matches, pair_statistics(matches, *flags))

    def _split(self, segment: Segment) -> list[str]:
        """The tokens of a segment."""
        text = segment if isinstance(segment, str) else " ".join(segment)
        if self.metric.norm:
            text = normalize(text)
        elif self.metric.lower:
            text = text.lower()
        return list(tokenize(text))


def _explain_pair(pair: _AlignedPair, matches: Sequence[MeteorMatch]) -> Explanation:
    precision, recall, penalty, _ = map(float, score_parts(np.array(pair.counts)))
    inexact = [match for match in matches if match.kind != MODULES[EXACT]]
    detail = {"precision": precision, "recall": recall, "penalty": penalty}
    return Explanation(detail={**detail, "inexact_matches": inexact})
