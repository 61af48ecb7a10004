"""What the page of a report gets as JSON of each segment.

``frontend/src/data.ts`` says what each field is: it has a ``Contents``, and a ``Segment`` for each
segment. A test compares them with what is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from coverage_eval.align.rows import AlignedRow
from coverage_eval.comparison.evidence import linking_metric, marks_of, shown_marks
from coverage_eval.comparison.table import Comparison
from coverage_eval.core.mark import Mark, MarkKind
from coverage_eval.core.tokenizers import Segment, Span, Tokenizer, segment_text

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap

Steps: TypeAlias = list[int]
"""Pieces of a text: how far each starts behind the end of the one before, and its length, in turns.

Such small numbers are compressed well.
"""


def segment_records(
    comparison: Comparison,
    attention: Mapping[str, Sequence[AttentionMap]],
    function_words: Set[str],
) -> Iterator[dict[str, Any]]:
    """A record for each segment.

    Args:
        comparison: The systems.
        attention: Attention maps by system, one for each segment.
        function_words: Words that are marked quietly alone.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.result
    marks = [marks_of(result, system) for system in result.systems]
    linked = linking_metric(result)
    aligned: Sequence[AlignedRow] = result.answers(linked.requests()[0]) if linked else ()
    for index, row in enumerate(result.rows):
        links = aligned[index] if linked else None
        source = None if row.source is None else segment_text(row.source)
        outputs = []
        for position, (system, segment) in enumerate(
            zip(result.systems, row.hypotheses, strict=True)
        ):
            text = segment_text(segment)
            maps = attention.get(system)
            outputs.append({
                "text": text,
                "words": links and _words(segment, linked.aligner.tokenizer),
                "links": links and list(chain.from_iterable(links.hypotheses[position])),
                "marks": _mark_records(
                    marks[position][index], source or "", text, function_words
                ),
                "attention": None if maps is None else _attention_record(maps[index]),
            })  # fmt: skip
        yield {
            "source": source,
            "sourceWords": links and _words(row.source or "", linked.aligner.source_tokenizer),
            "references": list(map(segment_text, row.nonblank_references)),
            "referenceWords": [
                links and _words(text, linked.aligner.tokenizer) for text in row.nonblank_references
            ],
            "referenceLinks": [
                links and list(chain.from_iterable(links.references[number]))
                for number in range(len(row.nonblank_references))
            ],
            "outputs": outputs,
        }


def _mark_records(
    marks: Sequence[tuple[MarkKind, Mark]], source: str, output: str, function_words: Set[str]
) -> list[dict[str, Any]]:
    units = {"source": _units(source), "output": _units(output)}
    loud = {id(mark) for _, mark in shown_marks(source, marks, function_words)}
    return [
        {
            "kind": kind.key,
            "spans": _steps(units[mark.side], mark.spans),
            "text": mark.phrase or mark.text,
            "quiet": id(mark) not in loud,
        }
        for kind, mark in marks
    ]


def _words(segment: Segment, tokenizer: Tokenizer) -> Steps:
    words = tokenizer.locate(segment)
    return _steps(_units(words.text), words.spans)


def _units(text: str) -> Sequence[int]:
    """Where JavaScript has each character, and the end: those beyond U+FFFF are two units there."""
    if text.isascii() or max(text) <= "\uffff":
        return range(len(text) + 1)
    return [0, *accumulate(1 + (letter > "\uffff") for letter in text)]


def _steps(units: Sequence[int], spans: Iterable[Span]) -> Steps:
    ends = [0, *(units[end] for end in chain.from_iterable(spans))]
    return [end - start for start, end in pairwise(ends)]


def _attention_record(item: AttentionMap) -> dict[str, Any]:
    return {
        "source": list(item.source_labels),
        "words": list(item.hypothesis_labels),
        "weights": (item.weights * 100).round().astype(int).tolist(),
    }
