"""Constrained cross-attention in fairseq's Transformer decoder.

What words have received is kept in ``incremental_state``. Tested with version 0.12.2, which is
released for Python 3.10 at most, on 3.11 after its data classes were made hashable.
"""

from coverage_eval.torch import MultiheadConstrainedAttention


class CrossAttention(MultiheadConstrainedAttention):
    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        incremental_state=None,
        need_weights=True,
        need_head_weights=False,
        **_,
    ):
        padding = None if key_padding_mask is None else key_padding_mask.bool()
        source = self.source(key, value, key_padding_mask=padding)
        received = self.start(source)
        if incremental_state is not None and self.name in incremental_state:
            received = incremental_state[self.name]["received"]
        output, weights, received = self.steps(query, source, received)
        if incremental_state is not None:
            incremental_state[self.name] = {"received": received}
        if not (need_weights or need_head_weights):
            return output, None
        weights = weights[..., : len(key)]
        return output, weights.transpose(0, 1) if need_head_weights else weights.mean(1)

    def reorder_incremental_state(self, incremental_state, new_order):
        if self.name in incremental_state:
            received = incremental_state[self.name]["received"]
            incremental_state[self.name] = {"received": received.index_select(0, new_order)}
        return incremental_state


def constrain(decoder, fertility=1.5):
    for index, layer in enumerate(decoder.layers):
        old = layer.encoder_attn
        layer.encoder_attn = CrossAttention(
            old.embed_dim,
            old.num_heads,
            kdim=old.kdim,
            vdim=old.vdim,
            batch_first=False,
            dropout=old.dropout_module.p,
            fertility=fertility,
        )
        layer.encoder_attn.name = f"received.{index}"
