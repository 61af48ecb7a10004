"""What Meteor knows of a word: its identity, its stem, its synsets, whether it is a function word.

Every answer is remembered by word type, since a corpus repeats its words.
"""

from __future__ import annotations

from collections.abc import Callable

from coverage_eval.errors import MissingDependencyError
from coverage_eval.metrics.meteor.resources import (
    INSTALL,
    package_version,
    read_function_words,
    read_inflections,
    read_synsets,
)

__all__ = ["Lexicon", "find_synsets", "java_hash"]

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


class Lexicon:
    """Word knowledge as ``meteor -l en`` has it; each question is answered once a word type."""

    def __init__(self) -> None:
        self._stem_word = _load_stemmer()
        self._function_words = read_function_words()
        self._keys: dict[str, int] = {}
        self._stem_keys: dict[str, int] = {}
        self._functions: dict[str, bool] = {}
        self._synsets: dict[str, frozenset[str]] = {}

    def keys(self, tokens: list[str]) -> list[int]:
        """The numbers by which Meteor's exact module compares tokens."""
        known = self._keys
        for token in tokens:
            if token not in known:
                known[token] = java_hash(token)
        return [known[token] for token in tokens]

    def stem_keys(self, tokens: list[str]) -> list[int]:
        """The numbers by which Meteor's stem module compares tokens; stems keep their case."""
        known = self._stem_keys
        for token in tokens:
            if token not in known:
                known[token] = java_hash(self._stem_word(token))
        return [known[token] for token in tokens]

    def function_flags(self, tokens: list[str]) -> list[bool]:
        """Whether each token, lowercased, is a function word."""
        known = self._functions
        for token in tokens:
            if token not in known:
                known[token] = token.lower() in self._function_words
        return [known[token] for token in tokens]

    def synsets(self, tokens: list[str]) -> list[frozenset[str]]:
        """The synset numbers of each token: its own and those of its base forms."""
        known = self._synsets
        for token in tokens:
            if token not in known:
                known[token] = find_synsets(token)
        return [known[token] for token in tokens]


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
