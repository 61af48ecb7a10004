"""Which phrases of a hypothesis and its reference paraphrase each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from coverage_eval.metrics.meteor.phrase_table import PhraseTable

__all__ = ["PhraseMatch", "find_paraphrases"]

PhraseMatch: TypeAlias = "tuple[int, int, int, int]"
"""(reference start, hypothesis start, hypothesis length, reference length)."""


def find_paraphrases(
    table: PhraseTable, hypothesis: list[str], reference: list[str]
) -> list[PhraseMatch]:
    """The paraphrases in a pair, in the order in which Meteor 1.5 finds them.

    First come the table's phrases in the reference, from left to right and short before long, with
    each paraphrase (in the table's order) and each of its places in the hypothesis; then, in the
    same way, the phrases in the hypothesis with their paraphrases in the reference.
    """
    hyp, ref = (
        [token.encode("utf-8", "surrogatepass") for token in side]
        for side in (hypothesis, reference)
    )
    found = [(r, h, h_size, r_size) for r, r_size, h, h_size in _search(table, ref, hyp)]
    return found + [(r, h, h_size, r_size) for h, h_size, r, r_size in _search(table, hyp, ref)]


def _search(
    table: PhraseTable, text: list[bytes], other: list[bytes]
) -> Iterator[tuple[int, int, int, int]]:
    """(start, length) of each phrase in a text and of its paraphrase in the other text."""
    line = b" ".join(other)
    for start in range(len(text)):
        phrase = b""
        for end in range(start, len(text)):
            phrase = phrase + b" " + text[end] if phrase else text[end]
            paraphrases = table.paraphrases(phrase)
            if paraphrases is None:
                break
            for paraphrase in paraphrases:
                # Few paraphrases pass this quick test, and few of these are not at word borders.
                if paraphrase in line:
                    words = paraphrase.split(b" ")
                    for place in _places(words, other):
                        yield start, end + 1 - start, place, len(words)


def _places(phrase: list[bytes], text: list[bytes]) -> Iterator[int]:
    size = len(phrase)
    return (i for i in range(len(text) - size + 1) if text[i : i + size] == phrase)
