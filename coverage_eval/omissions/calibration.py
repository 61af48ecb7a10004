"""From scores to probabilities, by errors put into the user's own text.

The text is taken to be right. Errors are put into it at a rate, and a logistic regression on the
score and the lengths learns in which segments they are. So a probability is that of an error in a
text in which errors are as frequent. How well it is calibrated is measured on segments that the
regression has not seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from coverage_eval.errors import DataError
from coverage_eval.omissions.reliability import calibration_error, reliability_statistics

Floats = NDArray[np.float64]

_FOLDS = 5
_LARGEST = 1e9
"""No weight of a real calibration comes near it."""
_RIDGE = 1.0
"""Strength of the pull of weights to 0, in squared weights of standardised features."""


@dataclass(frozen=True)
class LabelledScore:
    """A segment of which it is known whether it has an error.

    Attributes:
        segment: Its number; the same segment may come with several errors.
        score: Its score.
        source_length: Words of the source.
        target_length: Words of the hypothesis.
        is_error: Whether it has one.
    """

    segment: int
    score: float
    source_length: int
    target_length: int
    is_error: bool


@dataclass(frozen=True)
class Calibration:
    """A logistic regression of errors on score and lengths.

    Attributes:
        weights: Of the constant and of each feature.
        rate: The rate of errors it was learnt at, per word.
        segments: Segments it was learnt from.
        error: Expected calibration error on held-out segments, 0 to 1.
    """

    weights: tuple[float, ...]
    rate: float
    segments: int
    error: float

    def probability(self, score: float, source_length: int, target_length: int) -> float:
        """The probability of an error, 0 to 1."""
        return float(expit(np.dot(_features(score, source_length, target_length), self.weights)))

    @property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the weights, which signatures name."""
        return sha256(json.dumps(self.weights).encode()).hexdigest()[:8]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read what :meth:`save` wrote.

        Raises:
            DataError: Something else.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            weights = tuple(map(float, values["weights"]))
            if set(values) != {item.name for item in fields(cls)} or len(weights) != _FEATURES:
                raise ValueError("other values than expected")
            rate, error_found = float(values["rate"]), float(values["error"])
            if not all(abs(number) < _LARGEST for number in (*weights, rate, error_found)):
                raise ValueError("numbers that no text gives")
            return cls(weights, rate, int(values["segments"]), error_found)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise DataError(f"{path.name} of the model is no calibration: {error}") from error


def _features(score: float, source_length: int, target_length: int) -> list[float]:
    """The constant, the score in two scales, the length, and the ratio of lengths."""
    ratio = (target_length + 1) / (source_length + 1)
    return [1.0, score, np.log1p(score), np.log1p(source_length), np.log(ratio)]


_FEATURES = len(_features(0.0, 0, 0))


def fit_calibration(examples: Sequence[LabelledScore], rate: float) -> Calibration:
    """Learn a calibration, and measure it on segments held out by turns.

    Args:
        examples: Segments with and without errors.
        rate: The rate of errors, which is kept.

    Raises:
        DataError: There are too few segments with errors, or without.
    """
    features = np.array(
        [_features(e.score, e.source_length, e.target_length) for e in examples], dtype=np.float64
    ).reshape(-1, _FEATURES)
    labels = np.array([example.is_error for example in examples], dtype=bool)
    folds = np.array([example.segment % _FOLDS for example in examples])
    if min(labels.sum(), (~labels).sum()) < 2 * _FEATURES:
        raise DataError(
            f"errors got into {labels.sum()} of {len(labels)} segments: too few on one side to "
            "calibrate on; take more text"
        )
    held_out = np.zeros(len(labels))
    for fold in range(_FOLDS):
        weights = _fit(features[folds != fold], labels[folds != fold])
        held_out[folds == fold] = expit(features[folds == fold] @ weights)
    weights = _fit(features, labels)
    error = calibration_error(reliability_statistics(labels, held_out).sum(axis=0))
    return Calibration(
        tuple(float(f"{weight:.6g}") for weight in weights),
        rate,
        len({example.segment for example in examples}),
        round(float(error), 4),
    )


def _fit(features: Floats, labels: NDArray[np.bool_]) -> Floats:
    """Weights of greatest likelihood, all but the constant's drawn to 0 a little."""
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
