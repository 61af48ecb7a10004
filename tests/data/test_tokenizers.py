"""Tokenisers: sacreBLEU's own by name, the same for a string and for its tokens."""

from __future__ import annotations

import pickle
from contextlib import suppress
from importlib import import_module

import pytest

from coverage_eval.data.tokenizers import TOKENIZERS, Tokenizer
from coverage_eval.errors import MissingDependencyError

TEXT = 'Die Häuser, d.h. 3.5 "alte" Häuser & 一所房子!'


@pytest.mark.parametrize(
    ("name", "where"),
    [("13a", "13a.Tokenizer13a"), ("intl", "intl.TokenizerV14International"),
     ("zh", "zh.TokenizerZh"), ("char", "char.TokenizerChar")],
)  # fmt: skip
def test_they_are_sacrebleus(name: str, where: str) -> None:
    module, kind = where.split(".")
    theirs = getattr(import_module(f"sacrebleu.tokenizers.tokenizer_{module}"), kind)()
    assert list(Tokenizer(name)(TEXT)) == theirs(TEXT).split()
    assert Tokenizer(name)(TEXT.split()) == Tokenizer(name)(TEXT)
    assert list(Tokenizer(name, lowercase=True)(TEXT)) == theirs(TEXT.lower()).split()


def test_none_splits_and_lowercases_and_nothing_more() -> None:
    assert list(Tokenizer()("A  b.\tc")) == ["A", "b.", "c"]
    assert list(Tokenizer()(["A b", ""])) == ["A b", ""]
    assert list(Tokenizer(lowercase=True)(["A b", "C"])) == ["a b", "c"]
    assert Tokenizer().settings == {"case": "mixed", "tok": "none"}
    assert Tokenizer("zh", lowercase=True).settings == {"case": "lc", "tok": "zh"}


def test_an_unknown_one_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="unknown tokenizer 'x'; one of none, "):
        Tokenizer("x")


@pytest.mark.parametrize("name", TOKENIZERS)
def test_each_tokenizer_works_or_names_what_is_missing(name: str) -> None:
    with suppress(MissingDependencyError):
        assert list(Tokenizer(name)("")) == []


def test_tokenizers_can_be_sent_to_processes() -> None:
    tokens = Tokenizer("13a")
    assert pickle.loads(pickle.dumps(tokens))(TEXT) == tokens(TEXT)
