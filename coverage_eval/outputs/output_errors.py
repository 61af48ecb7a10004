"""Output errors, those of a whole output: empty, a copy of the source, a refusal, a loop.

No threshold decides them, so they are decided before any score. Language models make most of them.
What is usual is learnt from the text at hand: :class:`OutputErrorFinder` learns it from a sample
and then judges each output by itself, so an output is judged alike in one process and in many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from coverage_eval.core.batches import Batch, Request, Row, RowSample, Texts
from coverage_eval.core.counting import map_batches
from coverage_eval.core.errors import Finding
from coverage_eval.core.forms import conversion_command
from coverage_eval.core.sampled_texts import MIN_SEGMENTS, SIGNS_OF_WRONG_FILE
from coverage_eval.core.tokenizers import Segment, Span, segment_text
from coverage_eval.outputs.language import Languages
from coverage_eval.outputs.lengths import LengthProfile, fits_reference, unusual_length
from coverage_eval.outputs.markup import MAY_HAVE_MARKUP, find_markup
from coverage_eval.outputs.parsed_segment import (
    Pair,
    ParsedSegment,
    Vocabulary,
    quote_tokens,
)
from coverage_eval.outputs.preambles import PreambleProfile, find_preamble_and_note, is_refusal
from coverage_eval.outputs.special_tokens import (
    MAY_HAVE_TOKEN,
    find_special_token,
    stripping_command,
)
from coverage_eval.outputs.untranslated import find_untranslated
from coverage_eval.repetition.loops import Loop, find_copies, find_loop

if TYPE_CHECKING:
    from coverage_eval.align.aligner import Aligner

KINDS: Mapping[str, str] = {
    "empty": "have no words where other texts have some",
    "untranslated": "are the source itself, or have parts of it in its language",
    "refusal": "are refusals, or say the same whatever the source says",
    "wrong-language": "are in another language than the references, or the other outputs",
    "loop": "say the same words again and again",
    "special-token": "have marks that are no words, or a model's reasoning",
    "truncated": "stop long before the end",
    "overlong": "say far more than outputs of such sources usually do",
    "preamble": "begin with words that translate nothing",
    "note": "end with words that translate nothing",
    "markup": "have code fences, bold text, headings or quotation marks that the source lacks",
}
"""The kinds of output errors, and what outputs with one do."""

GUESSES: Mapping[str, float] = {"truncated": 0.02, "overlong": 0.005}
"""Kinds that are guesses, and the share of complete outputs that may look so. All others are
certain: filters reject outputs with them, and gates count them."""


class OutputError(NamedTuple):
    """An error of a whole output.

    Attributes:
        kind: Its name, such as ``untranslated``.
        detail: What was seen, such as ``"'the dog ,' 30 times"``; may be empty.
        source_spans: The characters of the source words that it leaves untranslated, if they are
            not all.
    """

    kind: str
    detail: str = ""
    source_spans: tuple[Span, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


@dataclass(frozen=True)
class OutputProfile:
    """What is usual in one system's outputs; what departs from it is an output error."""

    languages: Languages
    lengths: LengthProfile
    preambles: PreambleProfile

    @classmethod
    def learn(
        cls,
        pairs: Iterable[Pair],
        languages: Languages,
        others: Sequence[Segment] = (),
        known: Set[str] = frozenset(),
    ) -> OutputProfile:
        """Learn what is usual from sources and outputs; no habits from fewer than 20 pairs.

        Args:
            pairs: Sources and outputs.
            languages: The languages of all texts.
            others: References; without one, the outputs of other systems.
            known: Without these, words of the language that a model knows.
        """
        # A pair that comes again tells no more than once.
        distinct = {(source.text, output.text): (source, output) for source, output in pairs}
        pairs = [pair for pair in distinct.values() if pair[1].words]
        if len(pairs) < MIN_SEGMENTS:
            return cls(languages, LengthProfile(), PreambleProfile())
        lengths = LengthProfile.learn([pair for pair in pairs if pair[0].words])
        return cls(languages, lengths, PreambleProfile.learn(pairs, lengths, others, known))

    def find(
        self,
        output: ParsedSegment,
        source: ParsedSegment | None,
        references: Sequence[Segment],
        others: Sequence[Segment],
    ) -> Iterator[OutputError]:
        """The errors of an output that has words.

        Args:
            output: The output.
            source: Its source; None if it is unknown.
            references: The references of the segment; few outputs need them, so they are not
                parsed.
            others: The outputs of other systems, likewise; none if the source is unknown.
        """
        if source:
            left = find_untranslated(output, source, self.languages, references, others)
            if left:
                spans = tuple(span for part in left for span in part.spans)
                is_copy = any(part.is_whole for part in left)
                detail = "a copy of the source" if is_copy else _parts([part.text for part in left])
                yield OutputError("untranslated", detail, spans)
                return
        start, closing = find_preamble_and_note(output, source, self.preambles)
        if source and is_refusal(output, source, start, self.lengths):
            is_one_word = len(output.vocabulary) == 1 < len(output.words)
            yield OutputError("loop" if is_one_word else "refusal", quote_tokens(output.tokens))
            return
        known = [text for text in (source and source.text, *references) if text is not None]
        expected = partial(map, lambda text: ParsedSegment.of(text).tokens, known)
        if loop := find_loop(output.tokens, expected()) or find_copies(output.tokens, expected()):
            yield OutputError("loop", _looped(loop, output))
        elif language := self.languages.find_other(output, references):
            yield OutputError("wrong-language", f"{language}, not {self.languages.target}")
            return
        elif source and (share := unusual_length(output, source, self.lengths)):
            kind = "truncated" if share < 1 else "overlong"
            # A preamble and a note make an output long.
            is_explained = share > 1 and bool(start or closing)
            if not is_explained and not fits_reference(output, references):
                yield OutputError(kind, f"{share:.0%} of the usual length")
        if start:
            yield OutputError("preamble", quote_tokens(start))
        if closing:
            yield OutputError("note", quote_tokens(closing))


_MAX_PARTS = 5
"""Parts of an output that a message quotes."""


def _parts(texts: Sequence[str]) -> str:
    """The first parts of an output for a message, and how many more there are."""
    more = f" and {len(texts) - _MAX_PARTS} more" if len(texts) > _MAX_PARTS else ""
    return ", ".join(quote_tokens([text]) for text in texts[:_MAX_PARTS]) + more


def _looped(loop: Loop, output: ParsedSegment) -> str:
    """What an output says again and again."""
    pattern = quote_tokens(output.tokens[loop.start : loop.start + loop.period])
    return f"{pattern} {'' if loop.exact else 'about '}{max(loop.count, 2)} times"


@dataclass(frozen=True)
class OutputErrorFinder:
    """Finds output errors.

    >>> texts = [("ein haus", "a house"), ("ein hund", "a dog"), ("das haus am see", "")]
    >>> rows = [Row((output,), (), source) for source, output in texts]
    >>> finder = OutputErrorFinder.learn(rows)
    >>> [[error.kind for error in finder.find_row(row)[0]] for row in rows]
    [[], [], ['empty']]

    Make it with :meth:`learn`.
    """

    profiles: tuple[OutputProfile, ...]
    languages: Languages

    @classmethod
    def learn(cls, rows: Sequence[Row], vocabulary: Vocabulary | None = None) -> OutputErrorFinder:
        """Learn what is usual, from a sample of the rows that will be judged.

        Args:
            rows: Some or all segments, each with the outputs of the same systems.
            vocabulary: The words that a model knows, which tell the language of few outputs, and
                what no other text explains.
        """
        sources = [ParsedSegment.of(row.source or "") for row in rows]
        parsed = [
            [ParsedSegment.of(text, is_output=True) for text in row.hypotheses] for row in rows
        ]
        languages = Languages.learn(rows, sources, parsed, vocabulary)
        references = [text for row in rows for text in row.nonblank_references]
        profiles, known = [], vocabulary[1] if vocabulary else frozenset[str]()
        # Without a sample there is one system, of which nothing is known.
        for number, outputs in enumerate(zip(*parsed, strict=True) if parsed else [()]):
            others = references or [text for row in rows for text in _others(row, number)]
            pairs = zip(sources, outputs, strict=True)
            profiles.append(OutputProfile.learn(pairs, languages, others, known))
        return cls(tuple(profiles), languages)

    @property
    def request(self) -> Request:
        """Asks a batch for the errors of each row."""
        return Request(("output errors", id(self)), partial(map, self.find_row))

    def find_batch(self, batch: Batch) -> list[tuple[tuple[OutputError, ...], ...]]:
        """The errors of each row of a batch."""
        return list(map(self.find_row, batch.rows))

    def find_row(self, row: Row) -> tuple[tuple[OutputError, ...], ...]:
        """The errors of each system's output, in the order of :data:`KINDS`."""
        source = None if row.source is None else ParsedSegment.of(row.source)
        references = row.nonblank_references
        expected = [row.source, *references]
        may_have = [segment_text(text) for text in expected if text is not None]
        found = []
        for number, (text, profile) in enumerate(zip(row.hypotheses, self.profiles, strict=True)):
            output, errors = ParsedSegment.of(text, is_output=True), list[OutputError]()
            if output.words:
                others = _others(row, number) if source else ()
                errors += profile.find(output, source, references, others)
            elif _should_have_words(row):
                errors.append(OutputError("empty"))
            written = segment_text(text)
            if MAY_HAVE_TOKEN.search(written) and (mark := find_special_token(written, may_have)):
                errors.append(OutputError("special-token", mark))
            if MAY_HAVE_MARKUP.search(written) and (markup := find_markup(output.text, may_have)):
                errors.append(OutputError("markup", markup))
            found.append(tuple(sorted(errors, key=lambda error: _ORDER[error.kind])))
        return tuple(found)


def _others(row: Row, number: int) -> tuple[Segment, ...]:
    """What other systems have in the place of an output, unless it is the reference's words."""
    others = (*row.hypotheses[:number], *row.hypotheses[number + 1 :], *row.peers)
    return tuple(text for text in others if text not in row.references)


def _should_have_words(row: Row) -> bool:
    """Whether an output of a row should have words."""
    expected = row.nonblank_references if row.source is None else [row.source]
    return not expected or any(ParsedSegment.of(text).words for text in expected)


_ORDER = {kind: number for number, kind in enumerate(KINDS)}


# Errors of whole texts, as findings and as reasons to reject a segment

ErrorsBySegment = Mapping[str, Mapping[int, Sequence[OutputError]]]
"""For each system, the output errors of the segments that have some, by their index."""


def learn_output_errors(sample: RowSample, aligner: Aligner | None = None) -> OutputErrorFinder:
    """Learn from a sample what is usual in its texts.

    Args:
        sample: The sample; it is learnt from once.
        aligner: A model's vocabulary tells the language of few outputs; None to do without.
    """
    vocabulary = None
    if aligner is not None:
        from coverage_eval.align.aligner import ModelAligner  # not for commands without a model

        vocabulary = aligner.model.vocabulary if isinstance(aligner, ModelAligner) else None
    return sample.cached(
        ("output errors", vocabulary and id(aligner)),
        lambda: OutputErrorFinder.learn(sample.rows, vocabulary() if vocabulary else None),
    )


def is_certain(errors: Sequence[OutputError]) -> bool:
    """Whether an output has an error that is no guess."""
    return any(error.kind not in GUESSES for error in errors)


def main_error(errors: Sequence[OutputError]) -> OutputError:
    """The error that an output counts for: the first that is certain, or else the first guess."""
    return next((error for error in errors if error.kind not in GUESSES), errors[0])


def find_output_errors(
    texts: Texts, aligner: Aligner | None = None, *, jobs: int = 1
) -> ErrorsBySegment:
    """The output errors of all outputs, for what reports on every output.

    Args:
        texts: The texts.
        aligner: A model's vocabulary tells the language of few outputs; None to do without.
        jobs: Number of processes; the errors do not depend on it.

    Raises:
        DataError: Unequal texts.
    """
    finder = learn_output_errors(texts.sample, aligner)
    by_system: dict[str, dict[int, Sequence[OutputError]]] = {name: {} for name in texts.systems}
    number = 0
    for _, rows in map_batches(finder.find_batch, texts.batches(), jobs=jobs):
        for errors_of_row in rows:
            for errors, of_system in zip(errors_of_row, by_system.values(), strict=True):
                if errors:
                    of_system[number] = errors
            number += 1
    return by_system


def look_for_output_errors(
    sample: RowSample, aligner: Aligner | None = None, known: ErrorsBySegment | None = None
) -> list[Finding]:
    """One finding for each system and kind of output error.

    Args:
        sample: A sample of the texts.
        aligner: A model's vocabulary tells the language of few outputs; None to do without.
        known: The errors of all outputs, if they are known; else those of the sample are found.
    """
    if known is not None:
        return error_findings(known, sample.size)
    if not sample.systems:
        return []
    finder = learn_output_errors(sample, aligner)
    by_system: dict[str, dict[int, Sequence[OutputError]]] = {name: {} for name in sample.systems}
    for line, row in zip(sample.lines, sample.rows, strict=True):
        for errors, of_system in zip(finder.find_row(row), by_system.values(), strict=True):
            if errors:
                of_system[line - 1] = errors
    return error_findings(by_system, len(sample.rows))


def look_for_other_languages(
    sample: RowSample, aligner: Aligner | None = None, _: ErrorsBySegment | None = None
) -> list[Finding]:
    """References in another language than the outputs."""
    if not sample.systems:
        return []
    languages = learn_output_errors(sample, aligner).languages
    if not languages.has_other_references:
        return []
    label = f"in {languages.of_references}, and the outputs are in {languages.of_outputs}"
    advice = "check that each is the file you meant"
    return [
        Finding.of_text(name, label, advice, "foreign-output", suppresses=SIGNS_OF_WRONG_FILE)
        for name in dict.fromkeys(sample.references)
    ]


_MAX_NUMBERS = 5
"""Numbers of segments that a message lists."""

_MIN_GUESSES = 3
"""Outputs that look as if they had an error of a kind, below which none is told of."""

_WITH_EXAMPLE = frozenset({"untranslated", "wrong-language", "preamble", "note", "special-token"})
"""Kinds of which a message gives an example."""

_SUPPRESSED = {
    "empty": frozenset({"blank"}),
    **dict.fromkeys(
        ("untranslated", "wrong-language"),
        frozenset({"foreign-output", "unknown-words", "other-words"}),
    ),
}
"""What checks of texts find because of outputs that have an error of a kind."""


def error_findings(by_system: ErrorsBySegment, segments: int) -> list[Finding]:
    """One finding for each system and kind of error: how many outputs, and which come first.

    Args:
        by_system: The errors, as :func:`find_output_errors` gives them.
        segments: Number of segments.
    """
    findings = []
    for system, of_segments in by_system.items():
        errors = [(n, error) for n, found in of_segments.items() for error in found]
        for kind in KINDS:
            details = {n + 1: error.detail for n, error in errors if error.kind == kind}
            # There are as many guesses among correct outputs.
            min_outputs = max(_MIN_GUESSES, GUESSES[kind] * segments) if kind in GUESSES else 1
            if len(details) >= min_outputs:
                findings.append(_finding(system, kind, details, segments))
    return findings


def _finding(system: str, kind: str, details: Mapping[int, str], segments: int) -> Finding:
    """The finding of a kind of error: what was seen in each segment, from 1."""
    numbers, example = list(details), next(iter(details.values()))
    such_as = f", such as {example}" if example and kind in _WITH_EXAMPLE else ""
    count, what = f"{len(numbers)} of {segments}", KINDS[kind]
    plural = "s" if len(numbers) > 1 else ""
    more = f" and {len(numbers) - _MAX_NUMBERS} more" if len(numbers) > _MAX_NUMBERS else ""
    where = f"segment{plural} {', '.join(map(str, numbers[:_MAX_NUMBERS]))}{more}"
    message = f"{system}: {count} outputs {what}{such_as} ({kind}): {where}"
    advice = f"outputs {what} ({kind})"
    if kind == "special-token":  # each file has its own command, so the texts are not joined
        command = conversion_command(stripping_command(details.values()), system)
        message += f"; strip them: {command}" if command else "; strip them"
        advice = ""
    return Finding(
        message,
        texts=(system,),
        kind=kind,
        labels=(f"{count}{such_as}: {where}",),
        advice=advice,
        suppresses=_SUPPRESSED.get(kind, frozenset()),
    )
