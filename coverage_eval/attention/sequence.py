r"""Attention over a whole target, teacher-forced, and its gradient through time.

The credit :math:`u_t = f - \sum_{\tau<t} \alpha_\tau` makes each step depend on all earlier ones
(Malaviya et al. 2018, section 3, eq. 5); so do the coverage vector and the exhaustion strategy.
Therefore the vector-Jacobian product runs the steps backwards and carries along the gradient for
the cumulative attention. If the scores of all steps are known in advance, as in Figure 1,
:func:`attend_with_credit` needs no decoder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from coverage_eval.attention.inputs import (
    AttentionError,
    Float64Array,
    FloatArray,
    check_states,
    length_mask,
)
from coverage_eval.attention.scoring import Parameters
from coverage_eval.attention.step import AttentionSource, AttentionState, AttentionStep, StepResult
from coverage_eval.attention.transformations import find_transformation


@dataclass(frozen=True)
class AttendResult:
    """Attention of a batch over whole targets.

    Attributes:
        attention: ``[B, T, S]`` α; each row sums to 1, with 0 at padding of either side.
        contexts: ``[B, T, K]`` c = Hα.
        cumulative: ``[B, S]`` β after the last step.
        state: the state after the last step, to continue from.
        trace: input for :func:`attend_vjp`; opaque.
    """

    attention: FloatArray
    contexts: FloatArray
    cumulative: FloatArray
    state: AttentionState
    trace: Trace


@dataclass(frozen=True)
class Trace:
    """All steps of a run with their inputs and results."""

    step: AttentionStep
    source: AttentionSource
    states: FloatArray
    before: tuple[AttentionState, ...]
    results: tuple[StepResult, ...]


@dataclass(frozen=True)
class AttendGradients:
    """Gradients of a loss that depends on attention, contexts and β, for all their inputs.

    Attributes:
        states: ``[B, T, D]``, 0 at padding.
        memory: ``[B, S, K]``, 0 at padding; includes an appended sink.
        fertilities: ``[B, S]``, 0 at sinks and padding; None without fertilities.
        cumulative: ``[B, S]`` for β before the first step.
        parameters: by field name of the score, for instance ``weight`` and ``coverage``.
    """

    states: FloatArray
    memory: FloatArray
    fertilities: FloatArray | None
    cumulative: FloatArray
    parameters: Parameters


def attend(
    states: ArrayLike,
    memory: ArrayLike,
    step: AttentionStep,
    *,
    lengths: ArrayLike | None = None,
    target_lengths: ArrayLike | None = None,
    fertilities: ArrayLike | None = None,
    initial: AttentionState | None = None,
) -> AttendResult:
    r"""Attend to a source at every step of a given target (teacher forcing).

    Figure 1 of Malaviya et al. 2018, the memory being the identity so that states are scores:

    >>> import numpy as np
    >>> from coverage_eval.attention import AttentionStep, BilinearScore, attend
    >>> z = np.array([[[1.2, 0.8, -0.2], [0.7, 0.9, 0.1], [-0.2, 0.2, 0.9]]])
    >>> step = AttentionStep(BilinearScore(), "constrained_sparsemax")
    >>> attend(z, np.eye(3)[None], step, fertilities=1.0).attention.round(2)
    array([[[0.7, 0.3, 0. ],
            [0.3, 0.7, 0. ],
            [0. , 0. , 1. ]]])

    Args:
        states: ``[B, T, D]`` decoder states, for each step the one that scores it (see
            :class:`~coverage_eval.attention.AttentionStep`).
        memory: ``[B, S, K]`` encoder states H.
        step: the attention mechanism.
        lengths: ``[B]`` words of each source; None if nothing is padded.
        target_lengths: ``[B]`` steps of each target; None if nothing is padded.
        fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.
        initial: the state to start from; None for the beginning.

    Returns:
        Attention, contexts and cumulative attention; float32 if both states and memory are, else
        float64. Time O(BTS(D + K)) plus T transformations; memory O(BT(S + D + K)).

    Raises:
        AttentionError: input that does not fit, or for which the transformation is undefined; names
            the row.
        InfeasibleBoundsError: a target longer than its fertilities allow; add a sink.
    """
    queries = check_states(states, "decoder states", "batch, target, size")
    rows, targets = queries.shape[:2]
    active = length_mask(target_lengths, rows, targets, "target length")
    queries = np.where(active[:, :, None], queries, 0)
    source = step.source(memory, lengths=lengths, fertilities=fertilities)
    state = step.start(source) if initial is None else initial
    dtype = np.result_type(queries, source.memory)
    attention = np.zeros((rows, targets, source.memory.shape[1]), dtype)
    contexts = np.zeros((rows, targets, source.memory.shape[2]), dtype)
    before, results = [], []
    for t in range(targets):
        before.append(state)
        result, state = step(queries[:, t], source, state, active=active[:, t])
        results.append(result)
        attention[:, t], contexts[:, t] = result.attention, result.context
    trace = Trace(step, source, queries, tuple(before), tuple(results))
    return AttendResult(attention, contexts, state.cumulative.astype(dtype), state, trace)


def attend_vjp(
    result: AttendResult,
    *,
    d_attention: ArrayLike | None = None,
    d_contexts: ArrayLike | None = None,
    d_cumulative: ArrayLike | None = None,
) -> AttendGradients:
    r"""Vector-Jacobian product of :func:`attend`, through time.

    Let :math:`g_t` be the gradient for :math:`\beta_t`. Each step receives :math:`d\alpha_t +
    H^\top dc_t + g_t` and passes on :math:`g_{t-1} = g_t - du_t + (\partial z_t / \partial
    \beta_{t-1})^\top dz_t`, with :math:`dz_t, du_t` of Proposition 1 (eqs. 7-8); with exhaustion,
    :math:`c\,dz_t` is added to :math:`du_t`.

    At kinks (a word just exhausted, attention just reaching 0) the derivative is one-sided. If all
    attention of a step is at its bounds, these keep their sum whatever the scores of earlier steps
    are, and :math:`du_t` is :math:`d\alpha_t` less its mean over them
    (:mod:`coverage_eval.attention.gradients`); for fertilities it holds where they keep it, too.

    Args:
        result: what :func:`attend` returned.
        d_attention: ``[B, T, S]`` gradient for the attention; None for 0.
        d_contexts: ``[B, T, K]`` gradient for the contexts; None for 0.
        d_cumulative: ``[B, S]`` gradient for β after the last step; None for 0.

    Returns:
        Gradients in the type of the attention. Time as for :func:`attend`.

    Raises:
        AttentionError: a gradient that does not have the shape of its array.
    """
    trace, dtype = result.trace, result.attention.dtype
    d_alpha = _gradient(d_attention, result.attention, "attention")
    d_context = _gradient(d_contexts, result.contexts, "contexts")
    carried = _gradient(d_cumulative, result.cumulative, "cumulative attention")
    source = trace.source
    parameters: Parameters = {}
    d_states = np.zeros(trace.states.shape)
    d_memory, d_keys = np.zeros(source.memory.shape), np.zeros(source.keys.shape)
    d_fertilities = np.zeros(source.usable.shape)
    for t in reversed(range(len(trace.results))):
        part = trace.step.vjp(
            trace.states[:, t], source, trace.before[t], trace.results[t],
            d_alpha[:, t], d_context[:, t], carried,
        )  # fmt: skip
        carried, d_states[:, t] = part.cumulative, part.query
        d_memory += part.memory
        d_keys += part.keys
        d_fertilities += part.fertilities
        _add(parameters, part.parameters)
    through_keys, shared = trace.step.score.keys_vjp(d_keys, source.memory)
    _add(parameters, shared)
    return AttendGradients(
        d_states.astype(dtype),
        np.where(source.usable[:, :, None], d_memory + through_keys, 0).astype(dtype),
        None if source.fertilities is None else d_fertilities.astype(dtype),
        np.where(source.usable, carried, 0).astype(dtype),
        {name: np.asarray(value, dtype) for name, value in parameters.items()},
    )


def _gradient(value: ArrayLike | None, like: FloatArray, what: str) -> Float64Array:
    if value is None:
        return np.zeros(like.shape)
    gradient = np.asarray(value, dtype=np.float64)
    if gradient.shape != like.shape:
        raise AttentionError(
            f"the gradient for the {what} has shape {gradient.shape}, not {like.shape}"
        )
    return gradient


def _add(parameters: Parameters, more: Parameters) -> None:
    for name, value in more.items():
        parameters[name] = parameters.get(name, 0) + value


def attend_with_credit(
    scores: ArrayLike, fertility: ArrayLike, transformation: str = "constrained_sparsemax"
) -> tuple[Float64Array, Float64Array]:
    r"""Attend to a source at each step, within the credit that earlier steps have left.

    :math:`\alpha_t = \rho(z_t; u_t)` with :math:`u_t = f - \sum_{\tau<t} \alpha_\tau` (Malaviya et
    al. 2018, section 3, eq. 5), for scores known in advance; for a decoder's scores see
    :func:`attend`.

    Figure 1 of Malaviya et al. 2018, where each word may receive one unit of attention:

    >>> from coverage_eval.attention import attend_with_credit
    >>> z = [[1.2, 0.8, -0.2], [0.7, 0.9, 0.1], [-0.2, 0.2, 0.9]]
    >>> attention, credit = attend_with_credit(z, 1.0)
    >>> attention.round(2).tolist()
    [[0.7, 0.3, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]]
    >>> credit.round(2).tolist()
    [[1.0, 1.0, 1.0], [0.3, 0.7, 1.0], [0.0, 0.0, 1.0]]

    Args:
        scores: ``[T, S]``, one row for each step; −inf marks padding.
        fertility: f, at least 0, broadcast to ``[S]``; +inf for a word without a bound (a sink).
        transformation: name or label of one in :data:`~coverage_eval.attention.TRANSFORMATIONS`;
            those without bounds ignore the credit.

    Returns:
        Attention ``[T, S]``, and each word's credit before each step, ``[T, S]``: the upper bounds.

    Raises:
        AttentionError: scores that are not a matrix, negative fertilities, an unknown
            transformation, or a step for which it is undefined; names the step, from 1.
        InfeasibleBoundsError: a step with less than one unit of credit left.
    """
    rho = find_transformation(transformation)
    rows = np.asarray(scores, dtype=np.float64)
    if rows.ndim != 2:
        raise AttentionError(f"scores must be [steps, words], not of shape {rows.shape}")
    bounds = np.broadcast_to(np.asarray(fertility, dtype=np.float64), (1, rows.shape[1]))
    if not (bounds >= 0).all():
        raise AttentionError("fertilities must be at least 0, and not NaN")
    attention, credit = np.zeros_like(rows), np.zeros_like(rows)
    state = AttentionState(np.zeros(bounds.shape))
    for t, z in enumerate(rows):
        credit[t] = state.credit(bounds)[0]
        try:
            attention[t] = rho(z, credit[t])
        except AttentionError as error:
            raise type(error)(f"step {t + 1}: {error}") from None
        state = state.add(attention[t, None], bounds if rho.bounded else None)
    return attention, credit
