"""The map itself, the files of this package, subword merging and links."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.attention_maps import AttentionMap, load, save
from coverage_eval.attention_maps.maps import hard_links
from coverage_eval.attention_maps.subwords import (
    SCHEMES,
    join_pieces,
    merge_subwords,
    recognise_scheme,
    word_starts,
)
from coverage_eval.core.errors import DataError

W = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0]])


def test_tokens_must_match_rows_and_columns():
    with pytest.raises(DataError, match=r"2 × 3 .* has 3 columns, but 2 source tokens"):
        AttentionMap(W, source=("a", "b"))
    with pytest.raises(DataError, match="2 rows, but 1 hypothesis"):
        AttentionMap(W, hypothesis=("a",))


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([[0.5, np.nan]], "nan in row 1, column 2"),
        ([[0.5], [1.1]], "1.1 in row 2, column 1"),
        ([[-0.1]], "-0.1 in row 1"),
        ([[1], [1, 2]], "not a rectangle"),
        ([["a"]], "not a rectangle"),
        ([1.0], "has 1 dimensions"),
    ],
)
def test_input_that_is_not_attention_is_refused(weights, reason):
    with pytest.raises(DataError, match=reason):
        AttentionMap(weights)  # type: ignore[arg-type]


def test_words_are_the_tokens_without_eos():
    item = AttentionMap(W, ("a", "b", "</s>"), ("x", "</s>"), tgt_eos=True, src_eos=True)
    assert item.word_weights.tolist() == [[0.5, 0.25]]
    assert (item.source_words, item.hypothesis_words) == (("a", "b"), ("x",))
    unknown = AttentionMap(W[:, :2], tgt_eos=True)
    assert (unknown.source_labels, unknown.hypothesis_words) == (("1", "2"), ("1",))


def test_a_level_is_one_that_signatures_have():
    with pytest.raises(DataError, match="level 'words' is not one of bpe, word"):
        AttentionMap(W, level="words")  # type: ignore[arg-type]


@pytest.mark.parametrize("ending", ["npz", "jsonl"])
def test_saved_maps_are_loaded_unchanged(ending, tmp_path):
    maps = [
        AttentionMap(W, ("a", "b\u2028", "</s>"), ("x", "</s>"), tgt_eos=True, src_eos=True),
        AttentionMap(np.zeros((0, 2)), ("a", "b"), (), level="word"),
        AttentionMap(np.zeros((2, 0)), (), ("x", "y")),
        AttentionMap(np.eye(2), hard=True),
        AttentionMap(np.array([[1 / 3, 2 / 3]])),
    ]
    path = tmp_path / f"maps.{ending}"
    save(maps, path)
    loaded = load(path)
    for got, expected in zip(loaded, maps, strict=True):
        np.testing.assert_array_equal(got.weights, expected.weights)
        for name in ("source", "hypothesis", "tgt_eos", "src_eos", "level", "hard"):
            assert getattr(got, name) == getattr(expected, name), name
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    content = path.read_bytes()
    save(maps, path)
    assert path.read_bytes() == content


def test_merging_sums_source_pieces_and_averages_target_pieces():
    weights = np.array(
        [[0.1, 0.2, 0.3, 0.4], [0.3, 0.2, 0.1, 0.4], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    )
    source, hypothesis = ("Net@@", "ahu", ".", "</s>"), ("▁Net", "ahu", "▁.", "</s>")
    item = AttentionMap(weights, source, hypothesis, tgt_eos=True, src_eos=True)
    merged = merge_subwords([item])[0]
    assert merged.source == ("Netahu", ".", "</s>")
    assert merged.hypothesis == ("Netahu", ".", "</s>")
    expected = [[0.4, 0.2, 0.4], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    np.testing.assert_allclose(merged.weights, expected)
    assert merged.level == "word"


def test_two_words_are_linked_if_any_of_their_subwords_are():
    item = AttentionMap(np.eye(3), ("a@@", "b", "c"), ("x", "y@@", "z"), hard=True)
    assert merge_subwords([item])[0].weights.tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("tokens", "scheme", "words"),
    [
        ("Obama emp@@ fängt Net@@ any@@ ahu", "bpe", ["Obama", "empfängt", "Netanyahu"]),
        ("▁Hello ▁wor ld .", "sentencepiece", ["Hello", "world."]),
        ("de_DE ▁ Hal lo", "sentencepiece", ["de_DE", "Hallo"]),
        ("Hello ￭, l ￭'￭ eau", "joiner", ["Hello,", "l'eau"]),
        ("Hel lo Ġw Ã¶rt er Ġ!", "byte-level", ["Hello", "wörter", "!"]),
        ("Ġä¸Ń Ġ中 ĠÄ", "byte-level", ["中", "中", "\ufffd"]),
        ("em ##pf ##ängt # 5 ##", "wordpiece", ["empfängt", "#", "5", "##"]),
        ("a b@@ c", "none", ["a", "b@@", "c"]),
        ("cut@@", "bpe", ["cut"]),
        ("", "bpe", []),
    ],
)
def test_schemes_are_recognised_and_their_subwords_joined(tokens, scheme, words):
    pieces = tuple(tokens.split())
    item = AttentionMap(np.zeros((1, len(pieces))), pieces, ("x",))
    merged = merge_subwords([item], source_scheme=scheme)[0]
    assert list(merged.source or ()) == words
    if tokens:
        assert recognise_scheme([pieces], "source") == scheme or scheme == "none"


def test_maltese_words_are_not_taken_for_byte_level_subwords():
    text = ["Ġorġ", "u", "Ġanni", "marru", "l-", "Imdina", "u", "kielu", "ħobż", "biż-", "żejt"]
    assert recognise_scheme([text], "source") == "none"
    assert recognise_scheme([["###", "title", "##", "#5"]], "source") == "none"


def test_a_corpus_has_one_subword_scheme():
    """In a segment without ▁ of a corpus with it, all pieces belong to one word."""
    maps = [
        AttentionMap(np.zeros((1, 2)), ("▁a", "b"), ("x",)),
        AttentionMap(np.zeros((1, 2)), ("a", "b"), ("x",)),
    ]
    assert [item.source for item in merge_subwords(maps)] == [("ab",), ("ab",)]
    mixed = [AttentionMap(np.zeros((1, 2)), ("▁a", "b@@"), ("x",))]
    with pytest.raises(DataError, match=r"several schemes \(@@ and ▁\)"):
        merge_subwords(mixed)
    with pytest.raises(DataError, match=r"segment 1: .* without the source text"):
        merge_subwords([AttentionMap(W)])


def test_merged_weights_above_1_are_refused_with_the_segment():
    item = AttentionMap(np.full((1, 2), 0.75), ("▁a", "b"), ("x",))
    with pytest.raises(DataError, match=r"segment 2: .*has 1.5 in row 1"):
        merge_subwords([AttentionMap(W[:, :1], ("▁a",), ("x", "y")), item])


pieces = st.lists(
    st.sampled_from(["a", "b@@", "▁c", "￭d", "e￭", "▁", "￭", "@@", "Ġf", "##g", "##"]), max_size=8
)


@given(pieces, pieces, st.sampled_from(SCHEMES), st.integers(0, 9))
def test_merging_against_loops(source, hypothesis, scheme, seed):
    weights = np.random.default_rng(seed).random((len(hypothesis), len(source)))
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
    item = AttentionMap(weights, tuple(source), tuple(hypothesis))
    merged = merge_subwords([item], source_scheme=scheme, target_scheme=scheme)[0]

    def groups(tokens: list[str]) -> list[range]:
        starts = word_starts(tokens, scheme)
        return [range(a, b) for a, b in zip(starts, [*starts[1:], len(tokens)], strict=False)]

    expected = [
        [
            sum(weights[t, s] for t in rows for s in columns) / len(rows)
            for columns in groups(source)
        ]
        for rows in groups(hypothesis)
    ]
    loops = np.clip(np.array(expected).reshape(merged.weights.shape), 0, 1)
    np.testing.assert_allclose(merged.weights, loops, atol=1e-12)
    assert merged.source == tuple(
        join_pieces([source[i] for i in g], scheme) for g in groups(source)
    )


def test_links_by_argmax_leave_out_eos_and_words_without_weight():
    weights = np.array([[0.1, 0.3, 0.6], [0.4, 0.4, 0.2], [0, 0, 1], [1, 0, 0]])
    item = AttentionMap(weights, tgt_eos=True, src_eos=True)
    assert hard_links(item) == [(0, 1), (1, 0)]
    for shape in ((0, 3), (3, 0)):
        assert hard_links(AttentionMap(np.zeros(shape))) == []


def test_a_map_of_links_returns_its_links():
    links = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert hard_links(AttentionMap(links, hard=True)) == [(0, 0), (1, 0)]
