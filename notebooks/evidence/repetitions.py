"""Which score finds repetitions, in every direction, in close and in free translations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from areas import Areas, Found
from corpora import JUDGED, Corpus, FreeTranslator, Translator, joined
from scores import Spoilt, repetition_scores

from coverage_eval.align.aligner import ModelAligner
from coverage_eval.core.batches import Row

KINDS = {
    "repetition-word": 1.0,
    "repetition-phrase": 1.0,
    "repetition-distant": 1.0,
    "repetition-oscillating": 1.0,
    "repetition-tail": 2.0,
}
"""Kinds of errors, and a factor for their rate."""


def repetition_areas(corpus: Corpus, aligner: ModelAligner) -> Found:
    """Test bed → mean AUROC of each score, in one direction of a corpus."""
    far = joined(FreeTranslator(corpus, aligner).rows(len(corpus.test)))[:JUDGED]
    return {
        corpus.name: _mean_areas(Translator(corpus, aligner).rows(), 0.05),
        f"{corpus.name}, far": _mean_areas(far, 0.02),
    }


def _mean_areas(rows: Sequence[Row], rate: float) -> dict[str, Areas]:
    spoilt = [Spoilt.of(rows, kind, rate=rate * more) for kind, more in KINDS.items()]
    # In a short text, no segment may get an error of some kind.
    areas = [texts.areas(repetition_scores()) for texts in spoilt if texts.is_mixed]
    return {name: np.mean([each[name] for each in areas], axis=0) for name in areas[0]}
