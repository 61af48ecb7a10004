"""Meteor's four matchers: exact, stem, synonym and paraphrase candidates of a sentence pair."""

from __future__ import annotations

from collections.abc import Sequence

from coverage_eval.metrics.meteor.aligner import Candidate
from coverage_eval.metrics.meteor.lexicon import Lexicon
from coverage_eval.metrics.meteor.paraphrases import PhraseMatch

__all__ = ["EXACT", "MODULES", "PARAPHRASE", "STEM", "SYNONYM", "find_candidates"]

EXACT, STEM, SYNONYM, PARAPHRASE = range(4)

MODULES = ("exact", "stem", "synonym", "paraphrase")
"""The matchers' names; a matcher's place in this list is its number."""


def find_candidates(
    hypothesis: list[str],
    reference: list[str],
    lexicon: Lexicon,
    modules: Sequence[int],
    phrases: Sequence[PhraseMatch] = (),
) -> list[list[Candidate]]:
    """All candidate matches of a pair, listed where they start in the reference.

    At each position the modules follow each other, and within a module the order is from left to
    right in the hypothesis (paraphrases: in the order given). A pair of words may be found by
    several modules, and is then listed by each.

    Args:
        hypothesis: The hypothesis's tokens.
        reference: The reference's tokens.
        lexicon: What is known of single words.
        modules: Which matchers run, in ascending order. Of two equal token lists only exact ones
            are sought.
        phrases: The paraphrases found, as (reference start, hypothesis start, hypothesis length,
            reference length), in Meteor's order.

    Returns:
        One list per reference position.
    """
    found: list[list[Candidate]] = [[] for _ in reference]
    keys, reference_keys = lexicon.keys(hypothesis), lexicon.keys(reference)
    _add_equal(found, keys, reference_keys)
    if hypothesis == reference:
        return found
    if STEM in modules:
        stems, reference_stems = lexicon.stem_keys(hypothesis), lexicon.stem_keys(reference)
        _add_stems(found, (keys, stems), (reference_keys, reference_stems))
    if SYNONYM in modules:
        synsets, reference_synsets = lexicon.synsets(hypothesis), lexicon.synsets(reference)
        _add_synonyms(found, (keys, synsets), (reference_keys, reference_synsets))
    for position, start, length, reference_length in phrases:
        found[position].append(Candidate(start, length, reference_length, PARAPHRASE))
    return found


def _positions(values: list[int]) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    return places


def _add_equal(found: list[list[Candidate]], keys: list[int], reference_keys: list[int]) -> None:
    places = _positions(keys)
    for position, key in enumerate(reference_keys):
        for start in places.get(key, ()):
            found[position].append(Candidate(start, 1, 1, EXACT))


def _add_stems(
    found: list[list[Candidate]],
    hypothesis: tuple[list[int], list[int]],
    reference: tuple[list[int], list[int]],
) -> None:
    keys, stems = hypothesis
    places = _positions(stems)
    for position, (key, stem) in enumerate(zip(*reference, strict=True)):
        for start in places.get(stem, ()):
            if keys[start] != key:
                found[position].append(Candidate(start, 1, 1, STEM))


def _add_synonyms(
    found: list[list[Candidate]],
    hypothesis: tuple[list[int], list[frozenset[str]]],
    reference: tuple[list[int], list[frozenset[str]]],
) -> None:
    keys, synsets = hypothesis
    known = [(start, keys[start], numbers) for start, numbers in enumerate(synsets) if numbers]
    for position, (key, numbers) in enumerate(zip(*reference, strict=True)):
        if not numbers:
            continue
        for start, other_key, other_numbers in known:
            if key != other_key and not numbers.isdisjoint(other_numbers):
                found[position].append(Candidate(start, 1, 1, SYNONYM))
