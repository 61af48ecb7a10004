"""Notes of a model on its training text: written in training, read back, refused if damaged."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

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
def test_a_model_notes_a_sink_if_every_source_has_one(pairs, sink) -> None:
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


DAMAGED_NOTES = [
    ("lowercase", 1), ("lowercase", "x" * 10**6), ("sink", None), ("stem", -1), ("stem", 10**400),
    ("stem", True), ("tokenize", 1), ("tokenize", ["13a"]), ("tokenize", "x" * 10**6),
    ("src_tokenize", {}), ("src_tokenize", "\x1b[31m"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), DAMAGED_NOTES)
def test_damaged_notes_are_errors(tmp_path: Path, name: str, value: object) -> None:
    model = FastAlign.train([("a", "b")], notes={name: value})
    model.save(tmp_path / "model")
    with pytest.raises(DataError) as caught:
        Aligner.load(tmp_path / "model")
    assert len(str(caught.value)) < 200


def test_the_signature_names_the_aligner_that_runs(tmp_path: Path) -> None:
    """Not the one in the manifest, which the model's hash does not cover."""
    path = tmp_path / "model"
    with Aligner.train(["a b"], ["A B"]) as aligner:
        aligner.save(path)
        expected = aligner.settings
    with zipfile.ZipFile(path) as archive:
        members = {item: archive.read(item) for item in archive.namelist()}
    manifest = json.loads(members["manifest.json"]) | {"aligner": "eflomal 2.0"}
    with zipfile.ZipFile(path, "w") as archive:
        for item, content in (members | {"manifest.json": json.dumps(manifest).encode()}).items():
            archive.writestr(item, content)
    with Aligner.load(path) as aligner:
        assert aligner.settings == expected
