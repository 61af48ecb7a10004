r"""Attention over a whole target, teacher-forced, and its gradient through time.

The credit :math:`u_t = f - \sum_{\tau<t} \alpha_\tau` makes each step depend on all earlier ones
(Malaviya et al. 2018, section 3, eq. 5), and so do the coverage vector and the exhaustion strategy;
the vector-Jacobian product therefore runs the steps backwards and carries the gradient of the
cumulative attention along.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coverage_eval.attention._inputs import AttentionError, Float64Array, FloatArray
from coverage_eval.attention.scoring import Parameters
from coverage_eval.attention.source import AttentionSource, length_mask
from coverage_eval.attention.state import AttentionState
from coverage_eval.attention.step import AttentionStep, StepResult

__all__ = ["AttendGradients", "AttendResult", "attend", "attend_vjp"]


@dataclass(frozen=True)
class AttendResult:
    """Attention of a batch over whole targets.

    Attributes:
        attention: ``[B, T, S]`` α, rows summing to 1; 0 at padding of either side.
        contexts: ``[B, T, K]`` c = Hα.
        cumulative: ``[B, S]`` β after the last step.
        state: the state after the last step, to go on from.
        trace: what :func:`attend_vjp` needs; opaque.
    """

    attention: FloatArray
    contexts: FloatArray
    cumulative: FloatArray
    state: AttentionState
    trace: Trace


@dataclass(frozen=True)
class Trace:
    """All steps of a run, as they were computed."""

    step: AttentionStep
    source: AttentionSource
    states: FloatArray
    before: tuple[AttentionState, ...]
    results: tuple[StepResult, ...]


@dataclass(frozen=True)
class AttendGradients:
    """Gradients of a loss of attention, contexts and β for everything they depend on.

    Attributes:
        states: ``[B, T, D]``, 0 at padding.
        memory: ``[B, S, K]``, 0 at padding. The state of an appended sink has its gradient here.
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
        states: ``[B, T, D]`` decoder states, the one that scores each step (see
            :class:`~coverage_eval.attention.AttentionStep`).
        memory: ``[B, S, K]`` encoder states H.
        step: the attention mechanism.
        lengths: ``[B]`` words of each source; None where nothing is padded.
        target_lengths: ``[B]`` steps of each target; None where nothing is padded.
        fertilities: f, broadcast to ``[B, S]``; +inf makes a word a sink.
        initial: the state to start from; None for the beginning.

    Returns:
        Attention, contexts and cumulative attention, float32 if both states and memory are, else
        float64. Time O(BTS(D + K)) and T times the transformation; memory O(BT(S + D + K)).

    Raises:
        AttentionError: input that does not fit, or for which the transformation is not defined;
            names the row.
        InfeasibleBoundsError: a target longer than its fertilities allow; add a sink.
    """
    queries = np.asarray(states)
    if queries.ndim != 3 or queries.dtype.kind not in "fiu":
        raise AttentionError(
            f"decoder states must be real numbers [batch, target, size], not {queries.dtype} "
            f"{queries.shape}"
        )
    rows, targets = queries.shape[:2]
    active = length_mask(target_lengths, rows, targets, "target length")
    queries = np.where(active[:, :, None], queries, 0)
    source = step.source(memory, lengths=lengths, fertilities=fertilities)
    state = step.start(source) if initial is None else initial
    before, results = [], []
    for t in range(targets):
        before.append(state)
        result, state = step(queries[:, t], source, state, active=active[:, t])
        results.append(result)
    trace = Trace(step, source, queries, tuple(before), tuple(results))
    dtype = np.result_type(queries.dtype, source.memory.dtype)
    dtype = dtype if dtype == np.float32 else np.dtype(np.float64)
    attention = _stack([r.attention for r in results], (rows, targets, source.usable.shape[1]))
    contexts = _stack([r.context for r in results], (rows, targets, source.memory.shape[2]))
    return AttendResult(
        attention.astype(dtype),
        contexts.astype(dtype),
        state.cumulative.astype(dtype),
        state,
        trace,
    )


def _stack(steps: list[FloatArray], shape: tuple[int, ...]) -> NDArray[np.float64]:
    return np.stack(steps, axis=1) if steps else np.zeros(shape)


def attend_vjp(
    result: AttendResult,
    *,
    d_attention: ArrayLike | None = None,
    d_contexts: ArrayLike | None = None,
    d_cumulative: ArrayLike | None = None,
) -> AttendGradients:
    r"""Vector-Jacobian product of :func:`attend`, through time.

    With :math:`g_t` the gradient for :math:`\beta_t`, each step receives :math:`d\alpha_t + H^\top
    dc_t + g_t` and passes :math:`g_{t-1} = g_t - du_t + (\partial z_t / \partial \beta_{t-1})^\top
    dz_t` on, with :math:`dz_t, du_t` of Proposition 1 (eqs. 7-8) and, under exhaustion,
    :math:`du_t` raised by :math:`c\,dz_t`.

    At kinks (a word just exhausted, attention just reaching 0) a one-sided derivative is returned;
    a step without an interior word passes nothing to scores and bounds (the convention of
    :mod:`coverage_eval.attention.gradients`).

    Args:
        result: what :func:`attend` returned.
        d_attention: ``[B, T, S]`` gradient for the attention; None for 0.
        d_contexts: ``[B, T, K]`` gradient for the contexts; None for 0.
        d_cumulative: ``[B, S]`` gradient for β after the last step; None for 0.

    Returns:
        Gradients in the type of the arrays they belong to. Time as :func:`attend`.

    Raises:
        AttentionError: a gradient of another shape than what it belongs to.
    """
    trace = result.trace
    d_alpha = _gradient(d_attention, result.attention, "attention")
    d_context = _gradient(d_contexts, result.contexts, "contexts")
    carried = _gradient(d_cumulative, result.cumulative, "cumulative attention")
    d_states = np.zeros(trace.states.shape)
    d_memory = np.zeros(trace.source.memory.shape)
    d_keys = np.zeros(trace.source.keys.shape)
    d_fertilities = np.zeros(trace.source.usable.shape)
    parameters: Parameters = {}
    for t in reversed(range(len(trace.results))):
        part = trace.step.vjp(
            trace.states[:, t],
            trace.source,
            trace.before[t],
            trace.results[t],
            d_alpha[:, t],
            d_context[:, t],
            carried,
        )
        carried = part.cumulative
        d_states[:, t] = part.query
        d_memory += part.memory
        d_keys += part.keys
        if part.fertilities is not None:
            d_fertilities += part.fertilities
        _accumulate(parameters, part.parameters)
    through_keys, shared = trace.step.score.keys_vjp(d_keys, trace.source.memory)
    _accumulate(parameters, shared)
    usable = trace.source.usable
    dtype = result.attention.dtype
    return AttendGradients(
        d_states.astype(dtype),
        np.where(usable[:, :, None], d_memory + through_keys, 0).astype(dtype),
        None if trace.source.fertilities is None else d_fertilities.astype(dtype),
        np.where(usable, carried, 0).astype(dtype),
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


def _accumulate(into: Parameters, more: Parameters) -> None:
    for name, value in more.items():
        into[name] = into[name] + value if name in into else np.asarray(value)
