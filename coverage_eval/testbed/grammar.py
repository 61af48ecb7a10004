"""A small German–English grammar: parallel sentences whose word links are known.

German verbs stand second, their participles and prefixes at the end of the clause; compounds and
contractions are one word for two; articles agree in gender and case. That is enough for an aligner
to learn something, and to be checked against the truth.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from coverage_eval.testbed.lexicon import (
    ADJECTIVES,
    ADVERBS,
    BEINGS,
    PLACES,
    PREPOSITIONS,
    SYNONYMS,
    THINGS,
    VERBS,
)

_DEFINITE = {
    "nom": {"m": "der", "f": "die", "n": "das"},
    "acc": {"m": "den", "f": "die", "n": "das"},
    "dat": {"m": "dem", "f": "der", "n": "dem"},
}
_INDEFINITE = {
    "nom": {"m": "ein", "f": "eine", "n": "ein"},
    "acc": {"m": "einen", "f": "eine", "n": "ein"},
    "dat": {"m": "einem", "f": "einer", "n": "einem"},
}
_ENDINGS = {
    True: {"nom": {"m": "e", "f": "e", "n": "e"}, "acc": {"m": "en", "f": "e", "n": "e"}},
    False: {"nom": {"m": "er", "f": "e", "n": "es"}, "acc": {"m": "en", "f": "e", "n": "es"}},
}


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and the truth about their words.

    Attributes:
        source: German tokens.
        target: English tokens.
        links: Pairs of source and target position, from 0, ascending.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Unit:
    """German words and the English words that translate them, each linked with each."""

    source: tuple[str, ...]
    target: tuple[str, ...]


_Phrase = list[_Unit]


def generate(pairs: int, seed: int = 0) -> list[Pair]:
    """Make sentence pairs; the same seed gives the same pairs.

    Args:
        pairs: How many.
        seed: Seed of the random choices.
    """
    generator = random.Random(seed)  # noqa: S311 (not for secrets)
    return [_sentence(generator) for _ in range(pairs)]


def paraphrase(tokens: Sequence[str], rate: float, generator: random.Random) -> list[str]:
    """Replace each English word that has a synonym by it, with probability ``rate``."""
    return [
        SYNONYMS[token] if token in SYNONYMS and generator.random() < rate else token
        for token in tokens
    ]


def _sentence(generator: random.Random) -> Pair:
    subject = _noun_phrase(generator, "nom", BEINGS)
    object_ = _noun_phrase(generator, "acc", BEINGS + THINGS)
    place = _place(generator) if generator.random() < 0.6 else []
    adverb = _unit(*generator.choice(ADVERBS)) if generator.random() < 0.5 else None
    predicate = _perfect if generator.random() < 0.4 else _present
    verb, negation = predicate(generator)
    return _clause(verb, negation, subject, object_, place, adverb)


def _present(generator: random.Random) -> tuple[_Unit, _Phrase]:
    """A verb, whose prefix stands last: "heute macht der mann die tür im haus auf"."""
    finite, prefix, _, third, base, _ = generator.choice(VERBS)
    if generator.random() < 0.15:
        return _unit(f"{finite} {prefix}", base), [_unit("nicht", "does not")]
    return _unit(f"{finite} {prefix}", third), []


def _perfect(generator: random.Random) -> tuple[_Unit, _Phrase]:
    """An auxiliary, whose participle stands last: "der mann hat den hund im park gesehen"."""
    _, _, participle, _, _, past = generator.choice(VERBS)
    return _unit(f"hat {participle}", past), []


def _clause(
    verb: _Unit,
    negation: _Phrase,
    subject: _Phrase,
    object_: _Phrase,
    place: _Phrase,
    adverb: _Unit | None,
) -> Pair:
    """The finite verb stands second, after the adverb or else the subject."""
    opening = [adverb] if adverb else []
    first, then = (opening, subject) if adverb else (subject, [])
    stop = _unit(".", ".")
    finite, *last = [(verb, word) for word in verb.source]
    middle = _words([*then, *object_, *negation, *place])
    source = [*_words(first), finite, *middle, *last, *_words([stop])]
    return _pair(source, [*opening, *subject, *negation, verb, *object_, *place, stop])


def _words(phrase: _Phrase) -> list[tuple[_Unit, str]]:
    return [(unit, word) for unit in phrase for word in unit.source]


def _pair(source: Sequence[tuple[_Unit, str]], target: _Phrase) -> Pair:
    english = [(unit, word) for unit in target for word in unit.target]
    links = [
        (i, j)
        for i, (left, _) in enumerate(source)
        for j, (right, _) in enumerate(english)
        if left is right
    ]
    return Pair(tuple(w for _, w in source), tuple(w for _, w in english), tuple(links))


def _unit(source: str, target: str) -> _Unit:
    return _Unit(tuple(source.split()), tuple(target.split()))


def _noun_phrase(
    generator: random.Random, case: str, nouns: Sequence[tuple[str, str, str]]
) -> _Phrase:
    noun, gender, english = generator.choice(nouns)
    definite = generator.random() < 0.6
    adjective = generator.choice(ADJECTIVES) if generator.random() < 0.5 else None
    article = (_DEFINITE if definite else _INDEFINITE)[case][gender]
    following = adjective[1] if adjective else english
    indefinite = "an" if following[0] in "aeiou" else "a"
    phrase = [_unit(article, "the" if definite else indefinite)]
    if adjective:
        phrase.append(_unit(adjective[0] + _ENDINGS[definite][case][gender], adjective[1]))
    return [*phrase, _unit(noun, english)]


def _place(generator: random.Random) -> _Phrase:
    noun, gender, english = generator.choice(PLACES)
    preposition, translation, contracted = generator.choice(PREPOSITIONS)
    article = _DEFINITE["dat"][gender]
    if contracted and article == "dem":
        return [_unit(contracted, f"{translation} the"), _unit(noun, english)]
    return [_unit(preposition, translation), _unit(article, "the"), _unit(noun, english)]
