"""Rows as a language model leaves them: translations, some with an error that has a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import NamedTuple

from coverage_eval.core.batches import Row

RIGHTLY_EQUAL = (
    "Berlin", "Anna Petrova", "https://example.org/list?page=2", "12 345", "2024-05-01", "OK",
    "mail@example.org", "7 : 3", "Windows 11", "Oslo", "100 %", "ISO 9001", "www.example.org",
)  # fmt: skip
"""Sources that a translation keeps: names, numbers, addresses."""

_REFUSALS = {
    "en": "I'm sorry, but I can't assist with that.",
    "de": "Es tut mir leid, dabei kann ich nicht helfen.",
    "ja": "申し訳ありませんが、お手伝いできません。",
}
_PREAMBLES = {
    "en": ("Here is the translation:\n\n", "Sure! In plain words: "),
    "de": ("Hier ist die Übersetzung:\n\n", "Gerne! In einfachen Worten: "),
    "ja": ("以下は翻訳です：\n\n", "はい！簡単に言うと： "),
}
_NOTES = {
    "en": "\n\nNote: the informal tone of the original was kept.",
    "de": "\n\nHinweis: Der lockere Ton des Originals wurde beibehalten.",
    "ja": "\n\n注：原文のくだけた調子を残しました。",
}
_OTHER_LANGUAGE = (
    "Le vieux monsieur traverse lentement la place devant notre maison.",
    "Demain matin nous irons ensemble au marché avec ses enfants.",
    "Il faut toujours laver les fruits avant de les manger, disait grand-mère.",
    "Personne ne savait encore pourquoi cette fenêtre restait ouverte.",
)
_OTHER_SCRIPT = "старик медленно идёт через площадь ."


class PlantedRow(NamedTuple):
    """A source, an output, and the kind of error that was put into it, and how; empty for none."""

    source: str
    output: str
    kind: str = ""
    how: str = ""

    @property
    def row(self) -> Row:
        """The row to judge."""
        return Row((self.output,), (), self.source)


def plant(pairs: Sequence[tuple[str, str]], language: str, seed: int = 0) -> list[PlantedRow]:
    """Put errors into some translations, about a sixth of them.

    Args:
        pairs: Sources and their translations.
        language: The language of the translations: en, de or ja.
        seed: The seed of the random numbers.
    """
    random = Random(seed)
    rows = [PlantedRow(*pair) for pair in pairs]
    rows[: len(RIGHTLY_EQUAL)] = [PlantedRow(text, text) for text in RIGHTLY_EQUAL]
    places = list(range(len(RIGHTLY_EQUAL), len(rows)))
    random.shuffle(places)

    def loop(output: str) -> str:
        words = output.split()
        size = random.randint(1, min(6, len(words)))
        return " ".join(words + words[-size:] * random.randint(6, 30))

    def list_up(output: str) -> str:
        return f"{output} {', '.join(f'item {n}' for n in range(1, random.randint(9, 40)))}"

    def halve(output: str) -> str:
        words = output.split()
        return " ".join(words[: len(words) // 2])

    def nearly(source: str) -> str:
        words = source.split()
        words[random.randrange(len(words))] = "x"
        return " ".join(words)

    first, second = _PREAMBLES[language]
    foreign = iter(_OTHER_LANGUAGE)
    errors: list[tuple[str, str, int, Callable[[PlantedRow], str]]] = [
        ("empty", "empty", 6, lambda _: random.choice(["", " ", "."])),
        ("untranslated", "the source", 5, lambda row: row.source),
        ("untranslated", "the source but for a word", 3,
         lambda row: nearly(row.source) if row.source.count(" ") > 6 else row.source),
        ("refusal", "a refusal", 6, lambda _: _REFUSALS[language]),
        ("wrong-language", "another language", 4, lambda _: next(foreign)),
        ("wrong-language", "another script", 2, lambda _: _OTHER_SCRIPT),
        ("loop", "a loop", 6, lambda row: loop(row.output)),
        ("loop", "item 1, item 2, …", 3, lambda row: list_up(row.output)),
        ("truncated", "the first half", 14, lambda row: halve(row.output)),
        ("preamble", "'Here is the translation:'", 7, lambda row: first + row.output),
        ("preamble", "'Sure! In plain words:'", 5, lambda row: second + row.output),
        ("note", "a note at the end", 6, lambda row: row.output + _NOTES[language]),
        ("markup", "a code fence", 5, lambda row: f"```\n{row.output}\n```"),
        ("special-token", "an end", 3, lambda row: f"{row.output}</s>"),
        ("special-token", "a reasoning block", 3,
         lambda row: f"<think> {row.source} ? </think> {row.output}"),
        ("markup", "bold", 5, lambda row: f"**{row.output}**"),
        ("markup", "a heading", 3, lambda row: f"## Text\n\n{row.output}"),
        ("untranslated", "the source and the translation", 3,
         lambda row: f"{row.source} = {row.output}"),
        ("loop", "the output twice", 3, lambda row: f"1. {row.output} 2. {row.output}"),
        ("overlong", "three lines more", 4,
         lambda row: " ".join([row.output, *(target for _, target in random.sample(pairs, 3))])),
    ]  # fmt: skip
    for kind, how, count, corrupt in errors:
        for place in [places.pop() for _ in range(count)]:
            rows[place] = PlantedRow(rows[place].source, corrupt(rows[place]), kind, how)
    return rows
