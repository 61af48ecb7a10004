"""Constrained cross-attention in JoeyNMT's Transformer decoder.

What words have received is kept nowhere: each step recomputes the prefix. Tested with version
2.3.0.
"""

from coverage_eval.torch import MultiheadConstrainedAttention


class CrossAttention(MultiheadConstrainedAttention):
    def forward(self, k, v, q, mask=None, return_weights=None):
        padding = None if mask is None else ~mask[:, 0]  # [batch, 1, source], True at words
        output, weights = super().forward(q, k, v, padding, need_weights=bool(return_weights))
        return output, None if weights is None else weights[..., : k.shape[1]]


def constrain(decoder, fertility=1.5):
    for layer in decoder.layers:
        old = layer.src_trg_att
        layer.src_trg_att = CrossAttention(
            old.model_size, old.num_heads, dropout=old.dropout.p, fertility=fertility
        )
