"""Metrics that score lists of segments by themselves, with or without a tokeniser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

from coverage_eval.core.dataset import ONE_SYSTEM, Batch, Dataset
from coverage_eval.core.measure import Metric, Result, measure
from coverage_eval.core.score import Score, Statistics
from coverage_eval.core.settings import setting
from coverage_eval.core.significance import DEFAULT_SEED
from coverage_eval.core.tokenizers import TOKENIZERS, Tokenizer
from fast_align_wrapper.text import Segment


@dataclass(frozen=True)
class TextMetric(Metric):
    """A metric that scores lists of segments by itself."""

    def corpus_score(
        self,
        hypotheses: Sequence[Segment],
        references: Sequence[Any] | None = None,
        sources: Sequence[Segment] | None = None,
        *,
        peers: Sequence[Sequence[Segment]] = (),
        jobs: int = 1,
        resamples: int = 0,
        seed: int = DEFAULT_SEED,
    ) -> Score:
        """Score a corpus; the functions of :mod:`coverage_eval` also look for wrong texts.

        Args:
            hypotheses: The system's segments, strings or lists of tokens.
            references: The reference's segments, or a list of several references.
            sources: The source's segments, if the metric needs them.
            peers: Outputs of other systems, for metrics that compare with them.
            jobs: Number of processes; the result does not depend on it.
            resamples: Bootstrap resamples of a 95% interval; 0 for no interval.
            seed: Their seed.

        Raises:
            DataError: Unequal numbers of segments, none at all, or an undefined score.
            TypeError: A single string in place of a list of segments; no text that it needs.
        """
        result = self._run(hypotheses, references, sources, peers=peers, jobs=jobs)
        return result.score(self.name, resamples=resamples, seed=seed)

    def statistics(self, *texts: Any, **how: Any) -> Statistics:
        """Sufficient statistics ``[segments, k]`` of a corpus, which can be added up.

        :meth:`score` makes a score from them, and
        :func:`coverage_eval.core.significance.paired_test` tests differences with them.
        Arguments and errors are those of :meth:`corpus_score`.
        """
        return self._run(*texts, **how).statistics_of(self.name)

    def sentence_scores(self, *texts: Any, **how: Any) -> list[float | None]:
        """The score of each segment, None where it is undefined; as :meth:`corpus_score`."""
        return self._run(*texts, **how).segment_scores(self.name)

    def sentence_score(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> Score:
        """Score one segment, as a corpus of that segment.

        Args:
            hypothesis: A string or a list of tokens.
            reference: A reference of the same form, or a list of several references.
            source: The source segment, if the metric needs it.
        """
        return self.corpus_score(*one_segment(hypothesis, reference, source))

    def evidence(
        self, hypothesis: Segment, reference: Any = None, source: Segment | None = None
    ) -> list[Any]:
        """The marks of one segment, such as repeated n-grams or dropped words."""
        texts = one_segment(hypothesis, reference, source)
        self.check_needs(*texts[1:])
        ((found,),) = self.explain(
            Batch(list(Dataset.of_lists({ONE_SYSTEM: texts[0]}, *texts[1:]).rows()))
        )
        return list(found.marks)

    def _run(
        self,
        hypotheses: Any,
        references: Any = None,
        sources: Any = None,
        *,
        peers: Any = (),
        jobs: int = 1,
    ) -> Result:
        dataset = Dataset.of_lists({ONE_SYSTEM: hypotheses}, references, sources, peers)
        self.check_needs(dataset.references or None, dataset.source)
        return measure(dataset, {self.name: self.fit(dataset.sample)}, jobs=jobs)


def one_segment(
    hypothesis: Segment, reference: Any, source: Segment | None
) -> tuple[list[Segment], Any, list[Segment] | None]:
    """A segment's texts as a corpus of one; the reference may be a list of several."""
    if isinstance(reference, Iterator):  # it can be read only once
        reference = list(reference)
    several = isinstance(hypothesis, str) and not isinstance(reference, (str, type(None)))
    if not isinstance(hypothesis, str) and reference is not None and not isinstance(reference, str):
        several = any(not isinstance(item, str) for item in reference)
    if reference is not None:
        reference = [[one] for one in reference] if several else [reference]
    return [hypothesis], reference, None if source is None else [source]


@dataclass(frozen=True, kw_only=True)
class TokenMetric(TextMetric):
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
        _ = self.tokens  # an unknown tokeniser is refused before any text is read

    @cached_property
    def tokens(self) -> Tokenizer:
        """The tokeniser: from a segment to its tokens."""
        return Tokenizer(self.tokenize, self.lowercase)

    def settings(self) -> Mapping[str, object]:
        """All fields, with the tokeniser's last."""
        own = {
            item.name: getattr(self, item.name)
            for item in fields(self)
            if item.name not in {"tokenize", "lowercase"}
        }
        return own | self.tokens.settings
