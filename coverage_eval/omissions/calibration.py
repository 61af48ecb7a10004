"""From scores to probabilities, by a calibration learnt from errors put into the user's own text.

The text is taken to be correct, and errors are put into it at some rate. So a probability is that
of an error in a text with as many errors. It is learnt by
:func:`~coverage_eval.testbed.learn_calibration.calibrate`.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from pathlib import Path

import numpy as np
from scipy.special import expit

from coverage_eval.errors import DataError

_LARGEST = 1e9
"""No weight of a real calibration comes near it."""


@dataclass(frozen=True)
class Calibration:
    """A logistic regression of errors on score and lengths.

    Attributes:
        weights: Of each of :func:`calibration_features`.
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
        features = calibration_features(score, source_length, target_length)
        return float(expit(np.dot(features, self.weights)))

    @property
    def digest(self) -> str:
        """The first 8 hexadecimal digits of the hash of the weights, for signatures."""
        return sha256(json.dumps(self.weights).encode()).hexdigest()[:8]

    def save(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8", newline="\n")

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Read a file of :meth:`save`.

        Raises:
            DataError: The file is something else.
        """
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            weights = tuple(map(float, values["weights"]))
            features = calibration_features(0.0, 0, 0)
            if set(values) != {item.name for item in fields(cls)} or len(weights) != len(features):
                raise ValueError("other values than expected")
            rate, error_found = float(values["rate"]), float(values["error"])
            if not all(abs(number) < _LARGEST for number in (*weights, rate, error_found)):
                raise ValueError("numbers that no text gives")
            return cls(weights, rate, int(values["segments"]), error_found)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise DataError(f"{path.name} of the model is no calibration: {error}") from error


def calibration_features(score: float, source_length: int, target_length: int) -> list[float]:
    """A constant, the score in two scales, the source's length, and the ratio of lengths."""
    ratio = (target_length + 1) / (source_length + 1)
    return [1.0, score, np.log1p(score), np.log1p(source_length), np.log(ratio)]
