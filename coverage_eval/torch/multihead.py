r"""Multi-head attention with fertilities, in place of :class:`torch.nn.MultiheadAttention`.

Scaled dot products (Vaswani et al. 2017, section 3.2) with the transformations of
:mod:`coverage_eval.torch`. Each head has the full fertilities and spends them step by step:
:math:`\alpha_{ht} = \rho(z_{ht} + c\,u_{ht}; u_{ht})` with :math:`u_{ht} = f - \sum_{\tau<t}
\alpha_{h\tau}`. So f also bounds a word's attention averaged over the heads.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from coverage_eval.attention import AttentionError
from coverage_eval.torch.constrained_attention import FertilityAttention, Source, with_sink


class MultiheadConstrainedAttention(FertilityAttention):
    r"""Cross-attention of a Transformer's decoder, with fertilities over the steps.

    It is called like :class:`torch.nn.MultiheadAttention` and can replace it:

    >>> import torch
    >>> from coverage_eval.torch import MultiheadConstrainedAttention
    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, batch_first=True)
    >>> layer.multihead_attn = MultiheadConstrainedAttention(8, 2, fertility=1.5)
    >>> layer(torch.randn(3, 5, 8), torch.randn(3, 7, 8)).shape
    torch.Size([3, 5, 8])

    It loads the parameters of a trained :class:`torch.nn.MultiheadAttention`; a sink begins at 0.
    (``add_bias_kv`` and ``add_zero_attn`` have no counterpart: the sink takes their place.)

    A call processes a whole target. To decode step by step, use :meth:`source`, :meth:`start` and
    :meth:`steps`, with the same result:

    >>> attention, memory = layer.multihead_attn.eval(), torch.randn(3, 7, 8)
    >>> source = attention.source(memory)
    >>> cumulative = attention.start(source)
    >>> query = torch.randn(3, 1, 8)  # the first step of each target
    >>> output, weights, cumulative = attention.steps(query, source, cumulative)
    >>> torch.allclose(output, attention(query, memory, memory)[0], atol=1e-6)
    True

    Args:
        embed_dim: D, of queries and outputs.
        num_heads: H, a divisor of D.
        transformation: name or label of one of the four; softmax without exhaustion and sink is
            plain multi-head attention.
        dropout: dropout of the attention weights in training.
        bias: whether the projections have biases.
        kdim: size of the keys; None for D.
        vdim: size of the values; None for D.
        batch_first: whether tensors are ``[B, T, D]`` rather than ``[T, B, D]``. (PyTorch's default
            is False.)
        fertility: the default of f: a number, or a tensor ``[B, S]``; set the attribute before a
            call if a toolkit's layers do not pass fertilities on.
        exhaustion: c of :math:`z' = z + c u`, 0.2 in the paper; not applied to sinks.
        sink: whether each head has an extra last position with infinite fertility, and with learned
            key and value. Without it, fertilities must suffice for all steps.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        AttentionError: on construction, if the heads do not divide D, the transformation is
            unknown, or c is not finite.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        transformation: str = "constrained_sparsemax",
        *,
        dropout: float = 0.0,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = True,
        fertility: Tensor | float | None = None,
        exhaustion: float = 0.0,
        sink: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(transformation, exhaustion)
        if num_heads < 1 or embed_dim % num_heads:
            raise AttentionError(f"{num_heads} heads cannot share {embed_dim} dimensions evenly")
        self.embed_dim, self.num_heads, self.dropout = embed_dim, num_heads, dropout
        self.batch_first, self.fertility, self.has_sink = batch_first, fertility, sink
        kind: Any = {"device": device, "dtype": dtype}
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias, **kind)
        self.k_proj = nn.Linear(embed_dim if kdim is None else kdim, embed_dim, bias, **kind)
        self.v_proj = nn.Linear(embed_dim if vdim is None else vdim, embed_dim, bias, **kind)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias, **kind)
        self.sink_key = nn.Parameter(torch.empty(embed_dim, **kind)) if sink else None
        self.sink_value = nn.Parameter(torch.empty(embed_dim, **kind)) if sink else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise the projections as PyTorch's module does, and the sink with 0."""
        for projection in (self.q_proj, self.k_proj, self.v_proj):
            same = projection.in_features == self.embed_dim
            nn.init.xavier_uniform_(projection.weight, gain=math.sqrt(0.5) if same else 1.0)
        self.out_proj.reset_parameters()
        for projection in (self.q_proj, self.k_proj, self.v_proj, self.out_proj):
            if projection.bias is not None:
                nn.init.zeros_(projection.bias)
        for vector in (self.sink_key, self.sink_value):
            if vector is not None:
                nn.init.zeros_(vector)

    def source(
        self,
        key: Tensor,
        value: Tensor | None = None,
        *,
        key_padding_mask: Tensor | None = None,
        fertilities: Tensor | float | None = None,
        steps: Tensor | int | None = None,
    ) -> Source:
        """Compute what all steps share.

        Args:
            key: ``[B, S, kdim]`` encoder states (``[S, B, kdim]`` unless ``batch_first``). Padding
                may hold anything.
            value: ``[B, S, vdim]``; None for the keys.
            key_padding_mask: ``[B, S]``, as in PyTorch **True at padding**, or −∞ there and 0
                elsewhere.
            fertilities: as in :meth:`ConstrainedAttention.source`; None for ``fertility``.
            steps: as in :meth:`ConstrainedAttention.source`; required without a sink.

        Raises:
            AttentionError: as :meth:`ConstrainedAttention.source`.
            InfeasibleBoundsError: rows with too few fertilities for the steps.
        """
        value = key if value is None else value
        if key.dim() != 3 or value.dim() != 3:
            raise AttentionError(f"keys must be [batch, source, size], not {tuple(key.shape)}")
        if not self.batch_first:
            key, value = key.transpose(0, 1), value.transpose(0, 1)
        if key_padding_mask is not None:
            key_padding_mask = _bool(key_padding_mask)
        usable = self.usable(key, None if key_padding_mask is None else ~key_padding_mask)
        fertilities = self.fertility if fertilities is None else fertilities
        bounds = self.bounds(fertilities, usable, key.dtype, steps)
        if key_padding_mask is not None:
            key = key.masked_fill(key_padding_mask[:, :, None], 0)
            value = value.masked_fill(key_padding_mask[:, :, None], 0)
        keys, values = self.k_proj(key), self.v_proj(value)
        if self.sink_key is not None and self.sink_value is not None:
            rows = len(keys)
            keys = torch.cat([keys, self.sink_key.to(keys.dtype).expand(rows, 1, -1)], 1)
            values = torch.cat([values, self.sink_value.to(values.dtype).expand(rows, 1, -1)], 1)
            usable, bounds = with_sink(usable, bounds)
        bounds = None if bounds is None else bounds[:, None]
        return Source(self._heads(values), self._heads(keys), usable[:, None], bounds)

    def steps(
        self,
        query: Tensor,
        source: Source,
        cumulative: Tensor,
        *,
        attn_mask: Tensor | None = None,
        active: Tensor | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Take the steps of the queries: one in decoding, or all of a target.

        Args:
            query: ``[B, T, D]`` (``[T, B, D]`` unless ``batch_first``).
            source: what :meth:`source` returned.
            cumulative: ``[B, H, S]`` β of each head, the sum of the attention of all steps before.
            attn_mask: ``[T, S]`` or ``[B · H, T, S]``, without the sink: bool, True where a step
                may **not** use a position, or numbers to add to the scores.
            active: ``[B, T]`` bool, False for steps after a target's end: they get no attention.
                None if all are active.

        Returns:
            The output, in the shape of ``query``, the attention ``[B, H, T, S]`` and the cumulative
            attention after the steps; the sink is the last position of both.
        """
        query = query if self.batch_first else query.transpose(0, 1)
        if active is not None:
            query = query.masked_fill(~active[:, :, None], 0)
        scaled = self._heads(self.q_proj(query)) * (self.num_heads / self.embed_dim) ** 0.5
        scores = (scaled @ source.keys.transpose(-2, -1)).to(cumulative.dtype)
        if attn_mask is not None:
            added = attn_mask.to(scores.dtype)
            if attn_mask.dtype == torch.bool:
                added = torch.zeros_like(added).masked_fill(attn_mask, -math.inf)
            added = nn.functional.pad(added, (0, scores.shape[-1] - added.shape[-1]))
            scores = scores + (added if added.dim() == 2 else added.view(scores.shape))
        if self.remembers or active is not None:
            steps = []
            for t, of_step in enumerate(scores.unbind(2)):
                running = None if active is None else active[:, t]
                steps.append(self.attend(of_step, source, cumulative, running))
                cumulative = cumulative + steps[-1]
            weights = torch.stack(steps, 2) if steps else torch.zeros_like(scores)
        else:
            every = source._replace(mask=source.mask[:, :, None], fertilities=None)
            weights = self.attend(scores, every, cumulative)
            cumulative = cumulative + weights.sum(2)
        used = nn.functional.dropout(weights, self.dropout, self.training)
        heads = used.to(source.memory.dtype) @ source.memory
        output = self.out_proj(heads.transpose(1, 2).flatten(2))
        return output if self.batch_first else output.transpose(0, 1), weights, cumulative

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
        *,
        fertilities: Tensor | float | None = None,
        query_padding_mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Process whole targets; two more arguments than :class:`torch.nn.MultiheadAttention`.

        Args:
            query: ``[B, T, D]``, or ``[T, D]`` for a single target, when nothing has a batch.
                Unless ``batch_first``, the batch is the second axis here and of the next two.
            key: ``[B, S, kdim]``.
            value: ``[B, S, vdim]``.
            key_padding_mask: as in :meth:`source`.
            need_weights: whether to return the attention.
            attn_mask: as in :meth:`steps`.
            average_attn_weights: whether to average the attention over the heads.
            is_causal: ignored; it needs ``attn_mask``.
            fertilities: as in :meth:`ConstrainedAttention.source`; None for ``fertility``.
            query_padding_mask: ``[B, T]`` like ``key_padding_mask``, True after a target's end,
                where no fertility is spent. Without it, padded steps spend fertility too.

        Returns:
            The output, in the shape of ``query``; and None or the attention ``[B, T, S]`` or
            ``[B, H, T, S]``, the sink last.

        Raises:
            AttentionError, InfeasibleBoundsError: as :meth:`source`; also ``is_causal`` alone.
        """
        if is_causal and attn_mask is None:
            raise AttentionError("is_causal needs the mask itself as attn_mask, as in PyTorch")
        if query.dim() == 2:
            batch_axis = 0 if self.batch_first else 1  # a batch of one
            output, weights = self(
                *(states.unsqueeze(batch_axis) for states in (query, key, value)),
                None if key_padding_mask is None else key_padding_mask[None],
                need_weights, attn_mask, average_attn_weights, fertilities=fertilities,
                query_padding_mask=None if query_padding_mask is None else query_padding_mask[None],
            )  # fmt: skip
            return output.squeeze(batch_axis), None if weights is None else weights[0]
        active = None if query_padding_mask is None else ~_bool(query_padding_mask)
        length = query.shape[1 if self.batch_first else 0]
        steps = length if active is None else active.sum(1)
        source = self.source(
            key, value, key_padding_mask=key_padding_mask, fertilities=fertilities, steps=steps
        )
        output, weights, _ = self.steps(
            query, source, self.start(source), attn_mask=attn_mask, active=active
        )
        if not need_weights:
            return output, None
        return output, weights.mean(1) if average_attn_weights else weights

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *args: Any, **kwargs: Any
    ) -> None:
        """Read the parameters of :class:`torch.nn.MultiheadAttention`, too; the sink stays."""
        names = [f"{prefix}{name}_proj" for name in "qkv"]
        is_pytorchs = f"{prefix}in_proj_weight" in state_dict or f"{names[0]}_weight" in state_dict
        for kind in ("weight", "bias"):
            joint = state_dict.pop(f"{prefix}in_proj_{kind}", None)
            if joint is not None:
                for name, part in zip(names, joint.chunk(3), strict=True):
                    state_dict[f"{name}.{kind}"] = part
        for name in names:
            if f"{name}_weight" in state_dict:
                state_dict[f"{name}.weight"] = state_dict.pop(f"{name}_weight")
        if is_pytorchs and self.sink_key is not None and self.sink_value is not None:
            state_dict.setdefault(f"{prefix}sink_key", self.sink_key.detach())
            state_dict.setdefault(f"{prefix}sink_value", self.sink_value.detach())
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def _heads(self, states: Tensor) -> Tensor:
        """``[B, S, D]`` as ``[B, H, S, D/H]``."""
        return states.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def extra_repr(self) -> str:
        """The settings shown when the model is printed."""
        return f"heads={self.num_heads}, {super().extra_repr()}"


def _bool(mask: Tensor) -> Tensor:
    """A padding mask that is True at padding."""
    if mask.dtype == torch.bool:
        return mask
    padding = mask == -math.inf
    if mask.is_floating_point() and bool((padding | (mask == 0)).all()):
        return padding
    raise AttentionError(
        "a padding mask must be of type torch.bool, or have −inf at padding and 0 elsewhere; it is "
        f"of type {mask.dtype}"
    )
