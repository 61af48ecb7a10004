"""Which phrases of a hypothesis and its reference paraphrase each other."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import TypeAlias

from coverage_eval.metrics.meteor.candidates import PARAPHRASE
from coverage_eval.metrics.meteor.phrase_table import PhraseTable
from coverage_eval.metrics.meteor.runs import Block, CandidateRun

_Found: TypeAlias = "tuple[int, int, tuple[int, ...]]"
"""(number of a phrase's paraphrase, its number of words, its places)."""


def find_paraphrases(
    table: PhraseTable, hypothesis: list[str], reference: list[str]
) -> list[list[Block]]:
    """The paraphrases in a pair, in the order in which Meteor 1.5 finds them.

    First come the table's phrases in the reference, from left to right and short before long, with
    each paraphrase (in the table's order) and each of its places in the hypothesis; then, in the
    same way, the phrases in the hypothesis with their paraphrases in the reference.

    Returns:
        For each reference position, the candidates that start there.
    """
    hyp, ref = (
        [token.encode("utf-8", "surrogatepass") for token in side]
        for side in (hypothesis, reference)
    )
    found: list[list[Block]] = [[] for _ in reference]
    for starts, size, paraphrases in _search(table, ref, hyp):
        runs = [CandidateRun(places, length, size, PARAPHRASE) for _, length, places in paraphrases]
        for start in starts:
            found[start].extend((run,) for run in runs)
    # Those that start at one place of the hypothesis are ordered by length, then as in the table.
    others: dict[int, list[tuple[tuple[int, int], CandidateRun]]] = {}
    for starts, size, paraphrases in _search(table, hyp, ref):
        for number, length, places in paraphrases:
            run = CandidateRun(starts, size, length, PARAPHRASE)
            for place in places:
                others.setdefault(place, []).append(((size, number), run))
    for place, runs_here in others.items():
        found[place].append(tuple(run for _, run in sorted(runs_here, key=itemgetter(0))))
    return found


def _search(
    table: PhraseTable, text: list[bytes], other: list[bytes]
) -> Iterator[tuple[tuple[int, ...], int, list[_Found]]]:
    """(places, number of words, paraphrases) of each phrase with a paraphrase in another text.

    Of the phrases that start at a place, the shorter ones come first.
    """
    line = b" ".join(other)
    for phrase, starts in _phrases(table, text).items():
        found = []
        for number, paraphrase in enumerate(table.paraphrases(phrase) or ()):
            # Few paraphrases pass this quick test, and few of these are not at word borders.
            if paraphrase in line:
                words = paraphrase.split(b" ")
                if places := _places(words, other):
                    found.append((number, len(words), places))
        if found:
            yield tuple(starts), phrase.count(b" ") + 1, found


def _phrases(table: PhraseTable, text: list[bytes]) -> dict[bytes, list[int]]:
    """The phrases of a text that begin a phrase of the table, with their places."""
    phrases: dict[bytes, list[int]] = {}
    for start in range(len(text)):
        phrase = b""
        for end in range(start, len(text)):
            phrase = phrase + b" " + text[end] if phrase else text[end]
            if table.paraphrases(phrase) is None:
                break
            phrases.setdefault(phrase, []).append(start)
    return phrases


def _places(phrase: list[bytes], text: list[bytes]) -> tuple[int, ...]:
    size = len(phrase)
    return tuple(i for i in range(len(text) - size + 1) if text[i : i + size] == phrase)
