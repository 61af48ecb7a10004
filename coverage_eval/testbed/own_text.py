"""Calibration of a finder on the text that it is used on, by errors put into it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from coverage_eval.errors import DataError
from coverage_eval.omissions.calibration import Calibration
from coverage_eval.omissions.finder import OmissionFinder
from coverage_eval.testbed.injection import Injection, SpoiltSegment, clean_segments
from coverage_eval.testbed.learning import LabelledScore, fit_calibration
from coverage_eval.testbed.word_pool import WordPool
from coverage_eval.text.rows import Row

DEFAULT_RATE = 0.02

_KINDS = {"source": ("omission-phrase", "omission-content"), "target": ("addition",)}
_REPAIRS = {"source": ("none", "filler"), "target": ("none",)}

_MOST_SEGMENTS = 10_000
_ENOUGH_SEGMENTS = 10_000
"""Segments to learn from; short texts are spoilt several times, each time in other places."""

_MOST_ROUNDS = 20


def calibrate(
    finder: OmissionFinder, rows: Iterable[Row], rate: float = DEFAULT_RATE, seed: int = 0
) -> Calibration:
    """Learn the probabilities of errors from a text that is taken to be right.

    Args:
        finder: The finder.
        rows: Segments with their source, one hypothesis, and references if the finder has them;
            the first 10,000 are used.
        rate: How many of the words are left out, or added; what a probability means depends on it.
        seed: Seed of the errors.

    Raises:
        DataError: Too few segments; no source.
        AlignerError: The aligner failed.
    """
    own = list(islice(rows, _MOST_SEGMENTS))
    clean = list(clean_segments(own, finder.aligner))
    pool = WordPool.of(segment.words for segment in clean)
    repairs = _REPAIRS[finder.side]
    injections = [
        Injection(_KINDS[finder.side], rate, pool, seed + number, repairs[number % len(repairs)])
        for number in range(min(_MOST_ROUNDS, -(-_ENOUGH_SEGMENTS // max(1, len(own)))))
    ]
    try:
        spoilt = [[one.spoil(segment, n) for n, segment in enumerate(clean)] for one in injections]
    except DataError as error:
        raise DataError(f"cannot calibrate on this text: {error}") from error
    examples = [e for segments in spoilt for e in _examples(finder, own, segments)]
    return fit_calibration(examples, rate)


def _examples(
    finder: OmissionFinder, own: Sequence[Row], spoilt: Sequence[SpoiltSegment]
) -> Iterator[LabelledScore]:
    rows = (
        row._replace(hypotheses=(segment.words,)) for row, segment in zip(own, spoilt, strict=True)
    )
    for number, (segment, found) in enumerate(zip(spoilt, finder.find(rows), strict=True)):
        is_addition = finder.side == "target"
        is_error = any(error.source or is_addition for error in segment.errors)
        yield LabelledScore(number, found.score, found.source_length, found.target_length, is_error)
