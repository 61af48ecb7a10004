"""Segments as text: source, references and output, with the errors in brackets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from coverage_eval.comparison.evidence import superfluous_words
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.metrics.measure import Result
from coverage_eval.metrics.omissions import FoundSpan
from coverage_eval.metrics.rep import Repetition

_MOST_WORDS = 5
"""Longer phrases are shortened in the middle."""


def marked(tokens: Sequence[str], positions: Collection[int]) -> str:
    """A text with the tokens at some positions in brackets; neighbours share a pair."""
    words = list(tokens)
    for run in _runs(positions):
        words[run.start] = f"[{words[run.start]}"
        words[run.stop - 1] = f"{words[run.stop - 1]}]"
    return " ".join(words)


def repeated_phrases(tokens: Sequence[str], found: Sequence[Repetition]) -> list[str]:
    """The phrases that an output repeats, with positions from 1; a phrase may be many n-grams."""
    return [
        f"'{_shortened(tokens[run.start : run.stop])}' repeated at {_places(run)}"
        for run in _runs({place for item in found for place in _repeated(item)})
    ]


def segment_lines(
    result: Result, names: Sequence[str], index: int, system: int = 0
) -> Iterator[str]:
    """The texts of a segment, with errors in brackets, then the phrases that are repeated.

    Args:
        result: What was measured, with evidence.
        names: The metrics, all with the same tokenisation.
        index: The segment, from 0.
        system: The system, from 0.
    """
    metrics: list[Any] = [result.metrics[name] for name in names]
    aligner = next((m.aligner for m in metrics if hasattr(m, "aligner")), None)
    cut: Tokenizer = next(
        (m.tokens for m in metrics if hasattr(m, "tokens")), (aligner or result).tokens
    )
    cut_source: Tokenizer = aligner.source_tokens if aligner else cut
    row, output, source, phrases = result.rows[index], set[int](), set[int](), list[str]()
    words = cut(row.hypotheses[system])
    for name, metric in zip(names, metrics, strict=True):
        evidence = result.evidence(name)[index][system]
        of_output, of_source = _marks(evidence, additions=getattr(metric, "side", "") == "target")
        output |= of_output
        source |= of_source
        phrases += repeated_phrases(words, evidence.get("repetitions", ()))
    if row.source is not None:
        yield f"source     {marked(cut_source(row.source), source)}"
    for reference in row.references:
        yield f"reference  {marked(cut(reference), ())}"
    yield f"output     {marked(words, output)}"
    yield from dict.fromkeys(phrases)


def _marks(evidence: Any, *, additions: bool) -> tuple[set[int], set[int]]:
    """The positions in output and source that evidence names."""
    output: set[int] = set()
    source: set[int] = set()
    for found in evidence.values():
        for item in found if isinstance(found, list) else ():
            if isinstance(item, Repetition):
                output |= _repeated(item)
            elif isinstance(item, FoundSpan):
                (output if additions else source).update(range(item.start, item.end))
            elif hasattr(item, "position"):  # of dropped words, and lost coverage
                source.add(item.position)
    return output, source


def _repeated(item: Repetition) -> set[int]:
    return {place for run in superfluous_words(item) for place in run}


def _runs(positions: Collection[int]) -> list[range]:
    """Runs of neighbouring positions."""
    found: list[range] = []
    for place in sorted(positions):
        if found and found[-1].stop == place:
            found[-1] = range(found[-1].start, place + 1)
        else:
            found.append(range(place, place + 1))
    return found


def _places(run: range) -> str:
    return str(run.stop) if len(run) == 1 else f"{run.start + 1}–{run.stop}"


def _shortened(words: Sequence[str]) -> str:
    if len(words) <= _MOST_WORDS:
        return " ".join(words)
    return f"{' '.join(words[:3])} … {' '.join(words[-2:])}"
