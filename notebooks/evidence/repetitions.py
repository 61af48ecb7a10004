"""Which score finds repetitions, in every direction, in close and in free translations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from corpora import JUDGED, Corpus, FreeTranslator, Translator, joined
from scores import Spoilt, repetition_scores

from coverage_eval.alignment.aligner import ModelAligner
from coverage_eval.data.dataset import Row
from coverage_eval.tables.table import Table

KINDS = {
    "repetition-word": 1.0,
    "repetition-phrase": 1.0,
    "repetition-distant": 1.0,
    "repetition-oscillating": 1.0,
    "repetition-tail": 2.0,
}
"""Kinds of errors, and a factor for their rate."""

Areas = Mapping[str, float]
"""Score → mean AUROC over the kinds of errors."""


def repetition_areas(corpus: Corpus, aligner: ModelAligner) -> dict[str, Areas]:
    """Test bed → mean AUROC of each score, in one direction of a corpus."""
    far = joined(FreeTranslator(corpus, aligner).rows(len(corpus.test)))[:JUDGED]
    return {
        corpus.name: _mean_areas(Translator(corpus, aligner).rows(), 0.05),
        f"{corpus.name}, far": _mean_areas(far, 0.02),
    }


def _mean_areas(rows: Sequence[Row], rate: float) -> Areas:
    spoilt = [Spoilt.of(rows, kind, rate=rate * more) for kind, more in KINDS.items()]
    # In a short text, no segment may get an error of some kind.
    areas = [one.areas(repetition_scores()) for one in spoilt if one.is_mixed]
    return {name: fmean(area[name] for area in areas) for name in areas[0]}


def repetition_table(found: Mapping[str, Areas]) -> Table:
    """The scores in every direction and both test beds.

    Args:
        found: The joined results of :func:`repetition_areas`.
    """
    return Table(
        ("score", *found),
        tuple((name, *(areas[name] for areas in found.values())) for name in repetition_scores()),
        "Which score finds repetitions: mean AUROC over kinds of errors",
        notes=(
            "Kinds: words twice, phrases twice, phrases again elsewhere, phrases again and again, "
            "a growing tail. 1,000 segments.",
            "far: freer translations with some wrong words, one to four segments joined, errors in "
            "2% of the words.",
        ),
    )
