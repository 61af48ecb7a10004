"""What a metric is: settings with a formula, and what counts a test set by them.

A :class:`Metric` is a frozen dataclass of settings (:func:`setting`). It is *fitted* to a sample of
the texts; a :class:`FittedMetric` *counts* sufficient statistics ``[systems, segments, k]`` of a
batch and *explains* them by marks. The metric's *formula* makes a score of their sum. Segment
scores, corpus scores, intervals, paired tests and Spark all use the same counts and the same
formula, so they cannot disagree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from math import inf
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch, Request, RowSample
from coverage_eval.core.errors import DataError, Finding
from coverage_eval.core.mark import Explanation, MarkKind
from coverage_eval.core.score import Score, Signature
from coverage_eval.core.tokenizers import Segment, StopWords, Tokenizer

# Settings


def setting(default: Any, help: str, **metadata: Any) -> Any:  # noqa: A002 (click's word)
    """A field of a dataclass that is also an option of a command.

    Args:
        default: Its default value.
        help: The option's help.
        **metadata: ``flag`` (another name for the option), ``choices``, ``min`` and ``max``
            (of a number), and further arguments of click's options.
    """
    return field(default=default, metadata={"help": help, **metadata})


# Statistics, and figures of them

Floats = NDArray[np.float64]

Statistics = NDArray[Any]
"""Sufficient statistics, ``[segments, k]`` or summed ``[..., k]``; integers or float64."""


@dataclass(frozen=True)
class Presentation:
    """How a figure is shown.

    Attributes:
        name: Its name in tables and signatures.
        higher_is_better: Whether a higher score is better; None if neither direction is better in
            itself.
        undefined: Why a corpus may have no score, and what to do.
        kinds: The kinds of its marks; none if it points at no words. Breakdowns list those that say
            so (:attr:`~coverage_eval.core.mark.MarkKind.listed`).
        segment_unit: What the figure of a segment is, if it has another unit than that of a text.
        caveat: What the figure cannot tell, in two sentences.
        more_errors: What a system does whose score of errors is higher, such as ``repeats more``;
            empty for other scores, such as those of quality.
    """

    name: str
    higher_is_better: bool | None
    undefined: str = "not defined for this corpus"
    kinds: tuple[MarkKind, ...] = ()
    segment_unit: str = ""
    caveat: str = ""
    more_errors: str = ""


@dataclass(frozen=True)
class Formula:
    """What turns summed statistics into a score: settings, formula and signature."""

    presentation: ClassVar[Presentation]
    """Its name, its direction, and its words."""
    needs: ClassVar[frozenset[str]] = frozenset({"references"})
    """Which of ``references``, ``sources``, ``links`` and ``coverages`` it is computed from."""
    statistic_names: ClassVar[tuple[str, ...]]
    statistic_type: ClassVar[type[np.generic]] = np.int64
    """The type of the statistics: int64 for counts, or float64."""
    one_more_error: ClassVar[tuple[float, ...] | None] = None
    """The statistics of the least error, for a sum of errors that may be rare: one unit of
    :meth:`errors`, and what it adds to the denominator. Intervals then end at what one more error
    may add; None for a score of everything, such as BLEU."""
    factor: ClassVar[float] = 100.0
    """What :meth:`formula` multiplies a ratio of sums by: 100 for a percentage."""

    def formula(self, summed: Statistics) -> NDArray[np.float64]:
        """The score of summed statistics; by default errors by the last, times :attr:`factor`.

        Args:
            summed: Statistics ``[..., k]``, each row a sum over segments.

        Returns:
            Scores ``[...]``; NaN where the score is undefined (an empty denominator).
        """
        denominator = np.asarray(summed, dtype=np.float64)[..., -1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(
                denominator > 0, self.factor * self.errors(summed) / denominator, np.nan
            )

    def errors(self, statistics: Statistics) -> Floats:
        """The size of the errors in statistics ``[..., k]``; by default the first of them."""
        return np.asarray(statistics, dtype=np.float64)[..., 0]

    def settings(self) -> Mapping[str, object]:
        """The settings in the signature; by default every field of the dataclass."""
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def get_signature(self) -> Signature:
        """The signature without the number of references, which those of scores have."""
        return self.signature_for(references=0)

    def signature_for(self, *, references: int) -> Signature:
        """The signature of a score.

        Args:
            references: Number of references of the texts, which count only if it needs them.
        """
        counted = {"refs": references} if references and "references" in self.needs else {}
        return Signature.of(self.presentation.name, **counted, **self.settings())

    def scores_of(self, statistics: Statistics) -> list[float | None]:
        """The score of each segment, None where it is undefined; unit as the corpus score."""
        return [None if np.isnan(score) else float(score) for score in self.formula(statistics)]

    def score(self, statistics: Statistics, signature: Signature | None = None) -> Score:
        """The score of a corpus from the statistics of its segments ``[segments, k]``.

        Args:
            statistics: The statistics.
            signature: The score's signature; by default that of the settings alone.

        Raises:
            DataError: The corpus score is undefined; the message says why.
        """
        summed = np.asarray(statistics).sum(axis=0)
        value = float(self.formula(summed))
        if np.isnan(value):
            raise DataError(f"{self.presentation.name}: {self.presentation.undefined}")
        return Score(
            metric=self.presentation.name,
            score=value,
            signature=signature or self.get_signature(),
            segments=len(statistics),
            higher_is_better=self.presentation.higher_is_better,
            statistics={k: v.item() for k, v in zip(self.statistic_names, summed, strict=True)},
        )


# Metrics

SCORING = "coverage_eval.scoring"
"""What counts the texts of a metric, and checks them. It knows metrics, so a metric knows only its
name."""

_PLAIN_TYPES: Mapping[type, tuple[type, str]] = {
    bool: (bool, "True or False"),
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
}
"""By the type of a setting's default, what its values must be, also in words."""


@dataclass(frozen=True)
class Metric(Formula, ABC):
    """The settings of a score; :meth:`fit` gives what counts the texts.

    A score may need references, sources, links or coverages.
    """

    model_purpose: ClassVar[str] = ""
    """What its model should be prepared for (``align train --prepare-for``); empty if nothing."""
    counts_words: ClassVar[bool] = True
    """Whether a text whose words its :attr:`tokenizer` does not separate has no score: see
    :attr:`~coverage_eval.core.result.Result.refused`."""
    unsegmented_advice: ClassVar[str] = ""
    """What to do with text whose words it does not separate, if no ``--tokenize`` would do so."""

    def __post_init__(self) -> None:
        """Refuse values that the fields do not allow, by their types and by :func:`setting`.

        Raises:
            TypeError: A value is of another type: a string such as ``no`` would turn a flag on.
            ValueError: A value is none of the choices, or out of range.
        """
        for item in fields(self):
            name, value, rules = item.name, getattr(self, item.name), item.metadata
            least, most = rules.get("min", -inf), rules.get("max", inf)
            kind, what = _PLAIN_TYPES.get(type(item.default), (object, ""))
            if "choices" in rules:
                if value not in (*rules["choices"], item.default):
                    choices = ", ".join(map(str, rules["choices"]))
                    raise ValueError(f"{name} must be one of {choices}, not {value!r}")
            elif what and (
                not isinstance(value, kind) or isinstance(value, bool) != (kind is bool)
            ):
                raise TypeError(f"{name} must be {what}, not {value!r}")
            elif what and not least <= value <= most:
                raise ValueError(f"{name} must be from {least} to {most:,}, not {value}")
            elif item.default_factory is StopWords and not isinstance(value, StopWords):
                # A string's letters, or a set's order, would be signed without an error.
                made_by = "StopWords.of(words) or StopWords.read(file)"
                raise TypeError(f"{name} must come from {made_by}, not {value!r:.40}")

    @property
    def table_caveat(self) -> str:
        """The caveat that stands under every table of its figures; by default none."""
        return ""

    @abstractmethod
    def fit(self, sample: RowSample) -> FittedMetric:
        """Return what counts these texts, adapted to them if the metric adapts to texts.

        Args:
            sample: Names of the texts, and some of their rows; without rows, nothing is adapted.

        Raises:
            DataError: It lacks the links or scores of a system, or other texts.
        """

    @property
    def tokenizer(self) -> Tokenizer | None:
        """What splits texts into the words that it counts; None if it splits none."""
        return None

    def check(self, sample: RowSample) -> Iterable[Finding]:  # noqa: ARG002 (for subclasses)
        """What readers of its scores must know of these texts; nothing by default.

        Args:
            sample: A sample of the texts.
        """
        return ()

    def corpus_score(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        **how: Any,
    ) -> Score:
        """Score a corpus; texts that look wrong give warnings.

        >>> from coverage_eval import REP
        >>> float(REP(n=2).corpus_score(["a red red house"], [["a red house"]]))
        66.66666666666667

        Args:
            hypotheses: The system's segments, strings or lists of tokens.
            references: A list of references, each a list of segments, as in sacreBLEU; the segments
                of a single reference will do.
            sources: The source's segments, if the metric needs them.
            peers: Outputs of other systems, for metrics that use them.
            **how: ``resamples`` for a 95% interval (by default 0 for none) and their ``seed``,
                ``jobs`` for a number of processes, and ``unaligned`` for hypotheses of other lines:
                see :class:`coverage_eval.scoring.Scoring`.

        Raises:
            DataError: Unequal numbers of segments, none, or an undefined score.
            TypeError: The metric needs texts that are not given, or a text is no list of segments.
            AlignerError: The aligner failed.

        Warns:
            CorpusWarning: The texts look wrong.
        """
        scoring = import_module(SCORING)
        score: Score = scoring.score_corpus(self, hypotheses, references, sources, peers, **how)
        return score

    def sentence_score(
        self, hypothesis: Segment, references: Any = None, source: Segment | None = None
    ) -> Score:
        """Score one segment, as a corpus of that segment; nothing looks for mistakes in it.

        Args:
            hypothesis: A string or a list of tokens.
            references: A list of references of the same form, or a single one.
            source: The source segment, if the metric needs it.
        """
        score: Score = import_module(SCORING).score_segment(self, hypothesis, references, source)
        return score

    def evidence(
        self, hypothesis: Segment, references: Any = None, source: Segment | None = None
    ) -> list[Any]:
        """The marks of one segment, such as repeated n-grams or dropped words."""
        found: Explanation = import_module(SCORING).explain_segment(
            self, hypothesis, references, source
        )
        return list(found.marks)

    def check_needs(self, references: object, sources: object) -> None:
        """Raise :class:`TypeError` if texts that the metric needs are None."""
        for name, texts in (("references", references), ("sources", sources)):
            if texts is None and name in self.needs:
                raise TypeError(f"{self.presentation.name} needs {name}")


class FittedMetric(ABC):
    """A metric that is fitted to a test set: it counts the texts, and explains its counts.

    Attributes:
        metric: The settings, the formula and the names.
        has_segment_scores: Whether :meth:`segment_scores` gives scores that are no formula of
            statistics, and :meth:`explain` how likely a segment is wrong, with the ``reason`` in
            detail.
    """

    metric: Metric
    has_segment_scores: ClassVar[bool] = False

    @abstractmethod
    def count(self, batch: Batch) -> Statistics:
        """Statistics ``[systems, segments, k]`` of a batch."""

    def segment_scores(self, batch: Batch) -> Floats:
        """Scores of segments ``[systems, segments]``, if they are no formula of statistics."""
        raise NotImplementedError

    @property
    def footnote(self) -> str:
        """What a figure of these texts is, where that depends on them; a footnote of tables."""
        return ""

    def explain(self, batch: Batch) -> Iterable[tuple[Explanation, ...]]:
        """Why each segment has its score, one explanation per system; no marks by default."""
        return [(Explanation(),) * len(row.hypotheses) for row in batch.rows]

    def requests(self) -> Sequence[Request]:
        """What aligners must compute for every batch."""
        return ()

    def signature_for(self, *, references: int) -> Signature:
        """The signature of a score of these texts.

        Args:
            references: Number of references of the texts.
        """
        return self.metric.signature_for(references=references)
