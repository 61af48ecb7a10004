"""The paraphrase index, and what is found with it, against plain searches of small tables."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coverage_eval.errors import DataError
from coverage_eval.metrics.meteor import phrase_builder
from coverage_eval.metrics.meteor.paraphrases import PhraseMatch, find_paraphrases
from coverage_eval.metrics.meteor.phrase_builder import build_index, read_table
from coverage_eval.metrics.meteor.phrase_index import PhraseIndex

Pair = tuple[str, str]

phrases = st.lists(st.sampled_from("abcé"), min_size=1, max_size=4).map(" ".join)
tables = st.lists(st.tuples(phrases, phrases), max_size=25)
texts = st.lists(st.lists(st.sampled_from("abcéx"), max_size=7), min_size=1, max_size=5)


def index_of(table: list[Pair]) -> PhraseIndex:
    """The index of a table, given in several blocks."""
    blocks = [table[start : start + 7] for start in range(0, len(table), 7)]
    return build_index(([a.encode() for a, _ in b], [t.encode() for _, t in b]) for b in blocks)


def places(text: list[str], phrase: list[str]) -> list[int]:
    size = len(phrase)
    return [i for i in range(len(text) - size + 1) if text[i : i + size] == phrase]


def plain_search(table: list[Pair], hyp: list[str], ref: list[str]) -> list[PhraseMatch]:
    """The description of Meteor's paraphrase matcher, word for word."""
    pairs = [(source.split(" "), target.split(" ")) for source, target in table]
    found: list[PhraseMatch] = []
    for text, other, in_reference in ((ref, hyp, True), (hyp, ref, False)):
        for start in range(len(text)):
            for size in range(1, len(text) - start + 1):
                for source, target in pairs:
                    if source != text[start : start + size]:
                        continue
                    for place in places(other, target):
                        match = (start, place, len(target), size)
                        if not in_reference:
                            match = (place, start, size, len(target))
                        found.append(match)
    return found


@settings(max_examples=150, deadline=None)
@given(tables, texts, texts)
def test_paraphrases_are_those_of_a_plain_search(
    table: list[Pair], left: list[list[str]], right: list[list[str]]
) -> None:
    size = min(len(left), len(right))
    hypotheses, references = left[:size], right[:size]
    expected = [plain_search(table, h, r) for h, r in zip(hypotheses, references, strict=True)]
    assert find_paraphrases(index_of(table), hypotheses, references) == expected


@settings(max_examples=25, deadline=None)
@given(tables.filter(bool))
def test_a_saved_index_is_the_same(table: list[Pair]) -> None:
    index = index_of(table)
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder))
        loaded = PhraseIndex.load(Path(folder))
        assert loaded.vocabulary == index.vocabulary
        for name in ("keys", "levels", "sources", "offsets", "targets"):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(index, name))


def test_an_index_without_a_file_is_not_whole(tmp_path: Path) -> None:
    index_of([("a", "b")]).save(tmp_path)
    (tmp_path / "targets.npy").unlink()
    with pytest.raises(DataError, match="not a whole paraphrase index"):
        PhraseIndex.load(tmp_path)


def test_an_index_with_a_short_file_is_not_whole(tmp_path: Path) -> None:
    index_of([("a", "b"), ("b", "c d")]).save(tmp_path)
    file = tmp_path / "keys.npy"
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(DataError, match="not a whole paraphrase index"):
        PhraseIndex.load(tmp_path)


def write_table(path: Path, table: list[Pair]) -> Path:
    lines = [f"0.5\n{source}\n{target}\n" for source, target in table]
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


@pytest.mark.parametrize("block", [1, 5, 64, 1 << 22])
def test_a_table_is_read_whole_whatever_the_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(phrase_builder, "BLOCK", block)
    table = [("a b", "c"), ("a b", "d é"), ("e", "f")]
    path = write_table(tmp_path / "table.gz", table)
    read = [
        pair for sources, targets in read_table(path) for pair in zip(sources, targets, strict=True)
    ]
    assert read == [(source.encode(), target.encode()) for source, target in table]


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    path = write_table(tmp_path / "table.gz", [("a", "b")] * 200)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"table\.gz: damaged paraphrase table"):
        list(read_table(path))
    path.write_bytes(gzip.compress(b"0.5\na\nb\n0.5\n"))
    with pytest.raises(DataError, match="ends within an entry"):
        list(read_table(path))
    path.write_bytes(gzip.compress(b""))
    assert list(read_table(path)) == []
