"""What Meteor knows of a word: its identity, stem and synsets, whether it is a function word."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.meteor.resources import (
    INSTALL,
    package_version,
    read_function_words,
    read_inflections,
    read_synsets,
)

# WordNet's suffix rules for nouns, verbs and adjectives, in Meteor's order: (suffix, replacement).
_SUFFIX_RULES = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"),
    ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y"),
    ("s", ""), ("ies", "y"), ("es", "e"), ("es", ""),
    ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
    ("er", ""), ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip


def java_hash(text: str) -> int:
    """Java's ``String.hashCode``, modulo 2**32: Meteor compares words and stems by it.

    >>> java_hash("Aa") == java_hash("BB")
    True
    """
    value = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        value = (31 * value + 256 * high + low) & 0xFFFFFFFF
    return value


class Word:
    """What Meteor knows of a word; stem and synsets are looked up when they are first asked for.

    Attributes:
        text: The word.
        key: The number by which Meteor's exact matcher compares words.
        is_function: Whether the word, lowercased, is a function word.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.key = java_hash(text)
        self.is_function = text.lower() in read_function_words()

    @cached_property
    def stem_key(self) -> int:
        """The number by which Meteor's stem matcher compares words; stems keep their case."""
        return java_hash(_load_stemmer()(self.text))

    @cached_property
    def synsets(self) -> frozenset[str]:
        """The synset numbers of the word and of its base forms."""
        return find_synsets(self.text)


@cache
def get_word(text: str) -> Word:
    """The one :class:`Word` of a text: a corpus repeats its words."""
    return Word(text)


@cache
def _load_stemmer() -> Callable[[str], str]:
    """The English Snowball stemmer as it was when Meteor 1.5 was made.

    The class is imported by its own name, since ``snowballstemmer.stemmer`` silently prefers
    another package (PyStemmer) where there is one, whose version is not known to fit.
    """
    installed = package_version("snowballstemmer")
    try:
        from snowballstemmer.english_stemmer import EnglishStemmer
    except ImportError as error:
        raise MissingDependencyError(
            f"METEOR needs its stemmer (package snowballstemmer is missing): {INSTALL}"
        ) from error
    if int(installed.partition(".")[0]) >= 3:
        raise MissingDependencyError(
            f"METEOR needs snowballstemmer before version 3, whose stems differ from Meteor's; "
            f"installed is {installed}: {INSTALL}"
        )
    stem_word: Callable[[str], str] = EnglishStemmer().stemWord
    return stem_word


def find_synsets(word: str) -> frozenset[str]:
    """The synset numbers of a word and of its base forms; empty if WordNet has none of them."""
    entries = read_synsets()
    found = set(entries.get(word, "").split())
    for base in _base_forms(word, entries):
        found.update(entries.get(base, "").split())
    return frozenset(found)


def _base_forms(word: str, entries: dict[str, str]) -> tuple[str, ...]:
    """The irregular bases of a word, else the first regular one that WordNet lists."""
    bases = read_inflections().get(word)
    if bases is not None:
        return bases
    if len(word) <= 2 or word.endswith("ss"):
        return ()
    for suffix, replacement in _SUFFIX_RULES:
        if word.endswith(suffix):
            base = word[: -len(suffix)] + replacement
            if base in entries:
                return (base,)
    return ()
