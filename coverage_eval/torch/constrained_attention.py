r"""Attention with fertilities as a module: credit, exhaustion and sink.

The PyTorch counterpart of :class:`coverage_eval.attention.AttentionStep`:
:math:`\alpha_t = \rho(z_t + c\,u_t; u_t)` with the credit :math:`u_t = f - \beta_{t-1}` that
earlier attention has left of the fertilities (Malaviya et al. 2018, sections 3 and 4),
differentiable through time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from coverage_eval.attention import AttentionError, InfeasibleBoundsError, find_transformation
from coverage_eval.torch.scorers import Scorer
from coverage_eval.torch.transformations import (
    constrained_softmax,
    constrained_sparsemax,
    rounding_below,
    softmax,
    sparsemax,
)

_UNBOUNDED = {"softmax": softmax, "sparsemax": sparsemax}
_BOUNDED = {
    "constrained_softmax": constrained_softmax,
    "constrained_sparsemax": constrained_sparsemax,
}


class Source(NamedTuple):
    """What all steps share.

    Attributes:
        memory: ``[B, S, K]`` encoder states, the sink's last if the module adds one. With several
            heads, each head's values ``[B, H, S, K/H]``.
        keys: ``[B, S, P]`` their projections for the scores; with several heads
            ``[B, H, S, D/H]``.
        mask: ``[B, S]`` True where a position may be used; with several heads ``[B, 1, S]``.
        fertilities: f, in the shape of ``mask``, 0 at padding and +inf for sinks; None for none.
    """

    memory: Tensor
    keys: Tensor
    mask: Tensor
    fertilities: Tensor | None

    def reorder(self, index: Tensor) -> Source:
        """Select rows, in any order and any number of times, as beam search needs.

        Reorder the attention so far as well: ``cumulative[index]``.

        Args:
            index: ``[N]`` the rows.
        """
        return Source._make(None if part is None else part.index_select(0, index) for part in self)


def infeasible_rows(
    fertilities: Tensor, steps: Tensor | float, mask: Tensor | None = None
) -> Tensor:
    """Find rows with too few fertilities for the steps; their attention would become NaN.

    >>> fertilities = torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, torch.inf]])
    >>> infeasible_rows(fertilities, steps=4)
    tensor([0])

    Args:
        fertilities: ``[B, S]``, +inf for sinks.
        steps: number of steps, for all rows or ``[B]``.
        mask: ``[B, S]`` True where there is a word; None if nothing is padded.

    Returns:
        ``[n]`` row numbers, ascending.
    """
    bounds = fertilities if mask is None else fertilities.masked_fill(~mask, 0)
    return (bounds.sum(-1) < steps - rounding_below(bounds.dtype)).nonzero()[:, 0]


class FertilityAttention(nn.Module):
    """What attention with fertilities has in common for one head and several.

    Args:
        transformation: name or label of one of the four; those with bounds need fertilities.
        exhaustion: c of :math:`z' = z + c u`; not applied to sinks.

    Raises:
        AttentionError: on construction, for an unknown transformation or a c that is not finite.
    """

    def __init__(self, transformation: str, exhaustion: float) -> None:
        super().__init__()
        self.transformation = find_transformation(transformation).name
        if not math.isfinite(exhaustion):
            raise AttentionError(f"the exhaustion constant c must be finite: {exhaustion}")
        self.exhaustion = exhaustion
        self.has_sink = False

    @property
    def remembers(self) -> bool:
        """Whether a step depends on the steps before."""
        return self.transformation in _BOUNDED or self.exhaustion != 0

    def usable(self, memory: Tensor, mask: Tensor | None) -> Tensor:
        """``[B, S]`` True where a position may be used.

        Raises:
            AttentionError: a mask of another shape, or not of type bool.
        """
        rows = memory.shape[:2]
        if mask is None:
            return torch.ones(rows, dtype=torch.bool, device=memory.device)
        if mask.dtype != torch.bool or mask.shape != rows:
            raise AttentionError(
                f"a mask must be of type torch.bool and [batch, source] = {tuple(rows)}, "
                f"not {mask.dtype} {tuple(mask.shape)}"
            )
        return mask

    def bounds(
        self,
        fertilities: Tensor | float | None,
        usable: Tensor,
        dtype: torch.dtype,
        steps: Tensor | int | None,
    ) -> Tensor | None:
        """``[B, S]`` checked fertilities in at least float32, 0 at padding; None if there are none.

        Raises:
            AttentionError: missing, of a shape that does not fit, NaN or negative.
            InfeasibleBoundsError: too few for the steps.
        """
        if fertilities is None:
            if not self.remembers:
                return None
            what = "the exhaustion strategy" if self.exhaustion else self.transformation
            raise AttentionError(f"{what} needs fertilities")
        wide = torch.promote_types(dtype, torch.float32)
        values = torch.as_tensor(fertilities, dtype=wide, device=usable.device)
        rows, words = usable.shape
        sizes = zip(values.shape, usable.shape, strict=False)
        if values.dim() not in (0, 2) or any(size not in (1, wanted) for size, wanted in sizes):
            raise AttentionError(
                f"fertilities of shape {tuple(values.shape)} do not fit [batch, source] = "
                f"{(rows, words)}: give a number, [{rows}, {words}], [{rows}, 1] for one per row, "
                f"or [1, {words}] for the same in all rows"
            )
        bounds = torch.where(values >= 0, values, math.nan).expand(rows, words)
        bounds = bounds.masked_fill(~usable, 0)
        if torch.compiler.is_compiling() or bounds.device.type == "meta":
            return bounds
        if bounds.device.type == "cpu" and (undefined := bounds.isnan()).any():
            row, word = (int(index) for index in undefined.nonzero()[0])
            value = float(values.expand(rows, words)[row, word])
            raise AttentionError(
                f"row {row}: fertility {value:g} of word {word}; it must be 0 or more"
            )
        if self.transformation in _BOUNDED and not self.has_sink:
            self._check_room(bounds, steps)
        return bounds

    @staticmethod
    def _check_room(bounds: Tensor, steps: Tensor | int | None) -> None:
        if steps is None and bounds.device.type != "cpu":
            return  # looking for sinks would synchronise with the device
        rows = infeasible_rows(bounds, math.inf if steps is None else steps)
        if not len(rows):
            return
        row = int(rows[0])
        total = float(bounds[row].sum())
        if steps is None:
            raise InfeasibleBoundsError(
                f"row {row}: the fertilities sum to {total:g}, but the number of steps is unknown: "
                "give steps=, or add a sink (sink=True, or an infinite fertility)"
            )
        wanted = int(steps[row]) if isinstance(steps, Tensor) and steps.dim() else int(steps)
        raise InfeasibleBoundsError(
            f"row {row}: fertilities that sum to {total:g} are too few for {wanted} steps"
            + (f", as are those of {len(rows) - 1} other rows" if len(rows) > 1 else "")
            + ": add a sink (sink=True), or raise them"
        )

    def start(self, source: Source) -> Tensor:
        """``[B, S]``, or ``[B, H, S]`` of heads: the attention before the first step, zeros."""
        wide = torch.promote_types(source.memory.dtype, torch.float32)
        return torch.zeros(source.memory.shape[:-1], dtype=wide, device=source.memory.device)

    def attend(
        self, scores: Tensor, source: Source, cumulative: Tensor, active: Tensor | None = None
    ) -> Tensor:
        """The attention of one step, in the shape of ``cumulative``.

        Args:
            scores: in the shape of ``cumulative``.
            source: its mask and fertilities are broadcast against the scores.
            cumulative: β, ``[B, S]`` or ``[B, H, S]``.
            active: ``[B]`` False for rows that have ended: they get no attention.
        """
        scores, credit = scores.to(cumulative.dtype), None
        if source.fertilities is not None:
            credit = (source.fertilities - cumulative).relu()
            if self.exhaustion:
                scores = scores + self.exhaustion * credit.masked_fill(credit == math.inf, 0)
        ended = None if active is None else ~active.view(-1, *[1] * (scores.dim() - 1))
        if self.transformation in _UNBOUNDED:
            mask = source.mask if ended is None else source.mask | ended
            alpha = _UNBOUNDED[self.transformation](scores, mask=mask)
        else:  # the fertilities of padding are 0, so it needs no mask
            assert credit is not None
            credit = credit if ended is None else credit.masked_fill(ended, math.inf)
            alpha = _BOUNDED[self.transformation](scores, credit)
        return alpha if ended is None else alpha.masked_fill(ended, 0)

    def extra_repr(self) -> str:
        """The settings shown when the model is printed."""
        return f"{self.transformation}, exhaustion={self.exhaustion}, sink={self.has_sink}"


class ConstrainedAttention(FertilityAttention):
    r"""The attention mechanism of a decoder; its memory is passed from step to step.

    >>> import torch
    >>> from coverage_eval.torch import BilinearScorer, ConstrainedAttention
    >>> attention = ConstrainedAttention(BilinearScorer(), "csparsemax")
    >>> source = attention.source(torch.eye(3)[None], fertilities=1.0, steps=3)
    >>> cumulative = attention.start(source)
    >>> for z in ([[1.2, 0.8, -0.2]], [[0.7, 0.9, 0.1]], [[-0.2, 0.2, 0.9]]):  # Figure 1
    ...     context, alpha, cumulative = attention(torch.tensor(z), source, cumulative)
    ...     print(alpha)
    tensor([[0.7000, 0.3000, 0.0000]])
    tensor([[0.3000, 0.7000, 0.0000]])
    tensor([[0., 0., 1.]])

    Args:
        scorer: computes scores from a decoder state and the source.
        transformation: name or label of one of the four; those with bounds need fertilities.
        exhaustion: c of :math:`z' = z + c u`, 0.2 in the paper; not applied to sinks.
        sink: whether to add a last position with infinite fertility and a learned encoder state.
            Leave it off if the data has ``<SINK>`` as last word, and give that word an infinite
            fertility.
        device: of the sink's state.
        dtype: of the sink's state.

    Raises:
        AttentionError: on construction, for an unknown transformation, a c that is not finite, or a
            sink with a scorer that does not know the size of the memory.
    """

    def __init__(
        self,
        scorer: Scorer,
        transformation: str = "constrained_sparsemax",
        *,
        exhaustion: float = 0.0,
        sink: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(transformation, exhaustion)
        self.scorer = scorer
        self.has_sink = sink
        self.sink: nn.Parameter | None = None
        if sink:
            if scorer.memory_size is None:
                raise AttentionError("a sink needs a scorer that knows the size of the memory")
            self.sink = nn.Parameter(torch.zeros(scorer.memory_size, device=device, dtype=dtype))

    def reset_parameters(self) -> None:
        """Initialise the scorer's parameters, and the sink's state with 0."""
        self.scorer.reset_parameters()
        if self.sink is not None:
            nn.init.zeros_(self.sink)

    def source(
        self,
        memory: Tensor,
        *,
        mask: Tensor | None = None,
        fertilities: Tensor | float | None = None,
        steps: Tensor | int | None = None,
    ) -> Source:
        """Compute what all steps share.

        Each step uses one unit of the fertilities. If less than one unit is left, a step gives
        NaN, so without a sink ``steps`` is required. (On devices other than the CPU, fertilities
        are checked only if ``steps`` is given; negative ones give NaN.)

        Args:
            memory: ``[B, S, K]`` encoder states H. Padding may hold anything, even NaN.
            mask: ``[B, S]`` bool, True where there is a word; None if nothing is padded.
            fertilities: f, a number, ``[B, S]``, ``[B, 1]`` or ``[1, S]``; +inf makes a word a
                sink.
            steps: the number of steps, for all rows or ``[B]``: the length of the target, or the
                most that decoding allows. Required for transformations with bounds, unless each
                row has a sink.

        Raises:
            AttentionError: a mask or fertilities that do not fit; missing, NaN or negative
                fertilities.
            InfeasibleBoundsError: rows with too few fertilities for the steps; names the first.
                :func:`infeasible_rows` finds all.
        """
        usable = self.usable(memory, mask)
        bounds = self.bounds(fertilities, usable, memory.dtype, steps)
        if mask is not None:
            memory = memory.masked_fill(~mask[:, :, None], 0)
        if self.sink is not None:
            state = self.sink.to(memory.dtype).expand(len(memory), 1, -1)
            memory = torch.cat([memory, state], 1)
            usable, bounds = with_sink(usable, bounds)
        return Source(memory, self.scorer.keys(memory), usable, bounds)

    def forward(
        self, query: Tensor, source: Source, cumulative: Tensor, active: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Take one step.

        Args:
            query: ``[B, D]`` decoder states.
            source: what :meth:`source` returned.
            cumulative: ``[B, S]`` β, the sum of the attention of all steps before.
            active: ``[B]`` False for rows whose target has ended: they get no attention. Without a
                sink their credit would run out and give NaN. None if all are active.

        Returns:
            The context ``[B, K]``, the attention ``[B, S]`` and the cumulative attention after
            the step; the last two in at least float32.
        """
        if active is not None:
            query = query.masked_fill(~active[:, None], 0)
        scores = self.scorer(query, source.keys, source.memory, cumulative)
        alpha = self.attend(scores, source, cumulative, active)
        context = torch.bmm(alpha.to(source.memory.dtype)[:, None], source.memory)[:, 0]
        return context, alpha, cumulative + alpha


def with_sink(usable: Tensor, bounds: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Mask and fertilities with one more position, which is usable and unbounded."""
    usable = nn.functional.pad(usable, (0, 1), value=True)
    return usable, None if bounds is None else nn.functional.pad(bounds, (0, 1), value=math.inf)
