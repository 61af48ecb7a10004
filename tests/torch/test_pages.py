"""The site's examples on attention, and the files for other toolkits with small models.

No make target installs fairseq, JoeyNMT and OpenNMT, because they bring a hundred packages in old
versions; their tests run where they are installed.
"""

from __future__ import annotations

import doctest
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT
from tests.test_readme import SITE, blocks


@pytest.mark.needs("torch")
def test_the_page_on_attention_shows_the_real_output():
    found = blocks("python", SITE / "attention.md")
    first = next(index for index, block in enumerate(found) if "import torch" in block)
    text = "\n".join(found[first:])
    example = doctest.DocTestParser().get_doctest(text, {}, "attention", "attention.md", 0)
    assert len(example.examples) >= 6
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def file_of(name):
    """The definitions in the file for a toolkit; skips if the toolkit is not installed."""
    pytest.importorskip(
        {"huggingface": "transformers", "opennmt": "onmt"}.get(name, name),
        reason=f"{name} is not installed: its file in notebooks/toolkits is not tested",
        exc_type=ImportError,
    )
    path = ROOT / "notebooks" / "toolkits" / f"{name}.py"
    defined: dict[str, object] = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), defined)
    return SimpleNamespace(**defined)


def fertile(modules):
    """Give all sinks random values, so that they matter."""
    import torch

    for module in modules:
        torch.nn.init.normal_(module.sink_key)
        torch.nn.init.normal_(module.sink_value)


def test_opennmt_decodes_step_by_step_as_over_whole_targets():
    shown = file_of("opennmt")
    import torch
    from onmt.decoders import TransformerDecoder
    from onmt.modules import Embeddings

    torch.manual_seed(0)
    embeddings = Embeddings(16, 40, 0, position_encoding=True)
    decoder = TransformerDecoder(
        2, 16, 2, 32, False, "scaled-dot", 0.0, 0.0, embeddings, 0, 0, False, False, None, 0
    ).eval()
    for parameter in decoder.parameters():  # as if a whole model were built
        torch.nn.init.normal_(parameter, std=0.3)
    shown.constrain(decoder, fertility=0.7)
    fertile(layer.context_attn for layer in decoder.transformer_layers)
    decoder.update_dropout(0.0, 0.0)
    memory, lengths = torch.randn(2, 6, 16), torch.tensor([6, 4])
    target = torch.randint(1, 40, (2, 8, 1))
    order = torch.tensor([1, 0, 1])
    wanted = []
    for rows in (torch.tensor([0, 1]), order):
        decoder.init_state(torch.zeros(len(rows), 6, 1), None, None)
        wanted.append(decoder(target[rows], memory[rows], src_len=lengths[rows], return_attn=True))
    decoder.init_state(torch.zeros(2, 6, 1), None, None)
    for step in range(8):
        rows = torch.tensor([0, 1]) if step < 4 else order
        if step == 4:
            decoder.map_state(lambda state, dim: state.index_select(dim, order))
        output, weights = decoder(
            target[rows, step : step + 1], memory[rows], step=step, src_len=lengths[rows],
            return_attn=True,
        )  # fmt: skip
        whole = wanted[step >= 4]
        assert torch.allclose(output[:, 0], whole[0][:, step], atol=1e-5)
        assert torch.allclose(weights["std"][:, 0], whole[1]["std"][:, step], atol=1e-5)
    assert (wanted[0][1]["std"].sum(1) < 0.7 + 1e-5).all()
    assert (wanted[0][1]["std"][1, :, 4:] == 0).all()


def test_joeynmt_decodes_prefixes_as_whole_targets():
    shown = file_of("joeynmt")
    import torch
    from joeynmt.decoders import TransformerDecoder

    torch.manual_seed(0)
    decoder = TransformerDecoder(
        num_layers=2, num_heads=2, hidden_size=16, ff_size=32, dropout=0.0, emb_dropout=0.0,
        vocab_size=40,
    ).eval()  # fmt: skip
    shown.constrain(decoder, fertility=0.7)
    fertile(layer.src_trg_att for layer in decoder.layers)
    memory, target = torch.randn(2, 6, 16), torch.randn(2, 8, 16)
    words = (torch.arange(6) < torch.tensor([[6], [4]]))[:, None]

    def decode(length):
        mask = torch.ones(2, 1, length, dtype=torch.bool)
        return decoder(
            trg_embed=target[:, :length], encoder_output=memory, encoder_hidden=None,
            src_mask=words, unroll_steps=None, hidden=None, trg_mask=mask, return_attention=True,
        )  # fmt: skip

    logits, _, weights, _ = decode(8)
    assert weights.shape == (2, 8, 6)
    assert (weights.sum(1) < 0.7 + 1e-5).all()
    assert (weights[1, :, 4:] == 0).all()
    for length in (1, 5):  # its search decodes the whole prefix at each step
        assert torch.allclose(decode(length)[0], logits[:, :length], atol=1e-5)


def test_fairseq_decodes_step_by_step_as_over_whole_targets():
    shown = file_of("fairseq")
    import torch
    from fairseq.data import Dictionary
    from fairseq.models.transformer import TransformerConfig, TransformerDecoderBase

    torch.manual_seed(0)
    words = Dictionary()
    for number in range(36):
        words.add_symbol(f"w{number}")
    config = TransformerConfig()
    config.decoder.embed_dim = config.decoder.input_dim = config.decoder.output_dim = 16
    config.encoder.embed_dim, config.decoder.ffn_embed_dim = 16, 32
    config.decoder.layers, config.decoder.attention_heads, config.dropout = 2, 2, 0.0
    embedding = torch.nn.Embedding(len(words), 16, words.pad())
    decoder = TransformerDecoderBase(config, words, embedding).eval()
    shown.constrain(decoder, fertility=0.7)
    fertile(layer.encoder_attn for layer in decoder.layers)
    padding = torch.arange(6) >= torch.tensor([[6], [4]])
    memory, target = torch.randn(6, 2, 16), torch.randint(4, len(words), (2, 8))
    order = torch.tensor([1, 0, 1])

    def decode(rows, length, state=None):
        source = {
            "encoder_out": [memory[:, rows]], "encoder_padding_mask": [padding[rows]],
            "encoder_embedding": [], "encoder_states": [], "src_tokens": [], "src_lengths": [],
        }  # fmt: skip
        output, extra = decoder(target[rows, :length], encoder_out=source, incremental_state=state)
        return output, extra["attn"][0]

    both = torch.tensor([0, 1])
    wanted = [decode(both, 8), decode(order, 8)]
    state: dict[str, object] = {}
    for step in range(8):
        if step == 4:
            decoder.reorder_incremental_state_scripting(state, order)
        output, weights = decode(both if step < 4 else order, step + 1, state)
        whole = wanted[step >= 4]
        assert torch.allclose(output[:, 0], whole[0][:, step], atol=1e-5)
        assert torch.allclose(weights[:, 0], whole[1][:, step], atol=1e-5)
    assert (wanted[0][1].sum(1) < 0.7 + 1e-5).all()
    assert (wanted[0][1][1, :, 4:] == 0).all()


@pytest.mark.needs("torch")
def test_huggingface_generates_and_trains():
    shown = file_of("huggingface")
    import torch
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
