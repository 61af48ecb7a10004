"""Aligners with a model: links, posteriors and coverages row by row, and other use of a model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.align.model_text import strict_pairs
from coverage_eval.core.batches import Batch, Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.tokenizers import SINK
from tests.grammar import generate

PAIRS = [(pair.source, pair.target) for pair in generate(400, seed=1)]
TEXTS = [target for _, target in PAIRS]
ROWS = [
    Row((TEXTS[n], TEXTS[n + 1]), (TEXTS[n + 2],), PAIRS[n][0], (TEXTS[n + 3], TEXTS[n]))
    for n in range(5)
]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "sink"])
def aligner(request: pytest.FixtureRequest) -> Iterator[ModelAligner]:
    with Aligner.train_pairs(PAIRS, sink=request.param) as model_aligner:
        yield model_aligner


def source_of(aligner: ModelAligner, row: Row) -> list[str]:
    """The source as the model gets it."""
    return [*(row.source or ()), *([SINK.lower()] if aligner.sink else [])]


def test_links_are_the_models_without_those_to_a_sink(aligner):
    to_sinks = 0
    for row, found in zip(ROWS, aligner.align(iter(ROWS)), strict=True):
        source, words = source_of(aligner, row), len(row.source or ())
        links = list(aligner.model.align((source, t) for t in row.references + row.hypotheses))
        kept = tuple(tuple(link for link in text_links if link[0] < words) for text_links in links)
        assert found == (list(row.source or ()), kept[:1], kept[1:])
        to_sinks += sum(map(len, links)) - sum(map(len, kept))
    assert (to_sinks > 0) == aligner.sink


def test_coverages_are_sums_of_the_models_posteriors(aligner):
    for row, cover in zip(ROWS, aligner.cover(iter(ROWS)), strict=True):
        source, words = source_of(aligner, row), len(row.source or ())
        pairs = ((source, text) for text in (*row.references, *row.hypotheses, *row.peers))
        posteriors = aligner.model.posteriors(pairs)
        sums = [np.minimum(1, posterior.matrix[:, :words].sum(axis=0)) for posterior in posteriors]
        assert list(cover.source) == list(row.source or ())
        assert [*map(len, (cover.references, cover.outputs))] == [1, 4]
        assert all(map(np.allclose, cover.references + cover.outputs, sums))
        assert cover.lengths == tuple(map(len, row.hypotheses + row.peers))


def test_coverages_of_targets_are_those_of_all_outputs(aligner):
    for row, cover in zip(ROWS, aligner.cover(iter(ROWS), "target"), strict=True):
        source, words = source_of(aligner, row), len(row.source or ())
        pairs = ((source, text) for text in (*row.references, *row.hypotheses, *row.peers))
        posteriors = aligner.model.posteriors(pairs, "reverse")
        sums = [np.minimum(1, posterior.matrix[:, :words].sum(axis=1)) for posterior in posteriors]
        assert all(map(np.allclose, cover.references + cover.outputs, sums))
        assert len(cover.outputs) == 4


def test_requests_of_metrics(aligner):
    batch = Batch(ROWS)
    assert [*batch.get(aligner.links_request())] == [*aligner.align(ROWS)]
    assert all(not row.references for row in batch.get(aligner.coverages_request(references=False)))
    requests = (
        aligner.links_request(), aligner.coverages_request(), aligner.coverages_request("target")
    )  # fmt: skip
    assert len({request.key for request in requests}) == 3
    unknown = Batch([Row((["a"],))])
    with pytest.raises(DataError, match="the source text is needed to align it; give it with"):
        unknown.get(aligner.links_request())


@pytest.mark.parametrize(
    ("trained", "used", "message"),
    [
        ({}, {"sink": True}, "trained without <SINK> behind every source, and is used with it"),
        ({"sink": True}, {}, "trained with <SINK> behind every source, and is used without it"),
        ({"tokenize": "13a", "stem": 3, "sink": True}, {"sink": True}, None),
    ],
)  # fmt: skip
def test_other_use_than_in_training_is_warned_of(tmp_path, trained, used, message):
    with Aligner.train(["a b", "b"], ["x y", "y"], **trained) as model_aligner:
        model_aligner.save(tmp_path / "model")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Aligner.load(tmp_path / "model", **used).close()
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == (message is not None)
    assert message is None or message in messages[0]


def test_texts_to_train_on_are_checked():
    assert [*strict_pairs(iter(["a"]), [["b"]])] == [("a", ["b"])]
    with pytest.raises(DataError, match="unequal numbers of segments to train on"):
        list(strict_pairs(["a", "b"], ["c"]))
    with pytest.raises(TypeError, match=r"pair 2: \('b', 1\): a side is neither a string nor a"):
        list(strict_pairs(["a", "b"], ["c", 1]))  # type: ignore[list-item]
    for sides in (("a", ["b"]), (["a"], "b")):
        with pytest.raises(TypeError, match="is a list of segments, not a single string"):
            list(strict_pairs(*sides))
