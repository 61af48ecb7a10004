"""The Hugging Face decoder on the page about toolkits, in a small model."""

from __future__ import annotations

import pytest

from tests.torch.test_toolkits import fertile, file_of

torch = pytest.importorskip("torch", reason="PyTorch is in the extra 'torch'")


def test_generation_and_training_of_a_constrained_model():
    shown = file_of("huggingface")
    from transformers import MarianConfig, MarianMTModel

    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=40, d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, pad_token_id=0,
        eos_token_id=1, decoder_start_token_id=2, forced_eos_token_id=1, init_std=0.5,
        max_position_embeddings=64,
    )  # fmt: skip
    model = MarianMTModel(config).eval()
    projection = model.get_decoder().layers[1].encoder_attn.q_proj.weight.clone()
    shown.constrain(model, fertility=0.7)
    layers = [layer.encoder_attn for layer in model.get_decoder().layers]
    assert torch.equal(layers[1].q_proj.weight, projection)
    fertile(layers)
    source = torch.randint(3, 40, (2, 6))
    words = torch.arange(6) < torch.tensor([[6], [4]])
    given = {"input_ids": source, "attention_mask": words.long(), "max_new_tokens": 12}
    for beams in (1, 3):
        found = [
            model.generate(**given, num_beams=beams, use_cache=cached) for cached in (True, False)
        ]
        assert torch.equal(*found)
        assert found[0].shape[1] > 5
    target = torch.randint(3, 40, (2, 9))
    result = model(source, attention_mask=words, labels=target, output_attentions=True)
    for weights in result.cross_attentions:
        assert weights.shape == (2, 2, 9, 6)
        assert (weights.sum(2) < 0.7 + 1e-5).all()
        assert (weights[1, :, :, 4:] == 0).all()
    result.loss.backward()
    assert (layers[0].sink_value.grad != 0).all()
