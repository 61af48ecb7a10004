"""Missing lines and broken outputs, as the report lists them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coverage_eval.comparison.table import Comparison
from coverage_eval.core.result import Result
from coverage_eval.core.sampled_texts import percent
from coverage_eval.outputs.output_errors import GUESSES, KINDS, main_error

MANY_WORDS = 0.02
"""The share of an output's words in no line from which on it is said."""

MAX_PASSAGES = 9
"""Passages that a sentence lists."""


def find_faults(comparison: Comparison) -> Iterator[tuple[str, str, Sequence[int]]]:
    """Missing lines, then outputs of which nothing is left: system, words, and segments from 1."""
    result = comparison.result
    for system in comparison.rows:
        if phrase := _missing_lines(result, system):
            yield system, phrase, ()
        for kind, segments in _output_errors(result, system).items():
            phrase = f"{len(segments):,} of {result.segments:,} outputs {KINDS[kind]}"
            yield system, phrase, [number + 1 for number in segments]


def _missing_lines(result: Result, system: str) -> str:
    """What a system does to documents: ``lacks 3 of 40 lines: 5 to 6, 21``; empty if nothing."""
    documents = result.texts.documents.get(system, ()) if result.texts else ()
    lines = sum(sum(map(bool, document.source_words)) for document in documents)
    passages = [passage for document in documents for passage in document.passages]
    missing = sum(passage.last - passage.first + 1 for passage in passages)
    extra = sum(piece.words for document in documents for piece in document.extra)
    share = extra / max(1, sum(document.output_words for document in documents))
    phrases = [f"has {percent(share)} of its words in no line"] * (share > MANY_WORDS)
    if missing:
        listed = [
            f"{passage.document}: {passage.lines}" if len(documents) > 1 else passage.lines
            for passage in passages[:MAX_PASSAGES]
        ]
        listed += ["…"] * (len(passages) > MAX_PASSAGES)
        # Lines in another order are missing in one place and extra in another.
        is_elsewhere = 2 * extra >= sum(passage.words for passage in passages)
        where = ", or has them elsewhere" if is_elsewhere else ""
        phrases.append(f"lacks {missing:,} of {lines:,} lines{where}: {', '.join(listed)}")
    return " and ".join(phrases)


def _output_errors(result: Result, system: str) -> dict[str, list[int]]:
    """The segments of a system, from 0, whose outputs are wrong as a whole, by kind.

    As many guesses of a kind as complete outputs would have are left out, and empty outputs of
    documents, which are missing lines.
    """
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    are_documents = bool(result.texts and result.texts.documents)
    for segment, errors in result.output_errors.get(system, {}).items():
        kind = main_error(errors).kind
        if not (kind == "empty" and are_documents):
            found[kind].append(segment)
    return {
        kind: segments
        for kind, segments in found.items()
        if len(segments) > GUESSES.get(kind, 0.0) * result.segments
    }
