"""Words of the small German–English grammar, with the synonyms its translations may use."""

from __future__ import annotations

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
