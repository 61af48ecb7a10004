"""Each segment of a comparison with its marks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coverage_eval.align.aligner import AlignedRow, Aligner
from coverage_eval.compare.evidence import (
    marked_tokenizers,
    marks_of,
    original_pieces,
    output_words,
    source_words,
)
from coverage_eval.compare.table import Comparison
from coverage_eval.core.mark import Mark, MarkKind
from coverage_eval.core.measure import Result
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap


@dataclass(frozen=True)
class ReportOptions:
    """What a report shows besides the scores.

    Attributes:
        title: The title; by default it names the systems.
        command: The command that made it.
        model: Shares of words unknown to the aligner's model, by name.
        attention: Attention maps by system, one for each segment.
        marked: The same texts by further metrics, whose marks are shown, too; by default only those
            of the comparison are.
    """

    title: str | None = None
    command: str | None = None
    model: Mapping[str, float] = field(default_factory=dict)
    attention: Mapping[str, Sequence[AttentionMap]] = field(default_factory=dict)
    marked: Result | None = None


Record = dict[str, Any]


def segment_records(
    comparison: Comparison, options: ReportOptions, only: Collection[int] | None = None
) -> Iterator[Record]:
    """A record for each segment: its texts as words, and for each output what is marked.

    ``source`` (None if it is not known) and ``references`` are lists of words; ``outputs``, in the
    order of the systems, have ``words``. Where the text was written otherwise than its words with
    spaces, ``sourcePieces``, ``referencePieces`` and an output's ``pieces`` are its parts by
    :func:`~coverage_eval.compare.evidence.original_pieces`. The ``links`` of an output, and
    ``referenceLinks``, are alternating source and target positions, or None if not known. An
    output's ``marks`` have a ``kind`` (a
    :attr:`~coverage_eval.core.mark.MarkKind.key`), their ``side``, ``positions``,
    ``text`` and ``amount``; some have the position where it is said ``first``. If given, an output
    also has a map of ``attention`` with weights in hundredths. Positions count from 0.

    Args:
        comparison: The systems.
        options: What to show besides the marks.
        only: The segments to make records of, counted from 0; by default all.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.measured
    systems = result.systems
    found = zip(*(marks_of(options.marked or result, system) for system in systems), strict=True)
    linked: Any = next((m for m in result.metrics.values() if "links" in m.needs), None)
    aligned: Sequence[AlignedRow] = result.answers(linked.requests()[0]) if linked else ()
    source_tokens, tokens = marked_tokenizers(result)
    for index, (row, of_systems) in enumerate(zip(result.rows, found, strict=True)):
        if only is not None and index not in only:
            continue
        links = aligned[index] if linked else None
        source = source_words(result, index)
        outputs = []
        for number, system in enumerate(systems):
            words = output_words(result, system, index)
            marks = [
                _mark(kind, mark)
                for kind, mark in of_systems[number]
                if mark.amount >= kind.least or not kind.faint
            ]
            text = row.hypotheses[number]
            output: Record = {"words": words, "links": None, "marks": marks}
            if links:
                output["links"] = _flat(links.hypotheses[number], linked.aligner, text, words)
            if pieces := original_pieces(text, tokens):
                output["pieces"] = pieces
            if system in options.attention:
                output["attention"] = pack_attention(options.attention[system][index])
            outputs.append(output)
        references = list(map(result.tokens.as_written, row.references))
        record: Record = {
            "source": source,
            "references": references,
            "referenceLinks": [None] * len(references),
            "outputs": outputs,
        }
        if links:
            record["referenceLinks"] = [
                _flat(own, linked.aligner, text, words)
                for own, text, words in zip(
                    links.references, row.references, references, strict=True
                )
            ]
        pieces = original_pieces(row.source or "", source_tokens)
        if pieces and len(pieces) == len(source or ()):
            record["sourcePieces"] = pieces
        found_pieces = [original_pieces(text, result.tokens) for text in row.references]
        if any(found_pieces):
            record["referencePieces"] = found_pieces
        yield record


def _flat(links: Links, aligner: Aligner, text: Segment, words: Sequence[str]) -> list[int] | None:
    """Source and target positions in turns; None if the aligner tokenises the text otherwise."""
    if list(aligner.tokens.as_written(text)) != list(words):
        return None
    return [position for link in links for position in link]


def _mark(kind: MarkKind, mark: Mark) -> Record:
    record: Record = {
        "kind": kind.key,
        "side": mark.side,
        "positions": list(mark.positions),
        "text": mark.text,
        "amount": round(mark.amount, 2),
    }
    if mark.first:
        record["first"] = mark.first[0]
    return record


def pack_attention(item: AttentionMap) -> Record:
    """A map as the page reads it: words of both sides, and weights in percent."""
    return {
        "source": item.source_labels,
        "words": item.hypothesis_labels,
        "weights": (item.weights * 100).round().astype(int).tolist(),
    }
