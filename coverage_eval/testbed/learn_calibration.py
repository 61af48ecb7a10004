"""Learn to turn scores of omissions into probabilities, from errors injected into your own text.

The text is assumed to be correct. Errors are injected at a rate, and a logistic regression on the
surprise of the best run and on the length learns which segments have one; its weights may not be
negative, so no probability falls as the evidence rises. Cross-validation measures its calibration
error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.arrays import Floats
from coverage_eval.data.dataset import Dataset, Row
from coverage_eval.errors import DataError
from coverage_eval.metrics.coverage_losses import Calibration, calibration_features
from coverage_eval.metrics.omission_finder import MANY_PEERS, OmissionFinder
from coverage_eval.testbed.detection import calibration_error, reliability_statistics
from coverage_eval.testbed.injection import Injection, SpoiltSegment, clean_segments
from coverage_eval.testbed.word_pool import WordPool

DEFAULT_RATE = 0.02

_KINDS = {"source": ("omission-phrase", "omission-content"), "target": ("addition",)}
_REPAIRS = {"source": ("none", "filler"), "target": ("none",)}

_MAX_SEGMENTS = 10_000
_ENOUGH_SEGMENTS = 10_000
"""Segments to learn from; errors are injected into short texts several times, each time anew."""

_MAX_ROUNDS = 20

ENOUGH = 500
"""With fewer segments, probabilities are unreliable."""

_FOLDS = 5
_MIN = 10
"""The fewest segments with errors, and without: two for each weight."""
_CONSTANT = 1e-9
"""Smaller spreads are rounding: equal features such as log 9 may have a spread of 1e-16."""
RIDGE = 1.0
"""Weight of the penalty on squared weights of standardised features."""


def calibrated_finders(
    aligner: Aligner, side: str, dataset: Dataset, rate: float = DEFAULT_RATE
) -> Iterator[OmissionFinder]:
    """Finders without peers, with one, with two, and with all, each calibrated if possible.

    Args:
        aligner: The model that keeps the calibrations.
        side: As :class:`OmissionFinder` takes it.
        dataset: One system's output, assumed to be correct, with its source and with the references
            and peers that are witnesses.
        rate: As :func:`calibrate` takes it.

    Raises:
        DataError: Too few segments to calibrate without peers; no source.
        AlignerError: The aligner failed.
    """
    have = len(dataset.peers)
    referenced = bool(dataset.references) and side == "source"
    for peers in [*range(min(have, MANY_PEERS)), have]:
        finder = OmissionFinder.of(aligner, side, referenced=referenced, peers=peers)
        try:
            yield finder.calibrated(calibrate(finder, dataset.rows(), rate))
        except DataError:
            if not peers:
                raise  # with peers, too few segments may have that many different ones


def calibrate(
    finder: OmissionFinder, rows: Iterable[Row], rate: float = DEFAULT_RATE, seed: int = 0
) -> Calibration:
    """Learn the probabilities of errors from a text that is assumed to be correct.

    Args:
        finder: The finder.
        rows: Segments with their source, one hypothesis, and the finder's references and peers;
            of the first 10,000, those with all witnesses are used.
        rate: Share of the words that are left out or added; the probabilities depend on it.
        seed: Seed of the errors.

    Raises:
        DataError: Too few segments; no source.
        AlignerError: The aligner failed.
    """
    own = list(islice(rows, _MAX_SEGMENTS))
    clean = list(clean_segments(own, finder.aligner))
    pool = WordPool.of(segment.words for segment in clean)
    repairs = _REPAIRS[finder.side]
    injections = [
        Injection(_KINDS[finder.side], rate, pool, seed + number, repairs[number % len(repairs)])
        for number in range(min(_MAX_ROUNDS, -(-_ENOUGH_SEGMENTS // max(1, len(own)))))
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
    every = list(finder.find(rows))
    lengths = np.array([len(found.losses) for found in every])
    strengths = np.array([found.strength for found in every])
    surprises = finder.null.surprises(strengths, lengths).tolist()
    for number, (segment, surprise, length) in enumerate(
        zip(spoilt, surprises, lengths.tolist(), strict=True)
    ):
        is_addition = finder.side == "target"
        is_error = any(error.source or is_addition for error in segment.errors)
        yield LabelledScore(number, surprise, length, is_error)


@dataclass(frozen=True)
class LabelledScore:
    """How surprising a segment is, and whether it has an error.

    Attributes:
        segment: Its number; the same segment may come with several errors.
        surprise: The surprise of its best run.
        length: Words on the side of interest.
        is_error: Whether it has an error.
    """

    segment: int
    surprise: float
    length: int
    is_error: bool


def fit_calibration(examples: Sequence[LabelledScore], rate: float) -> Calibration:
    """Learn a calibration, and measure it by cross-validation.

    Args:
        examples: Segments with and without errors.
        rate: The rate of errors, which the calibration records.

    Raises:
        DataError: Too few segments have errors, or too few have none.
    """
    from scipy.special import expit  # slow to import, and not needed to find omissions

    lengths = [example.length for example in examples]
    features = calibration_features(
        np.array([example.surprise for example in examples], dtype=np.float64), np.array(lengths)
    )
    labels = np.array([example.is_error for example in examples], dtype=bool)
    folds = np.array([example.segment % _FOLDS for example in examples])
    if min(labels.sum(), (~labels).sum()) < _MIN:
        raise DataError(
            f"{labels.sum()} of {len(labels)} segments got errors; calibration needs at least "
            f"{_MIN} with and {_MIN} without: use more text"
        )
    held_out = np.zeros(len(labels))
    for fold in range(_FOLDS):
        weights = fit_weights(features[folds != fold], labels[folds != fold])
        held_out[folds == fold] = expit(features[folds == fold] @ weights)
    error = calibration_error(reliability_statistics(labels, held_out).sum(axis=0))
    return Calibration(
        tuple(float(f"{weight:.6g}") for weight in fit_weights(features, labels)),
        min(lengths),
        max(lengths),
        rate,
        len({example.segment for example in examples}),
        round(float(error), 4),
    )


def fit_weights(features: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Weights of a logistic regression; all but the constant's are penalised, and not below 0."""
    from scipy.optimize import minimize
    from scipy.special import expit

    means, spreads = features.mean(axis=0), features.std(axis=0)
    means[0], spreads[0] = 0.0, 1.0
    spreads[spreads < _CONSTANT] = 1.0
    scaled = (features - means) / spreads

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = scaled @ weights
        penalised = weights * (np.arange(len(weights)) > 0)
        value = np.logaddexp(0.0, logits).sum() - logits[labels].sum()
        slope = scaled.T @ (expit(logits) - labels) + RIDGE * penalised
        return float(value + RIDGE * (penalised @ penalised) / 2), slope

    bounds = [(None, None), *((0.0, None) for _ in range(features.shape[1] - 1))]
    start = np.zeros(features.shape[1])
    found = np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x)
    weights = np.asarray(found / spreads)
    weights[0] = found[0] - (found[1:] / spreads[1:]) @ means[1:]
    return weights
