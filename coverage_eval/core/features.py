"""Features: what looks at texts beside the metrics of an evaluation, each in its own folder.

:mod:`coverage_eval.core.evaluation` calls each method at its time.
What a feature found is reached by its type, as in ``result.of(Documents)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from coverage_eval.core.batches import Batch, RowSample, Texts
from coverage_eval.core.errors import Finding
from coverage_eval.core.progress import Progress
from coverage_eval.core.tokenizers import Tokenizer


class Feature:
    """Something that looks at texts, for one run of an evaluation; every method may be left out.

    Attributes:
        prepares: Whether :meth:`prepare` changes the texts.
        text_settings: What the signatures of all scores say of the texts, by name.
        details: Plain values for JSON, by name, beside the scores.
    """

    prepares: ClassVar[bool] = False
    text_settings: Mapping[str, str] = {}
    details: Mapping[str, Any] = {}

    def prepare(self, texts: Texts, progress: Progress) -> Texts:  # noqa: ARG002 (for subclasses)
        """Return the texts that are scored, such as outputs cut by the lines of their source.

        Args:
            texts: The texts as a user gave them.
            progress: Where to report the share of this work that is done.
        """
        return texts

    def fit(self, sample: RowSample) -> None:
        """Adapt to a sample of the texts, before anything is counted."""

    def collect(self, batch: Batch, first: int) -> None:
        """Look at a batch of segments.

        Args:
            batch: The segments, with what metrics asked of an aligner.
            first: The number of the first one, from 0.
        """

    def findings(self, sample: RowSample, tokenizer: Tokenizer | None) -> Iterable[Finding]:  # noqa: ARG002
        """What readers of the scores must know.

        Args:
            sample: A sample of the texts.
            tokenizer: Splits texts into the words that metrics count; None if none counts words.
        """
        return ()
