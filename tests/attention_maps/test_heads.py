"""One layer and one head of arrays that have several, against plain indexing."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.attention_maps import from_arrays, load
from coverage_eval.attention_maps.maps import choose_head
from coverage_eval.core.errors import DataError

RNG = np.random.default_rng(4)
LAYERS = RNG.dirichlet(np.ones(4), size=(2, 3, 5))  # [layers, heads, T, S]
ROWS: dict[str, Any] = {"orientation": "target-source"}
TEXTS: dict[str, Any] = {"sources": ["a b c d"], "hypotheses": ["v w x y z"]}

choices = st.none() | st.integers(-4, 4)


@given(st.integers(2, 4), choices, choices | st.just("mean"))
def test_a_choice_gives_one_matrix_or_is_refused(dims, layer, head):
    array = LAYERS[(0,) * (4 - dims)]
    layers = list(LAYERS) if dims == 4 else [LAYERS[0]]
    in_layers = layer is not None and -2 <= layer < 2
    in_heads = head == "mean" or (isinstance(head, int) and -3 <= head < 3)
    fits = (in_layers if dims == 4 else layer is None) and (in_heads if dims > 2 else head is None)
    if not fits:
        with pytest.raises(DataError, match=r"^here: "):
            choose_head(array, "here", layer, head)
        return
    heads = layers[layer or 0]
    if dims == 2:
        expected = LAYERS[0, 0]
    elif head == "mean":
        expected = sum(heads) / 3
    else:
        assert isinstance(head, int)
        expected = heads[head]
    np.testing.assert_allclose(choose_head(array, "here", layer, head), expected, atol=1e-15)


def test_a_single_layer_or_head_need_not_be_chosen():
    np.testing.assert_array_equal(choose_head(LAYERS[:1, :1], "f", None, None), LAYERS[0, 0])
    np.testing.assert_array_equal(choose_head(LAYERS[:1], "f", None, 2), LAYERS[0, 2])
    np.testing.assert_array_equal(choose_head(LAYERS[1, :1], "f", None, None), LAYERS[1, 0])


@pytest.mark.parametrize("ending", ["npy", "npz", "jsonl", "record"])
def test_a_layer_and_a_head_are_read_from_every_format_with_heads(ending, tmp_path):
    path = tmp_path / "dump"
    if ending == "npy":
        path = tmp_path / "dump.npy"
        np.save(path, LAYERS.astype(np.float32))
    elif ending == "npz":
        with path.open("wb") as file:
            np.savez(file, LAYERS)
    elif ending == "jsonl":
        path.write_text(json.dumps(LAYERS.tolist()) + "\n")
    else:
        path.write_text(json.dumps({"attention": LAYERS.tolist()}) + "\n")
    for layer, head in ((0, 2), (-1, 0), (1, "mean")):
        chosen: Any = {"layer": layer, "head": head}
        expected = LAYERS[layer].mean(axis=0) if head == "mean" else LAYERS[layer, int(head)]
        item = load(path, **TEXTS, **ROWS, **chosen)[0]
        np.testing.assert_allclose(item.weights, expected, atol=1e-7)
        item = from_arrays([LAYERS], **TEXTS, **chosen)[0]
        np.testing.assert_allclose(item.weights, expected)
    with pytest.raises(DataError, match="choose --layer"):
        load(path, **TEXTS, **ROWS)


def test_three_dimensions_are_segments_unless_a_head_is_chosen(tmp_path):
    path = tmp_path / "stack.npy"
    np.save(path, LAYERS[0])
    stack = load(path, sources=["a b c d"] * 3, hypotheses=["v w x y z"] * 3, **ROWS)
    for item, expected in zip(stack, LAYERS[0], strict=True):
        np.testing.assert_array_equal(item.weights, expected)
    np.testing.assert_array_equal(load(path, **TEXTS, **ROWS, head=1)[0].weights, LAYERS[0, 1])
    with pytest.raises(DataError, match=r"3 attention maps, but .* choose with --head"):
        load(path, **TEXTS, **ROWS)


def test_a_head_is_refused_for_formats_without_heads(tmp_path):
    path = tmp_path / "dump"
    path.write_text("A-0\t0-0\n")
    with pytest.raises(DataError, match="fairseq --print-alignment has one matrix per segment"):
        load(path, head="mean")


def test_invalid_weights_are_refused_even_after_averaging_heads(tmp_path):
    path = tmp_path / "dump"
    path.write_text("[[[1e308]], [[1e308]]]\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DataError, match=r"line 1.*inf in row 1, column 1"):
            load(path, sources=["a"], hypotheses=["x"], head="mean", orientation="target-source")


def test_an_empty_hypothesis_is_an_empty_list(tmp_path):
    path = tmp_path / "dump"
    path.write_text("[[0.5, 0.5]]\n[]\n")
    maps = load(path, sources=["a b", ""], hypotheses=["x", ""], **ROWS)
    assert [item.weights.shape for item in maps] == [(1, 2), (0, 0)]
