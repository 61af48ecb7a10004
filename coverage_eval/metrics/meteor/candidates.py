"""Meteor's four matchers: exact, stem, synonym and paraphrase candidates of a sentence pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from coverage_eval.metrics.meteor.lexicon import Word
from coverage_eval.metrics.meteor.runs import Block, CandidateRun

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

MODULES = ("exact", "stem", "synonym", "paraphrase")
"""The matchers' names; a matcher's place in this list is its number."""

T = TypeVar("T")


def find_candidates(
    hypothesis: Sequence[Word],
    reference: Sequence[Word],
    modules: Sequence[int],
    paraphrases: Sequence[Sequence[Block]] = (),
) -> list[list[Block]]:
    """All candidate matches of a pair, listed where they start in the reference.

    At each position the modules follow each other, and within a module the order is from left to
    right in the hypothesis (paraphrases: in the order given). A pair of words may be found by
    several modules, and is then listed by each.

    Args:
        hypothesis: The hypothesis's words.
        reference: The reference's words.
        modules: Which matchers run, in ascending order. Of two equal segments only exact matches
            are sought.
        paraphrases: For each reference position those that start there, in Meteor's order.

    Returns:
        One list per reference position.
    """
    if hypothesis == reference:
        modules, paraphrases = [EXACT], ()
    by_key = _places(hypothesis, lambda word: word.key)
    by_stem = _places(hypothesis, lambda word: word.stem_key) if STEM in modules else {}
    by_word = _places(hypothesis, lambda word: word) if SYNONYM in modules else {}
    # A word has the same candidates wherever it stands.
    runs = {
        word: _runs(
            by_key.get(word.key, ()),
            _stems(word, hypothesis, by_stem) if by_stem else (),
            _synonyms(word, by_word) if by_word else (),
        )
        for word in set(reference)
    }
    found = [list(runs[word]) for word in reference]
    for here, more in zip(found, paraphrases, strict=False):
        here.extend(more)
    return found


def _places(words: Sequence[Word], kind: Callable[[Word], T]) -> dict[T, list[int]]:
    """Where words of each kind stand."""
    places: dict[T, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(kind(word), []).append(place)
    return places


def _runs(*starts: Sequence[int]) -> list[Block]:
    """Candidates of one word on each side, found by the first modules."""
    return [
        (CandidateRun(tuple(found), 1, 1, module),) for module, found in enumerate(starts) if found
    ]


def _stems(word: Word, hypothesis: Sequence[Word], by_stem: Mapping[int, list[int]]) -> list[int]:
    """The places of the other words with a word's stem."""
    return [i for i in by_stem.get(word.stem_key, ()) if hypothesis[i].key != word.key]


def _synonyms(word: Word, by_word: Mapping[Word, list[int]]) -> list[int]:
    """The places of the other words that share a synset with a word."""
    key, synsets = word.key, word.synsets
    if not synsets:
        return []
    return sorted(
        place
        for other, places in by_word.items()
        if other.key != key and not synsets.isdisjoint(other.synsets)
        for place in places
    )
