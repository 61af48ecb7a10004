"""What a model file tells of its training text: noted in training, read back, refused if odd."""

from __future__ import annotations

import pytest

from coverage_eval.alignment.aligner import Aligner, noted_tokenizers
from coverage_eval.errors import DataError
from fast_align_wrapper import FastAlign


@pytest.mark.filterwarnings("ignore:the model was trained with <SINK>")
@pytest.mark.parametrize(
    ("pairs", "sink"),
    [
        ([("a <SINK>", "x"), (["b", "<SINK>"], "y")], True),
        ([("a <SINK>", "x"), ("b", "y")], False),
        ([("a", "x"), ("b <SINK>", "y")], False),
        ([("<SINK> a", "x")], False),
        ([("a\u00a0<SINK>", "x")], False),  # one token
        ([("a <SINK>", "x"), ("", "y"), ("b", " ")], True),  # not trained on
    ],
)
def test_a_sink_counts_if_every_source_has_it(pairs, sink) -> None:
    with Aligner.train_pairs(pairs, sink=False).model as model:
        assert model.manifest.notes["sink"] is sink


@pytest.mark.parametrize("name", ["x", None, ["none"]])
def test_an_unknown_tokenizer_is_one_clear_line(name) -> None:
    with (
        FastAlign.train([("a b", "x y")] * 9, notes={"tokenize": name}) as model,
        pytest.raises(DataError) as caught,
    ):
        noted_tokenizers(model)
    assert str(caught.value).startswith(f"the model's text was cut by tokeniser {name!r}, which")
