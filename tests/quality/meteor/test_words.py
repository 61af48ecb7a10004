"""Meteor's English: hashes, stems, function words, synonyms, ``-norm``, and the language check."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coverage_eval as ce
from coverage_eval.core.batches import Row, RowSample
from coverage_eval.core.errors import CorpusWarning
from coverage_eval.core.texts import read_segments
from coverage_eval.core.tokenizers import Segment
from coverage_eval.quality.meteor import METEOR, words
from coverage_eval.quality.meteor.nltk_variant import NLTKMeteor
from coverage_eval.quality.meteor.words import (
    MIN_WORDS,
    check_english,
    find_synsets,
    get_word,
    java_hash,
    normalize,
)
from tests.quality.meteor.texts import DANISH, ENGLISH, GERMAN, JAPANESE


@pytest.mark.parametrize(
    ("text", "value"),
    # Values of java.lang.String.hashCode, modulo 2**32 because Java's can be negative.
    [("", 0), ("a", 97), ("hello", 99162322), ("polygenelubricants", 2**31)],
)
def test_hashes_equal_javas(text, value):
    assert java_hash(text) == value


def test_stems_keep_case_and_are_those_of_snowball_2():
    stem = words.load_stemmer()
    assert stem("networking") == "network"
    assert stem("Dogs") == "Dog"
    assert stem("DOGS") == "DOGS"
    assert stem("university") == "univers"
    assert stem("biologist") == "biologist"
    assert get_word("Dogs").stem_key == java_hash("Dog")


def test_function_words_are_looked_up_in_lower_case():
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
def test_synonyms_share_a_synset(one, other, related):
    shared = find_synsets(one) & find_synsets(other)
    assert bool(shared) == related


def test_the_first_suffix_rule_with_an_entry_is_the_only_one():
    entries = {"glas": "1", "glass": "2", "fly": "3", "tap": "4", "tape": "5"}
    assert words.find_bases("glasses", entries) == ("glass",)
    assert words.find_bases("flies", entries) == ("fly",)
    assert words.find_bases("taped", entries) == ("tape",)
    assert words.find_bases("taper", entries) == ("tap",)
    assert words.find_bases("glass", entries) == ()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Hello, world!", "hello , world !"),
        ('He said: “yes” and ‘no’, ``so\'\'.', 'he said : " yes " and \' no \' , " so " .'),
        ("„low“ «x»", '„ low " « x »'),
        # Substitutions do not overlap: of single letters only every other hyphen goes.
        ("state-of-the-art a-b-c -d e- 3-4", "state of the art a b-c -d e- 3 4"),
        ("a--b a---b a–b a—b --", "a b a--b a - b a — b -"),
        ("a,b,c 1,000 1,a", "a , b,c 1,000 1 , a"),
        ("Mr. A met no. 5 of No. 5 and No. B", "mr. a met no . 5 of no. 5 and no . b"),
        ("U.S. and U.S.-based p.m., U.S", "us and us based pm , u.s"),
        ("see foo.bar. The 1.5. The", "see foobar the 1.5 . the"),
        # A lower-case ASCII letter after a full stop keeps it in place.
        ("foo. bar foo. Bar foo. été end.", "foo. bar foo . bar foo . été end ."),
        ("a... ... b.. x.y...", "a ... ... b .. x.y ..."),
        ("can't we've John's 1980's 'tis rock'n'roll 5'10\"",
         "can 't we 've john 's 1980 's ' tis rock 'n'roll 5 ' 10 \""),
        ("a@b.com $5 50% x/y a_b &amp;", "a @ b.com $ 5 50 % x / y a _ b & amp ;"),
        # Letters of languages that Meteor does not support are separated one by one.
        ("naïve Straße привет 日本", "naïve straße привет 日 本"),
        ("a\u00a0b\u3000c", "a b c"),
        ("\x01 \x02a b\x1f", "a b"),
        ("", ""),
        ("  ", ""),
        (". .. -", ". .. -"),
    ],
)  # fmt: skip
def test_norm_tokenizes_as_the_jar(text, tokens):
    """The jar was run with ``-norm -writeAlignments``."""
    assert normalize(text).split() == tokens.split()


@given(st.text(max_size=40))
def test_norm_lowercases_any_text_and_replaces_its_marks(text):
    normal = normalize(text)
    assert normal == normal.lower()
    assert set("“”‘’`–\u00a0\u3000").isdisjoint(normal)


def sample_of(rows: Iterable[Row]) -> RowSample:
    return RowSample(rows, [], ["ref"])


def looks_english(segments: Iterable[Segment]) -> bool:
    return not check_english(sample_of(Row((), (segment,)) for segment in segments))


@pytest.mark.parametrize(
    "score", [ce.meteor, lambda hyps, refs: NLTKMeteor().corpus_score(hyps, [refs])]
)
def test_texts_that_are_not_tokenised_are_named(score):
    tokenised = [f"the cat sat on mat {number} , and slept ." for number in range(30)]
    raw = [line.replace(" ,", ",").replace(" .", ".") for line in tokenised]
    for texts, named in (((raw, tokenised), "hypothesis"), ((tokenised, raw), "reference")):
        with pytest.warns(CorpusWarning, match=f"the {named}: 100% .* tokenise all texts alike"):
            score(*texts)
    with pytest.warns(CorpusWarning, match=r"hypothesis .*, the reference .*: METEOR counts what"):
        score(raw, [*raw[1:], raw[0]])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        score(tokenised, [*tokenised[1:], tokenised[0]])
    assert not any("tokenise" in str(warning.message) for warning in said)


@pytest.mark.parametrize("text", [GERMAN, JAPANESE, DANISH])
def test_other_languages_do_not_look_english(text):
    assert not looks_english(text)
    assert not looks_english([line.split() for line in text])
    assert not looks_english([line.upper() for line in text])


def test_english_looks_english():
    assert looks_english(ENGLISH)
    assert looks_english([line.split() for line in ENGLISH])
    assert looks_english([line.upper() for line in ENGLISH])
    assert looks_english(line.replace(" .", ".").replace(" ,", ",") for line in ENGLISH)


def test_a_few_words_are_too_few_to_tell_the_language():
    german = " ".join(GERMAN).replace(" .", "").replace(" ,", "").split()
    few = german[: MIN_WORDS - 1]
    assert looks_english([few])
    assert looks_english([[*few, ".", "12", "%"]])
    assert not looks_english([german[:MIN_WORDS]])
    assert looks_english([])
    assert looks_english(["", "  "] * 100)


@pytest.mark.parametrize(
    "line",
    ["قطة سوداء في البيت", "черная кошка", "μια μαύρη γάτα", "검은 고양이", "काली बिल्ली", "黒い猫"],
)
def test_text_of_another_script_is_no_english_from_the_first_line(line):
    assert not looks_english([line])
    assert not looks_english([f"{line} ({line}) USA"])
    assert looks_english(["the cat and the dog ( черный )", "12 % !"])


def test_both_meteors_warn_only_of_references_in_another_language():
    for metric in (METEOR(), NLTKMeteor()):
        for rows in (
            [Row((line,), (line,), "Haus") for line in ENGLISH],
            [Row((line,), ("the",)) for line in GERMAN],
        ):
            assert metric.check(sample_of(rows)) == ()
        other = sample_of(Row(("the of and",), (line,)) for line in GERMAN)
        (doubt,) = metric.check(other)
        assert "% of the words are English function words" in doubt.message


def test_every_block_of_fifty_real_lines_is_english(shared):
    for folder, other in (("multi30k-de-en", "de"), ("small-enja", "ja")):
        for language in ("en", other):
            lines = list(read_segments(shared / "data" / folder / f"train.{language}"))[:5000]
            parts = [lines[start : start + 50] for start in range(0, len(lines), 50)]
            assert {looks_english(part) for part in parts} == {language == "en"}
