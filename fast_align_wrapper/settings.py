"""The settings that a model is trained with, and the parameters of its directions."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

Direction = Literal["forward", "reverse"]
"""``forward`` links each target word to at most one source word, ``reverse`` vice versa."""

DIRECTIONS: tuple[Direction, Direction] = ("forward", "reverse")


def is_finite(value: float) -> bool:
    """Whether a number is finite as a float; unlike :func:`math.isfinite`, for any integer."""
    return abs(value) <= sys.float_info.max


@dataclass(frozen=True)
class Settings:
    """Settings of training (Dyer, Chahuneau and Smith 2013); the defaults are the usual ones.

    Attributes:
        favor_diagonal: Prefer links near the diagonal (fast_align's ``-d``); else IBM Model 1.
        optimize_tension: Fit the tension λ, the strength of that preference (``-o``).
        variational_bayes: Dirichlet prior on the translation probabilities (``-v``).
        iterations: Passes over the text; the last one only reads off the links.
        p0: Probability of NULL, in [0, 1).
        alpha: Concentration of the Dirichlet prior, above 0.
        tension: Initial tension, above 0.
    """

    favor_diagonal: bool = True
    optimize_tension: bool = True
    variational_bayes: bool = True
    iterations: int = 5
    p0: float = 0.08
    alpha: float = 0.01
    tension: float = 4.0

    def __post_init__(self) -> None:
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, not {self.iterations}")
        if not 0 <= self.p0 < 1:
            raise ValueError(f"p0 must be a probability below 1, not {self.p0}")
        for name in ("alpha", "tension"):
            value = getattr(self, name)
            if not (value > 0 and is_finite(value)):
                raise ValueError(f"{name} must be a finite number above 0, not {value}")

    def training_options(self) -> list[str]:
        """The options for fast_align, ours or the original."""
        wanted = {
            "-d": self.favor_diagonal, "-o": self.optimize_tension, "-v": self.variational_bayes,
        }  # fmt: skip
        flags = [flag for flag, is_wanted in wanted.items() if is_wanted]
        values: dict[str, float] = {"-I": self.iterations, "-q": self.p0, "-a": self.alpha}
        if self.favor_diagonal:
            # The original takes a tension as -d.
            values["-T"] = self.tension
        return flags + [part for flag, value in values.items() for part in (flag, repr(value))]


@dataclass(frozen=True)
class DirectionParameters:
    """The parameters of a direction besides its translation table.

    Attributes:
        tension: λ after training.
        length_multiplier: Expected number of generated words per conditioning word.
        log_likelihood: Natural log-likelihood of the text in each iteration.
    """

    tension: float
    length_multiplier: float
    log_likelihood: tuple[float, ...] = ()

    @property
    def numbers(self) -> tuple[float, ...]:
        """All numbers of the direction."""
        return (self.tension, self.length_multiplier, *self.log_likelihood)
