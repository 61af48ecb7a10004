"""Segments as text: source, references and output, with the errors in brackets."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from coverage_eval.compare.evidence import positions_on, tokenizers
from coverage_eval.core.mark import PHRASES, Mark, MarkKind
from coverage_eval.core.measure import Result

_MAX_WORDS = 5
"""Longer phrases are shortened in the middle."""


def marked(tokens: Sequence[str], positions: Collection[int]) -> str:
    """A text with the tokens at some positions in brackets; neighbours share a pair."""
    words = list(tokens)
    for run in _runs(positions):
        words[run.start] = f"[{words[run.start]}"
        words[run.stop - 1] = f"{words[run.stop - 1]}]"
    return " ".join(words)


def phrases_of(
    tokens: Sequence[str], kinds: Sequence[MarkKind], marks: Sequence[Mark]
) -> list[str]:
    """The phrases marked in an output, with positions from 1; each may be many marks."""
    listed = {kind.name: kind.key for kind in kinds if kind.listed == PHRASES}
    said: dict[str, list[Mark]] = {}
    for mark in marks:
        if mark.kind in listed:
            said.setdefault(listed[mark.kind], []).append(mark)
    return [
        f"'{_shortened(tokens[run.start : run.stop])}' {key} at {_places(run)}"
        for key, own in said.items()
        for run in _runs(positions_on("output", own))
    ]


def segment_lines(
    result: Result,
    names: Sequence[str],
    index: int,
    system: int = 0,
) -> Iterator[str]:
    """The texts of a segment, with errors in brackets, then what has no place in them.

    That is text beside the segment that belongs to no line of a document, and repeated phrases.

    Args:
        result: What was measured, with evidence.
        names: The metrics, all with the same tokenisation.
        index: The segment, from 0.
        system: The system, from 0.
    """
    of_source, of_output = tokenizers(result, names)
    row, marks, phrases = result.rows[index], list[Mark](), list[str]()
    words = of_output.as_written(row.hypotheses[system])
    for name in names:
        found = result.evidence(name)[index][system].marks
        marks += found
        phrases += phrases_of(words, result.metrics[name].kinds, found)
    if row.source is not None:
        source = of_source.as_written(row.source)
        yield f"source     {marked(source, positions_on('source', marks))}"
    for reference in row.references:
        yield f"reference  {marked(of_output.as_written(reference), ())}"
    yield f"output     {marked(words, positions_on('output', marks))}"
    yield from (f"no line    {mark}" for mark in dict.fromkeys(marks) if not mark.positions)
    yield from dict.fromkeys(phrases)


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
    if len(words) <= _MAX_WORDS:
        return " ".join(words)
    return f"{' '.join(words[:3])} … {' '.join(words[-2:])}"
