"""Length: words of the hypothesis per 100 words of the reference.

The example of a metric on the page on extending; ``tests/test_extending.py`` adds it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from coverage_eval.core.batches import Batch
from coverage_eval.core.metric import Presentation
from coverage_eval.core.text_metric import TokenMetric

__all__ = ["Length"]


@dataclass(frozen=True)
class Length(TokenMetric):
    """Words of the hypothesis per 100 words of the reference, the first of several."""

    presentation: ClassVar[Presentation] = Presentation(
        "Length",
        higher_is_better=True,
        undefined="the reference has no words; is it the right file?",
        caveat="It counts words, not meanings.",
    )
    statistic_names: ClassVar[tuple[str, ...]] = ("hypothesis_words", "reference_words")

    def count(self, batch: Batch) -> NDArray[np.int64]:
        """Words of hypothesis and reference, ``[systems, segments, 2]``."""
        counts = []
        for row in batch.rows:
            reference = len(self.tokenizer(row.references[0]))
            counts.append([(len(self.tokenizer(text)), reference) for text in row.hypotheses])
        return np.array(counts, dtype=np.int64).swapaxes(0, 1)
