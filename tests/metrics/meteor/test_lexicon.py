"""Word knowledge: hashes, stems, function words, synonyms, and the stemmer's version."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.meteor import words
from coverage_eval.metrics.meteor.words import get_word, java_hash


@pytest.mark.parametrize(
    ("text", "value"),
    # As java.lang.String.hashCode gives it; negative there, so taken modulo 2**32 here.
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", 2**31)],
)
def test_java_hash(text: str, value: int) -> None:
    assert java_hash(text) == value


@given(st.text(max_size=8), st.text(max_size=8))
def test_java_hash_of_joined_texts(left: str, right: str) -> None:
    units = len(right.encode("utf-16-be", "surrogatepass")) // 2
    joined = left.encode("utf-16-be", "surrogatepass") + right.encode("utf-16-be", "surrogatepass")
    expected = (java_hash(left) * pow(31, units, 2**32) + java_hash(right)) % 2**32
    assert java_hash(joined.decode("utf-16-be", "surrogatepass")) == expected


def test_stems_keep_case_and_are_those_of_snowball_2() -> None:
    stem = words._load_stemmer()
    assert stem("networking") == "network"
    assert stem("Dogs") == "Dog"
    assert stem("DOGS") == "DOGS"
    assert stem("university") == "univers"
    assert stem("biologist") == "biologist"
    assert get_word("Dogs").stem_key == java_hash("Dog")


def test_function_words_are_looked_up_in_lower_case() -> None:
    texts = ["the", "The", "cat", ",", "“", "‘"]
    assert [get_word(text).is_function for text in texts] == [1, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("one", "other", "related"),
    [
        ("car", "automobile", True),
        ("cars", "automobile", True),
        ("geese", "goose", True),
        ("went", "travelled", True),
        ("Car", "automobile", False),
        ("boss", "bo", False),
        ("as", "a", False),
        ("xyzzyq", "xyzzyq", False),
    ],
)
def test_synonyms(one: str, other: str, related: bool) -> None:
    shared = get_word(one).synsets & get_word(other).synsets
    assert bool(shared) == related


def test_the_first_suffix_rule_with_an_entry_is_the_only_one() -> None:
    entries = {"glas": "1", "glass": "2", "fly": "3", "tap": "4", "tape": "5"}
    assert words._find_bases("glasses", entries) == ("glass",)
    assert words._find_bases("flies", entries) == ("fly",)
    assert words._find_bases("taped", entries) == ("tape",)
    assert words._find_bases("taper", entries) == ("tap",)
    assert words._find_bases("glass", entries) == ()


def test_a_stemmer_that_differs_from_meteor_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "package_version", lambda _: "3.0.1")
    with pytest.raises(MissingDependencyError, match=r"before version 3.*3\.0\.1.*pip install"):
        words._load_stemmer.__wrapped__()
