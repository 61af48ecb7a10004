"""Lists of stop words, named in signatures by size and hash."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from coverage_eval.core.errors import DataError
from coverage_eval.core.files import CorpusWarning, Source, read_segments, source_name
from fast_align_wrapper.text import tokenize


@dataclass(frozen=True)
class StopWords:
    """A set of words, named in signatures by its size and hash; compared as written.

    >>> words = StopWords.of(["the", "a"])
    >>> "the" in words, "The" in words
    (True, False)

    Attributes:
        words: The words.

    Raises:
        TypeError: A single string, whose letters would be the words.
    """

    words: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TypeError("stop words are a list of words, not a single string; split it first")
        object.__setattr__(self, "words", frozenset(self.words))

    @classmethod
    def read(cls, path: Source) -> StopWords:
        """Read one word per line; surrounding white space and empty lines are ignored.

        Raises:
            DataError: As :func:`coverage_eval.core.files.read_segments`; a line has several words.

        Warns:
            CorpusWarning: There are no words.
        """
        words = cls.of(_one_per_line(path))
        if not words:
            message = f"{source_name(path)}: no stop words: the file is empty"
            warnings.warn(message, CorpusWarning, stacklevel=2)
        return words

    @classmethod
    def of(cls, words: Iterable[str]) -> StopWords:
        """The words as a set, without white space around them."""
        if isinstance(words, str):
            return cls(words)  # type: ignore[arg-type]  # which says what is wrong
        return cls(frozenset(word.strip(" \t") for word in words) - {""})

    @cached_property
    def _digest(self) -> str:
        return sha256("\n".join(sorted(self.words)).encode()).hexdigest()[:8]

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def __bool__(self) -> bool:
        return bool(self.words)

    def __str__(self) -> str:
        return f"{len(self.words)}-{self._digest}" if self.words else "none"


def require_stop_words(name: str, value: object) -> None:
    """Raise :class:`TypeError` unless a setting is :class:`StopWords`.

    A string's letters, or a set's order, would be signed without an error.
    """
    if not isinstance(value, StopWords):
        raise TypeError(
            f"{name} must come from StopWords.of(words) or StopWords.read(file), not {value!r:.40}"
        )


def _one_per_line(path: Source) -> Iterator[str]:
    for number, line in enumerate(read_segments(path), start=1):
        if len(tokenize(line)) > 1:
            raise DataError(
                f"{source_name(path)}: line {number}: a list of stop words has one word per line"
            )
        yield line
