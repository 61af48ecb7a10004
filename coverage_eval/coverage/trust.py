"""How far a finder of omissions or additions can be believed on the text at hand.

Errors are planted in some of the user's own segments: a phrase is left out of an output, or a
phrase of another segment is put into it. It is counted how many of these segments are flagged, by
the finder, the other outputs and the rate of false alarms that the user's own flags have, and how
many were flagged before. Outputs that were flagged before count as false alarms, though some of
them may be errors indeed; references are complete, so they are used instead where there are any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from random import Random

from coverage_eval.core.batches import Row
from coverage_eval.core.errors import DataError
from coverage_eval.core.result import Result
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.coverage.omission_finder import OmissionFinder, sample_of
from coverage_eval.coverage.omissions import FittedFlags

SEGMENTS = 100
"""Segments that get an error; they take some seconds, whatever the size of the text."""

MAX_LENGTH = 400
"""Longer segments, in words, are not used: they take too long."""

MIN_KEPT = 2
"""Words that an output keeps at least."""

_MIN_PHRASE, _MAX_PHRASE = 3, 6
"""Words of a phrase."""

MIN_GAIN = 0.2
"""A finder whose share of planted errors found is not larger by so much than the share of other
segments that it flags says little about the text: its column does not count in verdicts.
Half of the errors would be too much to ask: in paragraphs of WMT23 en-de, a model of captions finds
a third, and the system that it flags significantly more often is the one that people label most."""


@dataclass(frozen=True)
class Trust:
    """What a finder finds of errors planted in the user's own text.

    Attributes:
        side: ``source`` for phrases left out, ``target`` for phrases put in.
        planted: Number of segments with a planted error that were not flagged before.
        found: Number of them that are flagged.
        complete: Number of segments without a planted error.
        false_alarms: Number of them that are flagged.
        of_references: Whether the segments are references, which are complete, or outputs.
    """

    side: str
    planted: int
    found: int
    complete: int
    false_alarms: int
    of_references: bool

    @property
    def share_found(self) -> float:
        """The share of planted errors that are found, 0 to 1; 0 without any."""
        return self.found / self.planted if self.planted else 0.0

    @property
    def is_low(self) -> bool:
        """Whether it finds so little here, beyond false alarms, that it does not count."""
        flagged = self.false_alarms / self.complete if self.complete else 0.0
        return self.share_found - flagged < MIN_GAIN

    @property
    def warning(self) -> str:
        """Why nobody should go by it on this text; empty if it is not :attr:`is_low`."""
        if not self.is_low:
            return ""
        if 2 * self.false_alarms > self.complete:  # the outputs may well have these errors
            return "it flags so many that this text cannot tell errors from false alarms"
        return "it finds so little that its flags say little about this text"

    def __str__(self) -> str:
        errors = "left-out" if self.side == "source" else "inserted"
        texts = "references" if self.of_references else "outputs"
        return (
            f"on your text: {self.found} of {self.planted} {errors} phrases found, "
            f"{self.false_alarms} of {self.complete} {texts} without a planted error flagged"
        )


def estimate_recall(
    finder: OmissionFinder, rows: Sequence[Row], segments: int = SEGMENTS, seed: int = 0
) -> Trust:
    """Plant errors in some segments, and count what a finder finds.

    Args:
        finder: The finder that scored the text, adapted to it.
        rows: The text, or a part of it.
        segments: Number of segments to plant errors in.
        seed: Seed of the segments, and of the errors.

    Raises:
        DataError: No segment is long enough for an error; no source.
        AlignerError: The aligner failed.
    """
    of_references = bool(rows and rows[0].references and not finder.referenced)
    texts, generators = [], []
    # Segments, outputs and errors are drawn by their texts, so that their order does not matter.
    drawn = sorted(
        ((_generator(row, seed), row) for row in rows), key=lambda item: item[0].random()
    )
    for generator, whole in drawn:
        row = _row_of_one(whole, finder, generator, of_references=of_references)
        tokens, words = finder.aligner.tokens(row.hypotheses[0]), _words(row)[0]
        # Words by the tokeniser count for the time, and those between spaces for the error.
        if min(len(tokens), len(words)) >= _MIN_PHRASE + MIN_KEPT and len(tokens) <= MAX_LENGTH:
            texts.append(row)
            generators.append(generator)
        if len(texts) == segments:
            break
    pairs = []
    for number, (row, generator) in enumerate(zip(texts, generators, strict=True)):
        text = _corrupt(number, texts, finder.side, generator)
        if text is not None:
            pairs.append((row, row._replace(hypotheses=(text,))))
    if not pairs:
        raise DataError("no segment is long enough to plant an error in it")
    finder = copy(finder)
    finder.far = ()  # each row has one output, and beside it only the peers that are used
    finder = finder.adapted(sample_of(texts))
    before = [found.is_flagged for found in finder.find(row for row, _ in pairs)]
    after = [found.is_flagged for found in finder.find(row for _, row in pairs)]
    clean = [found for found, was in zip(after, before, strict=True) if not was]
    return Trust(finder.side, len(clean), sum(clean), len(before), sum(before), of_references)


def estimate_recalls(result: Result) -> dict[str, Trust]:
    """How far each metric that flags segments can be believed on a text, by the metric's name.

    A metric whose segments are all too short has none.

    Raises:
        AlignerError: The aligner failed.
    """
    found = {}
    rows = result.texts.sample.rows if result.texts else ()
    for name, metric in result.fitted.items():
        if isinstance(metric, FittedFlags):
            with suppress(DataError):
                found[name] = estimate_recall(metric.finder, rows)
    return found


def trust_sentences(result: Result, trust: Mapping[str, Trust]) -> list[str]:
    """What was found of planted errors, a sentence for each metric."""
    return [
        f"{result.metrics[name].name}, {'; '.join(filter(None, [str(found), found.warning]))}."
        for name, found in trust.items()
    ]


def _generator(row: Row, seed: int) -> Random:
    """Random numbers of a segment, whatever the order of its outputs."""
    texts = sorted(map(segment_text, row.hypotheses + row.peers))
    return Random(f"{seed} {segment_text(row.source or '')} {texts}")  # noqa: S311 (not for secrets)


def _row_of_one(row: Row, finder: OmissionFinder, generator: Random, *, of_references: bool) -> Row:
    """A row with one text in which to plant an error, and the peers that the finder uses."""
    outputs = row.hypotheses + row.peers
    by_text = sorted(range(len(row.hypotheses)), key=lambda n: segment_text(outputs[n]))
    number = generator.choice(by_text)
    text = row.known_references[0] if of_references else outputs[number]
    references = row.references if finder.referenced else ()
    peers = tuple(outputs[index] for index in finder.peers_used(number, row))
    return Row((text,), references, row.source, peers)


def _corrupt(number: int, texts: Sequence[Row], side: str, generator: Random) -> str | None:
    """A text with an error: a phrase less, or a phrase of another segment more.

    Returns:
        The text; None if no phrase can be added, because all segments are equal.
    """
    words, space = _words(texts[number])
    size = min(generator.randint(_MIN_PHRASE, _MAX_PHRASE), len(words) - MIN_KEPT)
    if side == "source":
        start = generator.randrange(len(words) - size + 1)
        return space.join(words[:start] + words[start + size :])
    first = generator.randrange(len(texts))
    others = (_words(row)[0] for row in (*texts[first:], *texts[:first]))
    other = next((other for other in others if other != words), None)
    if other is None:
        return None
    begin = generator.randrange(max(1, len(other) - size + 1))
    start = generator.randrange(len(words) + 1)
    return space.join([*words[:start], *other[begin : begin + size], *words[start:]])


def _words(row: Row) -> tuple[list[str], str]:
    """The words of the text, and what is between them; without spaces, its letters."""
    text = row.hypotheses[0]
    if not isinstance(text, str):
        return list(text), " "
    words = text.split()
    return (words, " ") if len(words) > 1 else (list(text), "")
