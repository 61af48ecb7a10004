"""How far flags of omissions or additions can be believed on the text at hand.

Errors are planted in some of the user's own outputs that are not flagged: a phrase is left out, or
a phrase of another segment is put in. It is counted how many are flagged then. What is flagged
before may be an error indeed, so it is no false alarm: these are of complete texts that the model
has learnt from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter
from random import Random

from coverage_eval.core.batches import Row
from coverage_eval.core.tokenizers import segment_text
from coverage_eval.coverage.omission_finder import OmissionFinder, sample_of

SEGMENTS = 100
"""Segments that get an error; they take some seconds, whatever the size of the text."""

MAX_LENGTH = 400
"""Longer segments, in words, are not used: they take too long."""

MIN_KEPT = 2
"""Words that an output keeps at least."""

_MIN_PHRASE, _MAX_PHRASE = 3, 6
"""Words of a phrase."""

_MAX_PARTS = 5
"""A sentence says shares in so many parts at most, as in "2 in 5", but for small ones."""


@dataclass(frozen=True)
class Trust:
    """What a finder finds of errors planted in the user's own text.

    Attributes:
        side: ``source`` for phrases left out, ``target`` for phrases put in.
        segments: Number of segments in which an error could be planted.
        planted: Number of them that were not flagged before.
        found: Number of these that are flagged with the error.
        false_alarms: The share of complete texts that are flagged, 0 to 1.
    """

    side: str
    segments: int
    planted: int
    found: int
    false_alarms: float

    @property
    def share_found(self) -> float:
        """The share of planted errors that are found, 0 to 1; 0 without any."""
        return self.found / self.planted if self.planted else 0.0

    def __str__(self) -> str:
        errors = "omissions" if self.side == "source" else "additions"
        about = share_in_words(self.share_found)
        of = " of the" if about in {"none", "all", "nearly all"} else ""
        return (
            f"this model finds {about}{of} planted {errors} here ({self.found} of {self.planted}); "
            f"of complete text it flags {share_in_words(self.false_alarms)}"
        )


def share_in_words(share: float) -> str:
    """A share as people say it.

    >>> [share_in_words(share) for share in (0, 0.007, 0.17, 15 / 46, 0.8, 0.96, 1)]
    ['none', 'about 1 in 100', 'about 1 in 6', 'about 1 in 3', 'about 4 in 5', 'nearly all', 'all']
    """
    if share in {0, 1}:
        return "all" if share else "none"
    if share < 1 / _MAX_PARTS:
        return f"about 1 in {float(f'{1 / share:.1g}'):,.0f}"
    fraction = Fraction(share).limit_denominator(_MAX_PARTS)
    return (
        "nearly all" if fraction == 1 else f"about {fraction.numerator} in {fraction.denominator}"
    )


def estimate_recall(
    finder: OmissionFinder, rows: Sequence[Row], segments: int = SEGMENTS, seed: int = 0
) -> Trust | None:
    """Plant errors in some outputs that are not flagged, and count what a finder finds.

    Args:
        finder: The finder that scored the text.
        rows: The text, or a part of it.
        segments: Number of segments to plant errors in.
        seed: Seed of the segments, and of the errors.

    Returns:
        What it finds; None if no segment is long enough for an error.

    Raises:
        AlignerError: The aligner failed.
    """
    # Outputs and errors are drawn by their texts, so neither their order nor copies matter.
    texts = {}
    for row in rows:
        generator = _generator(row, seed)
        output = generator.choice(sorted(row.hypotheses, key=segment_text))
        references = row.references if finder.model.referenced else ()
        one = Row((output,), references, row.source)
        texts[segment_text(row.source or ""), segment_text(output)] = (generator, one)
    drawn = []
    for _, generator, row in sorted(
        ((g.random(), g, row) for g, row in texts.values()), key=itemgetter(0)
    ):
        tokens, words = finder.model.aligner.tokenizer(row.hypotheses[0]), _words(row)[0]
        # Words by the tokeniser count for the time, and those between spaces for the error.
        if min(len(tokens), len(words)) >= _MIN_PHRASE + MIN_KEPT and len(tokens) <= MAX_LENGTH:
            drawn.append((generator, row))
        if len(drawn) == segments:
            break
    pairs, several = [], [row for _, row in drawn]
    for number, (generator, row) in enumerate(drawn):
        text = _corrupt(number, several, finder.model.side, generator)
        if text is not None:
            pairs.append((row, row._replace(hypotheses=(text,))))
    if not pairs:
        return None
    finder = finder.adapt_to_sample(sample_of(several))
    before = finder.find(row for row, _ in pairs)
    clean = [planted for (_, planted), was in zip(pairs, before, strict=True) if not was.is_flagged]
    found = sum(segment.is_flagged for segment in finder.find(clean))
    false_alarms = finder.nulls[0].false_alarms
    return Trust(finder.model.side, len(pairs), len(clean), found, false_alarms)


def _generator(row: Row, seed: int) -> Random:
    """Random numbers of a segment, whatever the order of its outputs."""
    texts = sorted(map(segment_text, row.hypotheses))
    return Random(f"{seed} {segment_text(row.source or '')} {texts}")  # noqa: S311 (not for secrets)


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
