"""What a model file tells of its training text: noted in training, read back, refused if odd."""

from __future__ import annotations

import pytest

from coverage_eval.alignment.model_notes import note_sink, noted_sink, noted_tokenizer
from coverage_eval.errors import DataError
from fast_align_wrapper import FastAlign


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
    notes = {"tokenize": "none"}
    assert list(note_sink(pairs, notes)) == pairs
    assert notes == {"tokenize": "none", "sink": sink}


def trained(notes) -> FastAlign:
    return FastAlign.train([("a b", "x y")] * 9, notes=notes)


def test_notes_are_read_back() -> None:
    with trained({"tokenize": "13a", "sink": True}) as model:
        assert (noted_tokenizer(model), noted_sink(model)) == ("13a", True)
    with trained({}) as model:
        assert (noted_tokenizer(model), noted_sink(model)) == ("none", False)


@pytest.mark.parametrize("name", ["x", None, ["none"]])
def test_an_unknown_tokenizer_is_one_clear_line(name) -> None:
    with trained({"tokenize": name}) as model, pytest.raises(DataError) as caught:
        noted_tokenizer(model)
    assert str(caught.value).startswith(f"the model's text was cut by tokeniser {name!r}, which")
