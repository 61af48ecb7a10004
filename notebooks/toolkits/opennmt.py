"""Constrained cross-attention in OpenNMT-py's Transformer decoder: ``constrain(model.decoder)``.

Call it where the model is built. What words have received is kept in ``layer_cache``. Tested with
version 3.5.1, and PyTorch 2.13, which is newer than it requires.
"""

import torch

from coverage_eval.torch import MultiheadConstrainedAttention


class CrossAttention(MultiheadConstrainedAttention):
    layer_cache = False, {"keys": torch.tensor([]), "values": torch.tensor([])}

    def forward(self, key, value, query, mask=None, return_attn=False, **_):
        padding = None if mask is None else mask[:, 0, 0]  # [batch, 1, 1, source]
        source = self.source(key, value, key_padding_mask=padding)
        decoding, kept = self.layer_cache
        received = kept["keys"] if decoding and kept["keys"].numel() else self.start(source)
        output, weights, received = self.steps(query, source, received)
        if decoding:
            self.layer_cache = True, {"keys": received, "values": received}
        return output, weights[..., : key.shape[1]] if return_attn else None

    def update_dropout(self, dropout):
        self.dropout = dropout


def constrain(decoder, fertility=1.5):
    for layer in decoder.transformer_layers:
        old = layer.context_attn
        layer.context_attn = CrossAttention(
            old.dim_per_head * old.head_count,
            old.head_count,
            dropout=old.dropout_p,
            fertility=fertility,
        )
