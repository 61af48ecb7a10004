"""Escaping, and text that is hard for aligners: odd words, empty sides, long lines."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coverage_eval.core import tokenizers
from fast_align_wrapper import AlignerDataError, AlignerWarning, FastAlign
from fast_align_wrapper.process import find_fast_align
from fast_align_wrapper.text import (
    MARK,
    escape_token,
    prepare_block,
    prepare_pair,
    tokenize,
    unescape_token,
)
from tests.aligner.fake_aligners import someone_elses

odd_characters = st.sampled_from([*"|<>epsa \t\n\v\f\r\0\\20;", MARK, "\ud800", "\u00a0", "é"])
tokens = st.one_of(
    st.text(odd_characters, max_size=6),
    st.text(st.characters(), max_size=4),
    st.sampled_from(["|||", "<eps>", "", MARK]),
)

UNICODE_SPACES = [
    chr(c) for c in range(0x3001)  # U+3000 is the last
    if unicodedata.category(chr(c)) in {"Zs", "Zl", "Zp"} and chr(c) != " "
]  # fmt: skip


@given(st.one_of(tokens, st.lists(tokens, max_size=4).map(" ".join), st.lists(tokens, max_size=4)))
def test_scores_and_links_are_of_the_same_tokens(segment):
    """The wrapper, which is installed alone, too, has fast_align's rule; tokens of ours pass it."""
    words = tokenizers.tokenize(segment)
    assert tokenize(words) == words
    if isinstance(segment, str) and not any(c.isspace() for c in segment if c not in " \t"):
        assert tokenize(segment) == words


@given(st.lists(tokens, max_size=20))
def test_escaping_is_injective(words):
    escaped = [escape_token(word) for word in words]
    assert len(set(escaped)) == len(set(words))


@given(tokens)
def test_escaped_tokens_contain_no_syntax(token):
    escaped = escape_token(token)
    assert escaped not in {"", "|||", "<eps>"}
    assert not set(escaped) & set(" \t\n\v\f\r\0")
    escaped.encode()
    assert unescape_token(escaped) == token


@given(st.lists(st.lists(tokens, max_size=5), min_size=1, max_size=4))
def test_lines_have_the_given_number_of_tokens(segments):
    for segment in segments:
        pair = prepare_pair(1, (segment, segment))
        assert pair.source_length == pair.target_length == len(segment)
        if segment:
            source, target = pair.line.removesuffix(b"\n").split(b" ||| ")
            assert source == target
            assert source.count(b" ") == len(segment) - 1
        else:
            assert pair.line == b""


plain = st.lists(st.sampled_from(["a", "É", "b\u00a0"]), min_size=1, max_size=4).map(" ".join)
segments = st.one_of(
    plain, plain, st.text(odd_characters, max_size=6), st.lists(tokens, max_size=3)
)


@given(st.lists(segments, max_size=5), st.booleans())
def test_text_that_stays_text_has_the_same_tokens(texts, lowercase):
    tokenizer = tokenizers.Tokenizer(lowercase=lowercase)
    assert [*map(tokenize, tokenizer.spaced(texts))] == [*map(tokenizer, texts)]


@given(st.lists(st.tuples(segments, segments), min_size=1, max_size=3))
def test_a_block_is_its_pairs(pairs):
    if block := prepare_block(pairs):
        prepared = [prepare_pair(number, pair) for number, pair in enumerate(pairs, start=1)]
        lines, source_lengths, target_lengths, oversize = zip(*prepared, strict=True)
        assert all(lines)
        assert not any(oversize)
        assert block == (b"".join(lines), sum(source_lengths), sum(target_lengths), False)


@given(st.lists(st.tuples(plain, plain), min_size=1, max_size=3))
def test_plain_pairs_are_a_block(pairs):
    assert prepare_block(pairs) is not None


@pytest.mark.parametrize(
    "pairs", [["ab"], [("a", "b", "c")], [("a",)], [("a", b"b")], [("a", 1)], [("a" * 9000,) * 2]]
)
def test_a_block_leaves_wrong_and_long_pairs_to_be_named(pairs):
    assert prepare_block([("a", "b"), *pairs]) is None


def test_strings_are_split_at_spaces_and_tabs_only():
    pair = prepare_pair(1, (" a\tb\u00a0c  d ", "x"))
    assert pair == ("a b\u00a0c d ||| x\n".encode(), 3, 1, False)


LEXICON = [(f"s{n}", f"t{n}") for n in range(40)]


def corpus(odd_source="s38", odd_target="t38"):
    """400 pairs of a word-for-word language, with one word on each side that can be replaced."""
    names = {"s38": odd_source, "t38": odd_target}
    pairs = []
    for n in range(400):
        words = [LEXICON[(7 * n + 3 * k * k) % 39] for k in range(2 + n % 5)]
        words += [LEXICON[38]] * (n % 3 == 0)
        sides = zip(*words, strict=True)
        pairs.append(tuple([names.get(word, word) for word in side] for side in sides))
    return pairs


@pytest.fixture(scope="module", params=["own", "someone else's"])
def fast_align(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("bin") / "fast_align"
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "own":
            patch.setenv("FAST_ALIGN", str(someone_elses(path, find_fast_align().path)))
        yield


def links_of(pairs):
    with FastAlign.train(pairs) as model:
        return list(model.align(pairs))


@pytest.fixture(scope="module")
def plain_links(fast_align):
    links = links_of(corpus())
    assert all(len(row) >= 2 for row in links)
    return links


ODD_TOKENS = [
    "|||", "<eps>", "a\0b", "\r", "a\tb", "a b", "a\nb", "", MARK, "\x85", "💬", "-" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("odd", zip(ODD_TOKENS[::2], ODD_TOKENS[1::2], strict=True), ids=ascii)
def test_an_odd_word_is_aligned_like_any_other(odd, plain_links):
    assert links_of(corpus(*odd)) == plain_links


def test_every_unicode_space_is_part_of_a_word(plain_links):
    spaces = "".join(UNICODE_SPACES)
    pairs = corpus(f"a{spaces}b", spaces)
    joined = [(" ".join(source), " ".join(target)) for source, target in pairs]
    assert links_of(joined) == plain_links


def with_empty_sides(pairs):
    """Insert pairs with an empty side; also return the new places of the given pairs."""
    empty = [("", ""), (["a"], []), ("  \t ", "b b"), ([], ["x"])]
    rows, indices = [], []
    for number, pair in enumerate(pairs):
        if number % 50 == 0:
            rows += empty
        indices.append(len(rows))
        rows.append(pair)
    rows += empty
    return rows, indices


def test_empty_sides_have_no_links_and_do_not_affect_other_pairs(plain_links):
    pairs, indices = with_empty_sides(corpus())
    with FastAlign.train(pairs) as model:
        links = list(model.align(pairs))
        of_training = [list(model.training_links(m)) for m in ("forward", "reverse", "union")]
        assert model.manifest.pairs == len(pairs)
        assert model.manifest.empty_pairs == len(pairs) - len(indices)
    assert [links[index] for index in indices] == plain_links
    assert all(not row for n, row in enumerate(links) if n not in set(indices))
    for rows in of_training:
        assert len(rows) == len(pairs)
        assert all(bool(row) == (n in set(indices)) for n, row in enumerate(rows))


def test_only_empty_pairs_cannot_be_trained_on(fast_align):
    with pytest.raises(AlignerDataError) as caught:
        FastAlign.train([("", "b"), ("a", "")])
    assert str(caught.value) == "cannot train: no pair of segments has words on both sides"


def test_a_pair_too_long_to_train_on_is_left_out_with_a_warning(plain_links):
    pairs = corpus()
    longer = [pairs[0], ("a " * 10_000, "b " * 10_000), *pairs[1:]]
    warning = "training pair 2: 10000 times 10000 words are too many; it is left out"
    with pytest.warns(AlignerWarning, match=warning):
        model = FastAlign.train(longer)
    with model:
        with pytest.warns(AlignerWarning) as caught:
            links = list(model.align(longer))
        assert [str(warning.message) for warning in caught] == [
            "pair 2: 10000 times 10000 words are too many; it gets no links"
        ]
        assert links == [plain_links[0], (), *plain_links[1:]]
        rows = list(model.training_links())
        assert rows[1] == ()
        assert all(rows[:1] + rows[2:])
