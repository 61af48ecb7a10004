"""Coverage errors put into correct translations, at known rates and places.

``rate`` is the expected number of words that errors concern, per word of the text: words left out,
replaced, or added. So an output with omissions at rate 0.02 lacks about 2 % of its words.

A segment's errors are drawn from the seed and the segment's own text alone. Parts of a text get
what they would get in the whole, as long as the :class:`~coverage_eval.testbed.word_pool.WordPool`
is the same; and with the same seed, what a low rate leaves out, a higher rate leaves out too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import tee
from random import Random
from typing import NamedTuple

from coverage_eval.alignment.aligner import Aligner
from coverage_eval.data.dataset import Row
from coverage_eval.data.tokenizers import Tokenizer
from coverage_eval.errors import DataError
from coverage_eval.testbed.error_kinds import KINDS, Draft, Edit
from coverage_eval.testbed.gold_errors import GoldError
from coverage_eval.testbed.word_pool import WordPool
from fast_align_wrapper.links import Links
from fast_align_wrapper.text import tokenize

HIGHEST_RATE = 0.5

REPAIRS = ("none", "filler", "detached")
"""What takes the place of words left out: nothing, as many function words, or as many words of
another segment."""


class CleanSegment(NamedTuple):
    """A correct translation.

    Attributes:
        words: Its tokens.
        source: The source's tokens; None if they are not known.
        links: Links of source and translation; None if they are not known.
    """

    words: Sequence[str]
    source: Sequence[str] | None = None
    links: Links | None = None


class SpoiltSegment(NamedTuple):
    """The translation with errors, and where they are."""

    words: list[str]
    errors: list[GoldError]


@dataclass(frozen=True)
class Injection:
    """Errors of some kinds at a rate, to be put into segments.

    >>> pool = WordPool.of([["a", "red", "house"]])
    >>> injection = Injection(["omission-word"], 0.3, pool, seed=1)
    >>> links = ((0, 0), (1, 1), (2, 2))
    >>> segment = CleanSegment(["a", "red", "house"], ["ein", "rotes", "haus"], links)
    >>> words, errors = injection.spoil(segment)
    >>> words, [(error.removed, error.source) for error in errors]
    (['a', 'red'], [('house', (2,))])

    Args:
        kinds: Names of :data:`~coverage_eval.testbed.error_kinds.KINDS`; of several, each segment
            gets one, drawn at random.
        rate: Expected words concerned per word, 0 to :data:`HIGHEST_RATE`.
        pool: The text that words and segments are taken from; the same for all parts of a text.
        seed: Seed of the random choices.
        repair: One of :data:`REPAIRS`, for words left out.

    Raises:
        ValueError: An unknown kind or repair, no kind, or a rate out of range.
    """

    kinds: Sequence[str]
    rate: float
    pool: WordPool
    seed: int = 0
    repair: str = "none"

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown or not self.kinds:
            raise ValueError(f"kinds are some of {', '.join(KINDS)}, not {list(self.kinds)}")
        if self.repair not in REPAIRS:
            raise ValueError(f"repair is one of {', '.join(REPAIRS)}, not {self.repair!r}")
        if not 0 <= self.rate <= HIGHEST_RATE:
            raise ValueError(f"rate is from 0 to {HIGHEST_RATE}, not {self.rate}")

    def spoil(self, segment: CleanSegment, number: int = 1) -> SpoiltSegment:
        """Put errors into a segment.

        Args:
            segment: The correct translation.
            number: The segment's number, which the errors name; it moves nothing else.

        Raises:
            DataError: Source and links are needed and not known, too few words are of the class
                to be left out, or there is no other segment to take words from.
        """
        text = "\n".join((" ".join(segment.source or ()), " ".join(segment.words)))
        generator = Random(f"{self.seed}\n{text}")  # noqa: S311 (not for secrets)
        kind = self.kinds[0] if len(self.kinds) == 1 else generator.choice(self.kinds)
        if kind == "untranslated" and (segment.links is None or segment.source is None):
            raise DataError("untranslated words need the source, and links or a model")
        linked = defaultdict(set)
        for source, target in segment.links or ():
            linked[target].add(source)
        draft = Draft(segment.words, segment.source or (), linked, self.rate, self.pool, generator)
        edits = [self._repaired(edit, draft) for edit in KINDS[kind](draft)]
        return _apply(sorted(edits, key=lambda edit: edit[:2]), draft, kind, number, segment.links)

    def _repaired(self, edit: Edit, draft: Draft) -> Edit:
        """The edit with other words in the place of those left out."""
        missing = edit.end - edit.start
        if self.repair == "none" or edit.words or not missing:
            return edit
        if self.repair == "filler":
            words = draft.pool.function_words(missing, draft.generator)
        else:
            words = draft.pool.other_words(missing, draft.words, draft.generator)
        return edit._replace(words=words)


def _apply(
    edits: Sequence[Edit], draft: Draft, kind: str, number: int, links: Links | None
) -> SpoiltSegment:
    """The words after all edits, in their order, and each edit as an error."""
    gone = {place for edit in edits for place in range(edit.start, edit.end)}
    kept = {i for place, found in draft.linked.items() if place not in gone for i in found}
    words: list[str] = []
    errors = []
    done = 0
    for edit in edits:
        words += draft.words[done : edit.start]
        span = (len(words), len(words) + len(edit.words))
        words += edit.words
        done = edit.end
        concerned = set().union(*(draft.linked.get(place, set()) for place in edit.about))
        if edit.end > edit.start:  # what kept words translate is not lost
            concerned -= kept
        positions = None if links is None else tuple(sorted(concerned))
        removed = " ".join(draft.words[edit.start : edit.end])
        errors.append(GoldError(number, kind, span, positions, removed))
    return SpoiltSegment([*words, *draft.words[done:]], errors)


def whole_words(tokens: Tokenizer) -> Tokenizer:
    """How an aligner cuts text into words, but with their case and all their letters."""
    return replace(tokens, lowercase=False, stem=0)


def clean_segments(rows: Iterable[Row], aligner: Aligner | None = None) -> Iterator[CleanSegment]:
    """Rows with one hypothesis, cut into words, and linked with their source.

    Args:
        rows: The rows, with their source.
        aligner: What links them, and how it cuts them; without it, links are not known.

    Raises:
        DataError, AlignerError: As :meth:`~coverage_eval.Aligner.align`.
    """
    if aligner is None:
        for row in rows:
            yield CleanSegment(tokenize(row.hypotheses[0]), tokenize(row.source or ""))
        return
    target, source = map(whole_words, (aligner.tokens, aligner.source_tokens))
    texts, linked = tee(rows)
    for row, aligned in zip(texts, aligner.align(linked), strict=True):
        words = target(row.hypotheses[0])
        yield CleanSegment(words, source(row.source or ""), aligned.hypotheses[0])


def inject_lines(lines: Iterable[str], kind: str, rate: float, seed: int = 0) -> list[str]:
    """Put errors of one kind into a text that is its own pool, without source or links.

    Args:
        lines: The segments, to be split at spaces.
        kind: One of :data:`~coverage_eval.testbed.error_kinds.KINDS` but ``untranslated``.
        rate: As :class:`Injection` takes it.
        seed: Likewise.

    Raises:
        DataError: As :meth:`Injection.spoil` and :meth:`WordPool.of` raise it.
    """
    segments = [tokenize(line) for line in lines]
    injection = Injection([kind], rate, WordPool.of(segments), seed)
    return [" ".join(injection.spoil(CleanSegment(words)).words) for words in segments]
