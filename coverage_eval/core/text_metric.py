"""Metrics that adapt to no text, and those that count tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from coverage_eval.core.batches import RowSample
from coverage_eval.core.metric import FittedMetric, Metric, setting
from coverage_eval.core.tokenizers import TOKENIZERS, Tokenizer


@dataclass(frozen=True)
class FixedMetric(Metric, FittedMetric):
    """A metric that needs no fitting: :meth:`fit` returns the metric itself."""

    @property
    def metric(self) -> Metric:  # type: ignore[override]  # the others keep it as an attribute
        """The metric itself."""
        return self

    def fit(self, sample: RowSample) -> FittedMetric:  # noqa: ARG002 (it adapts to no text)
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
