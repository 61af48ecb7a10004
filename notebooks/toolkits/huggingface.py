"""Constrained cross-attention in Hugging Face transformers: Marian, BART, PEGASUS and others.

Their decoder layers have an ``encoder_attn``. What words have received is kept in the cache of
``generate``. Tested with version 5.23.
"""

import torch

from coverage_eval.torch import MultiheadConstrainedAttention


class CrossAttention(MultiheadConstrainedAttention):
    layer_idx = 0

    def forward(
        self,
        hidden_states,
        key_value_states=None,
        attention_mask=None,
        cache=None,
        past_key_values=None,
        **_,
    ):
        padding = None
        if attention_mask is not None:
            row = attention_mask[:, 0, 0]  # of [batch, 1, target, source]; True or 0 at words
            padding = ~row if row.dtype == torch.bool else row < 0
        source = self.source(key_value_states, key_padding_mask=padding)
        received = self.start(source)
        caches = past_key_values if cache is None else cache  # the older name and the newer one
        kept = None if caches is None else caches.cross_attention_cache
        updated = caches is not None and caches.is_updated.get(self.layer_idx)
        if updated:
            received = kept.layers[self.layer_idx].keys[..., 0]
        output, weights, received = self.steps(hidden_states, source, received)
        if updated:  # in the place of keys, so that beams reorder it
            kept.layers[self.layer_idx].keys = received[..., None]
        elif kept is not None:
            kept.update(received[..., None], received[..., None], self.layer_idx)
            caches.is_updated[self.layer_idx] = True
        return output, weights[..., : key_value_states.shape[1]]


def constrain(model, fertility=1.5):
    for index, layer in enumerate(model.get_decoder().layers):
        old = layer.encoder_attn
        new = CrossAttention(old.embed_dim, old.num_heads, dropout=old.dropout, fertility=fertility)
        new.load_state_dict(old.state_dict(), strict=False)  # projections have the same names
        new.layer_idx = index
        layer.encoder_attn = new.to(old.q_proj.weight)
