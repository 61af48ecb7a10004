"""Attention from Python objects, both imitated ones and those of the real toolkits."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from coverage_eval.attention_maps import (
    AttentionMap,
    from_arrays,
    from_ctranslate2,
    from_huggingface,
    load,
)
from coverage_eval.core.errors import CorpusWarning, DataError
from coverage_eval.plotting import attention_heatmap
from tests.attention_maps.writers import SAMPLES

SOURCES = [s.source for s in SAMPLES]
HYPOTHESES = [s.hypothesis for s in SAMPLES]


class Tensor:
    """Imitates the parts of a tensor that are used for its device, precision and gradient."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def is_floating_point(self) -> bool:
        return self.array.dtype.kind == "f"

    def float(self) -> Tensor:
        return Tensor(self.array.astype(np.float32))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.array, dtype)


def test_arrays_may_have_either_orientation_as_those_of_fairseq_and_joey_nmt():
    for turned in (False, True):
        arrays = [Tensor(s.weights.T if turned else s.weights) for s in SAMPLES]
        rows = "source-target" if turned else "target-source"
        maps = from_arrays(arrays, SOURCES, HYPOTHESES, orientation=rows)
        for item, s in zip(maps, SAMPLES, strict=True):
            np.testing.assert_allclose(item.weights, s.weights, atol=1e-6)
            assert item.tgt_eos
            assert item.src_eos
    with pytest.raises(DataError, match="1 dimensions"):
        from_arrays([np.zeros(3)], ["a"], ["x"])


def test_ctranslate2_results_have_eos_only_if_it_is_among_the_tokens():
    results = [
        SimpleNamespace(hypotheses=[list(s.hypothesis)], attention=[s.words.tolist()])
        for s in SAMPLES
    ]
    for item, s in zip(from_ctranslate2(results, SOURCES), SAMPLES, strict=True):
        np.testing.assert_allclose(item.weights, s.words)
        assert not item.tgt_eos
    ended = SimpleNamespace(hypotheses=[["x", "</s>"]], attention=[[[1.0, 0.0], [0.5, 0.5]]])
    assert from_ctranslate2([ended], ["a b"])[0].word_weights.tolist() == [[1, 0]]
    empty = SimpleNamespace(hypotheses=[[]], attention=[[]])
    assert from_ctranslate2([empty], ["a b"])[0].weights.shape == (0, 2)
    with pytest.raises(DataError, match="the results has 1, the source has 2"):
        from_ctranslate2([empty], ["a", "b"])
    with pytest.raises(DataError, match="return_attention=True"):
        from_ctranslate2([SimpleNamespace(hypotheses=[["x"]], attention=[])], ["a"])


def hugging_face(weights: Any, sequences: Any, beam_indices: Any = None) -> SimpleNamespace:
    """Outputs with ``weights`` ``[steps, rows, S]`` in head 0 of the last of two layers.

    The other head and the other layer are zero.
    """
    steps = np.asarray(weights, dtype=np.float16)
    heads = np.stack([steps, np.zeros_like(steps)], axis=2)[:, :, :, np.newaxis]
    layers = [(Tensor(np.zeros_like(step)), Tensor(step)) for step in heads]
    output = SimpleNamespace(sequences=Tensor(sequences), cross_attentions=tuple(layers))
    if beam_indices is not None:
        output.beam_indices = Tensor(beam_indices)
    return output


def test_hugging_face_greedy_stops_at_eos():
    weights = np.array([[[1, 0], [0, 1]], [[0.5, 0.5], [1, 0]], [[0, 1], [0, 0]]])
    outputs = hugging_face(weights, [[9, 5, 6, 2], [9, 7, 2, 1]])
    maps = from_huggingface(outputs, ["a </s>", "b </s>"], head=0, eos_token_id=2, pad_token_id=1)
    assert maps[0].weights.tolist() == [[1, 0], [0.5, 0.5], [0, 1]]
    assert maps[1].weights.tolist() == [[0, 1], [1, 0]]
    assert [item.hypothesis for item in maps] == [("5", "6", "2"), ("7", "2")]
    assert all(item.tgt_eos and item.src_eos for item in maps)
    assert from_huggingface(outputs, ["a b", "b c"], eos_token_id=2)[0].weights[0, 0] == 0.5
    assert not from_huggingface(outputs, ["a b", "b c"], head=-1, eos_token_id=2)[0].weights.any()
    with pytest.raises(DataError, match="does not fit 1 target"):
        from_huggingface(outputs, ["a b", "b c"], ["x", "y"], eos_token_id=2)


def test_hugging_face_beams_follow_beam_indices():
    """There are two beams: the best hypothesis was in row 1, then in row 0; step 3 is padding."""
    weights = np.array([[[0, 0], [1, 0]], [[0, 1], [0, 0]], [[0, 0], [0, 0]]])
    outputs = hugging_face(weights, [[9, 5, 2]], [[1, 0, -1]])
    item = from_huggingface(outputs, ["a </s>"], head=0, eos_token_id=2)[0]
    assert item.weights.tolist() == [[1, 0], [0, 1]]
    without_start = hugging_face(weights, [[5, 2]], [[1, 0, -1]])
    assert from_huggingface(without_start, ["a </s>"])[0].hypothesis == ("5", "2")
    outputs = hugging_face(weights, [[9, 5, 2]])
    with pytest.raises(DataError, match="output_scores=True"):
        from_huggingface(outputs, ["a </s>"], eos_token_id=2)


def test_hugging_face_sources_with_padding_need_the_mask():
    weights = np.array([[[0.0, 0.25, 0.75]]])
    outputs = hugging_face(weights, [[9, 5]])
    left = from_huggingface(outputs, ["a b"], head=0, attention_mask=Tensor([[0, 1, 1]]))
    assert left[0].weights.tolist() == [[0.25, 0.75]]
    assert not left[0].tgt_eos
    assert not left[0].src_eos
    assert from_huggingface(outputs, ["__en__ a b"], head=0)[0].source == ("__en__", "a", "b")
    for words, mask in (("a b", None), ("a b c d", None), ("a", Tensor([[0, 1, 1]]))):
        with pytest.raises(DataError, match=r"does not fit.*language tags.*attention_mask="):
            from_huggingface(outputs, [words], attention_mask=mask)
    with pytest.raises(IndexError, match="boolean"):
        from_huggingface(outputs, ["a b"], attention_mask=Tensor([[0, 1]]))


def test_hugging_face_without_attention_says_how_to_get_it():
    with pytest.raises(DataError, match="output_attentions=True"):
        from_huggingface(SimpleNamespace(sequences=[[1]], cross_attentions=None), ["a"])
    with pytest.raises(DataError, match="eager"):
        from_huggingface(SimpleNamespace(sequences=[[1]], cross_attentions=((None,),)), ["a"])
    outputs = hugging_face([[[1.0]]], [[9, 5]])
    with pytest.raises(DataError, match="no decoder layer 2"):
        from_huggingface(outputs, ["a"], layer=2)
    with pytest.raises(DataError, match="no such head"):
        from_huggingface(outputs, ["a"], head=7)
    with pytest.raises(DataError, match="1 attention maps, but the source text has 2"):
        from_huggingface(outputs, ["a", "b"])


def test_errors_for_other_hugging_face_outputs_say_what_to_do():
    decoder_only = SimpleNamespace(sequences=[[1]], attentions=((np.ones((1, 1, 1, 1)),),))
    with pytest.raises(DataError, match=r"decoder-only model.*from_arrays"):
        from_huggingface(decoder_only, ["a"])
    fed = SimpleNamespace(cross_attentions=(Tensor(np.ones((1, 2, 3, 4))),), logits=None)
    with pytest.raises(DataError, match=r"forward pass.*from_arrays\(outputs.cross_attentions"):
        from_huggingface(fed, ["a"])
    outputs = hugging_face([[[1.0]]], [[9, 5]])
    for layer in (None, "last"):
        with pytest.raises(DataError, match="or layer=-1 for the last"):
            from_huggingface(outputs, ["a"], layer=layer)  # type: ignore[arg-type]


def test_rows_far_from_1_cause_a_warning():
    thin = [np.full((2, 3), 0.1), np.full((2, 3), 1 / 3)]
    with pytest.warns(CorpusWarning, match=r"2 of 4 rows.*map 1, row 1: 0\.30\)") as caught:
        from_arrays(thin, ["a b c"] * 2, ["x y"] * 2)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_arrays(thin[1:], ["a b c"], ["x y"])


WEIGHTS = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
"""Two target words × two source words and EOS."""


def padded(weights: Any, rows: int, columns: int, *, left: bool = False) -> Any:
    """Weights as of a batch: the words of padding attend, and a mask that was forgotten counts."""
    added = rows - len(weights), columns - weights.shape[1]
    before = (added if left else (0, 0), (0, 0) if left else added)
    return np.pad(weights, tuple(zip(*before, strict=True)), constant_values=0.1)


@pytest.mark.parametrize("left", [False, True])
def test_padding_that_a_mask_or_the_words_name_is_cut(left):
    source, hypothesis = ["das", "Haus", "</s>"], ["the", "house"]
    (expected,) = from_arrays([WEIGHTS], [source], [hypothesis])
    weights = padded(WEIGHTS, 4, 5, left=left)
    masks = [np.arange(n) >= n - m if left else np.arange(n) < m for n, m in ((5, 3), (4, 2))]

    def with_pads(words: list[str], size: int) -> list[str]:
        pads = ["<pad>"] * (size - len(words))
        return pads + words if left else words + pads

    long = with_pads(source, 5), with_pads(hypothesis, 4)
    found = [
        from_arrays([weights], [long[0]], [long[1]]),
        from_arrays([weights.T], [long[0]], [long[1]], orientation="source-target"),
        *(
            from_arrays([weights], [s], [h], source_mask=masks[:1], hypothesis_mask=[masks[1] * 1])
            for s, h in ((source, hypothesis), long)
        ),
    ]
    for (item,) in found:
        assert item.weights.tolist() == WEIGHTS.tolist()
        assert item.source_words == ("das", "Haus")
        assert item.hypothesis_words == expected.hypothesis_words == ("the", "house")
    with pytest.raises(DataError, match=r"source_mask= and hypothesis_mask=.*<pad> for each"):
        from_arrays([weights], [source], [hypothesis])
    with pytest.raises(DataError, match=r"array 1 has 5 columns, but source_mask 1 has the shape"):
        from_arrays([weights], [source], [hypothesis], source_mask=[masks[1]])
    if not left:
        image = attention_heatmap(weights, *long).images[0]
        assert image.get_array().shape == WEIGHTS.T.shape


def test_rows_that_do_not_sum_to_1_are_named_alike_whatever_reads_them(tmp_path):
    """A transposed square map, and rows of .51, .6 and .9; what half precision rounds is not."""
    square = np.array([[0.7, 0.2, 0.1], [0.1, 0.7, 0.1], [0.2, 0.1, 0.8]])
    thin = square.T * [[0.51], [0.6], [0.9]]
    words = ["a", "b", "c"], ["x", "y", "z"]
    for weights, said in (
        (square, "2 of 3 .*row 2: 0.90.*columns do: rows must be target words"),
        (thin, "3 of 3 .*row 1: 0.51.*weights were left out"),
        (np.full((3, 3), 0.5), "3 of 3 .*row 1: 1.50"),
        (square.T.astype(np.float16), ""),
        (np.eye(3)[:, [0, 0, 1]], ""),
    ):
        np.save(tmp_path / "maps.npy", weights[np.newaxis])
        ways: list[Any] = [
            lambda given: from_arrays([given], [words[0]], [words[1]]),
            lambda given: attention_heatmap(given, *words),
            lambda _: load(tmp_path / "maps.npy", sources=[words[0]], hypotheses=[words[1]],
                           orientation="target-source"),
        ]  # fmt: skip
        for way in ways:
            if said:
                with pytest.warns(CorpusWarning, match=said) as caught:
                    way(weights)
                assert caught[0].filename == __file__
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                way(weights)


@pytest.mark.needs("torch")
def test_real_tensors_of_any_precision_and_with_gradients():
    torch = pytest.importorskip("torch")
    rows = [[0.25, 0.75, 0], [0.5, 0.25, 0.25]]
    for tensor in (
        torch.tensor(rows, dtype=torch.bfloat16),
        torch.tensor(rows, dtype=torch.float16),
        torch.tensor(rows, requires_grad=True),
    ):
        assert AttentionMap(tensor).weights.tolist() == rows
        assert from_arrays([tensor], ["a b c"], ["x y"])[0].weights.tolist() == rows
        assert from_arrays(tensor[None], ["a b c"], ["x y"])[0].weights.tolist() == rows
        heads = [[tensor, tensor]]
        assert from_arrays(heads, ["a b c"], ["x y"], head=1)[0].weights.tolist() == rows
        image = attention_heatmap(tensor, ["a", "b", "c"], ["x", "y"]).images[0]
        assert image.get_array().shape == (3, 2)


def tiny_marian(torch: Any, transformers: Any) -> Any:
    """A small random model."""
    torch.manual_seed(3)
    config = transformers.MarianConfig(
        vocab_size=24, d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=16, decoder_ffn_dim=16, pad_token_id=23,
        eos_token_id=0, decoder_start_token_id=23, init_std=1.0, forced_eos_token_id=0,
    )  # fmt: skip
    config._attn_implementation = "eager"
    return transformers.MarianMTModel(config).eval()


@pytest.mark.needs("torch")
@pytest.mark.parametrize("beams", [1, 4])
def test_real_marian_of_hugging_face(beams):
    """The oracle is the attention of a forward pass that is given the generated output."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    model = tiny_marian(torch, transformers)
    inputs = torch.tensor([[3, 4, 5, 6, 0], [7, 8, 0, 23, 23]])
    mask = (inputs != 23).long()
    outputs = model.generate(
        inputs, attention_mask=mask, num_beams=beams, max_length=9, do_sample=False,
        return_dict_in_generate=True, output_attentions=True, output_scores=True,
    )  # fmt: skip
    sources = [["3", "4", "5", "6", "</s>"], ["7", "8", "</s>"]]
    options = {"eos_token_id": 0, "pad_token_id": 23}
    maps = from_huggingface(outputs, sources, attention_mask=mask, **options)
    # Masked padding has no weight, so the words of the source say as much.
    cut = from_huggingface(outputs, sources, **options)
    assert [item.weights.tolist() for item in cut] == [item.weights.tolist() for item in maps]
    with torch.no_grad():
        fed = model(
            inputs, attention_mask=mask, decoder_input_ids=outputs.sequences,
            output_attentions=True,
        )  # fmt: skip
    oracle = fed.cross_attentions[-1].mean(dim=1).numpy()
    for index, item in enumerate(maps):
        rows, columns = item.weights.shape
        assert columns == len(sources[index])
        assert item.tgt_eos
        assert item.hypothesis == tuple(map(str, outputs.sequences[index, 1 : rows + 1].tolist()))
        np.testing.assert_allclose(item.weights, oracle[index, :rows, :columns], atol=1e-5)
