"""The n-grams that may add to REP: those that hashes cannot tell from another of their segment.

All others occur once, and count for nothing. The candidates' words are compared exactly, so that
the counts do not depend on the hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coverage_eval.metrics.hashed_words import HashedWords, Hashes
from coverage_eval.metrics.ngrams import Grams, ngram_codes
from coverage_eval.text.corpus import Segment, tokenize

__all__ = ["Candidates", "find_candidates"]

Integers = NDArray[np.int64]

_LOW_BITS = np.uint64(2**16 - 1)


class Candidates(NamedTuple):
    """N-grams of hypotheses and references, among them all that can be in excess.

    Attributes:
        ngrams: Those of the hypotheses and those of the references.
        doubled: Words twice in a row, of the hypotheses and of the references.
    """

    ngrams: tuple[Grams, Grams]
    doubled: tuple[Grams, Grams]


class _Vocabulary:
    """Gives words their integers, the same for both sides."""

    def __init__(self) -> None:
        self._ids: dict[str | bytes, int] = {}
        self._next = 0

    def identify(self, words: Sequence[str | bytes]) -> Integers:
        first = self._next
        self._next += len(words)
        numbers = map(self._ids.setdefault, words, count(first))
        return np.fromiter(numbers, dtype=np.int64, count=len(words))


class _Places(NamedTuple):
    """The words of one side, as far as they matter, and where candidates start among them."""

    ids: Integers
    segments: Integers
    ngrams: Integers
    doubled: Integers


def find_candidates(
    hypotheses: Sequence[Segment], references: Sequence[Segment], n: int
) -> Candidates:
    """N-grams that hypotheses have twice, words that they double, and the references' like them.

    Args:
        hypotheses: Segments.
        references: As many.
        n: Length of the n-grams.
    """
    vocabulary = _Vocabulary()
    hyp_texts, ref_texts = _lines(hypotheses), _lines(references)
    if hyp_texts is None or ref_texts is None:
        return _compare(
            _all_places(hypotheses, n, vocabulary), _all_places(references, n, vocabulary), n
        )
    hyp = HashedWords.read(hyp_texts)
    first, keys = hyp.ngrams(n, np.arange(len(hyp_texts)))
    repeated = _repeated(keys)
    first, doubled = first[_among(keys, repeated)], hyp.doubled()
    hyp_places = _Places(
        _exact_ids(hyp, first, doubled, n, vocabulary), hyp.segments, first, doubled
    )
    # Only segments that have candidates need their references read.
    numbers = np.unique(hyp.segments[np.concatenate((first, doubled))])
    ref = HashedWords.read([ref_texts[number] for number in numbers.tolist()])
    first, keys = ref.ngrams(n, numbers)
    first, doubled = first[_among(keys, repeated)], ref.doubled()
    ref_places = _Places(
        _exact_ids(ref, first, doubled, n, vocabulary), numbers[ref.segments], first, doubled
    )
    return _compare(hyp_places, ref_places, n)


def _lines(segments: Sequence[Segment]) -> list[str] | None:
    """The segments, if all of them are lines of text; None if one is tokens or has a line end."""
    texts = [segment for segment in segments if isinstance(segment, str)]
    return texts if len(texts) == len(segments) and "\n" not in "".join(texts) else None


def _repeated(keys: Hashes) -> Hashes:
    """The keys that occur twice or more, ascending."""
    keys = np.sort(keys)
    twice: Hashes = keys[1:][keys[1:] == keys[:-1]]
    return twice


def _among(keys: Hashes, few: Hashes) -> NDArray[np.bool_]:
    """Which keys are among a few, which ascend."""
    found = np.zeros(len(keys), dtype=bool)
    if not len(few):
        return found
    # Most keys are of segments without any of the few: their low bits tell, without a search.
    marked = np.zeros(int(_LOW_BITS) + 1, dtype=bool)
    marked[few & _LOW_BITS] = True
    places = np.flatnonzero(marked[keys & _LOW_BITS])
    near = np.searchsorted(few, keys[places])
    found[places] = few[np.minimum(near, len(few) - 1)] == keys[places]
    return found


def _exact_ids(
    side: HashedWords, ngrams: Integers, doubled: Integers, n: int, vocabulary: _Vocabulary
) -> Integers:
    """An integer for each word of a candidate, the same for equal words; 0 for other words."""
    changes = np.zeros(len(side.starts) + 1, dtype=np.int64)
    for first, length in ((ngrams, n), (doubled, 2)):
        np.add.at(changes, first, 1)
        np.add.at(changes, first + length, -1)
    wanted = np.flatnonzero(np.cumsum(changes[:-1]))
    result = np.zeros(len(side.starts), dtype=np.int64)
    result[wanted] = vocabulary.identify(side.words(wanted))
    return result


def _all_places(segments: Sequence[Segment], n: int, vocabulary: _Vocabulary) -> _Places:
    """All words and n-grams of a side whose segments are not all lines of text."""
    tokens = [tokenize(segment) for segment in segments]
    numbers = np.repeat(np.arange(len(tokens)), [len(words) for words in tokens])
    starts = [
        np.flatnonzero(numbers[: max(0, len(numbers) - length + 1)] == numbers[length - 1 :])
        for length in (n, 2)
    ]
    ids = vocabulary.identify([word for words in tokens for word in words])
    return _Places(ids, numbers, *starts)


def _compare(hyp: _Places, ref: _Places, n: int) -> Candidates:
    """Codes of both sides' candidates from one count, so that they can be compared."""
    ids = np.concatenate((hyp.ids, ref.ids))
    segments = np.concatenate((hyp.segments, ref.segments))
    offset = len(hyp.ids)
    codes = ngram_codes(ids, np.concatenate((hyp.ngrams, ref.ngrams + offset)), n)
    cut = len(hyp.ngrams)
    return Candidates(
        ((codes[:cut], hyp.segments[hyp.ngrams]), (codes[cut:], ref.segments[ref.ngrams])),
        (
            _really_doubled(ids, segments, hyp.doubled),
            _really_doubled(ids, segments, ref.doubled + offset),
        ),
    )


def _really_doubled(ids: Integers, segments: Integers, first: Integers) -> Grams:
    """The words at some places that are equal to their next, and their segments."""
    first = first[ids[first] == ids[first + 1]]
    return ids[first], segments[first]
