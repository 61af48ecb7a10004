"""The paraphrase table as a SQLite file, and the search in it, against a plain search."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core.errors import DataError
from coverage_eval.quality.meteor.matching import find_options
from coverage_eval.quality.meteor.paraphrases import (
    PhraseTable,
    find_paraphrases,
    read_table,
    write_table,
)

Pair = tuple[str, str]

PhraseMatch = tuple[int, int, int, int]
"""(reference start, hypothesis start, hypothesis length, reference length)."""

phrases = st.lists(st.sampled_from("abcé"), min_size=1, max_size=4).map(" ".join)
tables = st.lists(st.tuples(phrases, phrases), max_size=25)
texts = st.lists(st.lists(st.sampled_from("abcéx"), max_size=7), min_size=1, max_size=5)


@contextmanager
def stored(table: list[Pair]) -> Iterator[PhraseTable]:
    """The table in a file, open."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "with space and % and ?.sqlite"
        write_table(((a.encode(), b.encode()) for a, b in table), path)
        yield PhraseTable(path)


def positions(text: list[str], phrase: list[str]) -> list[int]:
    size = len(phrase)
    return [i for i in range(len(text) - size + 1) if text[i : i + size] == phrase]


def plain_search(table: list[Pair], hyp: list[str], ref: list[str]) -> list[PhraseMatch]:
    """Meteor's paraphrase matcher, exactly as it is described."""
    pairs = [(source.split(" "), target.split(" ")) for source, target in table]
    found: list[PhraseMatch] = []
    for text, other, in_reference in ((ref, hyp, True), (hyp, ref, False)):
        for start in range(len(text)):
            for size in range(1, len(text) - start + 1):
                for source, target in pairs:
                    if source != text[start : start + size]:
                        continue
                    for position in positions(other, target):
                        match = (start, position, len(target), size)
                        if not in_reference:
                            match = (position, start, size, len(target))
                        found.append(match)
    return found


def matches(table: PhraseTable, hyp: list[str], ref: list[str]) -> list[PhraseMatch]:
    """The paraphrases, in the order of their positions in the reference."""
    found = find_paraphrases(table, hyp, ref)
    assert len(found) == len(ref)
    return [
        (position, *option[0][:3])
        for position, here in enumerate(found)
        for option in find_options(here, position, credit=1)
    ]


@given(tables, texts, texts)
def test_paraphrases_are_those_of_a_plain_search(table, left, right):
    size = min(len(left), len(right))
    hypotheses, references = left[:size], right[:size]
    with stored(table) as index:
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            expected = sorted(plain_search(table, hypothesis, reference), key=itemgetter(0))
            assert matches(index, hypothesis, reference) == expected


def test_paraphrases_of_whole_phrases_and_of_their_beginnings():
    with stored([("a b c", "d"), ("a", "e"), ("a b c", "f g"), ("a", "e")]) as index:
        assert index.paraphrases(b"a b c") == (b"d", b"f g")
        assert index.paraphrases(b"a b") == ()
        assert index.paraphrases(b"a") == (b"e", b"e")
        assert index.paraphrases(b"b") is None


def test_only_whole_words_match_and_odd_characters_do_no_harm():
    with stored([("one", "in"), ("null\0", "in")]) as index:
        assert matches(index, ["inn", "in", "\ud800"], ["one", "\udcff"]) == [(0, 1, 1, 1)]
        assert matches(index, ["in"], ["null\0"]) == [(0, 0, 1, 1)]


def gzip_table(path: Path, table: list[Pair]) -> Path:
    lines = [f"0.5\n{source}\n{target}\n" for source, target in table]
    path.write_bytes(gzip.compress("".join(lines).encode()))
    return path


def test_a_table_is_read_in_order(tmp_path):
    table = [("a b", "c"), ("a b", "d é"), ("e", "f"), ("a", "\x0bb\r")]
    path = gzip_table(tmp_path / "table.gz", table)
    expected = [(source.encode(), target.encode()) for source, target in table]
    assert list(read_table(path)) == expected
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes())[:-1]))
    assert list(read_table(path)) == expected


def test_a_damaged_table_is_refused(tmp_path):
    path = gzip_table(tmp_path / "table.gz", [("a", "b")] * 200)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"table\.gz: damaged paraphrase table"):
        list(read_table(path))
    path.write_bytes(gzip.compress(b"0.5\na\nb\n0.5\n"))
    with pytest.raises(DataError, match="ends within an entry"):
        list(read_table(path))
    path.write_bytes(gzip.compress(b""))
    assert list(read_table(path)) == []
