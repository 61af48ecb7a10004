"""Meteor's four matchers: exact, stem, synonym and paraphrase candidates of a sentence pair."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.metrics.meteor.aligner import Candidate
from coverage_eval.metrics.meteor.lexicon import Word
from coverage_eval.metrics.meteor.paraphrases import PhraseMatch

__all__ = ["EXACT", "MODULES", "PARAPHRASE", "STEM", "SYNONYM", "find_candidates"]

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

MODULES = ("exact", "stem", "synonym", "paraphrase")
"""The matchers' names; a matcher's place in this list is its number."""


def find_candidates(
    hypothesis: Sequence[Word],
    reference: Sequence[Word],
    modules: Sequence[int],
    phrases: Sequence[PhraseMatch] = (),
) -> list[list[Candidate]]:
    """All candidate matches of a pair, listed where they start in the reference.

    At each position the modules follow each other, and within a module the order is from left to
    right in the hypothesis (paraphrases: in the order given). A pair of words may be found by
    several modules, and is then listed by each.

    Args:
        hypothesis: The hypothesis's words.
        reference: The reference's words.
        modules: Which matchers run, in ascending order. Of two equal segments only exact matches
            are sought.
        phrases: The paraphrases found, as (reference start, hypothesis start, hypothesis length,
            reference length), in Meteor's order.

    Returns:
        One list per reference position.
    """
    by_key = _positions([word.key for word in hypothesis])
    found = [_single(by_key.get(word.key, ()), EXACT) for word in reference]
    if hypothesis == reference:
        return found
    if STEM in modules:
        by_stem = _positions([word.stem_key for word in hypothesis])
        for here, word in zip(found, reference, strict=True):
            alike = by_stem.get(word.stem_key, ())
            here.extend(_single([i for i in alike if hypothesis[i].key != word.key], STEM))
    if SYNONYM in modules:
        known = [(i, word) for i, word in enumerate(hypothesis) if word.synsets]
        for here, word in zip(found, reference, strict=True):
            if word.synsets:
                here.extend(_single(_synonyms(word, known), SYNONYM))
    for position, start, length, reference_length in phrases:
        found[position].append(Candidate(start, length, reference_length, PARAPHRASE))
    return found


def _positions(values: Sequence[int]) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    return places


def _single(starts: Sequence[int], module: int) -> list[Candidate]:
    """Candidates of one word on each side."""
    return [Candidate(start, 1, 1, module) for start in starts]


def _synonyms(word: Word, others: Sequence[tuple[int, Word]]) -> list[int]:
    """The places of the other words that share a synset with a word."""
    key, synsets = word.key, word.synsets
    return [
        place
        for place, other in others
        if other.key != key and not synsets.isdisjoint(other.synsets)
    ]
