"""Each segment of a comparison with all that is marked in it, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from coverage_eval.comparison.buckets import FrequencyClasses, position_class
from coverage_eval.comparison.compared import Compared
from coverage_eval.comparison.evidence import (
    find_metric,
    findings,
    output_words,
    required_counts,
    superfluous_starts,
    superfluous_words,
)
from coverage_eval.comparison.extras import Extras, Suspect
from coverage_eval.comparison.known_errors import Label, by_segment, is_marked
from coverage_eval.metrics.rep import Repetition
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import Segment

if TYPE_CHECKING:
    from coverage_eval.attention_maps.maps import AttentionMap

Record = dict[str, Any]

LEAST_LOSS = 0.1
"""Coverage of a source word that an output must lose for a mark; nearly every word loses some."""


def segment_records(comparison: Compared, extras: Extras) -> Iterator[Record]:
    """A record for each segment: its texts as words, and for each output what is marked.

    ``source`` (None if it is not known), ``references`` and, of each of ``outputs`` in the order of
    the systems, ``words`` are lists of words; ``links`` of an output, and ``referenceLinks``, are
    source and target positions in turns, None where they are not known. ``marks`` have a ``kind``:
    ``repeated`` words from ``start`` to ``end`` (excluded) that were said ``first`` elsewhere,
    ``dropped`` source words, those whose coverage is ``lost`` by an ``amount`` of 0 to 1, and
    ``suspected`` spans of the source with the ``amount`` of the suspicion.
    Where they are there, an output also has ``labels`` and a map of ``attention``, its weights in
    hundredths. Positions count from 0.

    Args:
        comparison: The systems.
        extras: What is to be shown beside its marks.

    Raises:
        ValueError: The comparison was made from statistics alone.
    """
    counted = required_counts(comparison)
    systems = counted.texts.systems
    found = [
        zip(*(findings(comparison, kind, system) for system in systems), strict=True)
        for kind in ("repetitions", "dropped", "lost")
    ]
    aligned = _Aligned(comparison)
    has_source = counted.texts.has_source
    classes = FrequencyClasses(comparison, extras.frequencies) if has_source else None
    of_segment = {system: by_segment(items) for system, items in extras.labels.items()}
    for index, (row, *evidence) in enumerate(zip(counted.texts.rows, *found, strict=True)):
        source = aligned.source(index)
        outputs = []
        for number, system in enumerate(systems):
            words = output_words(comparison, system, index)
            repetitions, dropped, lost = (items[number] for items in evidence)
            marks = [
                *_repeated(repetitions, len(words)),
                *_dropped(dropped, source, classes),
                *_lost(lost),
                *_suspected(extras.suspects[system][index] if system in extras.suspects else ()),
            ]
            output: Record = {
                "words": words,
                "links": aligned.links(index, number, words),
                "marks": marks,
            }
            if system in of_segment:
                output["labels"] = _labels(of_segment[system][index + 1], marks)
            if system in extras.attention:
                output["attention"] = _attention(extras.attention[system][index])
            outputs.append(output)
        yield {
            "source": source,
            "references": [counted.texts.tokens(text) for text in row.references],
            "referenceLinks": aligned.reference_links(index),
            "outputs": outputs,
        }


class _Aligned:
    """Sources and links of a comparison, as its metrics have seen them."""

    def __init__(self, comparison: Compared) -> None:
        self._counted = required_counts(comparison)
        self._dropped = find_metric(comparison, "dropped")

    def source(self, index: int) -> Sequence[str] | None:
        """The words of a source segment; None if it is not known."""
        if self._dropped is not None:
            found: Sequence[str] | None = self._counted.observed[self._dropped][index].source
            return found
        source = self._counted.texts.rows[index].source
        return None if source is None else self._counted.texts.source_tokens(source)

    def links(self, index: int, number: int, words: Sequence[str]) -> list[int] | None:
        """Links of an output; None if there are none, or of words that are cut otherwise."""
        if self._dropped is None:
            return None
        links = self._counted.observed[self._dropped][index].hypotheses[number]
        return self._flat(links, self._counted.texts.rows[index].hypotheses[number], words)

    def reference_links(self, index: int) -> list[list[int] | None]:
        """Links of each reference, likewise."""
        references = self._counted.texts.rows[index].references
        if self._dropped is None:
            return [None] * len(references)
        found = self._counted.observed[self._dropped][index].references
        tokens = self._counted.texts.tokens
        return [
            self._flat(links, text, tokens(text))
            for text, links in zip(references, found, strict=True)
        ]

    def _flat(self, links: Links, text: Segment, words: Sequence[str]) -> list[int] | None:
        """The positions of links in turns, if the aligner has cut the text into these words."""
        metric: Any = self._counted.metrics[self._dropped or ""]
        if list(metric.aligner.tokens(text)) != list(words):
            return None
        return [position for link in links for position in link]


def _repeated(found: Sequence[Repetition], length: int) -> Iterator[Record]:
    for item in found:
        for start, words in zip(superfluous_starts(item), superfluous_words(item), strict=True):
            yield {
                "kind": "repeated",
                "start": words.start,
                "end": words.stop,
                "first": item.positions[0],
                "ngram": " ".join(item.ngram),
                "place": position_class(start, length),
            }


def _dropped(
    found: Sequence[Any], source: Sequence[str] | None, classes: FrequencyClasses | None
) -> Iterator[Record]:
    for item in found:
        mark: Record = {"kind": "dropped", "position": item.position}
        if source is not None:
            mark["place"] = position_class(item.position, len(source))
        if classes is not None:
            mark["frequency"] = classes[item.word]
        yield mark


def _lost(found: Sequence[Any]) -> Iterator[Record]:
    for item in found:
        if item.lost >= LEAST_LOSS:
            yield {"kind": "lost", "position": item.position, "amount": round(item.lost, 2)}


def _suspected(spans: Sequence[Suspect]) -> Iterator[Record]:
    for span in spans:
        yield {
            "kind": "suspected",
            "start": span.start,
            "end": span.end,
            "amount": round(span.strength, 2),
        }


def _labels(labels: Sequence[Label], marks: Sequence[Record]) -> list[Record]:
    dropped = {mark["position"] for mark in marks if mark["kind"] == "dropped"}
    spans = (range(mark["start"], mark["end"]) for mark in marks if mark["kind"] == "repeated")
    repeated = {position for words in spans for position in words}
    return [
        {
            "kind": label.kind,
            "start": label.hypothesis[0],
            "end": label.hypothesis[1],
            "source": list(label.source or ()),
            "marked": is_marked(label, dropped, repeated),
        }
        for label in labels
    ]


def _attention(item: AttentionMap) -> Record:
    return {
        "source": item.source_labels,
        "words": item.hypothesis_labels,
        "weights": (item.weights * 100).round().astype(int).tolist(),
    }
