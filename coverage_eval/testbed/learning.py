"""Learn from injected errors how scores become probabilities.

Errors are put into a text at a rate, and a logistic regression on the score and the lengths learns
in which segments they are. Its calibration error is measured on segments held out by turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from coverage_eval.errors import DataError
from coverage_eval.omissions.calibration import Calibration, calibration_features
from coverage_eval.testbed.detection import calibration_error, reliability_statistics

Floats = NDArray[np.float64]

_FOLDS = 5
_FEWEST = 10
"""The fewest segments with errors, and without: two for each weight."""
_RIDGE = 1.0
"""Weight of the penalty on squared weights of standardised features."""


@dataclass(frozen=True)
class LabelledScore:
    """The score of a segment, and whether it has an error.

    Attributes:
        segment: Its number; the same segment may come with several errors.
        score: Its score.
        source_length: Words of the source.
        target_length: Words of the hypothesis.
        is_error: Whether it has an error.
    """

    segment: int
    score: float
    source_length: int
    target_length: int
    is_error: bool


def fit_calibration(examples: Sequence[LabelledScore], rate: float) -> Calibration:
    """Learn a calibration, and measure it on segments held out by turns.

    Args:
        examples: Segments with and without errors.
        rate: The rate of errors, which the calibration keeps.

    Raises:
        DataError: There are too few segments with errors, or without.
    """
    features = np.array(
        [calibration_features(e.score, e.source_length, e.target_length) for e in examples],
        dtype=np.float64,
    )
    labels = np.array([example.is_error for example in examples], dtype=bool)
    folds = np.array([example.segment % _FOLDS for example in examples])
    if min(labels.sum(), (~labels).sum()) < _FEWEST:
        raise DataError(
            f"errors got into {labels.sum()} of {len(labels)} segments: too few on one side to "
            "calibrate on; take more text"
        )
    held_out = np.zeros(len(labels))
    for fold in range(_FOLDS):
        weights = _fit(features[folds != fold], labels[folds != fold])
        held_out[folds == fold] = expit(features[folds == fold] @ weights)
    error = calibration_error(reliability_statistics(labels, held_out).sum(axis=0))
    return Calibration(
        tuple(float(f"{weight:.6g}") for weight in _fit(features, labels)),
        rate,
        len({example.segment for example in examples}),
        round(float(error), 4),
    )


def _fit(features: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Weights of logistic regression, with a penalty on all but the constant's."""
    means, spreads = features.mean(axis=0), features.std(axis=0)
    means[0], spreads[0] = 0.0, 1.0
    spreads[spreads == 0] = 1.0
    scaled = (features - means) / spreads

    def loss(weights: Floats) -> tuple[float, Floats]:
        logits = scaled @ weights
        penalised = weights * (np.arange(len(weights)) > 0)
        value = np.logaddexp(0.0, logits).sum() - logits[labels].sum()
        slope = scaled.T @ (expit(logits) - labels) + _RIDGE * penalised
        return float(value + _RIDGE * (penalised @ penalised) / 2), slope

    found = np.asarray(minimize(loss, np.zeros(features.shape[1]), jac=True, method="BFGS").x)
    weights = np.asarray(found / spreads)
    weights[0] = found[0] - (found[1:] / spreads[1:]) @ means[1:]
    return weights
