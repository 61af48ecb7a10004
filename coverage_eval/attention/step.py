r"""One step of attention: scores, exhaustion, transformation under the credit, context.

Malaviya et al. 2018: :math:`\alpha_t = \rho(z_t, u_t)` with :math:`u_t = f - \beta_{t-1}` (section
3, eq. 5), :math:`z'_t = z_t + c u_t` (section 4, "Exhaustion strategies") and
:math:`c_t = H \alpha_t` (section 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError, BoolArray, Float64Array, FloatArray
from coverage_eval.attention.registry import find_transformation
from coverage_eval.attention.scoring import Parameters, Score
from coverage_eval.attention.source import (
    AttentionSource,
    check_fertilities,
    check_states,
    length_mask,
)
from coverage_eval.attention.state import AttentionState


@dataclass(frozen=True)
class StepResult:
    """What one step computed.

    Attributes:
        attention: ``[B, S]`` α, in float64 whatever the type of the scores; 0 at padding and for
            rows that were not active.
        context: ``[B, K]`` c = Hα, in the type of the memory.
        scores: ``[B, S]`` float64, what the transformation was given (z + c·u).
        credit: ``[B, S]`` float64 u, or None without fertilities.
    """

    attention: Float64Array
    context: FloatArray
    scores: Float64Array
    credit: Float64Array | None


@dataclass(frozen=True)
class StepGradients:
    """Gradients of one step for all that it read.

    Attributes:
        query: ``[B, D]``.
        keys: ``[B, S, P]``.
        memory: ``[B, S, K]`` through the context and the score, without the part through ``keys``.
        cumulative: ``[B, S]`` for β before the step.
        fertilities: ``[B, S]``, 0 at sinks and padding, and where there are no fertilities.
        parameters: of the score, without the part through ``keys``.
    """

    query: FloatArray
    keys: FloatArray
    memory: FloatArray
    cumulative: Float64Array
    fertilities: Float64Array
    parameters: Parameters


@dataclass(frozen=True)
class AttentionStep:
    r"""The attention mechanism with its parameters; it holds no state of its own.

    Attributes:
        score: how a decoder state and the source make scores, with the coverage vector if any.
        transformation: name or label of one in :data:`~coverage_eval.attention.TRANSFORMATIONS`;
            those with bounds need fertilities.
        exhaustion: c of :math:`z' = z + c u`, 0.2 in the paper's experiments; needs fertilities.
            It applies to words with a finite fertility, hence not to the sink.

    Raises:
        AttentionError: on construction, an unknown transformation or a c that is not finite.
    """

    score: Score
    transformation: str = "softmax"
    exhaustion: float = 0.0

    def __post_init__(self) -> None:
        find_transformation(self.transformation)
        if not np.isfinite(self.exhaustion):
            raise AttentionError(f"the exhaustion constant c must be finite: {self.exhaustion}")

    @property
    def constrained(self) -> bool:
        """Whether the credit bounds the attention."""
        return find_transformation(self.transformation).bounded

    def source(
        self,
        memory: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        fertilities: ArrayLike | None = None,
    ) -> AttentionSource:
        """Check a batch of sources and compute what all steps share, in O(BSDK).

        Args:
            memory: ``[B, S, K]`` encoder states H.
            lengths: ``[B]`` words of each row; None where nothing is padded.
            fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.

        Raises:
            AttentionError: shapes or fertilities that do not fit, or fertilities missing.
        """
        states = check_states(memory, "the memory", "batch, source, size")
        rows, positions = states.shape[:2]
        usable = length_mask(lengths, rows, positions, "length")
        if fertilities is None and (self.constrained or self.exhaustion):
            what = self.transformation if self.constrained else "the exhaustion strategy"
            raise AttentionError(f"{what} needs fertilities")
        # Padding may hold anything, NaN included; zeros there keep it out of all sums.
        states = np.where(usable[:, :, None], states, 0)
        try:
            keys = self.score.keys(states)
        except ValueError as error:
            raise AttentionError(
                f"a memory of shape {states.shape} does not fit the score: {error}"
            ) from error
        bounds = None if fertilities is None else check_fertilities(fertilities, usable)
        return AttentionSource(states, keys, usable, bounds)

    def start(self, source: AttentionSource) -> AttentionState:
        """The state before the first step: no attention yet."""
        return AttentionState.start(*source.usable.shape)

    def __call__(
        self,
        query: ArrayLike,
        source: AttentionSource,
        state: AttentionState,
        *,
        active: BoolArray | None = None,
    ) -> tuple[StepResult, AttentionState]:
        """Take one step, in O(BS(D + K)) and the cost of the transformation.

        Args:
            query: ``[B, D]`` decoder states. The paper's text scores with the state before the
                step (s at t-1), OpenNMT-py with the one just computed; give whichever is meant.
            source: what :meth:`source` returned.
            state: the state before the step.
            active: ``[B]`` False for rows whose target has ended: they receive no attention and
                keep their state. None for all.

        Returns:
            The step's results and the state after it.

        Raises:
            AttentionError: as the transformation; names the row.
            InfeasibleBoundsError: a row whose credit no longer sums to 1; add a sink.
        """
        vector = np.asarray(query)
        running = np.ones(len(source.usable), np.bool_) if active is None else active
        self._check(vector, source, state)
        vector = np.where(running[:, None], vector, 0)
        scores = np.asarray(
            self.score.scores(vector, source.keys, source.memory, state.cumulative), np.float64
        )
        credit = None
        if source.fertilities is not None:
            credit = state.credit(source.fertilities)
            scores = scores + self.exhaustion * np.where(source.bounded, credit, 0.0)
        attention = self._transform(scores, credit, source.usable, running)
        context = np.matmul(attention[:, None, :], source.memory)[:, 0, :]
        result = StepResult(attention, np.asarray(context, source.memory.dtype), scores, credit)
        return result, state.add(attention, source.fertilities if self.constrained else None)

    def _check(self, query: NDArray[Any], source: AttentionSource, state: AttentionState) -> None:
        rows, positions = source.usable.shape
        if query.ndim != 2 or len(query) != rows:
            raise AttentionError(f"decoder states of shape {query.shape} for {rows} sources")
        if state.cumulative.shape != (rows, positions):
            raise AttentionError(
                f"the state is of shape {state.cumulative.shape}, the source {(rows, positions)}"
            )

    def _transform(
        self,
        scores: Float64Array,
        credit: Float64Array | None,
        usable: BoolArray,
        running: BoolArray,
    ) -> Float64Array:
        # A row that has ended is given a harmless problem, and its solution is discarded.
        mask = np.where(running[:, None], usable, True)
        tame = np.where(mask & running[:, None], scores, 0.0)
        bounds = 1.0 if credit is None else np.where(running[:, None], credit, 1.0)
        attention = find_transformation(self.transformation)(tame, bounds, mask=mask)
        return np.where(running[:, None], attention, 0.0)

    def vjp(
        self,
        query: FloatArray,
        source: AttentionSource,
        state: AttentionState,
        result: StepResult,
        d_attention: Float64Array,
        d_context: FloatArray,
        d_cumulative: Float64Array,
    ) -> StepGradients:
        r"""Gradients of one step (Malaviya et al. 2018, Proposition 1, and the chain rule).

        The attention acts through itself, through the context and through β after the step; the
        bounds act on the attention and, with exhaustion, on the scores.

        Args:
            query: the decoder states of the step; anything finite for rows that were not active.
            source: as given to the step.
            state: the state **before** the step.
            result: what the step returned.
            d_attention: ``[B, S]`` gradient of the loss for α.
            d_context: ``[B, K]`` gradient for c.
            d_cumulative: ``[B, S]`` gradient for β after the step.
        """
        through_context = np.matmul(source.memory, d_context[:, :, None])[:, :, 0]
        d_alpha = d_attention + through_context + d_cumulative
        d_scores, d_credit = self._transform_vjp(d_alpha, result, source.usable)
        d_before, d_fertilities = d_cumulative, np.zeros_like(d_credit)
        if result.credit is not None:
            d_credit = d_credit + self.exhaustion * d_scores
            # u = max(0, f - β) moves with f and β only where there is credit left.
            moves = source.bounded & (result.credit > 0)
            d_fertilities = np.where(moves, d_credit, 0.0)
            d_before = d_before - d_fertilities
        part = self.score.vjp(d_scores, query, source.keys, source.memory, state.cumulative)
        if part.cumulative is not None:
            d_before = d_before + part.cumulative
        d_memory = result.attention[:, :, None] * d_context[:, None, :]
        if part.memory is not None:
            d_memory = d_memory + part.memory
        return StepGradients(
            part.query, part.keys, d_memory, d_before, d_fertilities, part.parameters
        )

    def _transform_vjp(
        self, d_alpha: Float64Array, result: StepResult, usable: BoolArray
    ) -> tuple[Float64Array, Float64Array]:
        ended = result.attention.sum(axis=1) == 0
        d_alpha = np.where(usable & ~ended[:, None], d_alpha, 0.0)
        vjp = find_transformation(self.transformation).vjp
        if self.constrained:
            d_scores, d_credit = vjp(d_alpha, result.attention, result.credit, mask=usable)
        else:
            d_scores = vjp(d_alpha, result.attention)
            d_credit = np.zeros_like(d_scores)
        return d_scores, d_credit
