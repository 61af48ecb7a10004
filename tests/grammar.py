"""A small German–English grammar: parallel sentences with known word links.

The German verb comes second, and its participle or prefix last; a compound or contraction
translates two words; articles agree in gender and case. An aligner can learn from such sentences,
and tests can compare its links with the true ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

# Noun and gender → English; a compound is one German word and two English ones.
BEINGS: tuple[tuple[str, str, str], ...] = (
    ("mann", "m", "man"), ("frau", "f", "woman"), ("kind", "n", "child"), ("hund", "m", "dog"),
    ("katze", "f", "cat"), ("pferd", "n", "horse"), ("lehrer", "m", "teacher"),
    ("ärztin", "f", "doctor"), ("mädchen", "n", "girl"), ("junge", "m", "boy"),
    ("bäcker", "m", "baker"), ("nachbarin", "f", "neighbour"), ("vogel", "m", "bird"),
)  # fmt: skip

THINGS: tuple[tuple[str, str, str], ...] = (
    ("zeitung", "f", "newspaper"), ("buch", "n", "book"), ("brief", "m", "letter"),
    ("flasche", "f", "bottle"), ("bild", "n", "picture"), ("ball", "m", "ball"),
    ("tasse", "f", "cup"), ("brot", "n", "bread"), ("apfel", "m", "apple"),
    ("lampe", "f", "lamp"), ("auto", "n", "car"), ("schlüssel", "m", "key"),
    ("kamera", "f", "camera"), ("fahrrad", "n", "bicycle"), ("koffer", "m", "suitcase"),
    ("fahrradhelm", "m", "bicycle helmet"), ("kaffeetasse", "f", "coffee cup"),
    ("kochbuch", "n", "cookery book"), ("haustür", "f", "front door"),
    ("regenschirm", "m", "umbrella"), ("sonnenbrille", "f", "sun glasses"),
    ("fenster", "n", "window"), ("schiff", "n", "ship"),
)  # fmt: skip

PLACES: tuple[tuple[str, str, str], ...] = (
    ("garten", "m", "garden"), ("küche", "f", "kitchen"), ("haus", "n", "house"),
    ("park", "m", "park"), ("straße", "f", "street"), ("dorf", "n", "village"),
    ("wald", "m", "forest"), ("stadt", "f", "city"), ("zimmer", "n", "room"),
    ("bahnhof", "m", "railway station"), ("schule", "f", "school"), ("büro", "n", "office"),
)  # fmt: skip

# Preposition with the dative → English, and its contraction with "dem", if there is one.
PREPOSITIONS: tuple[tuple[str, str, str | None], ...] = (
    ("in", "in", "im"), ("vor", "in front of", None), ("hinter", "behind", None),
    ("neben", "beside", None), ("bei", "near", "beim"),
)  # fmt: skip

ADJECTIVES: tuple[tuple[str, str], ...] = (
    ("alt", "old"), ("jung", "young"), ("klein", "small"), ("groß", "big"), ("neu", "new"),
    ("rot", "red"), ("grün", "green"), ("schwarz", "black"), ("freundlich", "friendly"),
    ("müd", "tired"), ("schön", "beautiful"), ("schwer", "heavy"), ("seltsam", "strange"),
    ("berühmt", "famous"), ("nass", "wet"), ("fröhlich", "happy"),
)  # fmt: skip

# Present (with a separated prefix, if any), participle → English third person, base form, past.
VERBS: tuple[tuple[str, str, str, str, str, str], ...] = (
    ("sieht", "", "gesehen", "sees", "see", "saw"),
    ("sucht", "", "gesucht", "looks for", "look for", "looked for"),
    ("findet", "", "gefunden", "finds", "find", "found"),
    ("kauft", "", "gekauft", "buys", "buy", "bought"),
    ("zeigt", "", "gezeigt", "shows", "show", "showed"),
    ("trägt", "", "getragen", "carries", "carry", "carried"),
    ("verliert", "", "verloren", "loses", "lose", "lost"),
    ("holt", "ab", "abgeholt", "picks up", "pick up", "picked up"),
    ("macht", "auf", "aufgemacht", "opens", "open", "opened"),
    ("ruft", "an", "angerufen", "calls", "call", "called"),
    ("hebt", "auf", "aufgehoben", "keeps", "keep", "kept"),
    ("malt", "", "gemalt", "paints", "paint", "painted"),
    ("beschreibt", "", "beschrieben", "describes", "describe", "described"),
    ("putzt", "", "geputzt", "cleans", "clean", "cleaned"),
    ("mag", "", "gemocht", "likes", "like", "liked"),
    ("verkauft", "", "verkauft", "sells", "sell", "sold"),
)  # fmt: skip

ADVERBS: tuple[tuple[str, str], ...] = (
    ("heute", "today"), ("gestern", "yesterday"), ("morgens", "in the morning"),
    ("manchmal", "sometimes"), ("endlich", "at last"), ("vielleicht", "perhaps"),
    ("abends", "in the evening"), ("plötzlich", "suddenly"),
)  # fmt: skip

# What a translator might have written instead, word for word.
SYNONYMS: dict[str, str] = {
    "big": "large", "small": "little", "beautiful": "pretty", "strange": "odd", "child": "kid",
    "picture": "photo", "car": "automobile", "bicycle": "bike", "street": "road",
    "forest": "wood", "city": "town", "buys": "purchases", "shows": "presents",
    "perhaps": "maybe", "beside": "alongside", "happy": "cheerful", "finds": "discovers",
    "found": "discovered", "bought": "purchased", "suddenly": "abruptly", "ship": "boat",
}  # fmt: skip

_DEFINITE = {
    "nom": {"m": "der", "f": "die", "n": "das"},
    "acc": {"m": "den", "f": "die", "n": "das"},
    "dat": {"m": "dem", "f": "der", "n": "dem"},
}
_INDEFINITE = {
    "nom": {"m": "ein", "f": "eine", "n": "ein"},
    "acc": {"m": "einen", "f": "eine", "n": "ein"},
}
_ENDINGS = {
    True: {"nom": {"m": "e", "f": "e", "n": "e"}, "acc": {"m": "en", "f": "e", "n": "e"}},
    False: {"nom": {"m": "er", "f": "e", "n": "es"}, "acc": {"m": "en", "f": "e", "n": "es"}},
}


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and the links of their words.

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

    source: str
    target: str


_Phrase = list[_Unit]


def generate(pairs: int, seed: int = 0) -> list[Pair]:
    """Make sentence pairs; the same seed gives the same pairs.

    Args:
        pairs: The number of pairs.
        seed: Seed of the random choices.
    """
    generator = random.Random(seed)
    return [_sentence(generator) for _ in range(pairs)]


def paraphrase(tokens: Sequence[str], rate: float, generator: random.Random) -> list[str]:
    """Replace English words by their synonyms, each with probability ``rate``."""
    return [
        SYNONYMS[token] if token in SYNONYMS and generator.random() < rate else token
        for token in tokens
    ]


def _sentence(generator: random.Random) -> Pair:
    subject = _noun_phrase(generator, "nom", BEINGS)
    object_ = _noun_phrase(generator, "acc", BEINGS + THINGS)
    place = _place(generator) if generator.random() < 0.6 else []
    adverb = [_Unit(*generator.choice(ADVERBS))] if generator.random() < 0.5 else []
    perfect = generator.random() < 0.4
    finite, prefix, participle, third, base, past = generator.choice(VERBS)
    negation = []
    if perfect:  # "der mann hat den hund im park gesehen"
        verb = _Unit(f"hat {participle}", past)
    elif generator.random() < 0.15:
        verb, negation = _Unit(f"{finite} {prefix}", base), [_Unit("nicht", "does not")]
    else:  # "heute macht der mann die tür im haus auf"
        verb = _Unit(f"{finite} {prefix}", third)
    # The finite verb comes second, after the adverb or else the subject, and its other part last.
    before, after = (adverb, subject) if adverb else (subject, [])
    stop = _Unit(".", ".")
    second, *last = [(verb, word) for word in verb.source.split()]
    middle = _german([*after, *object_, *negation, *place])
    german = [*_german(before), second, *middle, *last, (stop, ".")]
    order = [*adverb, *subject, *negation, verb, *object_, *place, stop]
    english = [(unit, word) for unit in order for word in unit.target.split()]
    links = [
        (i, j)
        for i, (left, _) in enumerate(german)
        for j, (right, _) in enumerate(english)
        if left is right
    ]
    return Pair(tuple(w for _, w in german), tuple(w for _, w in english), tuple(links))


def _german(phrase: _Phrase) -> list[tuple[_Unit, str]]:
    return [(unit, word) for unit in phrase for word in unit.source.split()]


def _noun_phrase(
    generator: random.Random, case: str, nouns: Sequence[tuple[str, str, str]]
) -> _Phrase:
    noun, gender, english = generator.choice(nouns)
    definite = generator.random() < 0.6
    adjective = generator.choice(ADJECTIVES) if generator.random() < 0.5 else None
    article = (_DEFINITE if definite else _INDEFINITE)[case][gender]
    following = adjective[1] if adjective else english
    indefinite = "an" if following[0] in "aeiou" else "a"
    phrase = [_Unit(article, "the" if definite else indefinite)]
    if adjective:
        phrase.append(_Unit(adjective[0] + _ENDINGS[definite][case][gender], adjective[1]))
    return [*phrase, _Unit(noun, english)]


def _place(generator: random.Random) -> _Phrase:
    noun, gender, english = generator.choice(PLACES)
    preposition, translation, contracted = generator.choice(PREPOSITIONS)
    article = _DEFINITE["dat"][gender]
    if contracted and article == "dem":
        return [_Unit(contracted, f"{translation} the"), _Unit(noun, english)]
    return [_Unit(preposition, translation), _Unit(article, "the"), _Unit(noun, english)]
