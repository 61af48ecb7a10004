"""Each segment of a comparison with its marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coverage_eval.align.aligner import AlignedRow, Aligner
from coverage_eval.compare.evidence import marked_tokenizers, marks_of, original_pieces
from coverage_eval.compare.table import Comparison
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
        attention: Attention maps by system, one for each segment.
    """

    title: str | None = None
    command: str | None = None
    attention: Mapping[str, Sequence[AttentionMap]] = field(default_factory=dict)


Record = dict[str, Any]


def segment_records(comparison: Comparison, options: ReportOptions) -> Iterator[Record]:
    """A record for each segment: its texts as words, and for each output what is marked.

    ``source`` (None if it is not known) and ``references`` are lists of words; ``outputs``, in the
    order of the systems, have ``words``. Where the text was written otherwise than its words with
    spaces, ``sourcePieces``, ``referencePieces`` and an output's ``pieces`` are its parts by
    :func:`~coverage_eval.compare.evidence.original_pieces`. The ``links`` of an output, and
    ``referenceLinks``, are alternating source and target positions, or None if not known. An
    output's ``marks`` have a ``kind`` (a :attr:`~coverage_eval.core.mark.MarkKind.key`),
    ``positions`` and ``text``. If given, an output also has a map of ``attention`` with weights in
    hundredths. Positions count from 0.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    result = comparison.measured
    marks = [marks_of(result, system) for system in result.systems]
    linked: Any = next((m for m in result.metrics.values() if "links" in m.needs), None)
    aligned: Sequence[AlignedRow] = result.answers(linked.requests()[0]) if linked else ()
    source_tokens, tokens = marked_tokenizers(result)
    for index, row in enumerate(result.rows):
        links = aligned[index] if linked else None
        outputs = []
        for place, (system, text) in enumerate(zip(result.systems, row.hypotheses, strict=True)):
            words = tokens.as_written(text)
            output: Record = {
                "words": words,
                "links": links and _flat(links.hypotheses[place], linked.aligner, text, words),
                "marks": [
                    {"kind": kind.key, "positions": mark.positions, "text": mark.text}
                    for kind, mark in marks[place][index]
                ],
            }
            if pieces := original_pieces(text, tokens):
                output["pieces"] = pieces
            if system in options.attention:
                output["attention"] = pack_attention(options.attention[system][index])
            outputs.append(output)
        references = [result.tokens.as_written(text) for text in row.references]
        source = None if row.source is None else source_tokens.as_written(row.source)
        record: Record = {
            "source": source,
            "references": references,
            "referenceLinks": [
                links and _flat(links.references[place], linked.aligner, text, words)
                for place, (text, words) in enumerate(zip(row.references, references, strict=True))
            ],
            "outputs": outputs,
        }
        pieces = original_pieces(row.source or "", source_tokens)
        if pieces and len(pieces) == len(source or ()):
            record["sourcePieces"] = pieces
        of_references = [original_pieces(text, result.tokens) for text in row.references]
        if any(of_references):
            record["referencePieces"] = of_references
        yield record


def _flat(links: Links, aligner: Aligner, text: Segment, words: Sequence[str]) -> list[int] | None:
    """Source and target positions in turns; None if the aligner tokenises the text otherwise."""
    if list(aligner.tokens.as_written(text)) != list(words):
        return None
    return [position for link in links for position in link]


def pack_attention(item: AttentionMap) -> Record:
    """A map as the page reads it: words of both sides, and weights in percent."""
    return {
        "source": item.source_labels,
        "words": item.hypothesis_labels,
        "weights": (item.weights * 100).round().astype(int).tolist(),
    }
