"""Errors of a whole output that have a name: empty, a copy of the source, a refusal, a loop.

No threshold decides them, so they are decided before any score. Language models make most of them.
What is usual is learnt from the text at hand, see :mod:`coverage_eval.outputs.habits`:
:class:`NamedErrors` learns it from a sample and then judges each output by itself, so an output is
judged alike in one process and in many.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import NamedTuple

from coverage_eval.align.aligner import Aligner, ModelAligner
from coverage_eval.core.batches import Request, Row, RowSample, Texts
from coverage_eval.core.errors import CheckId, Finding
from coverage_eval.core.tokenizers import UNSPACED, Segment
from coverage_eval.outputs.habits import (
    END,
    MAX_AFFIX,
    OutputProfile,
    ParsedSegment,
    Vocabulary,
    has_whole,
    known_shares,
    scripts_of,
)
from coverage_eval.repetition.loops import find_loop

KINDS: Mapping[str, str] = {
    "empty": "have no words where other texts have some",
    "copy": "are the source itself, or nearly, or have it beside a translation",
    "refusal": "are refusals, or say the same whatever the source says",
    "wrong-language": "are in another script or language than the others",
    "loop": "say the same words again and again",
    "truncated": "stop long before the end",
    "overlong": "say far more than outputs of such sources usually do",
    "preamble": "begin with words that no source explains",
    "note": "end with words that no source explains",
    "markup": "have code fences, bold text or headings that the source lacks",
}
"""The kinds of errors, and what outputs with it do."""

GUESSES: Mapping[str, float] = {"truncated": 0.02, "overlong": 0.005, "markup": 0.005}
"""Kinds that are guesses, and the share of complete outputs that may look so. The others are
certain."""


class NamedError(NamedTuple):
    """An error of a whole output.

    Attributes:
        kind: Its name, such as ``copy``.
        detail: What was seen, such as ``"'the dog ,' 30 times"``; may be empty.
    """

    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else self.kind


@dataclass(frozen=True)
class NamedErrors:
    """Finds errors of whole outputs that have a name.

    >>> texts = [("ein haus", "a house"), ("ein hund", "a dog"), ("das haus am see", "")]
    >>> rows = [Row((output,), (), source) for source, output in texts]
    >>> finder = NamedErrors.learn(rows)
    >>> [[error.kind for error in finder.find_row(row)[0]] for row in rows]
    [[], [], ['empty']]

    Make it with :meth:`learn`.
    """

    habits: tuple[OutputProfile, ...]
    vocabulary: Vocabulary | None = None

    @classmethod
    def learn(cls, rows: Sequence[Row], vocabulary: Vocabulary | None = None) -> NamedErrors:
        """Learn what is usual, from a sample of the rows that will be judged.

        Args:
            rows: Some or all segments, each with the outputs of the same systems. References,
                peers and other systems tell which words are not of another language.
            vocabulary: The words that a model knows, which tell it, too.
        """
        sources = [ParsedSegment.of(row.source or "") for row in rows]
        systems = list(
            zip(*(list(map(ParsedSegment.of, row.hypotheses)) for row in rows), strict=True)
        )
        others = [ParsedSegment.of(text) for row in rows for text in (*row.references, *row.peers)]
        others.append(ParsedSegment.of(tuple(vocabulary[1]) if vocabulary else ""))
        having = Counter[str]()
        for texts in (*systems, others):
            having.update(set().union(*(text.vocabulary for text in texts)))
        both = {word for word, n in having.items() if n > 1}
        habits = (
            OutputProfile.learn(zip(sources, own, strict=True), vocabulary, both) for own in systems
        )
        return cls(tuple(habits), vocabulary)

    @property
    def request(self) -> Request:
        """Asks a batch for the errors of each row."""
        return Request(("named", id(self)), partial(map, self.find_row))

    def find_row(self, row: Row) -> tuple[tuple[NamedError, ...], ...]:
        """The errors of each system's output, in the order of :data:`KINDS`."""
        source = None if row.source is None else ParsedSegment.of(row.source)
        texts = [source] if source else list(map(ParsedSegment.of, row.references))
        is_blank = bool(texts) and not any(text.words for text in texts)
        return tuple(
            tuple(self._find(output, source, row.references, habits))
            if _has_words(output)
            else (() if is_blank else (NamedError("empty"),))
            for output, habits in zip(
                map(ParsedSegment.of, row.hypotheses), self.habits, strict=True
            )
        )

    def _find(
        self,
        output: ParsedSegment,
        source: ParsedSegment | None,
        references: Sequence[Segment],
        habits: OutputProfile,
    ) -> Iterator[NamedError]:
        """The errors of an output that has words."""
        if source and (copied := _copied(output, source, habits, self.vocabulary)) is not None:
            yield NamedError("copy", copied)
            return
        start, closing = _affixes(output, source, habits) if source else ((), ())
        refused = source is not None and _refuses(output, source, habits, start)
        if refused:
            is_one_word = len(output.vocabulary) == 1 < len(output.words)
            yield NamedError("loop" if is_one_word else "refusal", _quoted(output.pieces))
        if strange := _strange(output, source, habits, self.vocabulary):
            yield NamedError("wrong-language", strange)
        if refused or strange:
            return
        if looped := _looped(output, source, references):
            yield NamedError("loop", looped)
        elif source and (share := _unusual_length(output, source, habits)):
            kind = "truncated" if share < 1 else "overlong"
            # A preamble and a note make an output long.
            if not _fits(output, references) and (share < 1 or not (start or closing)):
                yield NamedError(kind, f"{share:.0%} of the usual length")
        if start:
            yield NamedError("preamble", _quoted(start))
        if closing:
            yield NamedError("note", _quoted(closing))
        if marks := _markup(output.text, source.text if source else ""):
            yield NamedError("markup", marks)


_BETWEEN_UNSPACED = re.compile(rf"(?<=[{UNSPACED}]) (?=[{UNSPACED}])")


def _quoted(pieces: Sequence[str]) -> str:
    text = _BETWEEN_UNSPACED.sub("", " ".join(pieces))
    return f"'{text[:40]}…'" if len(text) > 40 else f"'{text}'"


def _looped(
    output: ParsedSegment, source: ParsedSegment | None, references: Sequence[Segment]
) -> str:
    """What an output says again and again, and neither its source nor a reference; often empty."""
    loop = find_loop(output.pieces, source.pieces if source else ())
    # Loops are rare, so only now the references are cut.
    if loop is None or not find_loop(
        output.pieces, *(ParsedSegment.of(t).pieces for t in references)
    ):
        return ""
    pattern = _quoted(output.pieces[loop.start : loop.start + loop.period])
    return f"{pattern} {'' if loop.exact else 'about '}{max(loop.count, 2)} times"


def _read_phrases() -> dict[str, str]:
    """The sections of ``phrases.txt``, each as alternatives of a regular expression."""
    text = files("coverage_eval.outputs").joinpath("phrases.txt").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.startswith("# "))
    sections = re.split(r"^\[(.+)\]\n", "\n".join(lines), flags=re.MULTILINE)
    named = zip(sections[1::2], sections[2::2], strict=True)
    return {name: section.strip().replace("\n", "|") for name, section in named}


_PHRASES = _read_phrases()


# Copies of the source

MIN_TRANSLATABLE = 2
"""Words of a copy that should have been translated."""

NEARLY = 0.8
"""Words of the output that are the source's, for it to be nearly a copy."""

_LINK = re.compile(r"\S+://\S+|www\.\S+|\S+@\S+\.\S+")


def _copied(
    output: ParsedSegment,
    source: ParsedSegment,
    habits: OutputProfile,
    vocabulary: Vocabulary | None,
) -> str | None:
    """How much of the output is copied from the source, "" for all; None if it is no copy."""
    if source.vocabulary.isdisjoint(output.vocabulary):
        return None
    ours, theirs = Counter(output.words), Counter(source.words)
    shared = ours & theirs
    share = shared.total() / max(ours.total(), 0.8 * theirs.total())
    is_exact = ours == theirs
    is_nearly = share >= NEARLY and ours.total() >= 4
    is_beside = not is_nearly and theirs.total() >= 4 and has_whole(output, source)
    if not (is_exact or is_nearly or is_beside) or (is_exact and _is_code(source)):
        return None
    links = {word for link in _LINK.findall(source.text) for word in ParsedSegment.of(link).words}
    lower = {piece for piece in source.pieces if piece.islower() or not piece.isascii()}
    known, guessed = 0, 0
    for word in (word for word in shared if word not in links and not word.isdigit()):
        verdict = _translatable(word, habits, vocabulary)
        if verdict is None:
            is_long = len(word) > 2 or not word.isascii()
            guessed += word in lower and is_long and word[0].isalpha()
        else:
            known += verdict
    enough = MIN_TRANSLATABLE if is_exact else MIN_TRANSLATABLE + 1
    if known + guessed < enough and not (is_exact and known == len(shared)):
        return None
    if is_beside:
        return "the source, and more"
    return "" if is_exact else f"{min(share, 0.99):.0%} of its words"


def _translatable(word: str, habits: OutputProfile, vocabulary: Vocabulary | None) -> bool | None:
    """Whether outputs usually have another word for a word of the source; None if unknown."""
    if habits.copies < 0.5:
        seen, kept = habits.kept.get(word, (0, 0))
        if seen >= 3:
            return kept <= seen / 2
    if vocabulary is not None and word in vocabulary[0]:
        return word not in vocabulary[1]
    return None


_CODE = re.compile(
    rf"^\s*(?:[$#>]\s+)?(?:{_PHRASES['commands']})\b.*[^.!?…。]\s*$|[;{{}}]\s*$", re.IGNORECASE
)
_CODE_MARK = re.compile(r"[{}()\[\];=<>|\\$_/#&*+~^@`]+|(?<!\S)--?[A-Za-z]")
CODE_SHARE = 1 / 3
"""Marks of code for each word, from which on a text is code."""


def _is_code(source: ParsedSegment) -> bool:
    marks = len(_CODE_MARK.findall(source.text))
    is_marked = marks >= max(2, CODE_SHARE * len(source.text.split()))
    return is_marked or _CODE.search(source.text) is not None


# Another script or language

MIN_LETTERS = 4
"""Letters from which a script can be told."""

STRANGE: Mapping[str, float] = {"common": 0.2, "known": 0.4}
"""The share of known words, of the usual share, below which a language is another one. A model of
much text knows some words of every language, so outputs without common words are strange, too."""


def _strange(
    output: ParsedSegment,
    source: ParsedSegment | None,
    habits: OutputProfile,
    vocabulary: Vocabulary | None,
) -> str:
    """Why an output seems to be in another language; empty if it does not."""
    # Letters of ASCII are Latin, so they need not be counted.
    if habits.scripts and not ("LATIN" in habits.scripts and output.text.isascii()):
        letters = scripts_of(output.text)
        other = letters.total() - sum(letters[script] for script in habits.scripts)
        if other >= MIN_LETTERS and 2 * other > letters.total():
            script = max((s for s in letters if s not in habits.scripts), key=letters.__getitem__)
            return f"{other / letters.total():.0%} of its letters are {script.capitalize()}"
    if len(output.vocabulary & habits.common) >= max(STRANGE.values()) * len(output.vocabulary):
        return ""  # as nearly all outputs; source words that are left out would only add to it
    for name, share in known_shares(output, source, habits.common, vocabulary).items():
        usual = habits.known.get(name, 0.0)
        if usual >= 0.3 and share < STRANGE[name] * usual:
            return f"{share:.0%} of its words are {name}, usually {usual:.0%}"
    return ""


# Outputs that stop too early or too late

SHORT = 0.72
"""Length of a truncated output, as a share of the usual one, at most."""

DEVIATIONS = {True: 0.9, False: 3.2}
"""By how many standard deviations a truncated output is shorter, if the mark at the end is missing,
and if it is there."""

LONG = 1.5
"""Length of an overlong output, as a share of the usual one, at least."""

BEYOND = {True: 1.0, False: 3.2}
"""By how many standard deviations an overlong output is longer, if it has more sentences than the
source, and if it has not. Of 138,000 sentences of training text 59 are that long; of outputs
that were written twice, four in five."""

_SENTENCE_END = re.compile(r"[.!?…।؟]+(?=\s|$)|[。！？]")


def _fits(output: ParsedSegment, references: Sequence[Segment]) -> bool:
    """Whether an output is about as long as a reference."""
    lengths = (len("".join(one).replace(" ", "")) for one in references)
    return any(SHORT < output.length / max(1, length) < LONG for length in lengths)


def _unusual_length(output: ParsedSegment, source: ParsedSegment, habits: OutputProfile) -> float:
    """Length of a truncated or overlong output, as a share of the usual one; else 0."""
    if not habits.lengths.spread or len(source.words) < 4:
        return 0.0
    away = habits.lengths.away(output, source)
    if math.log(SHORT) <= away <= math.log(LONG):  # nearly all outputs
        return 0.0
    deviation = habits.lengths.deviation(source)
    sentences = [len(_SENTENCE_END.findall(text.text)) for text in (source, output)]
    if away > max(math.log(LONG), BEYOND[sentences[1] > sentences[0]] * deviation):
        return math.exp(away)
    missing = END.search(source.text) is not None and END.search(output.text) is None
    needed = DEVIATIONS[False]
    if missing:  # the more telling, the seldomer it is
        needed -= (DEVIATIONS[False] - DEVIATIONS[True]) * max(0.0, 2 * habits.ends - 1)
    return math.exp(away) if away < min(math.log(SHORT), -needed * deviation) else 0.0


# Words around the translation, and refusals. Listed phrases only count where the source has nothing
# like them.

_ABOUT = _PHRASES["about"]
_PREAMBLE = re.compile(
    rf"(?i)^\W*(?:(?:{_PHRASES['openings']})\b[^:\n]{{0,80}}:|[^:.\n]{{0,80}}(?:{_ABOUT})"
    rf"[^:.\n]{{0,60}}[:：]|(?:{_PHRASES['languages']})\s*[:：])"
)
_NOTE = re.compile(
    rf"(?i)(?:[.!?…。！？\"”»*\n]|\s[(\[])\W*(?:{_PHRASES['notes']})\s*[:：]"
    rf"[^\n]*(?:{_ABOUT}|{_PHRASES['remarks']})[^\n]*$|"
    rf"[.!?…\n]\W*(?:{_PHRASES['offers']})[^\n]{{0,120}}$"
)
_ABOUT_TRANSLATION = re.compile(rf"(?i){_ABOUT}")
_HAS_NOTE = re.compile(rf"(?i){_ABOUT}|{_PHRASES['titles']}")
_REFUSAL = re.compile(rf"(?i)^\W*(?:{_PHRASES['refusals']})")
_EXCUSE = re.compile(rf"(?i)\b(?:{_PHRASES['excuses']})\b|{_PHRASES['unspaced excuses']}")
_TASK = re.compile(rf"(?i){_ABOUT}|{_PHRASES['tasks']}")
_TOKENISED = re.compile(
    rf" +(?=[,.'’、，]|n['’]t\b)|(?<=['’]) +(?=\w)|(?<=[、，{UNSPACED}]) +(?=[{UNSPACED}])"
)


def _joined(text: str) -> str:
    """A text without the spaces of tokenised text in which phrases would not be found."""
    return _TOKENISED.sub("", text.replace("&apos;", "'"))


def _affixes(
    output: ParsedSegment, source: ParsedSegment, habits: OutputProfile
) -> tuple[Sequence[str], Sequence[str]]:
    """The words before and after the translation; empty if there are none."""
    start: Sequence[str] = ()
    closing: Sequence[str] = ()
    if habits.starts or habits.closings:
        pieces = tuple(piece.lower() for piece in output.pieces)
        sizes = range(min(MAX_AFFIX, len(pieces)), 0, -1)
        start = next((pieces[:n] for n in sizes if pieces[:n] in habits.starts), ())
        closing = next((pieces[-n:] for n in sizes if pieces[-n:] in habits.closings), ())
    colons = [text.count(":") + text.count("：") for text in (output.text, source.text)]
    if not start and colons[0] > colons[1] and (seen := _PREAMBLE.search(output.text)):
        start = () if _ABOUT_TRANSLATION.search(source.text) else ParsedSegment.of(seen[0]).pieces
    if not closing and (seen := _NOTE.search(_joined(output.text))) and seen.start() > 0:
        closing = () if _HAS_NOTE.search(source.text) else ParsedSegment.of(seen[0]).pieces
    return start, closing


def _refuses(
    output: ParsedSegment, source: ParsedSegment, habits: OutputProfile, start: Sequence[str]
) -> bool:
    """Whether an output is nothing but words that no source explains, or a known excuse."""
    if start and len(start) >= 0.8 * len(output.pieces):
        return True
    text = _joined(output.text)
    if _REFUSAL.search(text) is None or _EXCUSE.search(_joined(source.text)):
        return False
    # The source may have the excuse in a language that is not listed; then its length fits.
    return habits.lengths.is_odd(output, source) or _TASK.search(text) is not None


# Markup

_SPECIAL = re.compile(r"</?s>|<\|[a-z_]+\|>|<(?:eos|bos|pad|unk)>|\[/?INST\]", re.IGNORECASE)
"""Tokens that language models are trained with."""

_MARKUP: Mapping[str, re.Pattern[str]] = {
    "a code fence": re.compile(r"```|~~~"),
    "bold text": re.compile(r"\*\*(?=\S).+?(?<=\S)\*\*|__(?=\w).+?(?<=\w)__", re.DOTALL),
    "a heading": re.compile(r"^\s*#{1,6}\s+\w", re.MULTILINE),
    "a special token": _SPECIAL,
    "a tag": re.compile(r"</?(?:translation|output|answer|text|result|target)>", re.IGNORECASE),
}
_MARKUP_CHARACTERS = re.compile(r"[`~*_#<\[]")
"""Nearly all outputs have none of them, and so no markup."""


def _markup(output: str, source: str) -> str:
    """The markup that an output has and its source lacks, in words."""
    if _MARKUP_CHARACTERS.search(output) is None:
        return ""
    found = [name for name, shape in _MARKUP.items() if shape.search(output)]
    return " and ".join(name for name in found if not _MARKUP[name].search(source))


def _has_words(output: ParsedSegment) -> bool:
    """Whether an output has words besides the tokens that language models are trained with."""
    if not output.words or _MARKUP_CHARACTERS.search(output.text) is None:
        return bool(output.words)
    return bool(ParsedSegment.of(_SPECIAL.sub(" ", output.text)).words)


# Errors of whole texts, as findings and as reasons to reject a segment

NAMED_ERRORS = "named errors"
"""The key of :class:`~coverage_eval.core.measure.Result` that has them, by system."""

NamedSegments = Mapping[str, Mapping[int, Sequence[NamedError]]]
"""For each system, the named errors of the segments that have some, by their index."""


def learn_named(sample: RowSample, aligner: Aligner | None = None) -> NamedErrors:
    """Learn from a sample what is usual in its texts.

    Args:
        sample: The sample; it is learnt from once.
        aligner: A model's vocabulary tells languages apart; None to do without.
    """
    model = aligner.model if isinstance(aligner, ModelAligner) else None
    return sample.once(
        ("named", id(model)),
        lambda: NamedErrors.learn(sample.rows, model.vocabulary() if model else None),
    )


def main_error(errors: Sequence[NamedError]) -> NamedError:
    """The error that an output counts for: the first that is certain, or else the first guess."""
    return next((error for error in errors if error.kind not in GUESSES), errors[0])


def by_system(
    systems: Sequence[str], by_segment: Mapping[int, Sequence[Sequence[NamedError]]]
) -> NamedSegments:
    """For each system its errors by segment, from those of the segments that have some."""
    return {
        system: {number: errors[place] for number, errors in by_segment.items() if errors[place]}
        for place, system in enumerate(systems)
    }


def find_named(dataset: Texts, aligner: Aligner | None = None) -> NamedSegments:
    """The named errors of all outputs; arguments as for :func:`learn_named`.

    Raises:
        DataError: A text cannot be read.
    """
    finder = learn_named(dataset.sample, aligner)
    return by_system(tuple(dataset.systems), dict(enumerate(map(finder.find_row, dataset.rows()))))


_SHOWN = 5

_MIN_GUESSES = 3


def named_findings(
    named: NamedSegments, segments: int, kinds: Iterable[str] = tuple(KINDS)
) -> list[Finding]:
    """One finding for each system and kind of error: how many outputs, and which come first.

    Args:
        named: The errors, as :func:`find_named` gives them.
        segments: Number of segments.
        kinds: Kinds to tell of.
    """
    findings = []
    for system, of_segments in named.items():
        errors = [(n, error) for n, found in of_segments.items() for error in found]
        for kind in kinds:
            details = {n + 1: error.detail for n, error in errors if error.kind == kind}
            least = max(_MIN_GUESSES, GUESSES[kind] * segments) if kind in GUESSES else 1
            if len(details) < least:  # as many as among correct outputs
                continue
            numbers, example = list(details), next(iter(details.values()))
            such_as = f", such as {example}" if example and kind in {"preamble", "note"} else ""
            plural = "s" if len(numbers) > 1 else ""
            more = f" and {len(numbers) - _SHOWN} more" if len(numbers) > _SHOWN else ""
            message = (
                f"{system}: {len(numbers)} of {segments} outputs {KINDS[kind]}{such_as} ({kind}): "
                f"segment{plural} {', '.join(map(str, numbers[:_SHOWN]))}{more}"
            )
            explains = frozenset({CheckId.BLANK} if kind == "empty" else ())
            findings.append(Finding(message, texts=(system,), explains=explains))
    return findings


def reasons_of(
    errors: Mapping[int, Sequence[NamedError]], flagged: Iterable[bool], error: str
) -> list[str]:
    """Why each segment of a system is rejected, ``""`` for those that are not.

    Args:
        errors: The named errors by segment, which reject it whatever its score.
        flagged: Whether the score of each segment is a reason.
        error: What this reason is called, such as ``omission``.
    """
    return [
        "; ".join([*map(str, errors.get(index, ())), *([error] if is_flagged else [])])
        for index, is_flagged in enumerate(flagged)
    ]
