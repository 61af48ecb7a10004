"""Checks of texts: a wrong file must not give a plausible number.

A wrong file (another tokeniser, lines out of step, the source instead of the output, a model of
another language) seldom stops a score: it changes the score, often for the better. Each
:class:`Check` looks at a sample of the texts and says in one line what it saw and what to do; all
of them stand in one list, :data:`coverage_eval.align.checks.CHECKS`. Here are those of texts
by themselves and beside each other. Checks that compare shares need at least twenty segments.

The thresholds were set on a corpus of image descriptions, a corpus of short sentences, outputs of
real systems, and the same texts damaged in each of these ways; the comment at each threshold gives
the figures for sound and for damaged text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, groupby
from operator import attrgetter
from statistics import fmean
from typing import Any, TypeAlias
from unicodedata import normalize

from coverage_eval.core.batches import BLOCK_ROWS, RowSample
from coverage_eval.core.errors import Finding, Severity
from coverage_eval.core.tokenizers import Segment

Rows: TypeAlias = Sequence[Sequence[str]]
"""A text: the tokens of each segment."""

Tokens: TypeAlias = Callable[[Segment], Sequence[str]]
"""Splits a segment into tokens."""

MIN_SEGMENTS = 20
"""With fewer segments, shares mean little."""


@dataclass(frozen=True, eq=False)
class SampledText:
    """A text of a sample, with counts that several checks need.

    Attributes:
        name: The name of its system or file.
        rows: The tokens of each segment.
    """

    name: str
    rows: Rows

    @cached_property
    def counts(self) -> Counter[str]:
        """How often each token occurs."""
        return Counter(chain.from_iterable(self.rows))

    @property
    def tokens(self) -> int:
        """Number of tokens."""
        return self.counts.total()

    @cached_property
    def bytes(self) -> int:
        """Its length without spaces, in UTF-8."""
        return sum(n * len(token.encode(errors="replace")) for token, n in self.counts.items())

    @cached_property
    def words(self) -> list[frozenset[str]]:
        """The words of each segment in lower case, without punctuation."""
        lowered = {token: token.lower() for token in self.counts if any(map(str.isalnum, token))}
        return [frozenset(lowered[token] for token in row if token in lowered) for row in self.rows]

    @property
    def has_enough(self) -> bool:
        """Whether enough segments have words for shares to mean something."""
        return sum(map(bool, self.rows)) >= MIN_SEGMENTS


@dataclass(frozen=True)
class Sample:
    """Rows of parallel texts, in blocks of neighbouring lines.

    Attributes:
        hypotheses: The text of each system.
        references: The text of each reference.
        source: The source; None if there is none.
        lines: The number of each row's line in the whole text, from 1.
    """

    hypotheses: Sequence[SampledText] = ()
    references: Sequence[SampledText] = ()
    source: SampledText | None = None
    lines: Sequence[int] = ()

    @classmethod
    def of(cls, taken: RowSample, tokens: Tokens, source_tokens: Tokens) -> Sample:
        """Tokenise the rows of a sample.

        Args:
            taken: The texts. Peers are checked like hypotheses, and a file
                that is named as a reference twice is one text.
            tokens: Splits a hypothesis or a reference into words.
            source_tokens: Splits a source into words.
        """
        rows, source = taken.rows, taken.source

        def texts(kind: str, names: Sequence[str]) -> list[SampledText]:
            return [
                SampledText(name, [tokens(getattr(row, kind)[place]) for row in rows])
                for place, name in enumerate(names)
            ]

        return cls(
            [*texts("hypotheses", taken.systems), *texts("peers", taken.peers)],
            list({text.name: text for text in texts("references", taken.references)}.values()),
            SampledText(source, [source_tokens(r.source or "") for r in rows]) if source else None,
            taken.lines,
        )

    @property
    def texts(self) -> list[SampledText]:
        """All texts: hypotheses, references, source."""
        return [*self.hypotheses, *self.references, *([self.source] if self.source else [])]

    @property
    def targets(self) -> Sequence[SampledText]:
        """The texts to compare with the source: the first reference, or else all outputs."""
        return self.references[:1] or self.hypotheses

    @cached_property
    def pieces(self) -> list[list[int]]:
        """Neighbouring rows: at most :data:`BLOCK_ROWS`, and enough for shares."""
        blocks = groupby(range(len(self.lines)), lambda row: (self.lines[row] - 1) // BLOCK_ROWS)
        pieces = [list(rows) for _, rows in blocks]
        return [rows for rows in pieces if len(rows) >= MIN_SEGMENTS]


@dataclass(frozen=True)
class Inputs:
    """What checks look at.

    Attributes:
        words: A sample of the texts in the words that are counted.
        counts_words: Whether metrics count these words; others tokenise by themselves.
        model: The model that aligns the texts; None without one, or without a source.
        by_model: The sample as the model splits it.
        links: Links made elsewhere, by their files.
        orders: Texts whose lines are in another order: how, its name, and what was seen.
    """

    words: Sample
    counts_words: bool = True
    model: Any = None
    by_model: Sample = Sample()
    links: Sequence[Any] = ()
    orders: Sequence[tuple[str, str, str]] = ()


Seen = Iterable[tuple[str, str]]
"""The name of a text, or an empty name, and what was seen in it."""


@dataclass(frozen=True)
class Check:
    """A kind of mistake in the input.

    Attributes:
        name: Its name.
        severity: How much it matters.
        look: Finds it.
        advice: What to do.
        unless: Checks further up in the list. If one of them found something in the same text, in
            the source or in all texts, this explains what is found here, which is left out.
        needs: Attributes of :class:`Inputs`; it is run if there is something in each of them.
    """

    name: str
    severity: Severity
    look: Callable[[Inputs], Seen]
    advice: str = ""
    unless: Set[str] = frozenset()
    needs: Set[str] = frozenset()

    def finding(self, seen: Seen) -> Finding:
        """One finding for all texts in which something was seen."""
        texts: dict[str, str] = {}
        for text, said in seen:
            texts.setdefault(text, said)
        if len(texts) > 1:
            message = ", ".join(f"{text} ({said})" for text, said in texts.items())
            message += f": {self.advice}" if self.advice else ""
        else:
            ((text, said),) = texts.items()
            message = f"{text}: {said}" if text else said
            message += f"; {self.advice}" if self.advice else ""
        named = {text: said for text, said in texts.items() if text}
        return Finding(self.name, message, tuple(named), self.severity, tuple(named.values()))


def run_checks(
    checks: Iterable[Check], inputs: Inputs, known: Iterable[Finding] = ()
) -> list[Finding]:
    """The findings of some checks and those that are known, the most serious first."""
    found = list(known)
    source = inputs.words.source.name if inputs.words.source else None
    for check in checks:
        if not all(attrgetter(name)(inputs) for name in check.needs):
            continue
        others = [other.texts for other in found if other.check in check.unless]
        seen = [
            (text, said)
            for text, said in check.look(inputs)
            if not any(not texts or {text, source} & set(texts) for texts in others)
        ]
        found += [check.finding(seen)] if seen else []
    return sorted(found, key=lambda finding: finding.severity)


def percent(share: float) -> str:
    """A share, 0 to 1, in percent; small ones with a decimal."""
    return f"{100 * share:.{0 if share >= 0.0995 else 1}f}%"


def shown(token: str) -> str:
    """A token for a message, printable and short."""
    text = "".join(c if c.isprintable() else "?" for c in token)
    return f"'{text[:24]}…'" if len(text) > 24 else f"'{text}'"


# Outputs that say nothing, or little

SHORT = 0.5
"""Bytes of an output divided by those of the reference or of the other outputs: 0.8 to 1.1 for real
systems, and 0.7 where 30% of the words were left out."""

SHORT_OF_SOURCE = 0.25
"""Bytes of an output divided by those of the source: bytes roughly even out the scripts. English
has 0.6 of Japanese, German 1.2 of English, Hindi 2.5."""

MIN_WORDS = 4
"""Words that another text has where a segment is blank; shorter ones may be left out rightly."""


def look_for_little(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Outputs without words in most segments, or far shorter than others."""
    sample = inputs.words
    for text in sample.hypotheses:
        others = [other for other in sample.texts if other is not text]
        spoken = [i for i in range(len(text.rows)) if not others or any(t.words[i] for t in others)]
        silent = sum(not text.words[i] for i in spoken)
        name, length, share = _expected_length(sample, text)
        if spoken and silent == len(spoken):
            yield text.name, "no segment has a word"
        elif silent > len(spoken) / 2:
            yield text.name, f"{percent(silent / len(spoken))} of the segments have no word"
        elif text.has_enough and text.bytes < share * length:
            yield text.name, f"has only {percent(text.bytes / length)} of the length of {name}"


def _expected_length(sample: Sample, text: SampledText) -> tuple[str, float, float]:
    """The text to compare an output's length with, its bytes, and the least share of them."""
    others = [other for other in sample.hypotheses if other is not text]
    if sample.references:
        shortest = min(sample.references, key=lambda reference: reference.bytes)
        return shortest.name, shortest.bytes, SHORT
    if len(others) > 1:
        return "the other outputs", min(other.bytes for other in others), SHORT
    if sample.source is not None:
        return sample.source.name, sample.source.bytes, SHORT_OF_SOURCE
    return "", 0, 0


def look_for_blanks(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Outputs with blank segments where another text says something."""
    sample = inputs.words
    for text in sample.hypotheses:
        blank = [
            i
            for i, row in enumerate(text.rows)
            if not row and any(len(other.words[i]) >= MIN_WORDS for other in sample.texts)
        ]
        if blank:
            count = f"{len(blank)} blank segment{'s' * (len(blank) > 1)}"
            first = f"first segment {sample.lines[blank[0]]:,}"
            yield text.name, f"{count} where other texts have words, {first}"


# Texts beside each other

NEARER_SOURCE = 0.25
"""How many more of its words a hypothesis shares with the source than the reference does, as a
share of its words: 0.9 for copies, at most 0.06 for translations, with their names and numbers."""


def look_for_copies(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Outputs that are nearer to the source than to the reference."""
    source, reference = inputs.words.source, inputs.words.references[0]
    assert source is not None
    for text in inputs.words.hypotheses:
        words = zip(text.words, source.words, reference.words, strict=True)
        rows = [row for row in words if row[0] and row[1]]
        if len(rows) < MIN_SEGMENTS:
            continue
        to_source = fmean(len(h & s) / len(h) for h, s, _ in rows)
        to_reference = fmean(len(h & r) / len(h) for h, _, r in rows)
        usual = fmean(len(r & s) / max(len(r), 1) for _, s, r in rows)
        if to_source > max(to_reference, usual + NEARER_SOURCE):
            said = f"{percent(to_source)} of its words are in the source {source.name}"
            yield text.name, f"{said}, {percent(to_reference)} in {reference.name}"


MIN_EQUAL_TOKENS = 30
"""Shorter texts, such as a few one-word segments, may be equal by chance."""


def look_for_equal_texts(inputs: Inputs, *, outputs: bool) -> Iterator[tuple[str, str]]:
    """Texts with the same words: only outputs, or an output and the reference or the source."""
    sample = inputs.words
    same: dict[tuple[tuple[str, ...], ...], list[SampledText]] = defaultdict(list)
    for text in sample.texts:
        same[tuple(map(tuple, text.rows))].append(text)
    for rows, texts in same.items():
        first, *others = [text.name for text in texts]
        enough = texts[0].tokens >= MIN_EQUAL_TOKENS or first in others
        if others and enough and outputs == all(text in sample.hypotheses for text in texts):
            yield first, f"the same text as {' and '.join(others)} in all {len(rows):,} segments"


MIN_CASED = 200
"""Tokens with case; a text with fewer may have no capitals by chance."""

LOWER_CASED, CASED = 0.002, 0.02
"""Shares of tokens with a capital letter: English text has 5 to 20%, German 30%, other languages
between; lower-cased text has 0, or almost 0 if the program missed a rare letter."""


def look_for_case(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Lower-cased texts beside cased ones."""
    capitals = {}
    for text in inputs.words.texts:
        cased = {token: n for token, n in text.counts.items() if token.lower() != token.upper()}
        if (total := sum(cased.values())) >= MIN_CASED:
            capital = sum(n for token, n in cased.items() if token != token.lower())
            capitals[text.name] = capital / total
    with_them = [name for name, share in capitals.items() if share >= CASED]
    for name, share in capitals.items() if with_them else ():
        if share < LOWER_CASED:
            yield name, f"no capital letters, but {' and '.join(with_them)} has them"


CUT_OTHERWISE = 0.04
"""Words of one text that the other has only with a space inside ("do n't" for "don't"): 0.4% in
outputs of real systems, 0.2% in Japanese from the same segmenter, 9% where long words were cut in
two, 10 to 20% in untokenised text, 70% in text split into letters."""


def look_for_other_words(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Texts whose words are cut in other places than those of the first reference."""
    first, *more = inputs.words.references
    for text in [*inputs.words.hypotheses, *more]:
        for one, other in ((text, first), (first, text)):
            words, crossing = 0, []
            for row, against in zip(one.rows, other.rows, strict=True):
                known, joined, spaced = set(against), "".join(against), " ".join(against)
                longer = [token for token in row if len(token) > 1]
                words += len(longer)
                crossing += [
                    t for t in longer if t not in known and t in joined and t not in spaced
                ]
            share = len(crossing) / max(words, MIN_CASED)
            if text.has_enough and share > CUT_OTHERWISE:
                said = f"{percent(share)} of the words of {one.name}, such as {shown(crossing[0])}"
                yield text.name, f"{said}, are in more than one piece in {other.name}"


# Each text by itself

# A vocabulary of 30,000 subwords marks 2 to 30% of the tokens, SentencePiece and byte-level BPE
# most of them. Plain text has none of the first three; "##" begins headings and rare hashtags, and
# "Ġ" is a letter of Maltese.
SUBWORD_MARKS = (
    (re.compile(r".+@@"), 0.002),
    (re.compile(r"▁.*"), 0.002),
    (re.compile(r"￭.+|.+￭"), 0.002),
    (re.compile(r"##\w+"), 0.01),
    (re.compile(r"Ġ.*"), 0.2),
)
"""Tokens that a subword tokeniser has marked, and their least share in a text of subwords."""


def look_for_subwords(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Texts in subwords."""
    for text in inputs.words.texts:
        for shape, share in SUBWORD_MARKS:
            marked = [token for token in text.counts if shape.fullmatch(token)]
            number = sum(text.counts[token] for token in marked)
            if number >= 2 and number >= share * text.tokens:
                part = percent(number / text.tokens)
                yield text.name, f"{part} of the tokens are subwords, such as {shown(marked[0])}"


_PUNCTUATION = re.compile(r"[.,!?;:]")
_GLUED_MARK = re.compile(r"\w\w[,;:!?]$")
_GLUED_STOP = re.compile(r"\w\w\.$")
GLUED_SEGMENTS = 0.3
"""Segments with punctuation attached to a word, as a share of the segments with punctuation:
tokenised text has below 1% (abbreviations), untokenised text 98%."""


def why_untokenised(text: SampledText) -> str | None:
    """The share of segments with punctuation attached to a word, if it is that of raw text."""
    glued = punctuated = 0
    for row in text.rows:
        ending = [token for token in row if _PUNCTUATION.search(token)]
        punctuated += bool(ending)
        glued += any(map(_GLUED_MARK.search, ending)) or (
            len(row) > 1 and _GLUED_STOP.search(row[-1]) is not None
        )
    if glued < MIN_SEGMENTS or glued <= GLUED_SEGMENTS * punctuated:
        return None
    return f"{percent(glued / punctuated)} of the segments have punctuation attached to words"


UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
"""The characters of Thai, Lao, Tibetan, Burmese, Khmer, Japanese and Chinese, which have no spaces
between words, as a range of a regular expression."""

WITHOUT_SPACES = re.compile(f"[{UNSPACED}]")

UNSEGMENTED_CHARACTERS = 7.0
"""Letters per token: segmented Japanese has 1.6, Chinese 1.7, Thai about 4; unsegmented text has 10
to 40."""


def why_unsegmented(text: SampledText) -> str | None:
    """Letters per token if a text seems not to be split into words; None if it is."""
    if not text.has_enough or not is_unsegmented_script(text):
        return None
    found = {token: len(WITHOUT_SPACES.findall(token)) for token in text.counts}
    tokens = sum(text.counts[token] for token, number in found.items() if number)
    letters = sum(text.counts[token] * number for token, number in found.items())
    if letters <= UNSEGMENTED_CHARACTERS * tokens:
        return None
    return f"{letters / tokens:.0f} letters per token in a script without spaces"


def is_unsegmented_script(text: SampledText) -> bool:
    """Whether a third of the tokens or more are in a script without spaces between words."""
    tokens = sum(n for token, n in text.counts.items() if WITHOUT_SPACES.search(token))
    return 0 < tokens >= text.tokens / 3


def look_at_words(
    inputs: Inputs, why: Callable[[SampledText], str | None]
) -> Iterator[tuple[str, str]]:
    """Texts that are not split into the words that are counted."""
    for text in inputs.words.texts:
        if said := why(text):
            yield text.name, said


STRANGE = 0.002
"""Least share of tokens with strange characters."""

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_CHARACTERS: tuple[tuple[Callable[[str], object], str], ...] = (
    (re.compile("[ÃãÂâÐðÑñ][¡-ª¬-º¼-¿]|â€|\ufffd").search, "characters of a wrong encoding"),
    (lambda text: len(normalize("NFC", text)) < len(text), "letters apart from their accents"),
    (_INVISIBLE.search, "invisible characters"),
)
"""Characters that the eye does not see or forgives."""


def look_for_characters(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Strange characters in one text that another has not, so that equal words are unequal."""
    texts = inputs.words.texts
    for is_strange, what in _CHARACTERS:
        strange = {}
        for text in texts:
            found = [t for t in text.counts if not t.isascii() and is_strange(t)]
            number = sum(text.counts[token] for token in found)
            if number >= max(3, STRANGE * text.tokens):
                share = percent(number / text.tokens)
                strange[text.name] = f"{share} of the tokens, such as {found[0]!a}, have {what}"
        if len(strange) < len(texts):
            yield from strange.items()
