"""Metrics that score single segments by themselves, and those that count tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coverage_eval.core.batches import RowSample, Texts
from coverage_eval.core.counting import count_fitted
from coverage_eval.core.metric import Fitted, Metric, setting
from coverage_eval.core.result import Result
from coverage_eval.core.score import Score
from coverage_eval.core.tokenizers import TOKENIZERS, Segment, Tokenizer


@dataclass(frozen=True)
class TextMetric(Metric):
    """A metric that scores single segments by itself.

    :func:`coverage_eval.score` scores whole texts. It also looks for mistakes in them, for which a
    single segment is too short.
    """

    def sentence_score(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Score:
        """Score one segment, as a corpus of that segment.

        Args:
            hypothesis: A string or a list of tokens.
            reference: A reference of the same form, or a list of several references.
            source: The source segment, if the metric needs it.
        """
        texts = Texts.from_segment(hypothesis, reference, source)
        return self._measure(texts).score(self.name)

    def evidence(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> list[Any]:
        """The marks of one segment, such as repeated n-grams or dropped words."""
        texts = Texts.from_segment(hypothesis, reference, source)
        (found,) = self._measure(texts, keep_texts=True).explanations_of(self.name)
        return list(found.marks)

    def _measure(self, texts: Texts, *, keep_texts: bool = False) -> Result:
        self.check_needs(texts.references or None, texts.source)
        return count_fitted(texts, {self.name: self.fit(texts.sample)}, keep_texts=keep_texts)


@dataclass(frozen=True)
class FixedMetric(TextMetric, Fitted):
    """A metric that adapts to no text, so that its settings are all that it counts by."""

    @property
    def metric(self) -> Metric:  # type: ignore[override]  # the others keep it as an attribute
        """The metric itself."""
        return self

    def fit(self, sample: RowSample) -> Fitted:  # noqa: ARG002 (it adapts to no text)
        """The metric itself."""
        return self


@dataclass(frozen=True, kw_only=True)
class TokenMetric(FixedMetric):
    """A metric of tokens, with a tokeniser.

    Args:
        tokenize: The tokeniser's name.
        lowercase: Whether to lowercase segments first.
    """

    tokenize: str = setting(
        "none", "Apply one of sacreBLEU's tokenisers to every side.", choices=TOKENIZERS
    )
    lowercase: bool = setting(False, "Lowercase every side.")

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.tokenizer  # an unknown tokeniser is refused before any text is read

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """What splits every side into tokens."""
        return Tokenizer(self.tokenize, self.lowercase)

    def settings(self) -> Mapping[str, object]:
        """All fields, with the tokeniser's last."""
        own = dict(super().settings())
        del own["tokenize"], own["lowercase"]
        return own | self.tokenizer.settings
