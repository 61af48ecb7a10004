r"""One step of attention: the source, the state between steps, and the step itself.

Malaviya et al. 2018: :math:`\alpha_t = \rho(z_t, u_t)` with the credit :math:`u_t = f -
\beta_{t-1}` that a fertility f leaves after the cumulative attention :math:`\beta_{t-1} =
\sum_{\tau<t} \alpha_\tau` (section 3, eq. 5), :math:`z'_t = z_t + c u_t` (section 4, "Exhaustion
strategies") and :math:`c_t = H \alpha_t` (section 2).

The sink is an extra last word with unbounded fertility, :math:`f_{J+1} = \infty`, so that a
translation can be longer than the sum of the fertilities (section 4). Any word with an infinite
fertility **is** a sink. The exhaustion strategy skips sinks, because c·∞ would take all attention.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention.inputs import (
    AttentionError,
    BoolArray,
    Float64Array,
    FloatArray,
    check_states,
    length_mask,
)
from coverage_eval.attention.scoring import BilinearScore, Parameters
from coverage_eval.attention.transformations import find_transformation


@dataclass(frozen=True)
class AttentionSource:
    """A batch of sources, checked.

    Attributes:
        memory: ``[B, S, K]`` encoder states H.
        keys: ``[B, S, P]`` their projections for the score, the same for all steps.
        usable: ``[B, S]`` bool, False at padding.
        fertilities: ``[B, S]`` float64, 0 at padding, +inf for sinks; None if there are none.
    """

    memory: FloatArray
    keys: FloatArray
    usable: BoolArray
    fertilities: Float64Array | None

    @property
    def bounded(self) -> BoolArray:
        """``[B, S]`` True for words with a finite fertility, False for sinks and padding."""
        assert self.fertilities is not None
        return np.asarray(np.isfinite(self.fertilities) & self.usable)


def _checked_fertilities(fertilities: ArrayLike, usable: BoolArray) -> Float64Array:
    """Fertilities broadcast to ``[B, S]``, 0 at padding.

    Raises:
        AttentionError: NaN or a negative fertility; names the row.
    """
    values = np.broadcast_to(np.asarray(fertilities, dtype=np.float64), usable.shape)
    bounds = np.where(usable, values, 0.0)
    bad = ~(bounds >= 0)
    if bad.any():
        row, word = (int(i) for i in np.argwhere(bad)[0])
        raise AttentionError(
            f"row {row}: fertility {bounds[row, word]} of word {word}; it must be 0 or more"
        )
    return bounds


def append_sink(
    memory: ArrayLike,
    fertilities: ArrayLike,
    *,
    lengths: ArrayLike | None = None,
    vector: Sequence[float] | FloatArray | None = None,
) -> tuple[FloatArray, Float64Array, NDArray[np.intp]]:
    r"""Add a sink after the last word of each row (Malaviya et al. 2018, section 4, "Sink token").

    Args:
        memory: ``[B, S, K]`` encoder states.
        fertilities: broadcast to ``[B, S]``.
        lengths: ``[B]`` words of each row, may be 0; None if nothing is padded.
        vector: ``[K]`` encoder state of the sink; None for zeros, to which bilinear scores give 0.

    Returns:
        Memory ``[B, S + 1, K]``, fertilities ``[B, S + 1]``, +inf at the sinks, lengths ``[B]``.

    Raises:
        AttentionError: shapes that do not fit.
    """
    states = check_states(memory, "the memory", "batch, source, size")
    rows, positions, size = states.shape
    usable = length_mask(lengths, rows, positions, "length")
    bounds = _checked_fertilities(fertilities, usable)
    sink = np.zeros(size, states.dtype) if vector is None else np.asarray(vector, states.dtype)
    end = (np.arange(rows), usable.sum(axis=1))
    longer = np.concatenate([states, np.zeros((rows, 1, size), states.dtype)], axis=1)
    longer[end] = sink
    wider = np.concatenate([bounds, np.zeros((rows, 1))], axis=1)
    wider[end] = np.inf
    return longer, wider, end[1] + 1


@dataclass(eq=False)
class AttentionState:
    """Cumulative attention after some steps; a step returns a new state.

    Attributes:
        cumulative: ``[B, S]`` β, read-only, and float64 for any type of scores, so that long
            sequences lose no precision.
        steps: number of steps taken, which bounds the rounding in ``cumulative``.
    """

    cumulative: Float64Array
    steps: int = 0

    def __post_init__(self) -> None:
        cumulative = np.array(self.cumulative, dtype=np.float64)
        cumulative.setflags(write=False)
        self.cumulative = cumulative

    def credit(self, fertilities: Float64Array) -> Float64Array:
        r"""Credit :math:`u_t = f - \beta_{t-1}` of each word, never below 0.

        In exact arithmetic the credits of a row sum to :math:`\sum_j f_j` minus the steps taken. If
        rounding makes the sum before the last step slightly less than 1, it is scaled to 1.
        Rounding explains at most one unit per step and word; the transformation refuses more.

        Args:
            fertilities: ``[B, S]`` f, 0 at padding and +inf for the sink.

        Returns:
            ``[B, S]`` upper bounds.
        """
        credit = np.maximum(fertilities - self.cumulative, 0.0)
        total = credit.sum(axis=1)
        finite = np.where(np.isfinite(fertilities), fertilities, 0.0)
        scale = finite.sum(axis=1) + fertilities.shape[1]
        rounding = np.finfo(np.float64).eps * (self.steps + 1) * scale
        short = (total < 1.0) & (total >= 1.0 - rounding)
        if short.any():
            credit[short] /= total[short, None]
        return np.asarray(credit)

    def add(
        self, attention: Float64Array, fertilities: Float64Array | None = None
    ) -> AttentionState:
        r"""The state after a step: :math:`\beta_t = \beta_{t-1} + \alpha_t`.

        Args:
            attention: ``[B, S]`` α of the step, in float64.
            fertilities: ``[B, S]`` f of a constrained step. A word that received all its credit
                then has exactly its fertility, without a residue from rounding.
        """
        cumulative = self.cumulative + attention
        if fertilities is not None:
            left = np.maximum(fertilities - self.cumulative, 0.0)
            cumulative = np.where((attention > 0) & (attention >= left), fertilities, cumulative)
        return AttentionState(cumulative, self.steps + 1)


@dataclass(frozen=True)
class StepResult:
    """What one step computed.

    Attributes:
        attention: ``[B, S]`` α, always float64; 0 at padding and in rows that were not active.
        context: ``[B, K]`` c = Hα, in the type of the memory.
        scores: ``[B, S]`` float64, the input of the transformation (z + c·u).
        credit: ``[B, S]`` float64 u, or None without fertilities.
    """

    attention: Float64Array
    context: FloatArray
    scores: Float64Array
    credit: Float64Array | None


@dataclass(frozen=True)
class StepGradients:
    """Gradients of one step for all its inputs.

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
    r"""The attention mechanism with its parameters, but without state.

    Attributes:
        score: computes scores from decoder state, source and, with a coverage vector, coverage.
        transformation: name or label of one in :data:`~coverage_eval.attention.TRANSFORMATIONS`;
            those with bounds need fertilities.
        exhaustion: c of :math:`z' = z + c u`, 0.2 in the paper's experiments; needs fertilities.
            It applies only to words with a finite fertility, so not to the sink.

    Raises:
        AttentionError: on construction, an unknown transformation or a c that is not finite.
    """

    score: BilinearScore
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
            lengths: ``[B]`` words of each row; None if nothing is padded.
            fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.

        Raises:
            AttentionError: shapes or fertilities that do not fit, or missing fertilities.
        """
        states = check_states(memory, "the memory", "batch, source, size")
        rows, positions = states.shape[:2]
        usable = length_mask(lengths, rows, positions, "length")
        if fertilities is None and (self.constrained or self.exhaustion):
            what = self.transformation if self.constrained else "the exhaustion strategy"
            raise AttentionError(f"{what} needs fertilities")
        # Padding may hold anything, even NaN; zeros keep it out of all sums.
        states = np.where(usable[:, :, None], states, 0)
        bounds = None if fertilities is None else _checked_fertilities(fertilities, usable)
        return AttentionSource(states, self.score.keys(states), usable, bounds)

    def start(self, source: AttentionSource) -> AttentionState:
        """The state before the first step: no attention yet."""
        return AttentionState(np.zeros(source.usable.shape))

    def __call__(
        self,
        query: ArrayLike,
        source: AttentionSource,
        state: AttentionState,
        *,
        active: BoolArray | None = None,
    ) -> tuple[StepResult, AttentionState]:
        """Take one step, in O(BS(D + K)) plus the cost of the transformation.

        Args:
            query: ``[B, D]`` decoder states. The paper's text scores with the state before the
                step (s at t-1), OpenNMT-py with the one just computed; choose yourself.
            source: what :meth:`source` returned.
            state: the state before the step.
            active: ``[B]`` False for rows whose target has ended: they pay no attention and keep
                their state. None if all are active.

        Returns:
            The step's results and the state after it.

        Raises:
            AttentionError: as the transformation; names the row.
            InfeasibleBoundsError: a row with less than one unit of credit left; add a sink.
        """
        vector, shape = np.asarray(query), source.usable.shape
        if vector.ndim != 2 or len(vector) != shape[0]:
            raise AttentionError(f"decoder states of shape {vector.shape} for {shape[0]} sources")
        if state.cumulative.shape != shape:  # one row would be taken for that of every source
            raise AttentionError(
                f"the state is of shape {state.cumulative.shape}, the source {shape}"
            )
        running = np.ones((shape[0], 1), np.bool_) if active is None else active[:, None]
        vector = np.where(running, vector, 0)
        scores = np.asarray(
            self.score.scores(vector, source.keys, source.memory, state.cumulative), np.float64
        )
        credit, bounds = None, np.ones(())
        if source.fertilities is not None:
            credit = state.credit(source.fertilities)
            bounds = np.where(running, credit, 1.0)
            scores = scores + self.exhaustion * np.where(source.bounded, credit, 0.0)
        # A row that has ended gets a harmless problem; its solution is discarded.
        tame = np.where(source.usable & running, scores, 0.0)
        attention = find_transformation(self.transformation)(
            tame, bounds, mask=source.usable | ~running
        )
        attention = np.where(running, attention, 0.0)
        context = np.matmul(attention[:, None, :], source.memory)[:, 0, :]
        result = StepResult(attention, np.asarray(context, source.memory.dtype), scores, credit)
        return result, state.add(attention, source.fertilities if self.constrained else None)

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

        The loss depends on the attention directly, through the context and through β after the
        step. The bounds affect the attention and, with exhaustion, the scores.

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
        # At padding and in rows that have ended, α is 0, and so are the gradients of every
        # transformation.
        d_alpha = d_attention + through_context + d_cumulative
        vjp = find_transformation(self.transformation).vjp
        if self.constrained:
            d_scores, d_credit = vjp(d_alpha, result.attention, result.credit, mask=source.usable)
        else:
            d_scores = vjp(d_alpha, result.attention)
            d_credit = np.zeros_like(d_scores)
        d_before, d_fertilities = d_cumulative, np.zeros_like(d_credit)
        if result.credit is not None:
            d_credit = d_credit + self.exhaustion * d_scores
            # u = max(0, f - β) moves with f and β only where there is credit left.
            moves = source.bounded & (result.credit > 0)
            d_fertilities = np.where(moves, d_credit, 0.0)
            d_before = d_before - d_fertilities
        part = self.score.vjp(d_scores, query, source.keys, source.memory, state.cumulative)
        d_before = d_before + part.cumulative
        d_memory = result.attention[:, :, None] * d_context[:, None, :] + part.memory
        return StepGradients(
            part.query, part.keys, d_memory, d_before, d_fertilities, part.parameters
        )
