"""Texts of the demonstration's grammar, and ways to corrupt a text."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import cache

from coverage_eval.core.batches import Texts
from coverage_eval.core.files import ListText
from coverage_eval.core.sampled_texts import SampledTexts
from coverage_eval.core.tokenizers import tokenize
from tests.grammar import Pair, generate

Rows = Sequence[Sequence[str]]


@cache
def pairs(number: int = 500, seed: int = 7) -> list[Pair]:
    return generate(number, seed)


def sources(number: int = 500) -> Rows:
    return [pair.source for pair in pairs(number)]


def targets(number: int = 500) -> Rows:
    return [pair.target for pair in pairs(number)]


def sample(source: Rows | None, reference: Rows | None, **hypotheses: Rows) -> SampledTexts:
    """The sample of these texts that a command would check."""
    texts = Texts(
        {name: ListText(name, rows) for name, rows in hypotheses.items()},
        [] if reference is None else [ListText("ref", reference)],
        None if source is None else ListText("src", source),
    )
    return SampledTexts.tokenize(texts.sample, tokenize, tokenize)


def omit(rows: Rows, rate: float = 0.3) -> Rows:
    generator = random.Random(1)
    return [[token for token in row if generator.random() >= rate] for row in rows]


def repeat(rows: Rows, rate: float = 0.2) -> Rows:
    generator = random.Random(2)
    return [
        [t for token in row for t in [token] * (1 + (generator.random() < rate))] for row in rows
    ]


def confuse(rows: Rows, rate: float = 0.3, seed: int = 3) -> Rows:
    """Replace some words by random words of the text, like a system that is often wrong."""
    generator = random.Random(seed)
    words = [token for row in rows for token in row]
    return [
        [generator.choice(words) if generator.random() < rate else t for t in row] for row in rows
    ]


def blank(rows: Rows, rate: float = 0.3) -> Rows:
    generator = random.Random(4)
    return [[] if generator.random() < rate else row for row in rows]


def shift(rows: Rows, by: int = 1) -> Rows:
    return [*rows[by:], *rows[:by]]


def shift_half(rows: Rows, by: int = 1) -> Rows:
    return [*rows[: len(rows) // 2], *shift(rows[len(rows) // 2 :], by)]


def shuffle(rows: Rows) -> Rows:
    return random.Random(5).sample(rows, len(rows))


def glue(rows: Rows) -> Rows:
    return [re.sub(r" ([.,?!])", r"\1", " ".join(row)).split(" ") for row in rows]


def spell(rows: Rows) -> Rows:
    """Each letter a token."""
    return [list("".join(row)) for row in rows]


def titles(rows: Rows) -> Rows:
    return [[token.title() for token in row] for row in rows]


def subwords(rows: Rows, mark: str) -> Rows:
    """Cut the longer words in two by a pattern ``mark``, such as "{}@@ {}"."""
    return [
        [part for t in row for part in (mark.format(t[:4], t[4:]).split() if len(t) > 6 else [t])]
        for row in rows
    ]
