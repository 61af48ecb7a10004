r"""What the attention mechanism remembers between steps: the cumulative attention.

:math:`\beta_t = \sum_{\tau \le t} \alpha_\tau` and the credit :math:`u_t = f - \beta_{t-1}` that a
fertility f leaves (Malaviya et al. 2018, section 3, eq. 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention._inputs import AttentionError, Float64Array


@dataclass(frozen=True)
class AttentionState:
    """Cumulative attention after some steps. Immutable: a step returns a new state.

    Attributes:
        cumulative: ``[B, S]`` β, read-only and in float64 whatever the type of the scores, so that
            long sequences lose nothing.
        steps: number of steps taken, a bound of the rounding in ``cumulative``.
    """

    cumulative: Float64Array
    steps: int = 0

    def __post_init__(self) -> None:
        cumulative = np.array(self.cumulative, dtype=np.float64)
        if cumulative.ndim != 2:
            raise AttentionError(f"cumulative attention must be [B, S], not {cumulative.shape}")
        cumulative.setflags(write=False)
        object.__setattr__(self, "cumulative", cumulative)

    @classmethod
    def start(cls, rows: int, positions: int) -> AttentionState:
        """No attention yet, for a batch of ``rows`` sources with ``positions`` words."""
        return cls(np.zeros((rows, positions)))

    def credit(self, fertilities: ArrayLike) -> Float64Array:
        r"""Credit :math:`u_t = f - \beta_{t-1}` of each word, never below 0.

        In exact arithmetic the credits of a row sum to :math:`\sum_j f_j` less one for each step.
        Where rounding has taken the sum of a last step slightly below 1, it is scaled to 1: the
        loss is at most one rounding a step and word, and anything beyond that is left, for the
        transformation to refuse.

        Args:
            fertilities: ``[B, S]`` f, 0 at padding and +inf for the sink.

        Returns:
            ``[B, S]`` upper bounds.
        """
        bounds = np.asarray(fertilities, dtype=np.float64)
        credit = np.maximum(bounds - self.cumulative, 0.0)
        total = credit.sum(axis=1)
        scale = np.where(np.isfinite(bounds), bounds, 0.0).sum(axis=1) + bounds.shape[1]
        rounding = np.finfo(np.float64).eps * (self.steps + 1) * scale
        short = (total < 1.0) & (total >= 1.0 - rounding)
        if short.any():
            credit[short] /= total[short, None]
        return np.asarray(credit)

    def add(self, attention: ArrayLike, fertilities: ArrayLike | None = None) -> AttentionState:
        r"""The state after a step: :math:`\beta_t = \beta_{t-1} + \alpha_t`.

        Args:
            attention: ``[B, S]`` α of the step, in float64.
            fertilities: ``[B, S]`` f of a constrained step: a word that received all of its credit
                has received exactly its fertility, without a residue that rounding would leave.
        """
        step = np.asarray(attention, dtype=np.float64)
        cumulative = self.cumulative + step
        if fertilities is not None:
            bounds = np.asarray(fertilities, dtype=np.float64)
            used_up = (step > 0) & (step >= np.maximum(bounds - self.cumulative, 0.0))
            cumulative = np.where(used_up, bounds, cumulative)
        return AttentionState(cumulative, self.steps + 1)
