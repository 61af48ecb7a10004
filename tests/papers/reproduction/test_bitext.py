"""Byte pairs, vocabularies, minibatches and fertility bounds."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="PyTorch (the nmt extra) is not installed")
pytest.importorskip("tokenizers", reason="tokenizers (the nmt extra) is not installed")

from coverage_eval.attention_maps.subwords import join_words
from coverage_eval.papers.reproduction.bitext import (
    BLANK,
    END,
    START,
    UNKNOWN_ID,
    Bitext,
    BytePairs,
    PieceText,
    Vocabulary,
    make_minibatches,
    prepare,
)
from coverage_eval.papers.reproduction.fertilities import (
    Fertility,
    FertilityBounds,
    FertilityPredictor,
    predict_fertilities,
)
from coverage_eval.papers.reproduction.run_folder import PRESETS, Corpora
from coverage_eval.special_tokens import SINK
from tests.papers.reproduction.conftest import write_corpus

TEXT = ["low low low low low", "lower lower newest newest newest newest", "widest widest widest"]


def test_byte_pairs_equal_sennrichs():
    """By hand, the most frequent pairs: e+s (7), es+t</w> (7), l+o (7); </w> ends a word."""
    pairs = BytePairs.learn(TEXT, 3)
    assert pairs.split(["lowest"]) == ["lo@@", "w@@", "est"]
    assert len(BytePairs.learn(TEXT, 100).split(["newest", "low"])) == 2


def test_as_many_merges_are_learnt_as_asked_for():
    import json

    for merges in (0, 1, 5):
        model = json.loads(BytePairs.learn(TEXT, merges)._library.to_str())["model"]
        assert len(model["merges"]) == merges


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Z", "Cc"]), min_size=1)))
def test_pieces_join_to_the_words_they_came_from(words):
    """Unseen characters are kept. Words that contain the mark "@@" are not tried."""
    words = [word for word in words if "@@" not in word]
    pieces = BytePairs.learn(TEXT, 5).split(words)
    assert join_words(pieces, "bpe") == " ".join(words)


def test_saved_byte_pairs_split_words_the_same_way(tmp_path):
    pairs = BytePairs.learn(TEXT, 4)
    pairs.save(tmp_path / "bpe.json")
    words = ["lowest", "new", "wüst"]
    assert BytePairs.load(tmp_path / "bpe.json").split(words) == pairs.split(words)


def test_a_vocabulary_is_ordered_by_frequency_and_takes_no_end_mark_from_text(tmp_path):
    vocabulary = Vocabulary.of([["b", "a", "b", "</s>"], ["c", "a"]], SINK)
    assert vocabulary.pieces[4:] == (SINK, "a", "b", "c")
    assert vocabulary.numbers(["b", "x", "</s>", SINK]) == [6, UNKNOWN_ID, UNKNOWN_ID, 4]
    vocabulary.save(tmp_path / "pieces")
    assert Vocabulary.load(tmp_path / "pieces").pieces == vocabulary.pieces


def _text(lengths: list[tuple[int, int]]) -> PieceText:
    return PieceText([("a",) * s + (SINK,) for s, _ in lengths], [("x",) * t for _, t in lengths])


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=20),
    st.integers(1, 5),
)
def test_minibatches_hold_every_sentence_once(lengths, size):
    source, target = Vocabulary([SINK, "a"]), Vocabulary(["x"])
    bounds = [np.append(np.full(s, 2.0), np.inf) for s, _ in lengths]
    batches = make_minibatches(_text(lengths), source, target, bounds, size=size)
    assert sorted(row for batch in batches for row in batch.rows) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch.rows) <= size
        for place, row in enumerate(batch.rows):
            s, t = lengths[row]
            assert batch.sources[place].tolist()[: s + 1] == [5] * s + [4]
            assert batch.before[place].tolist()[: t + 1] == [START] + [4] * t
            assert batch.after[place].tolist()[: t + 1] == [4] * t + [END]
            assert (batch.after[place, t + 1 :] == BLANK).all()
            assert batch.fertilities[place].tolist()[: s + 1] == [2.0] * s + [np.inf]
            assert not batch.fertilities[place, s + 1 :].any()
            padded = batch.sources.shape[1] > s + 1
            assert not padded or not batch.inside[place, s + 1 :].any()
        assert batch.words == sum(lengths[row][1] + 1 for row in batch.rows)
        assert (batch.after.flatten()[batch.places] != BLANK).all()


@pytest.fixture(scope="module")
def bitext(tmp_path_factory: pytest.TempPathFactory) -> Bitext:
    folder = tmp_path_factory.mktemp("prepared")
    corpora = Corpora(**write_corpus(folder, {"train": 300, "valid": 20, "test": 10}))
    return prepare(folder, corpora, merges=300, max_length=50)


def test_fertilities_follow_the_authors_scripts(bitext):
    """1 is added to ACTUAL and PREDICTED bounds, and nothing to CONSTANT and GUIDED ones."""
    predicted = [[np.full(len(s) - 1, 1.5) for s in t.sources] for t in (bitext.valid, bitext.test)]
    bounds = FertilityBounds(bitext, lambda: dict(zip(("valid", "test"), predicted, strict=True)))
    counts = [
        np.maximum(np.bincount([i for i, _ in links], minlength=len(source) - 1), 1)
        for source, links in zip(bitext.train.sources, bitext.train.links, strict=True)
    ]
    largest: dict[str, int] = {}
    for source, row in zip(bitext.train.sources, counts, strict=True):
        for piece, count in zip(source, row.tolist(), strict=False):
            largest[piece] = max(largest.get(piece, 1), count)
    for strategy in ("actual", "predicted"):
        for row, count in zip(bounds.of("train", Fertility(strategy)), counts, strict=True):
            assert row.tolist() == [*(count + 1.0), np.inf]
    for source, row in zip(
        bitext.test.sources, bounds.of("test", Fertility("guided")), strict=True
    ):
        assert row.tolist() == [*(largest.get(piece, 1) for piece in source[:-1]), np.inf]
    assert all(set(row[:-1]) <= {3.0} for row in bounds.of("valid", Fertility("constant", 3)))
    assert all(set(row[:-1]) <= {2.5} for row in bounds.of("test", Fertility("predicted")))
    with pytest.raises(ValueError, match="reference"):
        bounds.of("test", Fertility("actual"))
    with pytest.raises(ValueError, match="unknown fertilities"):
        Fertility("lucky")


def test_the_fertility_predictor_learns_and_predicts_by_classes():
    """Fertility n is class n − 1, the last class has all from 8; sinks and padding are left out."""
    torch.manual_seed(0)
    source, target = Vocabulary([SINK, "a"]), Vocabulary(["x"])
    fertilities = [[1, 3, 9], [2]]
    bounds = [np.append(np.array(row) + 1.0, np.inf) for row in fertilities]
    (batch,) = make_minibatches(_text([(3, 1), (1, 1)]), source, target, bounds, size=2)
    model = FertilityPredictor(PRESETS["tiny"], len(source)).eval()
    loss, words = model.objective(batch)
    logs = model(batch).log_softmax(-1)[np.argsort(batch.rows)].detach().numpy()
    wanted = [
        logs[r, i, min(n, 8) - 1] for r, row in enumerate(fertilities) for i, n in enumerate(row)
    ]
    assert words == 4
    assert loss.item() == pytest.approx(-sum(wanted), rel=1e-5)
    for found, row, size in zip(predict_fertilities(model, [batch]), logs, (3, 1), strict=True):
        np.testing.assert_allclose(found, np.exp(row[:size]) @ np.arange(1, 9), rtol=1e-5)


def test_prepared_data_are_read_back(bitext, tmp_path):
    corpora = Corpora(**write_corpus(tmp_path, {"train": 300, "valid": 20, "test": 10}))
    first = prepare(tmp_path, corpora, merges=300, max_length=50)
    second = prepare(tmp_path, corpora, merges=300, max_length=50)
    assert first.train == second.train == bitext.train
    assert first.left_out == 300 - len(first.train.sources)
    assert first.words.model.hash == second.words.model.hash


def test_byte_pairs_are_the_same_each_time(tmp_path):
    """The library's hash maps have another order in each training; ties must not depend on it."""
    letters = random.Random(4).choices("abcdefghij", k=3000)
    text = ["".join(letters[start : start + 5]) for start in range(0, 3000, 5)]
    for number in range(6):
        BytePairs.learn(text, 200).save(tmp_path / f"{number}.json")
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1
    tokens = json.loads((tmp_path / "0.json").read_text(encoding="utf-8"))["added_tokens"]
    assert [token["content"] for token in tokens] == ["<unk>"], "no end of a word is special"
